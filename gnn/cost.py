"""Costs of trainings: their seconds, their parameters, and the GPU they were done on."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Cost:
    """The seconds of a training, the number of parameters that were learnt, and its GPU; empty where it had none."""

    seconds: float = 0.0
    parameters: int = 0
    gpu: str = ""

    def __add__(self, other: "Cost") -> "Cost":
        """Return what both take; where each had a GPU of its own, the first one's."""
        return Cost(self.seconds + other.seconds, self.parameters + other.parameters, self.gpu or other.gpu)


class TrainingClock:
    """Counts the seconds of trainings, those that an earlier run took for what it left on disk too.

    So a figure does not depend on what there is; whoever counts says of what (`counting`).
    """

    def __init__(self) -> None:
        self._began, self._elsewhere = time.monotonic(), 0.0

    @property
    def seconds(self) -> float:
        """Seconds so far: of them the difference between two readings has a meaning."""
        return time.monotonic() - self._began + self._elsewhere

    def counting(self, make: Callable[[], _Made], seconds_of: Callable[[_Made], float]) -> _Made:
        """Return what is made; in place of the time that this takes now, the seconds count that are known of it."""
        began = self.seconds
        made = make()
        self._elsewhere += seconds_of(made) - (self.seconds - began)
        return made
