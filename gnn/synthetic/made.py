"""A question that is made from an article, and the interface of those that make them."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol


class Made(NamedTuple):
    """A question as it is made; ``of_section``: all articles of the same parent answer it."""

    text: str
    of_section: bool = False


class Asker(Protocol):
    """Makes questions; the same ones for the same articles."""

    def made(self, positions: Sequence[int]) -> list[list[Made]]:
        """Return the questions of each article, by its position in the law."""
        ...
