"""Exact enough search over many vectors: all are compared in whole numbers of one byte, and the best again as they are.

A product of a matrix with one vector is bound by the memory that is read, and bytes are a quarter of it. It is the
filter-and-refine search of Korn et al. ("Fast Nearest Neighbor Search in Medical Image Databases", VLDB 1996, section 4), with
a fixed number of candidates instead of a bound, over scalar quantisation.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import simsimd

from search.arrays import Matrix, Positions, Scores
from search.corpus.corpus import Mask
from search.ranking.fusion import top

CANDIDATES = 1300
"""With 1,200 already, the thousand nearest articles are found for 200 training questions of the benchmark and the default
recipe, all of them; in 1.3 ms for 29,115 articles of 512 dimensions, where the product of floats takes 5."""
_LARGEST = 127


@dataclass(frozen=True, eq=False)
class QuantisedSearch:
    """n vectors of d dimensions, and the same in steps of one size.

    Attributes:
        vectors: float32[n, d].
        steps: int8[n, d], from -127 to 127; of none, where there are so few that all are compared as they are.
        step: size of one.
        rows: int[k], those that are searched, whose steps alone are kept then; None where all are.
    """

    vectors: Matrix
    steps: npt.NDArray[np.int8]
    step: float
    rows: Positions | None = None

    @classmethod
    def over(cls, vectors: Matrix) -> "QuantisedSearch":
        """Quantise vectors."""
        few = len(vectors) <= 2 * CANDIDATES
        steps = np.empty((0 if few else len(vectors), vectors.shape[1]), np.int8)
        step = _step_of(vectors)
        for start in range(0, len(steps), CANDIDATES):  # a copy of a law of many acts takes memory
            some = slice(start, start + CANDIDATES)
            np.rint(vectors[some] / np.float32(step), out=steps[some], casting="unsafe")
        return cls(vectors, steps, step)

    def among(self, rows: Positions) -> "QuantisedSearch":
        """Return search over some of the vectors."""
        return replace(self, steps=self.steps[rows] if len(self.steps) else self.steps, rows=rows)

    def scores(
        self, query: Scores, scale: float, bias: Scores, mask: Mask | None, *, least: np.float32 = np.float32(-np.inf)
    ) -> Scores:
        """Return float32[n]: scaled inner products with a query and a bias; exact for the best, below them for all others.

        Args:
            query: float32[d].
            scale: Factor of the inner products.
            bias: float32[n].
            mask: bool[n], of what may be among the best.
            least: Score below which none need be exact, as those of others are better.
        """
        if not len(self.steps):
            vectors = self.vectors if self.rows is None else self.vectors[self.rows]
            return np.asarray((vectors @ query) * np.float32(scale) + bias, np.float32)
        step = _step_of(query)
        quantised = np.rint(query / np.float32(step)).astype(np.int8)
        scores = np.asarray(simsimd.cdist(quantised[None], self.steps, metric="dot"), np.float32)[0]
        scores *= np.float32(self.step * step * scale)
        scores += bias
        best = np.sort(top(scores if mask is None else np.where(mask, scores, np.float32(-np.inf)), CANDIDATES))  # as they lie
        best = best[scores[best] >= least]
        lying = best if self.rows is None else self.rows[best]
        exact = (self.vectors.take(lying, axis=0) @ query) * np.float32(scale) + bias[best]  # `take` copies rows whole
        lowest = max(exact[np.isfinite(exact)].min(initial=np.inf), least) if len(best) else least
        if np.isfinite(lowest):
            np.minimum(scores, np.nextafter(np.float32(lowest), np.float32(-np.inf)), out=scores)
        scores[best] = exact
        return scores


def _step_of(numbers: npt.NDArray[np.float32]) -> float:
    """Return the size of a step that the largest of the numbers is `_LARGEST` of."""
    return max(float(numbers.max(initial=0)), -float(numbers.min(initial=0))) / _LARGEST or 1.0
