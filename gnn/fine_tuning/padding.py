"""Texts that are read at once: padded to the longest, so those of like lengths together."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt


def end_of_batch(ascending: npt.NDArray[np.int64], first: int, at_once: int) -> int:
    """Return the end of a batch from ``first``: as many as fit when each is padded to the longest, one at least.

    Args:
        ascending: lengths of texts, the shortest first.
        at_once: word pieces that are read at once, paddings counted.
    """
    most = max(1, at_once // int(ascending[first]))  # were all as short as the first
    padded = ascending[first : first + most] * np.arange(1, len(ascending[first : first + most]) + 1)
    return first + max(1, int(np.searchsorted(padded, at_once, side="right")))


def of_like_lengths(lengths: npt.NDArray[np.int64], at_once: int) -> Iterator[npt.NDArray[np.intp]]:
    """Yield the places of texts, batch by batch, the shortest first."""
    order = np.argsort(lengths, kind="stable")
    ascending, first = lengths[order], 0
    while first < len(order):
        last = end_of_batch(ascending, first, at_once)
        yield order[first:last]
        first = last
