"""Soft pooling of scores over the tree: an article shares in what its section, stem and citations score.

For a group g of an article a, ``pool_g(a) = Σ_j softmax_j(β · S_j) · S_j`` over the members j of g, with S the
scores before pooling, and ``S'(a) = S(a) + Σ_g weight_g · pool_g(a)``. Three kinds of group: the articles of the
same parent section; those of the same act whose numbers share a stem (it joins statute and decree, which
the tree of a French code keeps apart); the article with what it cites and what cites it.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from search.arrays import Scores
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
        highest = scores.max(initial=-np.inf)
        if not np.isfinite(highest):
            return scores
        columns = np.empty((len(scores), 2), np.float32)
        columns[:, 1] = np.exp(np.float32(SHARPNESS) * (scores - highest))
        # -inf has no weight, and must not turn 0 · -inf into nan.
        columns[:, 0] = columns[:, 1] * np.maximum(scores, np.float32(-1e9))
        sums = self._members @ columns
        pools = sums[:, 0] / np.maximum(sums[:, 1], np.float32(_FLOOR))
        pooled = scores + np.float32(weights.section) * pools[self._section]
        pooled += np.float32(weights.stem) * pools[self._stem]
        pooled += np.float32(weights.citations) * pools[self._citations :]
        return pooled.astype(np.float32, copy=False)
