"""The service as the command line starts it: its app composed of the rooms, in this process or in several."""

import os
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from cli.output import err
from schema.settings import Settings, load_settings

if TYPE_CHECKING:
    from starlette.applications import Starlette

_LOOK_S = 0.1


def app_of(settings: Settings) -> "Starlette":
    """Return the app over the home of the settings, with the active model."""
    from api.app import make_app
    from gnn.versions.active import active_model

    return make_app(settings, partial(active_model, settings.home, threads=settings.threads, shelf=settings.models))


def app_of_environment() -> "Starlette":
    """Return the app of one process of several, which takes its settings from the environment that it was started in."""
    return app_of(load_settings())


def serve_home(settings: Settings, changes: Mapping[str, str | int | None]) -> None:
    """Answer until interrupted; say where, once requests are answered.

    Args:
        settings: As they are in force.
        changes: Options of the command line that go before them; None: not given.

    Raises:
        BadSetting: the address cannot be listened on.
    """
    # Before NumPy is imported. Requests run side by side: a product that takes all cores for one of them slows the others.
    for library in ("OPENBLAS", "OMP", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    from api.serving import first_question, listen, serve_app, serve_processes

    given = {name: value for name, value in changes.items() if value is not None}
    settings = settings.model_copy(update=given)
    listening, address = listen(settings.host, settings.port)

    def announce() -> None:
        err.print(first_question(address), markup=False, soft_wrap=True)

    if settings.processes == 1:
        serve_app(app_of(settings), listening, settings.log_level, announce)
        return
    os.environ.update({f"LEXGRAPH_{name.upper()}": str(value) for name, value in given.items()})
    threading.Thread(target=_announce_when_ready, args=(address, announce), daemon=True).start()
    serve_processes("cli.serving:app_of_environment", settings.processes, listening, settings.log_level)


def _announce_when_ready(address: str, announce: Callable[[], None]) -> None:
    """Wait until one of the processes answers; a proxy of the environment is not asked."""
    here = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    while True:
        try:
            with here.open(f"{address}/healthz", timeout=1):
                break
        except OSError:
            time.sleep(_LOOK_S)
    announce()
