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
    name = ctypes.util.find_library("c")
    if name is None:
        return
    libc = ctypes.CDLL(name)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_M_TRIM_THRESHOLD, _NEVER)
