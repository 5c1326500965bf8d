"""Waiting for what another process or thread brings about."""

import time
from collections.abc import Callable


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds; the time limit of the test run ends it otherwise."""
    while not holds():
        time.sleep(0.05)
