"""Revisions of the record: what a load took out of an article's wordings and what it put in, so that both can be told later.

The law of a day is one question, what the graph held of it at another time is a second one: a corrected text, a day that came to
be known. The graph holds the present record; revisions lead back from it.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from schema.identifiers import bounded
from schema.records import Article, Wording

PRESENT = ""
"""Name of the present wording among those of an article; the others have identifiers."""


@dataclass(frozen=True, slots=True)
class Revision:
    """A change that a load made to what was on record of an article; of an act, the beginning of its record.

    Attributes:
        article_id: the article, or the act.
        recorded: moment of the load, ISO 8601 in UTC.
        taken: wordings that were on record until then, as JSON.
        given: digests of the wordings that came in their place.
    """

    article_id: str
    recorded: str
    taken: tuple[str, ...] = ()
    given: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The article's identifier and the moment; of the beginning of an act's record, the act's identifier."""
        return bounded(f"{self.article_id}@{self.recorded}") if self.taken or self.given else self.article_id

    @property
    def day(self) -> date:
        """Day of the load."""
        return date.fromisoformat(self.recorded[:10])


def present_wording(article: Article) -> Wording:
    """Return the present wording of an article as its others are kept."""
    days = article.valid_from, article.valid_to
    return Wording(article.id, article.source_id, article.status, *days, article.text, article.instrument)


def on_record(wordings: Mapping[str, Wording]) -> list[str]:
    """Return the wordings of an article as its record has them: each as JSON, the one under the name `PRESENT` marked."""
    return [_written(wording, is_present=name == PRESENT) for name, wording in wordings.items()]


def _written(wording: Wording, *, is_present: bool) -> str:
    kept = {name: getattr(wording, name) for name in ("source_id", "status", "valid_from", "valid_to", "text", "instrument")}
    return json.dumps({**kept, "is_present": is_present}, ensure_ascii=False, default=str)


def read_record(article_id: str, written: str) -> tuple[Wording, bool]:
    """Return a wording out of the record of an article, and whether it was the present one."""
    kept = json.loads(written)
    is_present = kept.pop("is_present")
    for name in ("valid_from", "valid_to"):
        kept[name] = date.fromisoformat(kept[name]) if kept[name] else None
    return Wording(article_id, **kept), is_present


def revision(article_id: str, recorded: str, before: Sequence[str], after: Sequence[str]) -> Revision | None:
    """Return the change between two records of an article; None where they are the same."""
    taken, given = (tuple(sorted(set(one) - set(other))) for one, other in ((before, after), (after, before)))
    return Revision(article_id, recorded, taken, tuple(map(_digest, given))) if taken or given else None


def undone(record: Sequence[str], revisions: Iterable[Revision]) -> list[str]:
    """Return the record of an article as it was before revisions, the newest of them first."""
    kept = {_digest(written): written for written in record}
    for one in revisions:
        for digest in one.given:
            kept.pop(digest, None)
        kept |= {_digest(written): written for written in one.taken}
    return list(kept.values())


def _digest(written: str) -> str:
    return hashlib.sha256(written.encode()).hexdigest()[:32]
