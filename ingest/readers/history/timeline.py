"""Values that hold from one day to another: what a day's state says, until a later state says otherwise."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Generic, TypeVar

_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class Run(Generic[_Value]):
    """A value and its days: the first, and the first on which it no longer holds; None while no end is known."""

    start: date
    end: date | None
    value: _Value

    def holds(self, day: date) -> bool:
        """Return whether it holds on a day."""
        return self.start <= day and (self.end is None or day < self.end)


@dataclass(slots=True)
class Timeline(Generic[_Value]):
    """The runs of many things by their names, told state by state in the order of the days."""

    now: dict[str, _Value] = field(default_factory=dict[str, _Value])
    _told: dict[str, list[tuple[date, _Value | None]]] = field(
        default_factory=lambda: defaultdict[str, list[tuple[date, _Value | None]]](list)
    )

    def tell(self, day: date, state: Mapping[str, _Value]) -> list[str]:
        """Note what holds from a day on; return the names of what is new or otherwise."""
        changed = [name for name, value in state.items() if self.now.get(name) != value]
        for name in changed:
            self._told[name].append((day, state[name]))
        for name in self.now.keys() - state.keys():
            self._told[name].append((day, None))
        self.now = dict(state)
        return changed

    def runs(self) -> Iterator[tuple[str, list[Run[_Value]]]]:
        """Yield the runs of each thing, the first that was told of first."""
        for name, told in self._told.items():
            ends = [*(day for day, _ in told[1:]), None]
            yield name, [Run(day, end, value) for (day, value), end in zip(told, ends, strict=True) if value is not None]


def own_run(runs: list[Run[_Value]], today: date) -> Run[_Value]:
    """Return the run that a thing shows of itself: that of today, else the last before, else the first to come."""
    of_today = [run for run in runs if run.holds(today)]
    before = [run for run in runs if run.start <= today]
    return (of_today or before[-1:] or runs[:1])[0]


def merged(runs: Iterable[Run[_Value]]) -> list[Run[_Value]]:
    """Return runs, those that follow each other without a gap and with the same value as one."""
    found: list[Run[_Value]] = []
    for run in runs:
        if found and found[-1].end == run.start and found[-1].value == run.value:
            found[-1] = Run(found[-1].start, run.end, run.value)
        else:
            found.append(run)
    return found
