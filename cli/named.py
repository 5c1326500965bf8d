"""From what a person types to the law it names: an identifier, a publisher's identifier, a number, a citation, a title."""

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from cli.language import localised
from cypher.graph import Graph
from schema.errors import BadQuery, NotFound
from schema.filter import Filter
from schema.identifiers import act_of, eli_target, fold
from search.corpus.corpus import Corpus
from search.query.understanding import Understanding
from search.text.index import TextIndex

Named = tuple[str, str]
"""Label and identifier of an act, a section or an article."""
BY_ID: Mapping[str, str] = {"Act": "acts_by_id", "Section": "sections_by_id", "Article": "articles_by_id"}
_BY_SOURCE_ID: Mapping[str, str] = {"Article": "with_source_id_article", "Section": "with_source_id_section"}
_PUBLISHED = re.compile(r"(?:LEGI|JORF)(?:TEXT|SCTA|ARTI)\d{12}")
_ADDRESS = re.compile(r"https?://", re.IGNORECASE)
_MOST = 10
"""Articles of one number that are listed."""


def named(graph: Graph, index: TextIndex, words: str, act: str | None = None) -> Named:
    """Return what words name.

    Args:
        graph: the law.
        index: of the same law.
        words: an identifier or an address of ours or the publisher's, a number, a citation, or the title of an act.
        act: identifier, title or abbreviation of the act that holds it.

    Raises:
        NotFound: they name nothing, or several sections; the message has the nearest, or these.
        BadQuery: they name several articles; the message lists them.
    """
    words = " ".join(words.split())
    found = _identified(graph, index.corpus, words) if act is None else None
    if found is not None:
        return found
    understanding = Understanding.of(index)
    if act is None and act_of(words) in index.corpus.act_position:  # below an act of ours, and none of its identifiers
        act, words = act_of(words), words.rpartition("/")[2]
    only = understanding.filter(Filter(act=act))
    if place := understanding.section_called(words, only.act):
        return "Section", place
    understood = understanding.understand(words, only)
    within = None if only.act is None else [index.corpus.act_position[only.act]]
    articles = understood.named or understanding.numbers.find(words, within)  # "Annexe I" is a number, too
    if len(articles) > 1:
        raise BadQuery(_several(index.corpus, understanding, words, articles))
    if articles:
        return "Article", index.corpus.articles[articles[0]]
    if understood.missing:
        raise NotFound("; ".join(missing.said for missing in understood.missing))
    try:
        return "Act", understanding.names.resolve(words)
    except NotFound:
        raise NotFound(_nothing(words, understanding.names.titles())) from None


def act_named(index: TextIndex, words: str) -> str:
    """Return the identifier of the act that words name, by identifier, title or abbreviation.

    Raises:
        NotFound: they name none; the message has the nearest.
        BadQuery: they name several.
    """
    return Understanding.of(index).names.resolve(" ".join(words.split()))


def _identified(graph: Graph, corpus: Corpus, words: str) -> Named | None:
    """Return what has an identifier of ours, or the publisher's."""
    places = {"Act": corpus.act_position, "Section": corpus.section_position, "Article": corpus.article_position}
    for id in filter(None, (words, eli_target(words))):
        for label, place in places.items():
            if id in place:
                return label, id
    published = _PUBLISHED.findall(words) if _ADDRESS.match(words) or _PUBLISHED.fullmatch(words) else []
    for name in reversed(published):  # the last of an address is the narrowest
        for label, statement in _BY_SOURCE_ID.items():
            rows = graph.rows(statement, source_id=name)
            if rows:
                return label, rows[0]["id"]
    names = {*published, words.upper()}
    return next((("Act", row["id"]) for row in graph.rows("act_names") if names & {row["source_id"], row["celex"]} - {""}), None)


def _nothing(words: str, titles: Mapping[str, str]) -> str:
    """Return what is said of words that name nothing: the acts whose titles they nearly are, or the way to search."""
    near = get_close_matches(fold(words.lower()), titles, n=2, cutoff=0.8)
    if near:
        return localised("nothing is named {words}; nearest: {near}", words=words, near=", ".join(map(titles.__getitem__, near)))
    return localised("nothing is named {words}", words=words) + localised(" (lexgraph search finds articles by their words)")


def _several(corpus: Corpus, understanding: Understanding, words: str, positions: Sequence[int]) -> str:
    acts = [corpus.acts[int(corpus.article_act[position])] for position in positions]
    lines = [f"  {corpus.articles[p]}  {understanding.names.title(act)}" for p, act in zip(positions, acts, strict=True)]
    said = localised(
        "{n} articles are named by {number}: name one by its identifier, or its act with --act", n=len(lines), number=words
    )
    return "\n".join([said, *lines[:_MOST], *["  …"][: len(lines) > _MOST]])
