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
        self._section = corpus.group.astype(np.intp) if section is None else section
        self._stem = corpus.stem.astype(np.intp)
        self._citations = corpus.cited_either_way

    def __call__(self, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[n]: the scores with the pools added; -inf stays -inf."""
        if not np.isfinite(scores.max(initial=-np.inf)):
            return scores
        return self.at(slice(None), scores, weights)

    def at(self, positions: Positions | slice, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[len(positions)]: what `__call__` gives for a few articles.

        Args:
            positions: of articles with finite scores.
            scores: float32[n].
            weights: of the pools.
        """
        shares = np.exp(np.float32(SHARPNESS) * (scores - scores.max(initial=0)))
        # -inf has no weight, and must not turn 0 · -inf into nan.
        weighted = shares * np.maximum(scores, np.float32(-1e9))
        pooled = scores[positions].astype(np.float32)
        for weight, group in ((weights.section, self._section), (weights.stem, self._stem)):
            if weight:
                pools = _quotient(np.bincount(group, weighted), np.bincount(group, shares))
                pooled += np.float32(weight) * pools[group[positions]]
        if weights.citations:
            cited = self._citations if isinstance(positions, slice) else self._citations[positions]
            pooled += np.float32(weights.citations) * _quotient(cited @ weighted, cited @ shares)
        return pooled


def _quotient(weighted: npt.NDArray[Any], weights: npt.NDArray[Any]) -> Scores:
    return np.divide(weighted, np.maximum(weights, _FLOOR), dtype=np.float32, casting="same_kind")
