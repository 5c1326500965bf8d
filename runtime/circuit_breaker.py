"""A circuit breaker: a server that failed is left alone for a while, so that queries do not each wait for it."""

import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from schema.errors import LexgraphError, QueryTimeout, ServerUnavailable

REST_S = 2.0
"""Seconds for which a server is left alone after it failed."""


class Breaker:
    """Lets calls through while a server works; after a failure refuses them for a while, then lets one try.

    For any number of threads.

    Args:
        rest_s: how long calls are refused, in seconds.
        clock: gives seconds that never run back.
    """

    def __init__(self, rest_s: float = REST_S, clock: Callable[[], float] = time.monotonic) -> None:
        self._rest_s = rest_s
        self._clock = clock
        self._lock = threading.Lock()
        self._until = 0.0
        self._reason: str | None = None

    @contextmanager
    def call(self) -> Generator[None]:
        """Surround one call to the server.

        Raises:
            ServerUnavailable: the server failed a moment ago; it was not asked.
        """
        with self._lock:
            if self._reason is not None:
                if self._clock() < self._until:
                    raise ServerUnavailable(self._reason)
                # This call tries; those beside it are refused until it is known how it went.
                self._until = self._clock() + self._rest_s
        try:
            yield
        except LexgraphError as error:
            if isinstance(error, ServerUnavailable | QueryTimeout) and not error.answered:
                self.note(error)
            else:  # an answer, if not a pleasant one: one slow query is no reason to refuse the others
                self._works()
            raise
        self._works()

    def note(self, error: ServerUnavailable | QueryTimeout) -> None:
        """Note a failure that showed outside of a call: that it did not end in time."""
        with self._lock:
            self._reason, self._until = str(error), self._clock() + self._rest_s

    def _works(self) -> None:
        with self._lock:
            self._reason = None
