"""Memory that is freed and asked for again at every step of a training."""

import ctypes
import ctypes.util

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_NEVER = 2**31 - 1
_LARGEST = 128 << 20
"""The matrix of some 29,000 articles of 768 dimensions has 85 MB, and kept it halves the time of a training. Larger blocks
still go back at once: the pieces that they leave would take more memory than they save time."""


def keep_freed_memory() -> None:
    """Tell glibc to keep freed blocks for the next step; elsewhere nothing happens.

    Every step on a CPU frees tensors as large as the matrix of articles and asks for them again. By default glibc gives such
    blocks back to the system, and half of the time of a step is spent on pages coming and going.
    """
    if (libc := _libc("mallopt")) is not None:
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_M_TRIM_THRESHOLD, _NEVER)


def give_back_freed_memory() -> None:
    """Give back what was kept, once there is no next step; elsewhere nothing happens."""
    if (libc := _libc("malloc_trim")) is not None:
        libc.malloc_trim(0)


def _libc(function: str) -> ctypes.CDLL | None:
    name = ctypes.util.find_library("c")
    libc = None if name is None else ctypes.CDLL(name)
    return libc if libc is not None and hasattr(libc, function) else None
