"""The law as the graph had it on an earlier day: later loads corrected a text, learnt a day, brought a wording."""

from collections.abc import Sequence
from datetime import date

from cypher.graph import Row
from cypher.rows import record_of
from schema.errors import NotOnRecord
from schema.records import Article, Wording
from schema.revisions import PRESENT, Revision, on_record, present_wording, read_record, undone


def as_known(article: Row, others: Sequence[Row], revisions: Sequence[Row], day: date) -> tuple[Row, list[Row]]:
    """Return the rows of an article and of its other wordings as the graph had them at the end of a day, in UTC.

    Args:
        article: its row; others: rows of its other wordings.
        revisions: rows of the revisions of the article and of its act, the latest first.
        day: a day.

    Raises:
        NotOnRecord: the article was not there then, or the graph does not know so far back.
    """
    record = [record_of(Revision, row) for row in revisions]
    since = next((one.day for one in record if one.article_id == article["act_id"]), None)
    if since is None or day < since:
        raise NotOnRecord(article["number"], day, since)
    id, own = article["id"], {"parent_id": "", "position": 0}
    now = {PRESENT: present_wording(record_of(Article, article | own))}
    now |= {row["id"]: record_of(Wording, row) for row in others}
    then = undone(on_record(now), (one for one in record if one.article_id == id and one.day > day))
    wordings = [read_record(id, written) for written in then]
    present = next((wording for wording, is_present in wordings if is_present), None)
    if present is None:
        raise NotOnRecord(article["number"], day, None)
    dated = sorted((w for w, is_present in wordings if not is_present), key=lambda w: (w.valid_from or date.min, w.id))
    return article | _fields(present), [{"id": w.id, "article_id": id} | _fields(w) for w in dated]


def _fields(wording: Wording) -> Row:
    return {name: getattr(wording, name) for name in ("source_id", "status", "valid_from", "valid_to", "text", "instrument")}
