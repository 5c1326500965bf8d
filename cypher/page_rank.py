"""PageRank of articles by what cites them."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

DAMPING = 0.85
ITERATIONS = 100
TOLERANCE = 1e-9


def page_rank(n: int, pairs: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """PageRank of n nodes: ``r = (1 - d) + d Σ r_j / deg_j`` over the nodes j that cite.

    A node that nobody cites has 0.15; what a node without citations would hand on is lost, as in GDS.

    Args:
        pairs: int64[e, 2], (citing, cited), each once.
    """
    degree = np.bincount(pairs[:, 0], minlength=n)
    share = 1.0 / degree[pairs[:, 0]]
    flow = sparse.csr_array((share, (pairs[:, 1], pairs[:, 0])), shape=(n, n))
    rank = np.full(n, 1 - DAMPING)
    for _ in range(ITERATIONS):
        following = (1 - DAMPING) + DAMPING * np.asarray(flow @ rank)
        if np.abs(following - rank).max(initial=0) < TOLERANCE:
            return following
        rank = following
    return rank
