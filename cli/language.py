"""The language that the command line speaks: English, or French where the locale is French.

A message is written in English, with its values in braces; `cli.french` holds the French of each. What the rooms below
raise comes as finished text, which is held against the messages that they have.
"""

import os
import re
from collections.abc import Mapping
from datetime import date
from functools import cache

from cli.french import FROM_BELOW, MESSAGES

_VALUE = re.compile(r"\\\{(\w+)\\\}")


def is_french() -> bool:
    """Return whether the locale's messages are French (``LC_ALL``, ``LC_MESSAGES``, ``LANG``: the first that is set)."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return next(filter(None, names), "").lower().startswith("fr")


def localised(message: str, **values: object) -> str:
    """Return a message in the language of the locale, with its values; days as that language writes them."""
    shown = {name: day_in_words(value) if isinstance(value, date) else value for name, value in values.items()}
    return (MESSAGES.get(message, message) if is_french() else message).format(**shown)


def day_in_words(day: date) -> str:
    """Return a day as the locale's language writes it."""
    return day.strftime(localised("%Y-%m-%d"))


def translated(text: str) -> str:
    """Return a finished text, such as an error's, in the language of the locale; as it is where its message is not known."""
    if not is_french():
        return text
    for pattern, french in _patterns():
        found = pattern.fullmatch(text)
        if found:
            return french.format(**found.groupdict())
    return text


@cache
def _patterns() -> list[tuple[re.Pattern[str], str]]:
    """Return each message as a pattern for finished texts, those with most words of their own first."""
    in_order = sorted(FROM_BELOW, key=lambda message: -len(_VALUE.sub("", re.escape(message))))
    return [(re.compile(_VALUE.sub(r"(?P<\1>.+)", re.escape(message)), re.DOTALL), FROM_BELOW[message]) for message in in_order]


def number_of(n: int, forms: Mapping[bool, str]) -> str:
    """Return a number with its noun; ``forms`` gives the message of one, and of several.

    >>> number_of(2, {True: "{n} article", False: "{n} articles"})
    '2 articles'
    """
    return localised(forms[n == 1], n=f"{n:,}".replace(",", " ") if is_french() else f"{n:,}")
