"""Diversity of the first answers: several sections of the law in place of one section's articles.

A section that answers well brings all of its articles to the front, of which one or two are meant. Whoever reads the first few
finds more among several sections (docs/diversity.md).
"""

import numpy as np
import numpy.typing as npt

from search.arrays import Scores
from search.ranking.fusion import HEAD, reordered, top

FIRST = 5
"""Places that are filled so; all others keep their order."""


def diversified(scores: Scores, section: npt.NDArray[np.integer], weight: float) -> Scores:
    """Return scores with the first answers ordered by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998).

    Each of the first places goes to the article with the highest score, less a weight for each article of its section before it.

    Args:
        scores: float32[n]; -inf: no answer.
        section: int[n], the section that an article stands in.
        weight: in the units of the scores.

    >>> diversified(np.array([9, 8, 7], np.float32), np.array([0, 0, 1]), 1.5).tolist()
    [9.0, 7.0, 8.0]
    """
    best = top(scores, HEAD)
    left = scores[best].astype(np.float64)
    earlier = np.zeros(len(best), np.float32)
    for place in range(min(FIRST, len(best)), 0, -1):
        chosen = int(np.argmax(left))
        earlier[chosen] = place
        left -= weight * (section[best] == section[best[chosen]])
        left[chosen] = -np.inf
    return reordered(scores, best, earlier)
