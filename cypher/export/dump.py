"""The canonical dump: the same graph gives the same bytes, whatever way it came about."""

import json
from collections.abc import Iterator

from cypher.graph import Graph
from schema.labels import EDGES, NODES

_LEFT_OUT = {("Model", "created"), ("Model", "activated"), ("Article", "authority")}
"""What tells when, and what follows from the rest; the journals of runs and of loads are left out as well."""
_JOURNALS = ("Run", "Origin", "Revision")


def canonical_dump(graph: Graph) -> Iterator[str]:
    """Lines of JSON: every node by label and identifier, then every edge by type, ends and properties."""
    for node in NODES:
        if node.name in _JOURNALS:
            continue
        names = [name for name in node.properties if (node.name, name) not in _LEFT_OUT]
        columns = ", ".join(f"n.`{name}`" for name in names)
        found = graph.query(f"MATCH (n:{node.name}) RETURN {columns}", {}, max_rows=1 << 62)
        for row in sorted(found.rows, key=lambda row: row[0]):  # engines order text in ways of their own
            yield _line({"label": node.name, **dict(zip(names, row, strict=True))})
    for edge in EDGES:
        names = list(edge.properties)
        columns = "".join(f", r.`{name}`" for name in names)
        lines: list[str] = []
        for tail, head in edge.pairs:
            found = graph.query(f"MATCH (a:{tail})-[r:{edge.name}]->(b:{head}) RETURN a.id, b.id{columns}", {}, max_rows=1 << 62)
            lines += [
                _line({"type": edge.name, "from": a, "to": b, **dict(zip(names, properties, strict=True))})
                for a, b, *properties in found.rows
            ]
        yield from sorted(lines)


def _line(record: dict[str, object]) -> str:
    return json.dumps(record, ensure_ascii=False, default=str, separators=(",", ":"))
