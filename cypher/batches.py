"""Rows in batches of the size of a transaction."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

BATCH = 2000
"""Rows in one statement."""
_T = TypeVar("_T")


def batches(rows: Sequence[_T], size: int = BATCH) -> Iterable[Sequence[_T]]:
    """Rows in the portions of one statement each."""
    return (rows[start : start + size] for start in range(0, len(rows), size))
