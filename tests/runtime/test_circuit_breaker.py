"""The circuit breaker, by a clock that the test turns."""

import pytest

from runtime.circuit_breaker import Breaker
from schema.errors import NotReady, QueryTimeout, ServerUnavailable


class Clock:
    """Seconds that pass when they are told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def fails(breaker: Breaker, error: Exception) -> bool:
    """Make a call that fails; whether the server was asked at all."""
    asked: list[bool] = []

    def call() -> None:
        with breaker.call():
            asked.append(True)
            raise error

    with pytest.raises(type(error)):
        call()
    return bool(asked)


@pytest.mark.parametrize("error", [ServerUnavailable("down"), QueryTimeout("slow")])
def test_after_a_failure_calls_are_refused_for_a_while_then_one_tries(error: Exception) -> None:
    clock = Clock()
    breaker = Breaker(2.0, clock)
    assert fails(breaker, error)
    asked = False
    for passed in (0.0, 1.0, 0.9):
        clock.now += passed
        with pytest.raises(ServerUnavailable, match=str(error)), breaker.call():
            asked = True
    assert not asked
    clock.now += 0.2
    with breaker.call():
        # While it is not known how this one goes, those beside it are refused.
        with pytest.raises(ServerUnavailable), breaker.call():
            asked = True
        assert not asked
    with breaker.call():
        asked = True
    assert asked


def test_a_try_that_fails_makes_it_rest_again() -> None:
    clock = Clock()
    breaker = Breaker(2.0, clock)
    fails(breaker, ServerUnavailable("down"))
    clock.now += 2.5
    assert fails(breaker, ServerUnavailable("still down"))
    clock.now += 1.9
    with pytest.raises(ServerUnavailable, match="still down"), breaker.call():
        pass
    clock.now += 0.2
    with breaker.call():
        pass


def test_an_answer_that_is_an_error_is_no_failure_of_the_server() -> None:
    clock = Clock()
    breaker = Breaker(2.0, clock)
    fails(breaker, NotReady("no index"))
    with breaker.call():
        pass
    fails(breaker, ServerUnavailable("down"))
    clock.now += 3
    assert fails(breaker, NotReady("no index"))
    with breaker.call():
        pass


@pytest.mark.parametrize(
    "answer", [ServerUnavailable("a deadlock", answered=True), QueryTimeout("past its limit", answered=True), NotReady("none")]
)
def test_a_server_that_answers_is_asked_again_at_once(answer: Exception) -> None:
    clock = Clock()
    breaker = Breaker(2.0, clock)
    assert fails(breaker, answer)
    assert fails(breaker, answer)
    fails(breaker, ServerUnavailable("down"))
    clock.now += 3
    assert fails(breaker, answer), "it answers again"
    with breaker.call():
        pass
