"""Numbers of articles as they stand in running text."""

import re
from collections.abc import Container

from citations.patterns import TRIGGERS
from schema.identifiers import normal_number

ARTICLE_WORD = re.compile(r"^art(?:icle)?\.?\s+", re.IGNORECASE)


def is_lettered(number: str) -> bool:
    """Return whether a number has the letter of a part of a code ("L1234-1")."""
    return number[:1] in "LRDA" and any(c.isdigit() for c in number[1:4])


def trigger_places(text: str, triggers: tuple[tuple[str, int], ...] = TRIGGERS) -> list[int]:
    """Return the places where an anchor may stand, in order."""
    places: list[int] = []
    for needle, back in triggers:
        at = text.find(needle)
        while at >= 0:
            places.append(at - back)
            at = text.find(needle, at + 2)
    places.sort()
    return places


def normal(number: str) -> str:
    """Return the number as keys have it; "L.O. 1" and other ways to write the letter are made one."""
    number = re.sub(r"^L\.?\s?O\.?\s?", "LO ", number.replace("‑", "-").replace("–", "-"))
    number = re.sub(r"\s?-\s?", "-", number)
    if number.lower() in ("premier", "ier"):
        return "1er"
    return normal_number(re.sub(r"(?<=\d)\s(?=er\b)", "", number))


def has_number(numbers: Container[str], number: str) -> bool:
    """Return whether an act has an article; the first may be written with or without its ordinal ending."""
    return number in numbers or (number in ("1", "1er") and ("1" in numbers or "1er" in numbers)) or f"{number}." in numbers
