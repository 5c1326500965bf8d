"""The envelope of every request: a limit to its body, headers that protect the reader, an identifier, a line in the log."""

import asyncio
import logging
import re
import time
from uuid import uuid4

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.graphql.errors import CODE_OF_STATUS, problem
from api.metrics import Metrics

_ACCESS = logging.getLogger("lexgraph.access")
_LOG = logging.getLogger(__name__)
_GONE = 499
"""Status that is noted where no answer was begun, as nginx has it."""
_FITTING_ID = re.compile(r"[\w.-]{1,64}", re.ASCII)
_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self' data:; "
    "connect-src 'self'; worker-src 'self' blob:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Scripts come from this server alone; the editor of GraphiQL sets styles of its own."""
_SAFE = {
    "content-security-policy": _CONTENT_POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class BodyLimit:
    """ASGI middleware: refuses a request whose body is too long or too slow, before anything reads it."""

    def __init__(self, app: ASGIApp, max_bytes: int, limit_s: float) -> None:
        self._app = app
        self._max_bytes = max_bytes
        self._limit_s = limit_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limits, then pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._limit_s):
                body = await self._read(scope, receive)
        except TimeoutError:
            await _refuse(408, f"the request took longer than {self._limit_s:g} s to arrive")(scope, receive, send)
            return
        except _TooLong:
            refused = f"the request is too long: at most {self._max_bytes:,} bytes are read"
            await _refuse(413, refused)(scope, receive, send)
            return
        if body is None:
            return
        whole: Message | None = {"type": "http.request", "body": body, "more_body": False}

        async def replay() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            message, whole = whole, None
            return message

        await self._app(scope, replay, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """Return the body; None where the client has gone."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if not declared.isdigit() or int(declared) > self._max_bytes:
            raise _TooLong
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] != "http.request":
                return None
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_bytes:
                raise _TooLong
        return bytes(body)


class _TooLong(Exception):
    """A body is longer than the limit."""


def _refuse(status: int, message: str) -> JSONResponse:
    body = {"errors": [problem(message, CODE_OF_STATUS[status])]}
    return JSONResponse(body, status_code=status, headers={"connection": "close"})


class Envelope:
    """ASGI middleware: names each request, protects the reader of the answer, counts it, and logs it where that is wanted."""

    def __init__(self, app: ASGIApp, metrics: Metrics, *, access_log: bool) -> None:
        self._app = app
        self._metrics = metrics
        self._access_log = access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and its answer back with the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
        name = given if _FITTING_ID.fullmatch(given) else uuid4().hex
        scope["lexgraph.request_id"] = name
        began = time.perf_counter()
        status, length = _GONE, 0  # the client left, unless an answer says otherwise

        async def sending(message: Message) -> None:
            nonlocal status, length
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["x-request-id"] = name
                for header, value in _SAFE.items():
                    headers.setdefault(header, value)
            length += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, sending)
        except Exception:
            # Answered here and not further out, so that this answer too has its headers and is counted as what it is.
            if status != _GONE:
                raise
            _LOG.exception("the request %s failed", name)
            await JSONResponse({"errors": [problem("internal error", "Internal")]}, 500)(scope, receive, sending)
        finally:
            took_s = time.perf_counter() - began
            self._metrics.note(scope["path"], status, took_s)
            if self._access_log:
                client = scope["client"][0] if scope.get("client") else "-"
                line = (client, scope["method"], scope["path"], status, length, 1000 * took_s, name)
                _ACCESS.info("%s %s %s %d %d bytes %.1f ms %s", *line)
