"""Several writers at once: in order, the next at hand, and nothing begun after a failure."""

import threading
import time
from collections.abc import Iterator

import pytest

from ingest.loading.transactions import each_written


@pytest.mark.parametrize("writers", [1, 2, 4])
def test_items_come_back_in_their_order(writers: int) -> None:
    def write(item: int) -> int:
        time.sleep(0.002 * (item % 3))
        return item * item

    assert list(each_written(range(20), write, writers)) == [(n, n * n) for n in range(20)]


def test_as_many_are_written_at_once_as_there_are_writers() -> None:
    together = threading.Barrier(3, timeout=10)
    assert [item for item, _ in each_written(range(9), lambda _: together.wait(), 3)] == list(range(9))


def test_the_next_is_made_while_one_is_written() -> None:
    made = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        made.set()
        yield 2

    assert [done for _, done in each_written(items(), lambda _: made.wait(10), 1)] == [True, True]


@pytest.mark.parametrize("writers", [1, 2])
def test_what_was_not_begun_is_not_written_after_a_failure(writers: int) -> None:
    written: list[int] = []

    def write(item: int) -> None:
        if item == 3:
            raise OSError("no such drawer")
        written.append(item)

    with pytest.raises(OSError, match="no such drawer"):
        for _ in each_written(range(1000), write, writers):
            pass
    assert len(written) < 20
