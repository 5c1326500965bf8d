"""Where Graph Data Science has no memory for a projection, the same is computed without it."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from graphdatascience import GraphDataScience
from neo4j.exceptions import ClientError, Neo4jError, TransientError

from cypher.engines.ladybug import open_graph
from cypher.engines.neo4j_gds import Gds
from cypher.graph import Graph
from gnn.model.subgraph import exported_edges, subgraph_edges
from schema.errors import GraphBusy, ServerUnavailable
from search.corpus.read import read_corpus

BLOCKED = (
    "Failed to invoke procedure `gds.graph.project`: Caused by: java.lang.IllegalStateException: Procedure was blocked since "
    "minimum estimated memory (5 GiB) exceeds current free memory (512 MiB)."
)


class Blocked(ClientError):
    code = "Neo.ClientError.Procedure.ProcedureCallFailed"  # pyright: ignore


class NoMemory(TransientError):
    code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"  # pyright: ignore


MEMORY = [Blocked(BLOCKED), Blocked("Java heap space: out of memory"), NoMemory("the memory pool limit was exceeded")]


@contextmanager
def plain_errors() -> Generator[None]:
    try:
        yield
    except Neo4jError as error:
        raise ServerUnavailable(f"told: {error}") from None


def gds_that_says(error: Neo4jError) -> Gds:
    class Client:
        def run_cypher(self, *_: Any) -> Any:
            raise error

    return Gds(cast(GraphDataScience, Client()), plain_errors)


@pytest.mark.parametrize("error", MEMORY, ids=str)
def test_without_memory_the_plugin_says_so_in_one_way(error: Neo4jError) -> None:
    gds = gds_that_says(error)
    assert gds.changed_ranks("authority") is None
    for ask in (gds.ranks, lambda: gds.edges("CITES", "Article", "Article")):
        with pytest.raises(GraphBusy, match="no memory"):
            ask()


def test_what_else_the_plugin_says_is_told() -> None:
    gds = gds_that_says(Blocked("Failed to invoke procedure: no such label"))
    for ask in (gds.ranks, lambda: gds.changed_ranks("authority"), lambda: gds.edges("CITES", "Article", "Article")):
        with pytest.raises(ServerUnavailable, match=r"told: .*no such label"):
            ask()


def test_without_memory_for_a_projection_the_edges_come_by_statements(tiny_home: Path) -> None:
    class Served:
        gds = gds_that_says(MEMORY[0])

        def __init__(self, graph: Graph) -> None:
            self.rows = graph.rows

    with open_graph(tiny_home) as graph:
        corpus, _ = read_corpus(graph)
        found = exported_edges(cast(Graph, Served(graph)), corpus, ("contains", "cites"))
    expected = subgraph_edges(corpus, ("contains", "cites"))
    np.testing.assert_array_equal(found.edges, expected.edges)
    np.testing.assert_array_equal(found.kinds, expected.kinds)
