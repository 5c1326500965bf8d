"""Things that the hits of a search can be gathered under; apart, as every start of the program reads it."""

from enum import Enum


class Group(Enum):
    """Things that hits can be gathered under."""

    SECTION = "section"
    ACT = "act"
