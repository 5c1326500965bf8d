"""Calls in another thread: their results, their errors, and those that hang."""

import threading

import pytest

from runtime.background_call import in_background
from runtime.deadline import deadline, within


def test_a_result_comes_when_it_is_asked_for() -> None:
    go_on = threading.Event()
    call = in_background("adds", lambda: go_on.wait(60) and 1 + 1, 60)
    go_on.set()
    assert call() == 2
    assert call() == 2


def test_without_a_limit_a_result_is_waited_for() -> None:
    go_on = threading.Event()
    call = in_background("waits", go_on.wait)
    threading.Timer(0.05, go_on.set).start()
    assert call()


def test_an_error_is_raised_where_the_result_is_asked_for() -> None:
    def fails() -> None:
        raise ValueError("odd")

    with pytest.raises(ValueError, match="odd"):
        in_background("fails", fails, 60)()


def test_a_call_that_hangs_is_given_up_and_holds_no_other_up() -> None:
    go_on = threading.Event()
    hangs = in_background("hangs", lambda: go_on.wait(60), 0.01)
    with pytest.raises(TimeoutError):
        hangs()
    assert any(thread.name == "hangs" and thread.daemon for thread in threading.enumerate())
    assert [in_background("works", lambda n=n: n, 60)() for n in range(5)] == list(range(5))
    go_on.set()


def test_a_call_has_what_is_left_of_the_time_of_its_caller() -> None:
    with deadline(60):
        limited = in_background("limited", lambda: within(0))
    assert 0 < limited() <= 60
    assert in_background("unlimited", lambda: within(0))() == 0
