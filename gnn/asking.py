"""Many questions asked side by side, where nobody waits for one of them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

from runtime.progress import Advance

_Asked = TypeVar("_Asked")
_Answer = TypeVar("_Answer")


def side_by_side(
    ask: Callable[[_Asked], _Answer], asked: Sequence[_Asked], threads: int, advance: Advance = lambda done: None
) -> Iterator[_Answer]:
    """Yield the answers in the order of what is asked, ``threads`` of them being found at a time.

    Products of matrices have no threads of their own meanwhile: they would wait for each other.
    """
    pool = ThreadPoolExecutor(max(threads, 1))
    try:
        with threadpool_limits(1, user_api="blas"):
            for answer in pool.map(ask, asked):
                advance(1)
                yield answer
    finally:
        pool.shutdown(cancel_futures=True)
