"""Serving: the address, the event loop, and one process or several."""

import json
import shlex
import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette
from uvicorn.supervisors import Multiprocess

from schema.errors import BadSetting

_CONNECTIONS = 1000
"""Open connections of one process; more are told to come back."""
_IDLE_S = 75
"""Longer than proxies and clients keep a connection (a minute, as a rule): closed from this side first, it would lose the
request that is just being sent on it."""


class _AnnouncingServer(uvicorn.Server):
    """A server that says so once it answers, not before."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open for requests, then announce it."""
        await super().startup(sockets)
        if self.started:
            self._announce()


def uvicorn_config(app: Starlette | str, log_level: str, processes: int = 1) -> uvicorn.Config:
    """Return the options of the server; uvloop and httptools are used where they are installed.

    Args:
        app: The app, or where a process finds the function that makes it.
        log_level: Least level that is logged.
        processes: Number of processes.
    """
    return uvicorn.Config(
        app,
        factory=isinstance(app, str),
        workers=processes,
        log_level=log_level,
        access_log=False,
        timeout_keep_alive=_IDLE_S,
        limit_concurrency=_CONNECTIONS,
        server_header=False,
    )


def listen(host: str, port: int) -> tuple[socket.socket, str]:
    """Return a socket that listens, and its address as clients write it.

    Raises:
        BadSetting: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol by name: with 0, which means the same, asyncio leaves out TCP_NODELAY, and an answer on a connection
    # that is kept waits 40 ms for the client's acknowledgement.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise BadSetting(f"cannot listen on {host} port {port}: {error.strerror}") from None
    bound, number = listening.getsockname()[:2]
    return listening, f"http://[{bound}]:{number}" if ":" in bound else f"http://{bound}:{number}"


def serve_app(app: Starlette, listening: socket.socket, log_level: str, announce: Callable[[], None]) -> None:
    """Answer until interrupted; announce it as soon as requests are answered."""
    _AnnouncingServer(uvicorn_config(app, log_level), announce).run(sockets=[listening])


def first_question(address: str) -> str:
    """Return what a service says once it answers: its address, and a first question to paste into a shell."""
    query = '{ search(query: "licenciement pendant un arrêt maladie", first: 3) { edges { node { number } snippet { text } } } }'
    body = shlex.quote(json.dumps({"query": query}, ensure_ascii=False))
    return (
        f"Serving on {address}/graphql (open it in a browser to explore). Ask the first question:\n"
        f"curl -s {address}/graphql -H 'Content-Type: application/json' -d {body}"
    )


def serve_processes(factory: str, processes: int, listening: socket.socket, log_level: str) -> None:
    """Answer in several processes, which share one socket, until interrupted.

    Args:
        factory: Where a process finds the function that makes its app, as ``module:name``.
        processes: Number of processes; one that dies is replaced.
        listening: Socket of all.
        log_level: Least level that is logged.
    """
    config = uvicorn_config(factory, log_level, processes)
    Multiprocess(config, [listening]).run()
