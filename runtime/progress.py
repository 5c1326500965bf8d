"""Progress of long work: a bar on a terminal, lines in a log, nothing where it is not wanted."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager

Advance = Callable[[int], None]
"""Called with the number of units done since the last call."""

Progress = Callable[[str, int], AbstractContextManager[Advance]]
"""``progress(label, total)`` opens one piece of work of ``total`` units (0: not known)."""


@contextmanager
def silent(label: str, total: int) -> Generator[Advance]:
    """Show nothing."""
    yield lambda done: None
