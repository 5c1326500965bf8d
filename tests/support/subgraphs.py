"""The subgraph that is trained on, by Graph Data Science, by plain statements and by the corpus: one and the same."""

import numpy as np
import pytest

from cypher.authority import authority_of
from cypher.engines.neo4j import Neo4jGraph
from cypher.engines.neo4j_gds import Gds
from gnn.model.subgraph import SubgraphEdges, exported_edges, subgraph_edges
from search.corpus.corpus import Corpus

KINDS = (("contains",), ("cites",), ("contains", "cites"), ())


def same_edges(a: SubgraphEdges, b: SubgraphEdges) -> None:
    """Two subgraphs have the same nodes and edges, in one order."""
    assert (a.articles, a.sections) == (b.articles, b.sections)
    for one, other in ((a.edges, b.edges), (a.kinds, b.kinds)):
        assert one.dtype == other.dtype == np.int64
        np.testing.assert_array_equal(one, other)


def check_edges(graph: Neo4jGraph, corpus: Corpus) -> None:
    """All three ways give one result, and no projection stays behind."""
    assert isinstance(graph.gds, Gds)
    for kinds in KINDS:
        expected = subgraph_edges(corpus, kinds)
        same_edges(exported_edges(graph, corpus, kinds), expected)
        same_edges(exported_edges(graph, corpus, kinds, through_gds=False), expected)
    assert graph.connection.rows("CALL gds.graph.list() YIELD graphName RETURN count(*) AS n", {}) == [{"n": 0}]


def check_ranks(graph: Neo4jGraph) -> dict[str, float]:
    """GDS ranks as the project's own PageRank, to a thousandth."""
    assert graph.gds is not None
    own, theirs = authority_of(graph), graph.gds.ranks()
    assert theirs.keys() == own.keys()
    assert [theirs[id] for id in own] == pytest.approx(list(own.values()), abs=1e-3, rel=1e-3)
    return own
