"""Law and questions in lines of one's own, and the acts that a graph has of it."""

import json
from pathlib import Path

from cypher.engines.ladybug import open_graph


def ids(home: Path) -> list[str]:
    """The acts of a graph."""
    with open_graph(home) as graph:
        return [row["id"] for row in graph.rows("acts")]


def write_lines(path: Path, *rows: object) -> Path:
    """A file of the project's own lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def own_law(path: Path, *numbers: int, act: str = "be/pain") -> Path:
    """An act in lines of one's own."""
    articles = [{"type": "article", "number": str(n), "text": f"Le pain n° {n}."} for n in numbers]
    return write_lines(path, {"type": "act", "id": act, "title": "Loi sur le pain"}, *articles)
