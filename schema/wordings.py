"""The wording of an article on a day, and how much is known of its text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from enum import Enum

Days = tuple[date | None, date | None]
"""First day in force, and first day no longer in force; None where it is not known."""


class TextOfDay(Enum):
    """The relation of the text that the graph keeps of an article to the text of a day."""

    SAME = "same"
    """The present text was in force that day."""
    OTHER = "other"
    """Another text was in force, and the graph has it."""
    UNKNOWN = "unknown"
    """Another text was in force, of which the graph has the dates alone; or no wording is known of that day."""
    NONE = "none"
    """The article was not in force that day: its source has the law of that day, and the article is not in it."""
    OUTSIDE = "outside"
    """The day lies outside the days whose law its source has."""


def in_force_on(day: date, wordings: Sequence[Days]) -> int | None:
    """Return the place of the wording in force on a day; None where none was.

    Where the days of several hold it, the one that began last is meant: a wording whose beginning is not known gives way to
    one that is known to have begun.
    """
    holding = [n for n, (start, end) in enumerate(wordings) if (start or date.min) <= day < (end or date.max)]
    return max(holding, key=lambda n: (wordings[n][0] or date.min, -n), default=None)


def is_outside(day: date, known: Days) -> bool:
    """Return whether a day lies outside those whose law a source has: from the first to the last or to this day.

    Args:
        day: the day that is asked about.
        known: first and last day (`Act.known_from`, `Act.known_to`); without them the source has one law alone, and no span.
    """
    return known[0] is not None and not known[0] <= day <= max(known[1] or date.max, datetime.now(UTC).date())


def text_of_day(
    day: date, present: Days, others: Sequence[tuple[Days, str]], known: Days = (None, None)
) -> tuple[TextOfDay, int | None]:
    """Return how the present text stands to that of a day, and the place of that day's wording among the others.

    Args:
        day: the day that is asked about.
        present: days of the wording that the graph keeps as the article's own.
        others: days and text ("" where it is not known) of its other wordings.
        known: first and last day whose law the source has (`Act.known_from`, `Act.known_to`); without them, it has one law alone.
    """
    if is_outside(day, known):
        return TextOfDay.OUTSIDE, None
    place = in_force_on(day, [present, *(days for days, _ in others)])
    if place is None:
        return (TextOfDay.NONE if known[0] else TextOfDay.UNKNOWN), None
    if place == 0:
        return TextOfDay.SAME, None
    return (TextOfDay.OTHER if others[place - 1][1] else TextOfDay.UNKNOWN), place - 1


@dataclass(frozen=True, slots=True)
class Stay:
    """The days that a fact about an article or a section held: where an article stood, the heading that a section bore.

    Attributes:
        start: first day.
        end: first day on which it no longer held; None while no end is known.
        value: a heading; of an article's place, its position and the section or act that it stood in.
    """

    start: date
    end: date | None
    value: str

    def __str__(self) -> str:
        """Return it as the graph keeps it: ``1804-02-04/2016-10-01 Titre III``, the interval as ISO 8601 writes one."""
        return f"{self.start.isoformat()}/{self.end.isoformat() if self.end else '..'} {self.value}"


def stays(kept: Iterable[str]) -> list[Stay]:
    """Return stays as the graph keeps them.

    >>> stays(["1804-02-04/2016-10-01 Titre III"])
    [Stay(start=datetime.date(1804, 2, 4), end=datetime.date(2016, 10, 1), value='Titre III')]
    """
    found: list[Stay] = []
    for text in kept:
        days, _, value = text.partition(" ")
        start, _, end = days.partition("/")
        found.append(Stay(date.fromisoformat(start), None if end == ".." else date.fromisoformat(end), value))
    return found


def value_on(day: date, kept: Iterable[str]) -> str | None:
    """Return what stays, as the graph keeps them, say of a day; None where they say nothing."""
    return next((stay.value for stay in stays(kept) if stay.start <= day and (stay.end is None or day < stay.end)), None)


def place_on(day: date, kept: Iterable[str]) -> tuple[int, str] | None:
    """Return the position of an article on a day, and the section or act that it stood in; None where it is not known.

    >>> place_on(date(1900, 1, 1), ["1804-02-04/.. 12 fr/X/livre-ier"])
    (12, 'fr/X/livre-ier')
    """
    value = value_on(day, kept)
    return None if value is None else place_of(value)


def place_of(value: str) -> tuple[int, str]:
    """Return the position, and the section or act, that the value of an article's stay says.

    >>> place_of("12 fr/X/livre-ier")
    (12, 'fr/X/livre-ier')
    """
    position, _, parent = value.partition(" ")
    return int(position), parent
