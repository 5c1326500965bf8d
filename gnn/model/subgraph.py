"""The edges of the subgraph that a graph encoder works on: sections and articles, each kind of edge both ways."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cypher.graph import Graph
from schema.errors import GraphBusy
from search.corpus.corpus import Corpus

Ints = npt.NDArray[np.int64]
EDGE_KINDS = ("contains", "contained", "cites", "cited")
"""Kinds of edge, in the order of the one-hot attribute; each second is the first turned round."""
READING_KINDS = (*EDGE_KINDS, "next", "previous")
"""The same where reading order counts too; models that do without it have no weights for the last two."""
ALL_KINDS = (*READING_KINDS, "asks", "asked")
"""The same where training questions are nodes too (`gnn.training.question_nodes`)."""
_JOINED = (
    ("contains", "CONTAINS", "Section", "Article", "contains_section_article"),
    ("contains", "CONTAINS", "Section", "Section", "contains_section_section"),
    ("cites", "CITES", "Article", "Article", "corpus_citations"),
)
"""Kind in the subgraph, type and ends in the graph, and the statement that reads them; in the order of the subgraph."""


@dataclass(frozen=True, eq=False)
class SubgraphEdges:
    """Nodes are the n articles, then the m sections, of a corpus.

    Attributes:
        edges: int64[2, e], (from, to).
        kinds: int64[e], places in `ALL_KINDS`.
    """

    articles: int
    sections: int
    edges: Ints
    kinds: Ints


def subgraph_edges(corpus: Corpus, kinds: Sequence[str]) -> SubgraphEdges:
    """Return the edges of a corpus of the kinds named (``contains``, ``cites``, ``next``), each both ways."""
    n = len(corpus.articles)
    pairs: list[tuple[str, Ints]] = []
    if "contains" in kinds:
        for parents, offset in ((corpus.article_parent, 0), (corpus.section_parent, n)):
            children = np.flatnonzero(parents >= 0)
            pairs.append(("contains", np.stack([n + parents[children].astype(np.int64), offset + children])))
    if "cites" in kinds:
        pairs.append(("cites", corpus.cites[corpus.cites[:, 0] != corpus.cites[:, 1]].T.astype(np.int64)))
    if "next" in kinds:
        pairs.append(("next", _reading_order(corpus)))
    return _both_ways(n, len(corpus.sections), pairs)


def attribute_width(kinds: Sequence[str], questions: bool = False) -> int:
    """Return the number of columns of the one-hot attribute of edges of the kinds named, and of those of questions."""
    if questions:
        return len(ALL_KINDS)
    return len(READING_KINDS if "next" in kinds else EDGE_KINDS)


def shuffled(edges: SubgraphEdges, seed: int) -> SubgraphEdges:
    """Return edges whose heads changed places at random among articles, and among sections, of each kind.

    Every node keeps the number of edges of each kind that it had, and nothing of what they said: what a network earns over
    these, it does not owe to the structure of the law.
    """
    draw = np.random.default_rng(seed)
    pairs: list[tuple[str, Ints]] = []
    for forward in range(0, len(READING_KINDS), 2):
        tail, head = edges.edges[:, edges.kinds == forward].copy()
        for place in (np.flatnonzero(head < edges.articles), np.flatnonzero(head >= edges.articles)):
            head[place] = head[draw.permutation(place)]
        pairs.append((READING_KINDS[forward], np.stack([tail, head])))
    return _both_ways(edges.articles, edges.sections, pairs)


def _reading_order(corpus: Corpus) -> Ints:
    """Return int64[2, e]: each article of the present law with the one after it in its act."""
    present = np.flatnonzero(corpus.present).astype(np.int64)
    first, second = present[:-1], present[1:]
    together = corpus.article_act[first] == corpus.article_act[second]
    return np.stack([first[together], second[together]])


def exported_edges(graph: Graph, corpus: Corpus, kinds: Sequence[str], *, through_gds: bool = True) -> SubgraphEdges:
    """Return the same edges, read from the graph.

    They come from a projection of GDS where it answers and has the memory, else by statements. Both ways give the arrays
    that `subgraph_edges` makes of the corpus of that graph, element by element.
    """
    n = len(corpus.articles)
    place: Mapping[str, Mapping[str, int]] = {
        "Article": corpus.article_position,
        "Section": {id: n + position for id, position in corpus.section_position.items()},
    }
    pairs: list[tuple[str, Ints]] = []
    for kind, edge, tail, head, statement in _JOINED:
        if kind not in kinds:
            continue
        named = _projected(graph, edge, tail, head) if through_gds else None
        if named is None:
            ends = ("article", "target") if kind == "cites" else ("parent", "child")
            named = [(row[ends[0]], row[ends[1]]) for row in graph.rows(statement)]
        joined = np.array([(place[tail][a], place[head][b]) for a, b in named if a != b], np.int64).reshape(-1, 2)
        # Trees are ordered by their child, citations by who cites.
        order = np.lexsort((joined[:, 0], joined[:, 1])) if kind == "contains" else np.lexsort((joined[:, 1], joined[:, 0]))
        pairs.append((kind, joined[order].T))
    if "next" in kinds:  # positions are in reading order
        pairs.append(("next", _reading_order(corpus)))
    return _both_ways(n, len(corpus.sections), pairs)


def _projected(graph: Graph, edge: str, tail: str, head: str) -> list[tuple[str, str]] | None:
    """Return edges from a projection of GDS; None where there is no GDS, or no memory for it."""
    if graph.gds is None:
        return None
    with suppress(GraphBusy):
        return graph.gds.edges(edge, tail, head)
    return None


def _both_ways(articles: int, sections: int, pairs: Sequence[tuple[str, Ints]]) -> SubgraphEdges:
    edges: list[Ints] = [np.zeros((2, 0), np.int64)]
    kinds: list[Ints] = [np.zeros(0, np.int64)]
    for kind, ends in pairs:
        forward = READING_KINDS.index(kind)
        edges += [ends, ends[::-1]]
        kinds += [np.full(ends.shape[1], forward), np.full(ends.shape[1], forward + 1)]
    return SubgraphEdges(articles, sections, np.concatenate(edges, 1), np.concatenate(kinds))
