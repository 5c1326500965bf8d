"""The one filter of searches: by act, section, day, kind and jurisdiction; without a day, the present law answers."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Filter:
    """Which articles may answer: of one act, below one section, in force on one day, of one kind of act or jurisdiction.

    Across time, every wording that an article ever had may answer, not the present one alone.
    """

    act: str | None = None
    section: str | None = None
    in_force_on: date | None = None
    kind: str | None = None
    jurisdiction: str | None = None
    across_time: bool = False


def is_present(valid_from: date | None, valid_to: date | None, as_of: date | None) -> bool:
    """Return whether an article is part of the law as its source has it today: neither ended nor still to come.

    Args:
        as_of: day of the consolidation that its act was read from; without one, every article is present.
    """
    if as_of is None:
        return True
    return (valid_from is None or valid_from <= as_of) and (valid_to is None or as_of < valid_to)
