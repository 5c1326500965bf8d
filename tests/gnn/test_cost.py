"""The cost of trainings, counted as if nothing of them had been done before."""

import pytest

from gnn.cost import Cost, TrainingClock


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the clock, which tests move."""
    now = [100.0]
    monkeypatch.setattr("gnn.cost.time.monotonic", lambda: now[0])
    return now


def test_costs_add_up() -> None:
    assert Cost(2, 10) + Cost(3, 5, "H100") == Cost(5, 15, "H100")
    assert (Cost(gpu="A100") + Cost(gpu="H100")).gpu == "A100"


def test_what_was_done_before_counts_with_the_seconds_it_took(now: list[float]) -> None:
    clock = TrainingClock()

    def made(takes: float) -> Cost:
        now[0] += takes
        return Cost(30)

    now[0] += 5
    assert clock.counting(lambda: made(2), lambda cost: cost.seconds) == Cost(30)
    assert clock.seconds == pytest.approx(35), "30 then, for 2 now"
    now[0] += 1
    assert clock.seconds == pytest.approx(36)


def test_what_is_counted_within_what_is_counted_counts_once(now: list[float]) -> None:
    clock = TrainingClock()

    def inner() -> Cost:
        now[0] += 2
        return Cost(30)

    def outer() -> Cost:
        began = clock.seconds
        clock.counting(inner, lambda cost: cost.seconds)
        now[0] += 4
        return Cost(clock.seconds - began)

    assert clock.counting(outer, lambda cost: cost.seconds) == Cost(pytest.approx(34))
    assert clock.seconds == pytest.approx(34)
