"""The time that a piece of work takes, by the clock."""

import time
from collections.abc import Callable


def seconds_of(work: Callable[[], object]) -> float:
    """Return the seconds that a call takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
