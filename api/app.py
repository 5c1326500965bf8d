"""The HTTP app: GraphQL, the probes beside it, and what goes around both."""

import asyncio
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Mount, Route

from api.graphiql import ide_files
from api.graphql.endpoint import GraphQLEndpoint
from api.graphql.limits import Limits
from api.metrics import Metrics
from api.middleware import BodyLimit, Envelope
from api.probes import probes
from api.snapshot import LoadModel, SnapshotHolder
from api.workers import Workers
from schema.settings import Settings

_SWITCH_S = 0.001
"""How long a thread keeps the interpreter while the event loop wants it; Python's own 5 ms add up over the threads."""
_ZIPPED_FROM = 1024
_ZIP_LEVEL = 4
"""Half the time of the highest, and answers a tenth longer."""


def make_app(settings: Settings, load_model: LoadModel, limits: Limits = Limits()) -> Starlette:
    """Return the app over the home of ``settings``; it starts without law, too, and serves it as soon as there is some."""
    holder = SnapshotHolder(settings, load_model)
    workers = Workers(settings.concurrent_requests, settings.waiting_requests, settings.request_timeout_s)
    metrics = Metrics(workers)

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncGenerator[None]:
        sys.setswitchinterval(_SWITCH_S)
        await asyncio.to_thread(holder.check)
        watch = asyncio.create_task(holder.watch())
        try:
            yield
        finally:
            watch.cancel()
            with suppress(asyncio.CancelledError):
                await watch
            workers.close()
            await asyncio.to_thread(holder.close)

    app = Starlette(
        routes=[
            *probes(holder, metrics),
            Route("/graphql", GraphQLEndpoint(holder, settings, limits, workers)),
            Mount("/graphiql", ide_files(settings.home)),
        ],
        middleware=[
            Middleware(Envelope, metrics=metrics, access_log=settings.access_log),
            *_cors(settings.cors_origins),
            Middleware(GZipMiddleware, minimum_size=_ZIPPED_FROM, compresslevel=_ZIP_LEVEL),
            Middleware(BodyLimit, max_bytes=limits.body_bytes, limit_s=limits.body_s),
        ],
        lifespan=lifespan,
    )
    app.state.holder = holder
    return app


def _cors(origins: str) -> list[Middleware]:
    """Return what lets pages of other origins ask, where the settings name any."""
    allowed = [origin.strip() for origin in origins.split(",") if origin.strip()]
    if not allowed:
        return []
    methods, headers = ["GET", "POST"], ["content-type", "x-request-id"]
    return [Middleware(CORSMiddleware, allow_origins=allowed, allow_methods=methods, allow_headers=headers)]
