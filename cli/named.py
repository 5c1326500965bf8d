"""From what a person types to the law it names: an identifier, a publisher's identifier, a number, a citation, a title."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches

from cli.language import localised
from cypher.graph import Graph, Row
from ingest.citations.resolve import loose_number
from schema.errors import BadQuery, NotFound
from schema.identifiers import eli_target, fold

Named = tuple[str, str]
"""Label and identifier of an act, a section or an article."""
BY_ID: Mapping[str, str] = {"Act": "acts_by_id", "Section": "sections_by_id", "Article": "articles_by_id"}
_BY_SOURCE_ID: Mapping[str, str] = {"Article": "with_source_id_article", "Section": "with_source_id_section"}
_PUBLISHED = re.compile(r"(?:LEGI|JORF)(?:TEXT|SCTA|ARTI)\d{12}")
_MEANT = re.compile(r"\b(?!(?:art|articles?|d[ue]|des|l[ae]?|les)\b)\w+", re.IGNORECASE)
"""A word that says more than what joins an article to its act."""
_MOST = 10
"""Articles of one number that are listed."""


def named(graph: Graph, words: str, act: str | None = None) -> Named:
    """Return what words name.

    Args:
        graph: the law.
        words: an identifier or an address of ours or the publisher's, a number, a citation, or the title of an act.
        act: identifier or title of the act that holds it.

    Raises:
        NotFound: they name nothing; the message has the nearest numbers.
        BadQuery: they name several articles; the message lists them.
    """
    words = " ".join(words.split())
    within = None if act is None else act_named(graph, act)
    found = _identified(graph, words) if within is None else None
    if found is not None:
        return found
    numbered = [id for id, number, of in _articles(graph) if of == (within or of) and loose_number(number) == loose_number(words)]
    if len(numbered) > 1:
        raise BadQuery(_several(graph, words, numbered))
    if numbered:
        return "Article", numbered[0]
    cited = None if within else _titled(graph, words) or _cited(graph, words)
    if cited is None:
        raise NotFound(_nothing(graph, words, within))
    return cited


def _identified(graph: Graph, words: str) -> Named | None:
    """Return what has an identifier of ours, or the publisher's."""
    for id in filter(None, (words, eli_target(words))):
        for label, statement in BY_ID.items():
            if "/" in id and graph.rows(statement, ids=[id]):
                return label, id
    published = _PUBLISHED.findall(words)
    for name in reversed(published):  # the last of an address is the narrowest
        for label, statement in _BY_SOURCE_ID.items():
            rows = graph.rows(statement, source_id=name)
            if rows:
                return label, rows[0]["id"]
    names = {*published, words.upper()}
    return next((("Act", row["id"]) for row in graph.rows("act_names") if names & {row["source_id"], row["celex"]} - {""}), None)


def act_named(graph: Graph, words: str) -> str:
    """Return the identifier of an act that is named by its identifier or its title.

    Raises:
        NotFound: there is none.
    """
    found = _identified(graph, words) or _titled(graph, words)
    if found is None or found[0] != "Act":
        raise NotFound(f"no such act: {words}")
    return found[1]


def _titled(graph: Graph, words: str) -> Named | None:
    """Return the act of a title; of one that only one act's title holds, too."""
    wanted, acts = _plain(words), graph.rows("act_names")
    titles = [(row["id"], {_plain(row["title"]), _plain(row["short_title"] or "")}) for row in acts]
    same = [id for id, names in titles if wanted in names]
    holding = [id for id, names in titles if any(f" {wanted} " in f" {name} " for name in names)]
    return next((("Act", ids[0]) for ids in (same, holding) if len(ids) == 1), None)


def _plain(text: str) -> str:
    return " ".join(re.findall(r"\w+", fold(text.lower())))


def _cited(graph: Graph, words: str) -> Named | None:
    """Return what a citation in words names ("article L. 1234-9 du code du travail"), where that is one."""
    from ingest.citations.find import find_references
    from ingest.citations.link import KnownLaw
    from ingest.citations.reference import Context

    jurisdictions = {row["jurisdiction"] for row in graph.rows("act_names")}
    keys: set[str] = set()
    for of in sorted(jurisdictions):
        rest = list(words)
        found = find_references(words, Context(of, ""))
        for start, end in ((r.start, r.end) for r in found):
            rest[start:end] = " " * (end - start)
        for start, end in (r.act_words for r in found if r.act_words):
            rest[start:end] = " " * (end - start)
        if not _MEANT.search("".join(rest)):  # else something is named that was not understood
            keys |= {r.target for r in found}
    if not keys:
        return None
    law = KnownLaw.of(graph)
    targets = {target for key in keys for target in law.targets(key)}
    return targets.pop() if len(targets) == 1 else None


def _articles(graph: Graph) -> Iterator[tuple[str, str, str]]:
    """Yield identifier, number and act of every article."""
    for row in graph.rows("names_of_articles"):
        for id, number in zip(row["ids"], row["numbers"], strict=True):
            yield id, number, row["act_id"]


def _several(graph: Graph, words: str, ids: list[str]) -> str:
    titles: Row = {row["id"]: row["title"] for row in graph.rows("act_names")}
    acts = {id: act for id, _, act in _articles(graph)}
    lines = [f"  {id}  {titles[acts[id]]}" for id in sorted(ids)[:_MOST]]
    return "\n".join([localised("{n} articles have the number {number}: name one by its identifier, or its act with --act",
                                n=len(ids), number=words), *lines, *["  …"][: len(ids) > _MOST]])  # fmt: skip


def _nothing(graph: Graph, words: str, act: str | None) -> str:
    numbers: dict[str, list[tuple[str, str]]] = {}
    for id, number, of in _articles(graph):
        if act in (None, of):
            numbers.setdefault(loose_number(number), []).append((id, number))
    near = [found for number in get_close_matches(loose_number(words), numbers, 5, 0.75) for found in numbers[number]][:5]
    told = localised("nothing is named {words}", words=words)
    if not near:
        return told + localised(" (lexgraph search finds articles by their words)")
    return "\n".join([told + localised("; the nearest:"), *(f"  {number}  {id}" for id, number in near)])
