"""Authority of articles: PageRank over CITES (Page et al., 1999), in the unnormalised form that GDS uses."""

import numpy as np

from cypher.batches import batches
from cypher.graph import Graph
from cypher.page_rank import page_rank

_BATCH = 5000


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
    for batch in batches(rows, _BATCH):
        graph.write("set_authority", rows=batch)
