"""From `lexgraph serve` to its first answer, as a client sees it, and the median answer after that.

Needs a trained model: ``make demo`` first. The server is a process of its own, started as a user starts it.
"""

import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import numpy as np

from bench.reporting import Figures
from schema.errors import NotReady

ROOT = Path(__file__).resolve().parent.parent
QUERY = """query($text: String!) {
  search(query: $text, first: 10) { edges { score node { id number act { title } } snippet { text } } }
}"""
ASKED = ("licenciement pendant un arrêt maladie", "congé parental à temps partiel", "retraite d'un exploitant agricole")
REQUESTS = 60
EXPLAINED = {
    "first_answer_s": "from the start of the process to the first hits, seconds",
    "answer_median_ms": "a page of ten hits over HTTP, one client, median",
    "answer_p95_ms": "the same, 95th percentile",
}


def measure() -> Figures:
    """Measure."""
    began = time.perf_counter()
    command = [sys.executable, str(ROOT / "lexgraph.py"), "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            line = next((line for line in server.stderr if line.startswith("Serving on ")), None)
            if line is None:
                raise NotReady("the server did not start: run `make demo` first")
            address = line.split()[2]
            _ask(address, ASKED[0])
            first_answer_s = time.perf_counter() - began
            times = np.array([_ask(address, ASKED[i % len(ASKED)]) for i in range(REQUESTS)])
        finally:
            server.terminate()
    figures = {
        "first_answer_s": first_answer_s,
        "answer_median_ms": 1000 * float(np.median(times)),
        "answer_p95_ms": 1000 * float(np.percentile(times, 95)),
    }
    return Figures("Serving", figures, EXPLAINED)


def _ask(address: str, query: str) -> float:
    body = json.dumps({"query": QUERY, "variables": {"text": query}}).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    began = time.perf_counter()
    with urllib.request.urlopen(request) as response:
        answer = json.load(response)
    if "errors" in answer or not answer["data"]["search"]["edges"]:
        raise NotReady(f"no hits: {answer}")
    return time.perf_counter() - began
