"""Origins of the law in a graph: the places that it was loaded from."""

from cypher.graph import Statements
from cypher.rows import record_of, row_of
from schema.records import Origin


def origins(graph: Statements) -> list[Origin]:
    """Return the origins of a graph, by name."""
    return [record_of(Origin, row) for row in graph.rows("origins")]


def write_origin(graph: Statements, origin: Origin) -> None:
    """Write an origin in the place of the one of its name."""
    graph.write("delete_origins", ids=[origin.id])
    graph.write("create_origins", rows=[row_of(origin)])
