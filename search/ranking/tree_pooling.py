"""Soft pooling of scores over the tree: an article shares in what its section, stem and citations score.

For a group g of an article a, ``pool_g(a) = Σ_j softmax_j(β · S_j) · S_j`` over the members j of g, with S the
scores before pooling, and ``S'(a) = S(a) + Σ_g weight_g · pool_g(a)``. Three kinds of group: the articles of the
same parent section; those of the same act whose numbers share a stem (it joins statute and decree, which
the tree of a French code keeps apart); the article with what it cites and what cites it.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from search.arrays import Positions, Scores
from search.corpus.corpus import Corpus

SHARPNESS = 2.0
"""β: how much the best members of a group outweigh the others."""
_FLOOR = 1e-30


@dataclass(frozen=True, slots=True)
class PoolingWeights:
    """Weights of what each kind of group adds."""

    section: float = 1.0
    stem: float = 0.5
    citations: float = 0.3


UNPOOLED = PoolingWeights(0.0, 0.0, 0.0)
"""Nothing is added."""


class TreePooling:
    """Pooling over the groups of one corpus.

    Args:
        corpus: the law.
        section: int[n], the section or act that each article stands in, as a number from 0; unless given, of the present law.
    """

    def __init__(self, corpus: Corpus, section: Positions | None = None) -> None:
        # As NumPy counts and indexes by: any other kind is converted at every query.
        self._section = _Groups.of(corpus.group.astype(np.intp) if section is None else section)
        self._stem = _Groups.of(corpus.stem.astype(np.intp))
        self._citations = corpus.cited_either_way

    def __call__(self, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[n]: the scores with the pools added; -inf stays -inf."""
        if not np.isfinite(scores.max(initial=-np.inf)):
            return scores
        shares, weighted = _weighted(scores, scores.max(initial=0))
        pooled = scores.astype(np.float32)
        for weight, groups in ((weights.section, self._section), (weights.stem, self._stem)):
            if weight:
                pools = _quotient(np.bincount(groups.of_each, weighted), np.bincount(groups.of_each, shares))
                pooled += np.float32(weight) * pools[groups.of_each]
        if weights.citations:
            pooled += np.float32(weights.citations) * _quotient(self._citations @ weighted, self._citations @ shares)
        return pooled

    def at(self, positions: Positions, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[len(positions)]: what `__call__` gives for a few articles, from the members of their groups alone.

        Args:
            positions: of articles with finite scores.
            scores: float32[n].
            weights: of the pools.
        """
        pooled, highest = scores[positions].astype(np.float32), scores.max(initial=0)
        for weight, groups in ((weights.section, self._section), (weights.stem, self._stem)):
            if weight:
                members, group, of_each = groups.members(positions)
                shares, weighted = _weighted(scores[members], highest)
                pooled += np.float32(weight) * _quotient(np.bincount(group, weighted), np.bincount(group, shares))[of_each]
        if weights.citations:
            cited = self._citations[positions]
            shares, weighted = np.zeros((2, len(scores)), np.float32)
            shares[cited.indices], weighted[cited.indices] = _weighted(scores[cited.indices], highest)
            pooled += np.float32(weights.citations) * _quotient(cited @ weighted, cited @ shares)
        return pooled


@dataclass(frozen=True, eq=False)
class _Groups:
    """Groups of articles.

    Attributes:
        of_each: int[n], the group of each article, from 0.
        ordered: int[n], articles by their groups, and by position within one; starts: int[groups + 1], places of these groups.
    """

    of_each: Positions
    ordered: Positions
    starts: Positions

    @classmethod
    def of(cls, of_each: Positions) -> "_Groups":
        return cls(of_each, np.argsort(of_each, kind="stable"), np.r_[0, np.cumsum(np.bincount(of_each))].astype(np.intp))

    def members(self, positions: Positions) -> tuple[Positions, Positions, Positions]:
        """Return the members of the groups of some articles, the group of each member, and that of each of the articles."""
        groups, of_each = np.unique(self.of_each[positions], return_inverse=True)
        starts, sizes = self.starts[groups], self.starts[groups + 1] - self.starts[groups]
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return self.ordered[np.repeat(starts, sizes) + within], np.repeat(np.arange(len(groups)), sizes), of_each


def _weighted(scores: Scores, highest: np.float32) -> tuple[Scores, Scores]:
    """Return the shares that scores have in their pools, but for a factor of all, and their products with the scores."""
    shares = np.exp(np.float32(SHARPNESS) * (scores - highest))
    # -inf has no weight, and must not turn 0 · -inf into nan.
    return shares, shares * np.maximum(scores, np.float32(-1e9))


def _quotient(weighted: npt.NDArray[Any], weights: npt.NDArray[Any]) -> Scores:
    return np.divide(weighted, np.maximum(weights, _FLOOR), dtype=np.float32, casting="same_kind")
