"""Answers while the graph's server is away, in rows as the graph gives them.

Order, tree and reading order come from the arrays of the corpus; numbers, headings and texts from the text index,
where that is a server, which keeps them. The embedded text index keeps none: then identifiers and dates are given, and
every other field is null. Lists that only the graph knows, of citations and of contents, are empty, and the answer says
that the graph was not asked.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import date

from cypher.graph import Row
from schema.identifiers import section_number
from schema.labels import properties_of
from schema.records import Act, Article, Section
from search.text.index import TextIndex

_Ids = Sequence[str]
_Make = Callable[[TextIndex, _Ids], list[Row]]


def rows_without_graph(index: TextIndex, statement: str, ids: _Ids) -> list[Row]:
    """Return the rows of a named statement over identifiers, null where only the graph knows.

    Raises:
        ServerUnavailable, QueryTimeout, NotReady: the text index is away as well.
    """
    make = _ROWS.get(statement)
    return [] if make is None else make(index, ids)


def _articles(index: TextIndex, ids: _Ids) -> list[Row]:
    corpus = index.corpus
    documents = {row["id"]: row for row in index.lexical.documents(ids)}
    rows: list[Row] = []
    for id in ids:
        position = corpus.article_position[id]
        kept = {"valid_from": None, "valid_to": None} | documents.get(id, {})
        rows.append(
            {
                **dict.fromkeys(properties_of(Article)),
                **{name: kept.get(name) for name in ("number", "text", "language", "heading")},
                "id": id,
                "act_id": corpus.acts[int(corpus.article_act[position])],
                "authority": float(corpus.authority[position]),
                **{name: _day(kept[name]) for name in ("valid_from", "valid_to")},
            }
        )
    return rows


def _sections(index: TextIndex, ids: _Ids) -> list[Row]:
    corpus = index.corpus
    documents = {row["id"]: row for row in index.lexical.groups(ids)}
    rows: list[Row] = []
    for id in ids:
        path = corpus.path_ids(corpus.section_position[id])
        heading = documents.get(id, {}).get("heading")
        rows.append(
            {
                **dict.fromkeys(properties_of(Section)),
                "id": id,
                "act_id": path[0],
                "level": len(path) - 1,
                # As the readers make it: a section has no number but the one that its heading begins with.
                "number": None if heading is None else section_number(heading),
                "heading": heading,
            }
        )
    return rows


def _acts(index: TextIndex, ids: _Ids) -> list[Row]:
    corpus = index.corpus
    documents = {row["id"]: row for row in index.lexical.groups(ids)}
    return [
        {
            **dict.fromkeys(properties_of(Act)),
            "id": id,
            "title": documents.get(id, {}).get("heading"),
            "language": documents.get(id, {}).get("language"),
            "kind": corpus.kinds[corpus.act_position[id]],
            "jurisdiction": corpus.jurisdictions[corpus.act_position[id]],
        }
        for id in ids
    ]


_ROWS: Mapping[str, _Make] = {
    "articles_by_id": _articles,
    "sections_by_id": _sections,
    "acts_by_id": _acts,
}


def _day(text: str | None) -> date | None:
    return date.fromisoformat(text) if text else None
