"""Processes to disturb, and fingerprints that tell whether it did harm."""

import hashlib
import subprocess
import sys
from pathlib import Path

from cypher.engines.ladybug import open_graph
from cypher.export.dump import canonical_dump

ROOT = Path(__file__).parents[2]


def dump(home: Path) -> str:
    """The canonical dump of the graph under a home."""
    with open_graph(home) as graph:
        return "\n".join(canonical_dump(graph))


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of every file below a folder, by its relative path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def start_python(script: str, *arguments: object) -> subprocess.Popen[str]:
    """Start a script in a process of its own, in its own session, from the root of the checkout."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
