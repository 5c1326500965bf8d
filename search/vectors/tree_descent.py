"""Top-down search through the tree of the law, as legal experts do: acts, then sections, then articles.

A best-first beam over section embeddings: of all branches met so far, the most promising is opened next, so
that the search steps back by itself when the branch it went down turns out poor.
"""

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from search.arrays import Scores
from search.corpus.corpus import Corpus, Mask

BEAM = 12
"""Children of one node that are followed."""
OPENED = 400
"""Sections that are opened in one search."""
PATH_SHARE = 0.4
"""Share of a node's score that is that of the path to it; the rest is its own."""


@dataclass(frozen=True, slots=True)
class _Children:
    """Positions below each node, as slices of one array (a node is a section, or -1 - act)."""

    start: dict[int, int]
    end: dict[int, int]
    order: npt.NDArray[np.intp]

    @classmethod
    def of(cls, parents: npt.NDArray[np.int32]) -> "_Children":
        order = np.argsort(parents, kind="stable")
        nodes, starts, counts = np.unique(parents[order], return_index=True, return_counts=True)
        start = dict(zip(nodes.tolist(), starts.tolist(), strict=True))
        return cls(start, dict(zip(nodes.tolist(), (starts + counts).tolist(), strict=True)), order)

    def __getitem__(self, node: int) -> npt.NDArray[np.intp]:
        start = self.start.get(node)
        return self.order[:0] if start is None else self.order[start : self.end[node]]


class HierarchicalSearch:
    """Best-first beam search over the tree of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._articles = _Children.of(corpus.article_parent)
        self._sections = _Children.of(corpus.section_parent)

    def __call__(
        self, acts: Scores, sections: Scores, articles: Scores, allowed: Mask | None = None, opened: int = OPENED
    ) -> Scores:
        """Return float32[n]: scores of the articles that the search came to, -inf for all others.

        Args:
            acts: Similarity of the query to each act.
            sections: Likewise to each section.
            articles: Likewise to each article.
            allowed: bool[n]; other articles, and branches without any of these, are passed over (a filter).
            opened: Most nodes that are opened.
        """
        reached = np.full(len(articles), -np.inf, np.float32)
        useful = None if allowed is None else self._above(allowed)
        frontier = [(-float(score), -1 - act) for act, score in enumerate(acts)]
        if allowed is not None:
            open_acts = set(self._corpus.article_act[allowed].tolist())
            frontier = [(score, node) for score, node in frontier if -1 - node in open_acts]
        heapq.heapify(frontier)
        while frontier and opened > 0:
            negative, node = heapq.heappop(frontier)
            opened -= 1
            path = -negative
            leaves = self._articles[node]
            reached[leaves] = PATH_SHARE * path + (1 - PATH_SHARE) * articles[leaves]
            below = self._sections[node]
            if useful is not None:
                below = below[useful[below]]
            if len(below) > BEAM:
                below = below[np.argpartition(-sections[below], BEAM)[:BEAM]]
            for child in below.tolist():
                score = PATH_SHARE * path + (1 - PATH_SHARE) * float(sections[child])
                heapq.heappush(frontier, (-score, child))
        if allowed is not None:
            reached[~allowed] = -np.inf
        return reached

    def _above(self, allowed: Mask) -> Mask:
        """Return bool[m]: the sections with an allowed article anywhere below: others would use up what may be opened."""
        above = np.zeros(len(self._corpus.sections), bool)
        nodes = np.unique(self._corpus.article_parent[allowed])
        while len(nodes := nodes[nodes >= 0]):
            above[nodes] = True
            nodes = np.unique(self._corpus.section_parent[nodes])
        return above
