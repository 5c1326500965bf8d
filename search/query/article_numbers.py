"""Articles by their numbers: in one act or in all, from one to another, and the nearest to one that there is not."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from citations.resolve import LONGEST_RANGE, loose_number, number_order
from schema.identifiers import MAX_LENGTH
from search.corpus.corpus import Corpus

_LETTERS = ("l", "r", "d", "a", "lo")
_LETTER = re.compile(r"^(lo|[lrda])(?=\d)")
_NUMBER = re.compile(r"\d+(?:[\s-]*(?:bis|ter|quater)\b)?", re.IGNORECASE)
_HELD_TABLE = re.compile(r"tableau-n°-(\w+)$")
_OF_TABLE = r"\d+(?:[\s-]*(?:bis|ter|quater))?(?![\w%°-]|[.,]\d|\s+%)"
_OF_TABLES = rf"{_OF_TABLE}(?:\s*(?:,|et|ou)\s*{_OF_TABLE})*"
_TABLE = re.compile(
    rf"\btableaux?\s+(?:(?:n\s*[o°º]?s?\.?|num[ée]ros?|r[ga])\s*({_OF_TABLES})(?!\s+de\s+l')|"
    rf"({_OF_TABLES})(?=\s*(?:$|[?!;:,.)]|(?:du|des|dans|pour|code|css|crpm)\b)))",
    re.IGNORECASE,
)
"""Without a sign that it is a number, "tableau 4" of something else goes on otherwise: "tableau 4 colonnes"."""
_LENGTH = MAX_LENGTH - 17
"""Characters of an identifier that its act and its number alone make."""


class ArticleNumbers:
    """The numbers of the articles of one corpus, as identifiers have them."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._held: dict[str, list[int]] = defaultdict(list)
        acts = [len(act) + 1 for act in corpus.acts]
        for position, (id, act) in enumerate(zip(corpus.articles, corpus.article_act.tolist(), strict=True)):
            self._held[loose_number(id.partition("~")[0][acts[act] : _LENGTH])].append(position)
        self._tables: dict[str, list[int]] = defaultdict(list)
        for number, positions in self._held.items():
            if table := _HELD_TABLE.search(number):
                self._tables[table[1]] += positions

    def find(self, number: str, acts: Iterable[int] | None = None) -> list[int]:
        """Return the positions of the articles of a number, in reading order; in all acts, or in some.

        Where the number has no letter and no article has it so, those that have it with one.
        """
        within = None if acts is None else set(acts)
        loose = loose_number(number)
        for numbers in ((loose,), [f"{letter}{loose}" for letter in _LETTERS] if loose[:1].isdigit() else ()):
            found = [position for each in numbers for position in self._in(each, within)]
            if found:
                return sorted(found)
        return []

    def tables(self, text: str) -> list[int]:
        """Return the positions of the tables of occupational diseases that a text names, "tableau 57", in all acts.

        An article that is one is "Tableau n° 57" in one code, "Annexe II : Tableau n° 57" in another.
        """
        numbers = (loose_number(number[0]) for named in _TABLE.finditer(text) for number in _NUMBER.finditer(named[0]))
        return [position for number in dict.fromkeys(numbers) for position in self._tables.get(number, ())]

    def in_act(self, act: str, number: str) -> list[str]:
        """Return the identifiers of the articles of an act that have a number, in reading order."""
        position = self._corpus.act_position.get(act)
        if position is None:
            return []
        loose = loose_number(f"{act}/{number}"[len(act) + 1 : _LENGTH])
        return [self._corpus.articles[found] for found in self._in(loose, {position})]

    def _in(self, loose: str, acts: set[int] | None) -> list[int]:
        found = self._held.get(loose, [])
        return found if acts is None else [position for position in found if int(self._corpus.article_act[position]) in acts]

    def between(self, first: str, last: str, act: int) -> list[int]:
        """Return the positions of an act's articles from one number to another, both included, in the order of numbers."""
        low, high = number_order(first), number_order(last)
        letters = _letter(first), _letter(last)
        found = [
            (number_order(number), position)
            for number, positions in self._held.items()
            if _letter(number) in letters and low <= number_order(number) <= high
            for position in positions
            if int(self._corpus.article_act[position]) == act
        ]
        return [position for _, position in sorted(found)][:LONGEST_RANGE]

    def nearest(self, number: str, acts: Iterable[int] | None = None, most: int = 3) -> list[int]:
        """Return the positions of the articles whose numbers are nearest to one, nearest first.

        A number without a letter may have been meant with any, as where it is looked for.
        """
        within = None if acts is None else set(acts)
        digits, letter = _digits(number), _letter(number)
        ranked = sorted(
            (other and _digits(held) != digits, _distance(digits, _digits(held)), other, positions[0], held)
            for held, positions in self._held.items()
            for other in (bool(letter) and _letter(held) != letter,)
            if held[:1].isdigit() or _LETTER.match(held)
        )
        found: list[int] = []
        for *_, held in ranked:
            found += self._in(held, within)[:1]
            if len(found) >= most:
                break
        return found


def _letter(number: str) -> str:
    letter = _LETTER.match(loose_number(number))
    return letter[0] if letter else ""


def _digits(number: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", number)[:4])


def _distance(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return how far the parts of two numbers are from each other, the first part first."""
    length = max(len(one), len(other))
    return tuple(abs((one[i] if i < len(one) else 0) - (other[i] if i < len(other) else 0)) for i in range(length)) + (0,) * (
        4 - length
    )
