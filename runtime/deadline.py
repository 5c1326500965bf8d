"""The moment by which a piece of work must be done, known to all that it calls."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

_UNTIL: ContextVar[float | None] = ContextVar("deadline", default=None)
_LEAST_S = 0.001
"""What a call is given that begins too late: 0 would mean that it has no limit."""


@contextmanager
def deadline(limit_s: float) -> Generator[None]:
    """Give the block so many seconds; one inside another never has longer than the outer one."""
    until = time.monotonic() + limit_s
    outer = _UNTIL.get()
    token = _UNTIL.set(until if outer is None else min(outer, until))
    try:
        yield
    finally:
        _UNTIL.reset(token)


def within(limit_s: float) -> float:
    """Return a time limit in seconds (0: none), cut to what is left of the block's time."""
    until = _UNTIL.get()
    if until is None:
        return limit_s
    left = max(until - time.monotonic(), _LEAST_S)
    return min(limit_s, left) if limit_s else left


def overdue() -> bool:
    """Return whether the block's time has run out."""
    until = _UNTIL.get()
    return until is not None and time.monotonic() >= until
