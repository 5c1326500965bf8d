"""Questions asked side by side: answers in order, an error at once, products of matrices in one thread meanwhile."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from gnn.asking import side_by_side


def _threads_of_blas() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_answers_come_in_the_order_of_what_is_asked_however_long_each_takes() -> None:
    counted: list[int] = []

    def answer(number: int) -> int:
        time.sleep(0.02 if number % 2 == 0 else 0)
        return number * number

    assert list(side_by_side(answer, range(9), 3, counted.append)) == [number * number for number in range(9)]
    assert counted == [1] * 9


def test_so_many_are_asked_at_a_time() -> None:
    meeting = threading.Barrier(2, timeout=10)
    assert len(list(side_by_side(lambda _: meeting.wait(), range(4), 2))) == 4


def test_products_of_matrices_have_no_threads_of_their_own_until_all_is_answered() -> None:
    _ = np.ones((2, 2)) @ np.ones((2, 2))  # BLAS is loaded
    before = _threads_of_blas()
    alone = {1} if before else set[int]()  # of a library that cannot be asked nothing is known
    assert list(side_by_side(lambda _: _threads_of_blas(), range(3), 2)) == [alone] * 3
    assert _threads_of_blas() == before


def test_an_error_ends_it_and_what_was_not_begun_is_never_asked() -> None:
    asked: list[int] = []

    def answer(number: int) -> int:
        asked.append(number)
        if number == 1:
            raise ValueError(number)
        time.sleep(0.01)
        return number

    with pytest.raises(ValueError, match="1"):
        list(side_by_side(answer, range(1000), 2))
    assert len(asked) < 500
