"""A page of ten hits: as a Python call, over GraphQL, and from a bare handler that returns the same JSON; then under load.

Needs a trained model: ``make demo`` first. Servers are processes of their own, started as a user starts them.
"""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.load import Service, load
from bench.reporting import Figures
from bench.serve import QUERY
from cli.hits import described_hits
from cli.workspace import Home
from cypher.graph import Graph
from gnn.versions.active import active_model
from ingest.loading.questions import read_questions
from runtime.progress import silent
from schema.errors import NotReady
from schema.settings import load_settings
from search.modes import Mode
from search.retrieval import Retriever

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 150
EXPLAINED = {
    "python_ms": "the page as a dict by a Python call, median",
    "graphql_ms": "the page over HTTP, one client on a kept connection, median",
    "bare_ms": "the same bytes from a bare Starlette handler, median",
    "rps_32": "requests a second, 32 clients, one process",
    "rps_32_workers2": "the same, two processes",
    "healthz_p99_ms_under_load": "/healthz beside these clients, 99th percentile",
    "errors": "answers of all of them that were none",
}


class Client:
    """One kept connection to a server."""

    def __init__(self, address: str) -> None:
        host, _, port = address.removeprefix("http://").partition(":")
        self._connection = http.client.HTTPConnection(host, int(port), timeout=60)

    def get(self, path: str) -> bytes:
        """Return the body at a path; an answer that is none raises NotReady."""
        self._connection.request("GET", path)
        return self._read()

    def ask(self, text: str) -> bytes:
        """Return the answer to a search, as bytes."""
        body = json.dumps({"query": QUERY, "variables": {"text": text}}).encode()
        self._connection.request("POST", "/graphql", body, {"Content-Type": "application/json"})
        answer = self._read()
        if b'"errors"' in answer:
            raise NotReady(f"no hits: {answer[:300]!r}")
        return answer

    def _read(self) -> bytes:
        response = self._connection.getresponse()
        body = response.read()
        if response.status != 200:
            raise NotReady(f"HTTP {response.status}: {body[:300]!r}")
        return body


def measure(*, seconds: float = 10) -> Figures:
    """Measure; ``seconds`` is how long each load lasts."""
    asked = titles()
    figures: dict[str, float] = {"python_ms": _of_calls(asked)}
    with serving() as service:
        client = Client(service.address)
        page = client.ask(asked[0])
        figures["graphql_ms"] = _median_ms(lambda i: client.ask(asked[i % len(asked)]))
        one = load(service, cycle(asked), seconds)
    with _bare(page) as service:
        bare = Client(service.address)
        figures["bare_ms"] = _median_ms(lambda i: bare.get("/"))
    with serving("--processes", "2") as service:
        two = load(service, cycle(asked), seconds)
    figures |= {"rps_32": one.pages, "rps_32_workers2": two.pages}
    figures |= {"healthz_p99_ms_under_load": float(np.percentile(one.healthz_ms, 99)), "errors": one.errors + two.errors}
    return Figures("API", figures, EXPLAINED)


def titles() -> list[str]:
    """Return the titles of the sheets: a few questions, asked over and over, would measure what is remembered of them."""
    with Home(load_settings(), silent).graph() as graph:
        titles = sorted({question.text for question in read_questions(graph, "service-public")})
    if not titles:
        raise NotReady("no questions in the graph: run `make demo` first")
    return titles


def _of_calls(asked: Sequence[str]) -> float:
    """Median milliseconds of a search whose hits are described as the command line does."""
    home = Home(load_settings(), silent)
    with home.graph() as graph:
        index = home.index(graph)
        model = active_model(home.path, graph, index.corpus, home.settings.threads, home.settings.models)
        retriever = Retriever(index, model)
        return _median_ms(lambda i: _described(graph, retriever, asked[i % len(asked)]))


def _described(graph: Graph, retriever: Retriever, text: str) -> list[dict[str, Any]]:
    return described_hits(graph, retriever, retriever.search(text, Mode.HYBRID, first=10), text)


def _median_ms(call: Callable[[int], object]) -> float:
    times: list[float] = []
    for i in range(ROUNDS):
        began = time.perf_counter()
        call(i)
        times.append(1000 * (time.perf_counter() - began))
    return float(np.median(times))


@contextmanager
def serving(*options: str, root: Path = ROOT) -> Generator[Service]:
    """Start `lexgraph serve` with options: of this checkout, or of another one, in its own environment and on its own home."""
    python, environment = sys.executable, dict(os.environ)
    if root != ROOT:
        python, environment["LEXGRAPH_HOME"] = str(root / ".venv/bin/python"), str(root / "lexgraph-data")
    with _process([python, str(root / "lexgraph.py"), "serve", "--port", "0", *options], "Serving on ", environment) as service:
        yield service


@contextmanager
def _bare(page: bytes) -> Generator[Service]:
    """Start a bare handler that returns a page."""
    with _process([sys.executable, "-m", "bench.api"], "Bare on ", dict(os.environ), page) as service:
        yield service


@contextmanager
def _process(command: list[str], announced: str, environment: dict[str, str], given: bytes | None = None) -> Generator[Service]:
    """Start a process that says where it answers on a line that begins so; end it afterwards."""
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, text=True, stderr=pipe, stdin=pipe) as server:
        try:
            assert server.stderr is not None
            assert server.stdin is not None
            if given is not None:
                server.stdin.write(given.decode())
            server.stdin.close()
            line = next((line for line in server.stderr if line.startswith(announced)), None)
            if line is None:
                raise NotReady("the server did not start: run `make demo` first")
            yield Service(line.split()[2].removesuffix("/graphql"), server.pid)
        finally:
            server.terminate()


def serve_bare() -> None:
    """Return what comes on standard input at every request, until interrupted."""
    from api.serving import listen, serve_app

    page = sys.stdin.buffer.read()

    async def same(request: Request) -> Response:
        return Response(page, media_type="application/json")

    listening, address = listen("127.0.0.1", 0)
    serve_app(
        Starlette(routes=[Route("/", same)]),
        listening,
        "warning",
        lambda: print(f"Bare on {address}", file=sys.stderr, flush=True),
    )


if __name__ == "__main__":
    serve_bare()
