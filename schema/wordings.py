"""The wording of an article on a day, and how much is known of its text."""

from collections.abc import Sequence
from datetime import date
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


def in_force_on(day: date, wordings: Sequence[Days]) -> int | None:
    """Return the place of the wording in force on a day; None where none was.

    Where the days of several hold it, the one that began last is meant: a wording whose beginning is not known gives way to
    one that is known to have begun.
    """
    holding = [n for n, (start, end) in enumerate(wordings) if (start or date.min) <= day < (end or date.max)]
    return max(holding, key=lambda n: (wordings[n][0] or date.min, -n), default=None)


def text_of_day(day: date, present: Days, others: Sequence[tuple[Days, str]]) -> tuple[TextOfDay, int | None]:
    """Return how the present text stands to that of a day, and the place of that day's wording among the others.

    Args:
        day: the day that is asked about.
        present: days of the wording that the graph keeps as the article's own.
        others: days and text ("" where it is not known) of its other wordings.
    """
    place = in_force_on(day, [present, *(days for days, _ in others)])
    if place is None:
        return TextOfDay.UNKNOWN, None
    if place == 0:
        return TextOfDay.SAME, None
    return (TextOfDay.OTHER if others[place - 1][1] else TextOfDay.UNKNOWN), place - 1
