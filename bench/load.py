"""A load of 32 clients on kept connections, each asking its next question as soon as its answer is there.

One thread holds them all: threads of Python would take much of the cores that the server answers with.
"""

import json
import math
import selectors
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field

import psutil

from bench.serve import QUERY

CLIENTS = 32
_HITS = 10
_HEAD_END = b"\r\n\r\n"
_GOOD = b"HTTP/1.1 200 "
_LOOK = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
_LOOK_S = 0.05
"""Seconds from one answer of ``/healthz`` to the next question."""


@dataclass(frozen=True, slots=True)
class Service:
    """A server that answers, and the number of its process."""

    address: str
    pid: int


@dataclass(slots=True)
class Load:
    """One load, as it came out.

    Attributes:
        pages: a second; processor_ms: of the process that was started, a page.
        errors: answers that were no page of ten hits, or no answer.
        healthz_ms: each answer of ``/healthz`` beside them.
    """

    pages: float = 0.0
    processor_ms: float = 0.0
    errors: int = 0
    healthz_ms: list[float] = field(default_factory=list[float])


class _Connection:
    """One kept connection, and what has come of the answer that it waits for."""

    def __init__(self, host: str, port: int) -> None:
        self._address = (host, port)
        self._come = b""
        self.socket = self._opened()

    def _opened(self) -> socket.socket:
        opened = socket.create_connection(self._address, timeout=60)
        opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return opened

    def ask(self, request: bytes) -> None:
        """Send a request."""
        self._come = b""
        self.socket.sendall(request)

    def answer(self) -> bytes | None:
        """Return the answer once it is there whole, its head included; nothing where the server has closed the connection."""
        part = self.socket.recv(1 << 18)
        if not part:
            return b""
        self._come += part
        head, end, body = self._come.partition(_HEAD_END)
        if not end:
            return None
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        return self._come if len(body) >= length else None

    def open_again(self) -> socket.socket:
        """Return a new socket, as a client opens one whose server closed the connection."""
        self.close()
        self.socket = self._opened()
        return self.socket

    def close(self) -> None:
        """Close the connection."""
        self.socket.close()


def load(service: Service, questions: Iterator[str], seconds: float) -> Load:
    """Ask a service for a while.

    Raises:
        OSError: it takes no connection.
    """
    host, _, port = service.address.removeprefix("http://").partition(":")
    server = psutil.Process(service.pid)
    with ExitStack() as stack:
        clients = [_Connection(host, int(port)) for _ in range(CLIENTS)]
        looker = _Connection(host, int(port))
        for client in (*clients, looker):
            stack.callback(client.close)
        used, began = _processor_s(server), time.perf_counter()
        pages, result = _asked(clients, looker, questions, began + seconds)
        result.pages = pages / (time.perf_counter() - began)
        result.processor_ms = 1000 * (_processor_s(server) - used) / max(pages, 1)
        return result


def _asked(clients: Sequence[_Connection], looker: _Connection, questions: Iterator[str], until: float) -> tuple[int, Load]:
    """Return the pages that came until a time, and the rest of what came."""
    result, pages = Load(), 0
    with selectors.DefaultSelector() as selector:
        for client in (*clients, looker):
            selector.register(client.socket, selectors.EVENT_READ, client)
        for client in clients:
            client.ask(_page_request(next(questions)))
        asked = look_at = 0.0
        while (now := time.perf_counter()) < until:
            if now >= look_at:
                looker.ask(_LOOK)
                asked, look_at = now, math.inf
            for ready, _ in selector.select(timeout=_LOOK_S / 2):
                client: _Connection = ready.data
                answer = client.answer()
                if answer is None:
                    continue
                if not answer:
                    selector.unregister(client.socket)
                    selector.register(client.open_again(), selectors.EVENT_READ, client)
                is_good = answer.startswith(_GOOD) if client is looker else _is_page(answer)
                result.errors += not is_good
                if client is looker:
                    answered = time.perf_counter()
                    result.healthz_ms.append(1000 * (answered - asked))
                    look_at = answered + _LOOK_S
                else:
                    pages += is_good
                    client.ask(_page_request(next(questions)))
    if look_at == math.inf:  # still awaited: it takes at least as long as it took until now
        result.healthz_ms.append(1000 * (time.perf_counter() - asked))
    return pages, result


def _page_request(question: str) -> bytes:
    body = json.dumps({"query": QUERY, "variables": {"text": question}}).encode()
    head = f"POST /graphql HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _is_page(answer: bytes) -> bool:
    return answer.startswith(_GOOD) and answer.count(b'"score"') == _HITS and b'"errors"' not in answer


def _processor_s(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system
