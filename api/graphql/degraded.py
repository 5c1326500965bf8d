"""What can be said of the law while the graph's server is away, in rows as the graph gives them.

Order, tree and reading order come from the arrays of the corpus; numbers, headings and texts from the text index,
where that is a server, which keeps them. The embedded text index keeps none: then identifiers and dates are given, and
each field that cannot be null and is not known is an error of its own. Lists that only the graph knows, of citations and
of contents, are empty, and the answer says that the graph was not asked.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from cypher.graph import Row
from schema.errors import LexgraphError
from schema.identifiers import section_number
from search.corpus.corpus import Corpus
from search.text.index import TextIndex

_Ids = Sequence[str]


def rows_without_graph(index: TextIndex, statement: str, ids: _Ids, away: LexgraphError) -> list[Row]:
    """Rows of a named statement over identifiers, less what only the graph knows.

    Args:
        away: why the graph was not asked; the value of what is not known and cannot be null.

    Raises:
        ServerUnavailable, QueryTimeout, NotReady: the text index is away as well.
    """
    make = _ROWS.get(statement)
    return [] if make is None else make(index, ids, away)


def _articles(index: TextIndex, ids: _Ids, away: LexgraphError) -> list[Row]:
    corpus = index.corpus
    kept = {row["id"]: row for row in index.lexical.documents(ids)}
    rows: list[Row] = []
    for id in ids:
        position = corpus.article_position[id]
        found = kept.get(id, {})
        rows.append(
            {
                "id": id,
                "act_id": corpus.acts[int(corpus.article_act[position])],
                "parent_id": _name(corpus, int(corpus.article_parent[position])),
                **{name: found.get(name, away) for name in ("number", "text", "language")},
                "heading": found.get("heading"),
                **_unknown("status", "source_id"),
                "authority": float(corpus.authority[position]),
                "valid_from": _day(found.get("valid_from")),
                "valid_to": _day(found.get("valid_to")),
            }
        )
    return rows


def _sections(index: TextIndex, ids: _Ids, away: LexgraphError) -> list[Row]:
    corpus = index.corpus
    kept = {row["id"]: row for row in index.lexical.groups(ids)}
    rows: list[Row] = []
    for id in ids:
        position = corpus.section_position[id]
        act = position
        while act >= 0:
            act = int(corpus.section_parent[act])
        rows.append(
            {
                "id": id,
                "act_id": _name(corpus, act),
                "parent_id": _name(corpus, int(corpus.section_parent[position])),
                "level": corpus.level(position),
                # As the readers make it: a section has no number but the one that its heading begins with.
                "number": section_number(kept[id]["heading"]) if id in kept else away,
                "heading": kept.get(id, {}).get("heading"),
                **_unknown("status", "source_id", "valid_from", "valid_to", "text"),
            }
        )
    return rows


def _acts(index: TextIndex, ids: _Ids, away: LexgraphError) -> list[Row]:
    corpus = index.corpus
    kept = {row["id"]: row for row in index.lexical.groups(ids)}
    place = {id: position for position, id in enumerate(corpus.acts)}
    return [
        {
            "id": id,
            "title": kept.get(id, {}).get("heading", away),
            "language": kept.get(id, {}).get("language", away),
            "kind": corpus.kinds[place[id]],
            "jurisdiction": corpus.jurisdictions[place[id]],
            **_unknown("status", "valid_from", "valid_to", "eli", "celex", "source_id", "licence", "short_title"),
            **_unknown("published", "updated", "subjects", "preamble"),
        }
        for id in ids
    ]


def _beside(step: int) -> "_Make":
    """Neighbours in reading order, which positions of a corpus are in."""

    def make(index: TextIndex, ids: _Ids, away: LexgraphError) -> list[Row]:
        corpus = index.corpus
        rows: list[Row] = []
        for id in ids:
            position = corpus.article_position[id]
            other = position + step
            if 0 <= other < len(corpus.articles) and corpus.article_act[other] == corpus.article_act[position]:
                rows.append({"id": id, "other": corpus.articles[other]})
        return rows

    return make


_Make = Callable[[TextIndex, _Ids, LexgraphError], list[Row]]
_ROWS: Mapping[str, _Make] = {
    "articles_by_id": _articles,
    "sections_by_id": _sections,
    "acts_by_id": _acts,
    "next_articles": _beside(1),
    "previous_articles": _beside(-1),
}


def _name(corpus: Corpus, node: int) -> str:
    return corpus.sections[node] if node >= 0 else corpus.acts[-1 - node]


def _unknown(*names: str) -> Row:
    return dict.fromkeys(names)


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
