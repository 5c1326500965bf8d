"""Labels, properties and edges of the graph with their meanings, for people who write Cypher."""

from typing import Any

from rich.text import Text

from cli.output import out
from schema.labels import EDGES, NODES, EdgeType, NodeLabel


def described_schema() -> dict[str, list[dict[str, Any]]]:
    """Return labels and edges, each with its meaning and its properties, their types and meanings."""
    edges = [_described(edge) | {"between": [list(pair) for pair in edge.pairs]} for edge in EDGES]
    return {"labels": [_described(label) for label in NODES], "edges": edges}


def _described(kind: NodeLabel | EdgeType) -> dict[str, Any]:
    meaning, meanings = kind.meanings
    properties = [{"name": name, "type": of, "meaning": meanings.get(name, "")} for name, of in kind.properties.items()]
    return {"name": kind.name, "meaning": meaning, "properties": properties}


def show_schema(described: dict[str, list[dict[str, Any]]]) -> None:
    """Print labels and edges as lines."""
    for kind in (*described["labels"], *described["edges"]):
        pairs = ", ".join(f"({start})-->({end})" for start, end in kind.get("between", ()))
        out.print(Text.assemble((kind["name"], "bold"), f"  {pairs}" if pairs else ""), soft_wrap=True)
        out.print(Text(f"  {kind['meaning']}"), soft_wrap=True)
        for each in kind["properties"]:
            out.print(Text(f"    {each['name']:<17} {each['type']:<9} {each['meaning']}"), soft_wrap=True)
        out.print()
