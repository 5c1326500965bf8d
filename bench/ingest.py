"""Ingest of the four codes against a bare loop that only parses their JSON, one after the other in one process."""

import json
import tempfile
import time
from pathlib import Path

from bench.reporting import Figures
from cypher.engines.ladybug import EmbeddedStore
from ingest.fetching.npm import LEGI_DATA, fetch
from ingest.readers.legi import FILE_PATTERN
from ingest.sources import ingest
from schema.settings import load_settings

EXPLAINED = {
    "articles": "articles of the four codes",
    "ingest_s": "ingest into an empty embedded graph, seconds",
    "articles_per_s": "articles ingested a second",
    "second_run_s": "ingest again with nothing changed, seconds",
    "parse_s": "json.loads of the same files and nothing else, seconds",
    "parsed_per_s": "articles parsed a second",
    "ingest_over_parse": "ingest over the bare loop",
}


def measure(*, quick: bool = False) -> Figures:
    """Measure; ``quick`` takes the smallest code alone."""
    folder = fetch(LEGI_DATA, load_settings().home / "sources")
    paths = sorted(folder.glob(FILE_PATTERN), key=lambda path: path.stat().st_size)
    law = paths[0] if quick else folder
    began = time.perf_counter()
    articles = sum(_articles(json.loads(path.read_bytes())) for path in (paths[:1] if quick else paths))
    parse_s = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as home:
        began = time.perf_counter()
        ingest(EmbeddedStore(Path(home)), law)
        ingest_s = time.perf_counter() - began
        began = time.perf_counter()
        ingest(EmbeddedStore(Path(home)), law)
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
    return Figures("Ingest", figures, EXPLAINED)


def _articles(root: dict[str, object]) -> int:
    count, stack = 0, [root]
    while stack:
        node = stack.pop()
        count += node["type"] == "article"
        children = node.get("children")
        if isinstance(children, list):
            stack += children
    return count
