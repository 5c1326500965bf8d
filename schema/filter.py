"""The one filter of searches: by act, section, day, kind and jurisdiction."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class Filter:
    """Which articles may answer: of one act, below one section, in force on one day, of one kind of act or jurisdiction."""

    act: str | None = None
    section: str | None = None
    in_force_on: date | None = None
    kind: str | None = None
    jurisdiction: str | None = None
