"""The graph as CSV files for ``neo4j-admin database import full``, which fills an empty server while it is stopped."""

import shlex
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, TextIO

from cypher.graph import Graph
from runtime.progress import Progress, silent
from schema.errors import BadSource
from schema.labels import EDGES, NODES, EdgeType, NodeLabel, PropertyType

SCRIPT = "import.sh"
PAGE = 5000
"""Nodes that are read at once: what an export holds in memory does not grow with the graph."""
_BETWEEN_ITEMS = "\x1f"
"""Separates the items of a list: the unit separator, which no identifier holds."""
_READ_BUFFER = 4 << 20
"""Least buffer of the importer in bytes; it must hold the largest value."""
_TYPES: dict[PropertyType, str] = {
    "STRING": "string",
    "INT64": "long",
    "DOUBLE": "double",
    "DATE": "date",
    "STRING[]": "string[]",
}


def write_import_files(graph: Graph, folder: Path, *, progress: Progress = silent) -> dict[str, int]:
    """Write a file for every node label and every pair of labels of an edge type, and the script that imports them.

    The version of the schema is left at 0, so that `lexgraph migrate` makes the constraints, which no import brings.

    Returns:
        Rows by file.

    Raises:
        BadSource: an item of a list holds the character that separates items.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / SCRIPT).unlink(missing_ok=True)  # written last: where it is there, the files are whole
    files: dict[str, int] = {}
    longest = 0
    with progress("writing import files", len(NODES) + len(EDGES)) as advance:
        ids: dict[str, list[str]] = {}
        for node in NODES:
            name = f"{node.name}.csv"
            with (folder / name).open("w", encoding="utf-8", newline="") as stream:
                ids[node.name], size = _write_nodes(graph, node, stream)
            files[name], longest = len(ids[node.name]), max(longest, size)
            advance(1)
        for edge in EDGES:
            for tail, head in edge.pairs:
                name = f"{edge.name}_{tail}_{head}.csv"
                with (folder / name).open("w", encoding="utf-8", newline="") as stream:
                    files[name] = _write_edges(graph, edge, tail, head, ids[tail], stream)
            advance(1)
    script = folder / SCRIPT
    script.write_text(_script(max(_READ_BUFFER, 2 * longest)), encoding="utf-8")
    script.chmod(0o755)
    return files


def _write_nodes(graph: Graph, node: NodeLabel, stream: TextIO) -> tuple[list[str], int]:
    """Write the nodes of a label; their identifiers in the engine's order, and the length of the longest row."""
    names = list(node.properties)
    header = [f"id:ID({node.name})", *(f"{name}:{_TYPES[node.properties[name]]}" for name in names[1:]), ":LABEL"]
    stream.write(",".join(header) + "\n")
    columns = ", ".join(f"n.`{name}`" for name in names)
    statement = f"MATCH (n:{node.name}) WHERE n.id > $after RETURN {columns} ORDER BY n.id LIMIT {PAGE}"
    ids: list[str] = []
    longest = 0
    while rows := graph.query(statement, {"after": ids[-1] if ids else ""}, PAGE).rows:
        for row in rows:
            values = [
                0 if (node.name, name) == ("Graph", "schema_version") else value for name, value in zip(names, row, strict=True)
            ]
            line = _line([*values, node.name])
            longest = max(longest, 4 * len(line))  # bytes
            stream.write(line)
        ids += [row[0] for row in rows]
    return ids, longest


def _write_edges(graph: Graph, edge: EdgeType, tail: str, head: str, tails: list[str], stream: TextIO) -> int:
    """Write the edges between two labels, page by page of the nodes that they come from; how many there are."""
    names = list(edge.properties)
    header = [f":START_ID({tail})", f":END_ID({head})", *(f"{name}:{_TYPES[edge.properties[name]]}" for name in names), ":TYPE"]
    stream.write(",".join(header) + "\n")
    columns = "".join(f", r.`{name}`" for name in names)
    n = 0
    for first, last in _ranges(tails):
        found = graph.query(
            f"MATCH (a:{tail})-[r:{edge.name}]->(b:{head}) WHERE a.id >= $first AND a.id <= $last RETURN a.id, b.id{columns}",
            {"first": first, "last": last},
            max_rows=1 << 62,
        )
        stream.writelines(sorted(_line([*row, edge.name]) for row in found.rows))
        n += len(found.rows)
    return n


def _ranges(ids: list[str]) -> Iterator[tuple[str, str]]:
    for start in range(0, len(ids), PAGE):
        page = ids[start : start + PAGE]
        yield page[0], page[-1]


def _line(values: Iterable[Any]) -> str:
    return ",".join(map(_field, values)) + "\n"


def _field(value: Any) -> str:
    """A value as the importer reads it: nothing is null, and "" an empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        items: list[str] = value
        for item in items:
            if _BETWEEN_ITEMS in item:
                raise BadSource("graph", repr(item), "an item of a list holds U+001F, which separates the items of import files")
        return _quoted(_BETWEEN_ITEMS.join(items))
    if isinstance(value, date):
        return value.isoformat()
    return repr(value)


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def _script(read_buffer: int) -> str:
    options = [f"--nodes=./{node.name}.csv" for node in NODES]
    options += [f"--relationships=./{edge.name}_{tail}_{head}.csv" for edge in EDGES for tail, head in edge.pairs]
    options += ["--array-delimiter=U+001F", "--multiline-fields=true", f"--read-buffer-size={read_buffer}"]
    command = " \\\n    ".join(map(shlex.quote, options))
    return (
        "#!/bin/sh\n"
        "# Loads the files beside it into an empty database of a Neo4j that is stopped; afterwards: lexgraph migrate.\n"
        "# NEO4J_ADMIN is the program (neo4j-admin), NEO4J_DATABASE the database (neo4j); options are passed on, such as\n"
        "# --overwrite-destination for a database that was started before.\n"
        "set -eu\n"
        'admin=$(command -v "${NEO4J_ADMIN:-neo4j-admin}") || { echo "no neo4j-admin: name it by NEO4J_ADMIN" >&2; exit 69; }\n'
        "case $admin in /*) ;; *) admin=$PWD/$admin ;; esac\n"
        'cd "$(dirname "$0")"\n'
        f'exec "$admin" database import full "${{NEO4J_DATABASE:-neo4j}}" \\\n    {command} \\\n    "$@"\n'
    )
