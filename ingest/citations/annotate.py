"""Add to an act what its own words say: citations in the text of its articles, what its title does to other acts.

A publisher's link or metadata stand before what is found in words: where both speak of the same, theirs is kept.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from citations.context import contexts
from citations.find import find_references
from ingest.citations.transpositions import find_amendments, find_transpositions
from schema.filter import is_present
from schema.records import ActTree, Citation, OutsideKind, Read, Relation, RelationType

VERSION = 2
"""Raised when words are read otherwise than before, so that every file is read again."""
LANGUAGES = frozenset({"fr", "en"})
SURE_OF_PREAMBLES = 0.9
"""A preamble names many directives: only those that it says are transposed count. A title's all do, each as sure as it is."""
_CHANGES: dict[str, RelationType] = {"amends": "AMENDS", "repeals": "REPEALS"}
_LONGEST_PREAMBLE = 20_000


def read_with_references(read: Callable[[Path], Iterable[Read]], path: Path) -> Iterator[Read]:
    """Yield what a reader gives of a file, its acts with what their words say. Raises as the reader does."""
    for item in read(path):
        yield with_references(item) if isinstance(item, ActTree) else item


def with_references(tree: ActTree) -> ActTree:
    """Return the act with the citations and relations that its words make, beside those that it has."""
    if tree.act.language not in LANGUAGES:
        return tree
    citations = (*tree.citations, *_citations(tree))
    return replace(tree, citations=citations, relations=(*tree.relations, *_relations(tree)))


def _citations(tree: ActTree) -> Iterator[Citation]:
    links: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for citation in tree.citations:
        links[citation.article_id].append((citation.start, citation.end))
    act = tree.act.id
    for article, context in contexts(tree):
        if not is_present(article.valid_from, article.valid_to, tree.act.as_of):
            continue  # what it cites is found in its text when that is shown
        taken = sorted(links.get(article.id, ()))
        starts = [start for start, _ in taken]
        for reference in find_references(article.text, context):
            target, start, end = reference.target, reference.start, reference.end
            before = bisect_right(starts, end - 1)
            if target not in (act, article.id) and not any(stop > start for _, stop in taken[:before]):
                yield Citation(article.id, target, _kind(target), reference.text, start, end, "text")


def _kind(target: str) -> OutsideKind:
    act, _, place = target.partition("#")
    if not place:
        return "article" if act.count("/") > 1 else "act"
    return "section" if place.startswith("/") else "article"


def _relations(tree: ActTree) -> Iterator[Relation]:
    act = tree.act
    if act.jurisdiction == "eu":
        return  # what the Union's own acts name is not transposed by them
    seen = {(relation.type, relation.target) for relation in tree.relations}
    preamble = act.preamble[:_LONGEST_PREAMBLE]
    for basis, text, sure in (("title", act.title, 0.0), ("preamble", preamble, SURE_OF_PREAMBLES)):
        for transposition in find_transpositions(text):
            target = f"eu/{transposition.celex}"
            if transposition.confidence >= sure and ("TRANSPOSES", target) not in seen:
                seen.add(("TRANSPOSES", target))
                yield Relation(act.id, "TRANSPOSES", target, basis, transposition.evidence[:500], transposition.confidence)
    for amendment in find_amendments(act.title, act.jurisdiction):
        type = _CHANGES[amendment.change]
        if (type, amendment.act) not in seen:
            seen.add((type, amendment.act))
            yield Relation(act.id, type, amendment.act, "title", amendment.evidence[:500], 0.9)
