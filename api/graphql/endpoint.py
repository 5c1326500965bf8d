"""GraphQL over HTTP: a request becomes work on one snapshot of the law, and its answer one response."""

import json
from typing import Any

from cross_web import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Message, Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL

from api.graphiql import ide_page
from api.graphql.errors import CODE_OF_STATUS, problem
from api.graphql.limits import Budget, Limits
from api.graphql.loaders import Reading
from api.graphql.schema import make_schema
from api.snapshot import SnapshotHolder
from api.workers import ClientGone, Workers
from schema.errors import Busy, LexgraphError, NotReady, QueryTimeout
from schema.settings import Settings

_READING = "lexgraph.reading"
_GRAPHQL_RESPONSE = "application/graphql-response+json"
_RETRY_AFTER_S = 1


class GraphQLEndpoint(GraphQL[Reading | None, None]):
    """GraphQL over HTTP; each request reads one snapshot of the law, in a thread of `api.workers.Workers`."""

    def __init__(self, holder: SnapshotHolder, settings: Settings, limits: Limits, workers: Workers) -> None:
        super().__init__(make_schema(limits), graphql_ide=None, subscription_protocols=())
        self._limits = limits
        self._holder = holder
        self._settings = settings
        self._workers = workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer with the snapshot that is current when a thread takes the request, from beginning to end."""
        request = Request(scope, receive)
        if request.method == "GET" and "text/html" in request.headers.get("accept", "") and "query" not in request.query_params:
            await ide_page(self._settings.home)(scope, receive, send)
            return
        body = await request.body()

        async def work() -> Response:
            return await self._answer(scope, body)

        async def left() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass

        try:
            response = await self._workers.run(work, left)
        except ClientGone:
            return
        except (Busy, QueryTimeout) as error:
            response = refusal(error, 503 if isinstance(error, Busy) else 200)
        await response(scope, receive, send)

    async def _answer(self, scope: Scope, body: bytes) -> Response:
        """Return the response to a request whose body has been read."""

        async def read() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        request = Request(scope, read)
        try:
            with self._holder.use() as snapshot:
                reading = scope[_READING] = Reading(snapshot, self._settings, Budget(self._limits.values))
                response = await self.run(request)
        except NotReady as error:
            return refusal(error, error.http_status)
        except HTTPException as error:
            status, reason = _refused(error)
            return JSONResponse({"errors": [problem(reason, CODE_OF_STATUS.get(status, "BadRequest"))]}, status)
        if _GRAPHQL_RESPONSE in request.headers.get("accept", ""):
            response.headers["content-type"] = f"{_GRAPHQL_RESPONSE}; charset=utf-8"
            if reading.refused:  # GraphQL over HTTP, 6.4.2: a request that could not be begun
                response.status_code = 400
        return response

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

    def encode_json(self, data: object) -> str:
        """Return an answer as JSON, letters as they are but for halves of surrogate pairs, which UTF-8 cannot say."""
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return text if text.isascii() or not _has_surrogates(text) else json.dumps(data, separators=(",", ":"))


def refusal(error: LexgraphError, status: int) -> Response:
    """Return the answer to a request that was not worked on, or not to its end."""
    headers = {"retry-after": str(_RETRY_AFTER_S)} if status == 503 else None
    return JSONResponse({"data": None, "errors": [problem(str(error), type(error).__name__)]}, status, headers)


def _refused(error: HTTPException) -> tuple[int, str]:
    """Return status and message of a request that is none."""
    if error.status_code == 404:  # GET without a query, from a program: a browser has been given the page
        return 400, "No GraphQL query found in the request"
    if error.reason == "Unsupported content type":
        return 415, "The body is not application/json"
    return error.status_code, error.reason


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
