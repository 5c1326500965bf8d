"""Ingest of the four codes against a bare loop that only parses their JSON, one after the other in one process."""

import json
import sys
import tempfile
import time
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parent.parent)  # run as a file, its folder would hide the room of its name

from bench.reporting import report, run  # noqa: E402
from cypher.engines.ladybug import EmbeddedStore  # noqa: E402
from ingest.fetching.npm import LEGI_DATA, fetch  # noqa: E402
from ingest.readers.legi import FILE_PATTERN  # noqa: E402
from ingest.sources import ingest  # noqa: E402
from schema.settings import load_settings  # noqa: E402

EXPLAINED = {
    "articles": "articles of the four codes",
    "ingest_s": "ingest into an empty embedded graph, seconds",
    "articles_per_s": "articles ingested a second",
    "second_run_s": "ingest again with nothing changed, seconds",
    "parse_s": "json.loads of the same files and nothing else, seconds",
    "parsed_per_s": "articles parsed a second",
    "ingest_over_parse": "ingest over the bare loop",
}


def main() -> None:
    """Measure and print."""
    folder = fetch(LEGI_DATA, load_settings().home / "sources")
    began = time.perf_counter()
    articles = sum(_articles(json.loads(path.read_bytes())) for path in sorted(folder.glob(FILE_PATTERN)))
    parse_s = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        ingest(EmbeddedStore(Path(home)), folder)
        ingest_s = time.perf_counter() - began
        began = time.perf_counter()
        ingest(EmbeddedStore(Path(home)), folder)
        second_run_s = time.perf_counter() - began
    figures = {
        "articles": articles,
        "ingest_s": ingest_s,
        "articles_per_s": articles / ingest_s,
        "second_run_s": second_run_s,
        "parse_s": parse_s,
        "parsed_per_s": articles / parse_s,
        "ingest_over_parse": ingest_s / parse_s,
    }
    report("Ingest", figures, EXPLAINED)


def _articles(root: dict[str, object]) -> int:
    count, stack = 0, [root]
    while stack:
        node = stack.pop()
        count += node["type"] == "article"
        children = node.get("children")
        if isinstance(children, list):
            stack += children
    return count


if __name__ == "__main__":
    run(main)
