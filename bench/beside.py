"""Two checkouts side by side: the same pages asked of the service of each, in turns, by 32 clients on kept connections.

Each has a home of its own, made by its own `make demo`. Rounds alternate, so that what else the machine does falls on both; what
counts is their ratio, and the processor time of a page, which bounds the pages a second of one process.
"""

import json
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

import numpy as np
import psutil

from bench.api import CLIENTS, Service, serving, titles
from bench.reporting import Figures
from bench.serve import QUERY
from schema.errors import NotReady

_HITS = 10
_HEAD_END = b"\r\n\r\n"
EXPLAINED = {
    "rps_32": "requests a second of this checkout, 32 clients, one process, median of the rounds",
    "rps_32_before": "the same of the other checkout",
    "ratio": "median over the rounds of the one over the other",
    "ratio_least": "the least of them",
    "processor_ms": "processor time of the server a page, median of the rounds",
    "processor_ms_before": "the same of the other checkout",
    "errors": "answers of both that were no page of ten hits",
}


@dataclass(frozen=True, slots=True)
class Round:
    """Pages a second, milliseconds of processor time a page, and answers that were none."""

    pages: float
    processor_ms: float
    errors: int


class Connection:
    """One kept connection, and what has come of the answer that it waits for."""

    def __init__(self, host: str, port: int) -> None:
        self.socket = socket.create_connection((host, port), timeout=60)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._come = b""

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self._come = b""
        self.socket.sendall(request)

    def answer(self) -> bytes | None:
        """Return the answer once it is there whole, its head included.

        Raises:
            NotReady: the server has closed the connection.
        """
        part = self.socket.recv(1 << 18)
        if not part:
            raise NotReady("the server closed a connection")
        self._come += part
        head, end, body = self._come.partition(_HEAD_END)
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        return self._come if len(body) >= length else None


def measure(other: Path, *, seconds: float, rounds: int) -> Figures:
    """Measure, ``seconds`` a round and side; the other checkout has its own environment and home.

    Raises:
        NotReady: a server did not start.
    """
    asked = titles()
    with ExitStack() as stack:
        own, before = stack.enter_context(serving()), stack.enter_context(serving(root=other))
        questions = cycle(asked)
        for service in (own, before):
            _load(service, questions, min(seconds, 2))  # what is made at the first question is made
        results: dict[Service, list[Round]] = {own: [], before: []}
        for number in range(rounds):
            for service in (own, before) if number % 2 else (before, own):
                results[service].append(_load(service, questions, seconds))
    return Figures("Beside another checkout", _figures(results[own], results[before]), EXPLAINED)


def _figures(own: Sequence[Round], before: Sequence[Round]) -> dict[str, float]:
    ratios = [one.pages / max(other.pages, 1e-9) for one, other in zip(own, before, strict=True)]
    return {
        "rps_32": float(np.median([one.pages for one in own])),
        "rps_32_before": float(np.median([one.pages for one in before])),
        "ratio": float(np.median(ratios)),
        "ratio_least": min(ratios),
        "processor_ms": float(np.median([one.processor_ms for one in own])),
        "processor_ms_before": float(np.median([one.processor_ms for one in before])),
        "errors": sum(one.errors for one in (*own, *before)),
    }


def _load(service: Service, questions: Iterator[str], seconds: float) -> Round:
    """Ask with 32 clients, each its next question as soon as its answer is there."""
    host, _, port = service.address.removeprefix("http://").partition(":")
    process = psutil.Process(service.pid)
    answered = errors = 0
    with selectors.DefaultSelector() as selector, ExitStack() as open_ones:
        for _ in range(CLIENTS):
            connection = Connection(host, int(port))
            open_ones.callback(connection.socket.close)
            selector.register(connection.socket, selectors.EVENT_READ, connection)
            connection.ask(_request(next(questions)))
        used, began = _processor_s(process), time.perf_counter()
        while (took := time.perf_counter() - began) < seconds:
            for ready, _ in selector.select(timeout=1):
                connection = ready.data
                answer = connection.answer()
                if answer is not None:
                    is_page = _is_page(answer)
                    answered, errors = answered + is_page, errors + (not is_page)
                    connection.ask(_request(next(questions)))
        used = _processor_s(process) - used
    return Round(answered / took, 1000 * used / max(answered, 1), errors)


def _request(question: str) -> bytes:
    body = json.dumps({"query": QUERY, "variables": {"text": question}}).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _is_page(answer: bytes) -> bool:
    return answer.startswith(b"HTTP/1.1 200 ") and answer.count(b'"score"') == _HITS and b'"errors"' not in answer


def _processor_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
