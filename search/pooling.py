"""Soft pooling of scores over the tree: an article shares in what its section, stem and citations score.

For a group g of an article a, ``pool_g(a) = Σ_j softmax_j(β · S_j) · S_j`` over the members j of g, with S the
scores before pooling, and ``S'(a) = S(a) + Σ_g weight_g · pool_g(a)``. Three kinds of group: the articles of the
same parent section; those of the same act whose numbers share a stem (it joins statute and decree, which
the tree of a French code keeps apart); the article with what it cites and what cites it.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.corpus import Corpus

Scores = npt.NDArray[np.float32]
SHARPNESS = 2.0
"""β: how much the best members of a group outweigh the others."""
_FLOOR = 1e-30


@dataclass(frozen=True, slots=True)
class PoolingWeights:
    """What each kind of group adds."""

    section: float = 1.0
    stem: float = 0.5
    citations: float = 0.3


class TreePooling:
    """Pooling over the groups of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        self._groups = (corpus.group, corpus.stem)
        self._sizes = tuple(int(group.max(initial=-1)) + 1 for group in self._groups)
        self._citing: sparse.csr_array = corpus.cited_either_way

    def __call__(self, scores: Scores, weights: PoolingWeights) -> Scores:
        """float32[n]: the scores with the pools added; -inf stays -inf."""
        highest = scores.max(initial=-np.inf)
        if not np.isfinite(highest):
            return scores
        weight = np.exp(np.float32(SHARPNESS) * (scores - highest))
        # -inf has no weight, and must not turn 0 · -inf into nan.
        product = weight * np.maximum(scores, np.float32(-1e9))
        pooled = scores.copy()
        for group, size, share in zip(self._groups, self._sizes, (weights.section, weights.stem), strict=True):
            sums = np.bincount(group, product, size) / np.maximum(np.bincount(group, weight, size), _FLOOR)
            pooled += (share * sums).astype(np.float32)[group]
        if weights.citations:
            above, below = self._citing @ product, self._citing @ weight
            pooled += np.float32(weights.citations) * (above / np.maximum(below, np.float32(_FLOOR)))
        return pooled
