"""Authority of articles: PageRank over CITES (Page et al., 1999), in the unnormalised form that GDS uses."""

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cypher.graph import Graph

DAMPING = 0.85
UNCITED = 0.15
"""The authority of an article that nobody cites."""
ITERATIONS = 100
TOLERANCE = 1e-9
_BATCH = 5000


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


def authority_of(graph: Graph) -> dict[str, float]:
    """Authority by article, from the citations of the graph."""
    articles = [row["id"] for row in graph.rows("article_source_ids")]
    place = {id: position for position, id in enumerate(articles)}
    pairs = [(place[row["article"]], place[row["target"]]) for row in graph.rows("corpus_citations")]
    ranks = page_rank(len(articles), np.array(sorted(pairs), np.int64).reshape(-1, 2))
    return {id: round(rank, 6) for id, rank in zip(articles, ranks.tolist(), strict=True)}


def write_authority(graph: Graph) -> None:
    """Store the authority of every article: by the Graph Data Science plugin where it answers, else computed here."""
    changed = None if graph.gds is None else graph.gds.changed_ranks("authority")
    if changed is None:
        stored = {row["id"]: row["authority"] for row in graph.rows("stored_authority")}
        changed = {id: rank for id, rank in authority_of(graph).items() if stored.get(id) != rank}
    rows = [{"id": id, "authority": rank} for id, rank in changed.items()]
    for start in range(0, len(rows), _BATCH):
        graph.write("set_authority", rows=rows[start : start + _BATCH])
