"""Law as `lexgraph show` gives it: an article, a section or an act with its place, its days, its text and its citations."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from citations.resolve import number_order
from cli.language import localised
from cli.named import BY_ID, Named
from cypher.graph import Graph, Row
from schema.errors import BadQuery, NotFound, NotOnRecord
from schema.publishers import act_url, article_url, outside_url, section_url, wording_url
from schema.wordings import Days, TextOfDay
from search.corpus.corpus import Corpus
from search.in_time.act_on_day import ActOnDay
from search.in_time.article_on_day import ArticleOnDay
from search.in_time.as_known import as_known
from search.in_time.cited_in_text import cited_in_text
from search.query.understanding import Understanding
from search.text.index import TextIndex

Page = dict[str, Any]
_NEIGHBOURS = {"previous": -1, "next": 1}
_SHOWN = ("id", "number", "heading", "title", "kind", "language", "status", "valid_from", "valid_to", "published", "updated")


def page_of(graph: Graph, index: TextIndex, name: Named, day: date | None = None, known_on: date | None = None) -> Page:
    """Return all that is shown of an act, a section or an article.

    Args:
        graph: the law.
        index: of the same law.
        name: label and identifier.
        day: of an article, the day whose wording is shown.
        known_on: of an article, the day on which the graph knew what is shown; without ``day``, the wording of that day.

    Raises:
        NotFound: nothing was known of the article then.
        BadQuery: a day is named, and no article.
    """
    (label, id), corpus = name, index.corpus
    if label != "Article" and (day or known_on):
        raise BadQuery(localised("{id} is no article: lexgraph contents {id} --on DAY lists what stood in it on a day", id=id))
    (row,) = graph.rows(BY_ID[label], ids=[id])
    act = row if label == "Act" else _row(graph, "Act", row["act_id"])
    page: Page = {"label": label} | {key: row[key] for key in _SHOWN if key in row}
    page |= {"path": _path_above(graph, corpus, id), "cited_by": _cited_by(graph, corpus, id)}
    if label == "Act":
        return page | {"url": act_url(act), "text": act["preamble"] or "", "relations": _relations(graph, id)}
    page |= {"act": {"id": act["id"], "title": act["title"]}}
    if label == "Section":
        return page | {"url": section_url(act, row["source_id"]), "text": row["text"] or ""}
    wordings = graph.rows("wordings", ids=[id])
    page["known_on"] = known_on
    if known_on:
        row, wordings = known_then(graph, row, wordings, known_on)
        page |= {key: row[key] for key in _SHOWN if key in row}
    day = day or known_on
    beside = {side: _neighbour(graph, corpus.beside(id, step)) for side, step in _NEIGHBOURS.items()}
    page |= {"url": article_url(act, row, wordings), "text": row["text"], "wordings": [_wording(act, w) for w in wordings]}
    page |= beside | {"cites": _cites(graph, corpus, id), "cites_outside": _cites_outside(graph, id)}
    page |= {"renumbered": _renumberings(graph, id)}
    if day is None:
        return page
    page |= on_day(day, row, wordings, page, (act["known_from"], act["known_to"]))
    return page | _around_on_day(graph, index, act["id"], id, page) if act["known_from"] else page


def known_then(graph: Graph, article: Row, others: Sequence[Row], day: date) -> tuple[Row, list[Row]]:
    """Return the rows of an article and of its other wordings as the graph had them on a day.

    Raises:
        NotFound: nothing was known of it then, or that is not known.
    """
    try:
        return as_known(article, others, graph.rows("revisions", ids=[article["id"], article["act_id"]]), day)
    except NotOnRecord as none:
        if none.since is None or none.since <= day:
            raise NotFound(localised("nothing was on record of article {number} on {day}", number=none.number, day=day)) from None
        raise NotFound(
            localised(
                "what was on record of article {number} is known from {since} on, not on {day}",
                number=none.number,
                since=none.since,
                day=day,
            )
        ) from None


def on_day(day: date, article: Row, wordings: Sequence[Row], page: Mapping[str, Any], known: Days = (None, None)) -> Page:
    """Return what an article's page has otherwise on a day: that day's text, or none where it is not known.

    Args:
        known: first and last day whose law the source of the act has.
    """
    stood = ArticleOnDay.of(article, wordings, day, known)
    told: Page = {"on": day, "text_of_day": stood.state.value}
    if stood.state in (TextOfDay.NONE, TextOfDay.OUTSIDE):
        told |= {"known_from": known[0], "known_to": known[1]}
        told |= {"wording_before": _days(stood.before), "wording_after": _days(stood.after)}
    if stood.state is TextOfDay.SAME:
        return told
    days: Page = {"status": None, "valid_from": None, "valid_to": None, "url": None}
    if stood.place is not None:
        days = {key: page["wordings"][stood.place][key] for key in days}
    return told | days | {"text": stood.text}


def _days(wording: Row | None) -> Page | None:
    return None if wording is None else {name: wording[name] for name in ("valid_from", "valid_to")}


def _around_on_day(graph: Graph, index: TextIndex, act: str, id: str, page: Page) -> Page:
    """Return the place of an article on the day of its page, its neighbours, and what the text of that day cites."""
    stood = ActOnDay.of(graph, act, page["on"])
    if id not in stood.parts:
        act_alone = [step for step in page["path"] if step["id"] == act]
        return {"path": act_alone, "previous": None, "next": None, "cites": [], "cites_outside": []}
    before, after = stood.beside(id)
    around: Page = {"path": [{"id": step, "heading": heading} for step, heading in stood.path_above(id)]}
    for side, part in (("previous", before), ("next", after)):
        around[side] = None if part is None else {"id": part.id, "number": part.number}
    if page["text_of_day"] == TextOfDay.OTHER.value or page["known_on"]:
        cited = cited_in_text(Understanding.of(index), id, page["text"] or "")
        in_text = [{"words": one.words, "target": one.target, "ids": list(one.ids)} for one in cited]
        around |= {"cites": [], "cites_outside": [], "cites_in_text": in_text}
    return around


def _renumberings(graph: Graph, id: str) -> list[Page]:
    """Return the articles that an article's text came from and went to, by day."""
    kept = {"from": "renumberings_into", "to": "renumberings"}
    rows = [(side, row) for side, statement in kept.items() for row in graph.rows(statement, ids=[id])]
    found = [
        {"side": side, "id": row["other"], "number": row["number"], "on": row["on"], "similarity": row["similarity"]}
        for side, row in rows
    ]
    return sorted(found, key=lambda other: (other["on"], other["side"]))


def _path_above(graph: Graph, corpus: Corpus, id: str) -> list[Page]:
    """Return identifier and heading of what stands above a section or an article, from the act down."""
    above = corpus.path_above(id)
    headings = {row["id"]: row["heading"] for row in graph.rows("sections_by_id", ids=above)}
    headings |= {row["id"]: row["title"] for row in graph.rows("acts_by_id", ids=above)}
    return [{"id": step, "heading": headings[step]} for step in above]


def _row(graph: Graph, label: str, id: str) -> Row:
    rows = graph.rows(BY_ID[label], ids=[id])
    if not rows:
        raise NotFound(f"no such act: {id}")
    return rows[0]


def _wording(act: Row, wording: Row) -> Page:
    kept = {key: wording[key] for key in ("id", "status", "valid_from", "valid_to")}
    return kept | {"text_known": bool(wording["text"]), "url": wording_url(act, wording["source_id"])}


def _neighbour(graph: Graph, id: str | None) -> Page | None:
    return None if id is None else {"id": id, "number": _row(graph, "Article", id)["number"]}


def _cites(graph: Graph, corpus: Corpus, id: str) -> list[Page]:
    """Return what an article cites, each once, in the order of the text."""
    return _described(graph, corpus, _each_once(graph.rows("cites", ids=[id])))


def _cited_by(graph: Graph, corpus: Corpus, id: str) -> list[Page]:
    """Return the articles that cite, each once, by act and number."""
    citing = _described(graph, corpus, _each_once(graph.rows("cited_by", ids=[id])))
    return sorted(citing, key=lambda other: (other["act"] or "", number_order(other["number"] or ""), other["id"]))


def _each_once(rows: Iterable[Row]) -> dict[str, list[str]]:
    """Return the words of the citations by what is at their other end."""
    words: dict[str, list[str]] = {}
    for row in rows:
        words.setdefault(row["other"], []).append(row["text"])
    return words


def _described(graph: Graph, corpus: Corpus, words: Mapping[str, list[str]]) -> list[Page]:
    """Return what is cited or cites, one object each, with its number, its act, the heading above it, and the words."""
    rows = {(label, row["id"]): row for label, statement in BY_ID.items() for row in graph.rows(statement, ids=list(words))}
    parents = {id: corpus.parent(id) or "" for label, id in rows if label == "Article"}
    headings = {row["id"]: row["heading"] for row in graph.rows("sections_by_id", ids=sorted({*parents.values()}))}
    acts = sorted({row["act_id"] for (label, _), row in rows.items() if label != "Act"})
    titles = {row["id"]: row["title"] for row in graph.rows("acts_by_id", ids=acts)}
    described: dict[str, Page] = {}
    for (label, id), row in rows.items():
        title = row["title"] if label == "Act" else titles[row["act_id"]]
        heading = headings.get(parents[id], "") if label == "Article" else row.get("heading", "")
        described[id] = {"id": id, "label": label, "number": row.get("number"), "act": title, "heading": heading}
    return [described[id] | {"mentions": len(texts), "words": texts} for id, texts in words.items() if id in described]


def _cites_outside(graph: Graph, id: str) -> list[Page]:
    rows = graph.rows("outside_citations_from", ids=[id])
    words: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows, key=lambda row: (row["start"], row["target"])):
        words.setdefault((row["target"], row["target_kind"]), []).append(row["text"])
    return [
        {"target": target, "kind": kind, "mentions": len(texts), "words": texts, "url": outside_url(target)}
        for (target, kind), texts in words.items()
    ]


def _relations(graph: Graph, id: str) -> list[Page]:
    """Return what an act does to others, and others to it."""
    there = [{"type": row["type"], "from": id, "to": row["target"]} for row in graph.rows("relations_of_acts", ids=[id])]
    return there + [{"type": row["type"], "from": row["other"], "to": id} for row in graph.rows("relations_into", ids=[id])]
