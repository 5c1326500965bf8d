"""The HTTP app: GraphQL, and whether it is alive and ready."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import uvicorn
from cross_web import HTTPException
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL

from api.graphql.limits import BodyLimit, Limits
from api.graphql.loaders import Reading
from api.graphql.schema import make_schema
from api.snapshot import LoadModel, SnapshotHolder
from schema.errors import BadSetting, NotReady
from schema.settings import Settings

_READING = "lexgraph.reading"
_WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Lexgraph</title>'
    '<p>Lexgraph. Ask at <a href="/graphql">/graphql</a>.</p></html>'
)


class GraphQLEndpoint(GraphQL[Reading | None, None]):
    """GraphQL over HTTP; each request reads one snapshot of the law."""

    def __init__(self, holder: SnapshotHolder, settings: Settings, limits: Limits) -> None:
        super().__init__(make_schema(limits), subscription_protocols=())
        self._holder = holder
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the snapshot that is current now, from beginning to end."""
        try:
            held = self._holder.use()
            snapshot = held.__enter__()
        except NotReady as error:
            await self._not_ready(error, Request(scope, receive))(scope, receive, send)
            return
        try:
            scope[_READING] = Reading(snapshot, self._settings)
            await super().__call__(scope, receive, send)
        finally:
            held.__exit__(None, None, None)

    async def get_context(self, request: Request | WebSocket, response: Response | WebSocket) -> Reading | None:
        """Return what the resolvers read."""
        return request.scope[_READING]

    def parse_json(self, data: str | bytes) -> Any:
        """Return the body as JSON.

        Raises:
            HTTPException: it is none, or none that a request can be (400).
        """
        try:
            parsed: object = super().parse_json(data)
        except (ValueError, RecursionError):  # not UTF-8; brackets in brackets in brackets
            raise HTTPException(400, "Unable to parse request body as JSON") from None
        if not isinstance(parsed, dict | list):
            raise HTTPException(400, "The body is not a JSON object")
        if isinstance(parsed, dict) and not isinstance(parsed.get("operationName", ""), str | None):
            raise HTTPException(400, "The GraphQL operation's `operationName` must be a string or null, if provided.")
        return parsed

    def _not_ready(self, error: NotReady, request: Request) -> Response:
        if request.method == "GET" and "text/html" in request.headers.get("accept", ""):
            return HTMLResponse(self.graphql_ide_html)
        problem = {"message": str(error), "extensions": {"code": type(error).__name__}}
        return JSONResponse({"data": None, "errors": [problem]}, status_code=error.http_status)


def make_app(settings: Settings, load_model: LoadModel, limits: Limits = Limits()) -> Starlette:
    """Return the app over the home of ``settings``; it starts without law, too, and serves it as soon as there is some."""
    holder = SnapshotHolder(settings, load_model)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        await asyncio.to_thread(holder.check)
        watch = asyncio.create_task(holder.watch())
        try:
            yield
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
            await asyncio.to_thread(holder.close)

    async def home(request: Request) -> Response:
        return HTMLResponse(_WELCOME)

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        # Ready as long as something answers: a server that is away, and law that is being loaded, are so for all who
        # ask, and taking them all out of service would leave nobody. `reason` says why the newest law is not served.
        answer: dict[str, object] = {"ready": False, "reason": holder.reason, "graph": None, "model": None, "away": holder.away}
        with suppress(NotReady), holder.use() as snapshot:
            answer["graph"], answer["model"] = snapshot.corpus.sha256, snapshot.model_id
            answer["ready"] = True
        return JSONResponse(answer, status_code=200 if answer["ready"] else 503)

    app = Starlette(
        routes=[
            Route("/", home),
            Route("/healthz", alive),
            Route("/readyz", ready),
            Route("/graphql", GraphQLEndpoint(holder, settings, limits)),
        ],
        middleware=[Middleware(BodyLimit, max_bytes=limits.body_bytes)],
        lifespan=lifespan,
    )
    app.state.holder = holder
    return app


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


def uvicorn_config(app: Starlette, log_level: str) -> uvicorn.Config:
    """Return the options of the server.

    An idle connection is kept longer than proxies and clients keep theirs (a minute, as a rule): closed from this side
    first, it would lose the request that is just being sent on it.
    """
    return uvicorn.Config(app, log_level=log_level, access_log=False, timeout_keep_alive=75)


def serve_app(settings: Settings, load_model: LoadModel, announce: Callable[[str], None]) -> None:
    """Answer on the address of the settings until interrupted; announce it (``http://…``) as soon as requests are answered.

    Raises:
        BadSetting: the address cannot be listened on.
    """
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise BadSetting(f"cannot listen on {settings.host} port {settings.port}: {error.strerror}") from None
    host, port = listening.getsockname()[:2]
    address = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    config = uvicorn_config(make_app(settings, load_model), settings.log_level)
    _AnnouncingServer(config, lambda: announce(address)).run(sockets=[listening])


def first_question(address: str) -> str:
    """Return what a service says once it answers: its address, and a first question to paste into a shell."""
    query = '{ search(query: "licenciement pendant un arrêt maladie", first: 3) { edges { node { number } snippet { text } } } }'
    return (
        f"Serving on {address}/graphql (open it in a browser to explore). Ask the first question:\n"
        f"  curl -s {address}/graphql -H 'Content-Type: application/json' -d '{json.dumps({'query': query}, ensure_ascii=False)}'"
    )
