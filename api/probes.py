"""The addresses beside GraphQL: a welcome, whether the service is alive and ready, and its figures."""

from contextlib import suppress

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from api.metrics import CONTENT_TYPE, Metrics
from api.snapshot import SnapshotHolder
from schema.errors import NotReady

_WELCOME = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Lexgraph</title>'
    '<p>Lexgraph. Ask at <a href="/graphql">/graphql</a>.</p></html>'
)


def probes(holder: SnapshotHolder, metrics: Metrics) -> list[Route]:
    """Return the routes; none of them waits for a query."""

    async def home(request: Request) -> Response:
        return HTMLResponse(_WELCOME)

    async def alive(request: Request) -> Response:
        return PlainTextResponse("alive\n")

    async def ready(request: Request) -> Response:
        # Ready as long as something answers: a server that is away, and law that is being loaded, are so for all who
        # ask, and taking them all out of service would leave nobody. `reason` says why the newest law is not served.
        answer: dict[str, object] = {"ready": False, "reason": holder.reason, "graph": None, "model": None, "away": holder.away}
        answer["stale"] = holder.stale  # a warning: older law is better than none
        with suppress(NotReady), holder.use() as snapshot:
            answer["graph"], answer["model"] = snapshot.corpus.sha256, snapshot.model_id
            answer["ready"] = True
        return JSONResponse(answer, status_code=200 if answer["ready"] else 503)

    async def figures(request: Request) -> Response:
        law = model = None
        with suppress(NotReady), holder.use() as snapshot:
            law, model = snapshot.corpus.sha256, snapshot.model_id
        return Response(metrics.text(law, model), headers={"content-type": CONTENT_TYPE})

    return [Route("/", home), Route("/healthz", alive), Route("/readyz", ready), Route("/metrics", figures)]
