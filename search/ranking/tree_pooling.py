"""Soft pooling of scores over the tree: an article shares in what its section, stem and citations score.

For a group g of an article a, ``pool_g(a) = Σ_j softmax_j(β · S_j) · S_j`` over the members j of g, with S the
scores before pooling, and ``S'(a) = S(a) + Σ_g weight_g · pool_g(a)``. Three kinds of group: the articles of the
same parent section; those of the same act whose numbers share a stem (it joins statute and decree, which
the tree of a French code keeps apart); the article with what it cites and what cites it.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

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
    """Pooling over the groups of one corpus."""

    def __init__(self, corpus: Corpus) -> None:
        n = len(corpus.articles)
        sections, stems = int(corpus.group.max(initial=-1)) + 1, int(corpus.stem.max(initial=-1)) + 1
        columns = np.arange(n)
        member = [
            sparse.csr_array((np.ones(n, np.float32), (group, columns)), shape=(size, n))
            for group, size in ((corpus.group, sections), (corpus.stem, stems))
        ]
        # All groups of all kinds as the rows of one matrix: one product sums over them all.
        self._members = sparse.csr_array(sparse.vstack([*member, corpus.cited_either_way], format="csr"))
        # As NumPy indexes by: any other kind is converted at every query.
        self._section, self._stem = corpus.group.astype(np.intp), (sections + corpus.stem).astype(np.intp)
        self._citations = sections + stems

    def __call__(self, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[n]: the scores with the pools added; -inf stays -inf."""
        if not np.isfinite(scores.max(initial=-np.inf)):
            return scores
        pools = _pools(self._members, scores)
        return _added(scores, weights, (pools[self._section], pools[self._stem], pools[self._citations :]))

    def at(self, positions: Positions, scores: Scores, weights: PoolingWeights) -> Scores:
        """Return float32[len(positions)]: what `__call__` gives for a few articles, of the groups that they are in alone.

        Args:
            positions: of articles with finite scores.
            scores: float32[n].
            weights: of the pools.
        """
        if not len(positions):
            return scores[positions]
        groups = np.concatenate([self._section[positions], self._stem[positions], self._citations + positions])
        section, stem, citations = _pools(self._members[groups], scores).reshape(3, -1)
        return _added(scores[positions], weights, (section, stem, citations))


def _pools(members: sparse.csr_array, scores: Scores) -> Scores:
    """Return float32[groups]: the pool of each group, its members a row of the matrix."""
    columns = np.empty((len(scores), 2), np.float32)
    columns[:, 1] = np.exp(np.float32(SHARPNESS) * (scores - scores.max()))
    # -inf has no weight, and must not turn 0 · -inf into nan.
    columns[:, 0] = columns[:, 1] * np.maximum(scores, np.float32(-1e9))
    sums = members @ columns
    pools = sums[:, 0] / np.maximum(sums[:, 1], np.float32(_FLOOR))
    return pools.astype(np.float32, copy=False)


def _added(scores: Scores, weights: PoolingWeights, pools: tuple[Scores, Scores, Scores]) -> Scores:
    """Return scores with the pools of sections, stems and citations added."""
    pooled = scores.astype(np.float32)
    for weight, pool in zip((weights.section, weights.stem, weights.citations), pools, strict=True):
        pooled += np.float32(weight) * pool
    return pooled
