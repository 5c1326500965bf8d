"""Articles whose text goes on under another number: pairs of what ends and what begins on the same day.

Of the texts that begin, those that share the rarest words with one that ends are held against it, so that a reform of a
thousand articles stays cheap. Then words are compared one by one (normalised indel similarity), and each text has one
partner at the most: the most similar first.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from rapidfuzz.distance import Indel

from ingest.readers.history.timeline import Run
from schema.identifiers import fold
from schema.records import Renumbering

SIMILAR = 0.75
"""Least similarity of two texts that are taken for one."""
FEWEST_WORDS = 8
"""Shorter texts ("(Abrogé)", "Un décret en fixe les modalités") are found anywhere."""
_SHORT, _SIMILAR_IF_SHORT = 16, 0.9
_RAREST, _MOST_CANDIDATES = 12, 6
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an article on one side of a day, as words."""

    article: str
    words: tuple[str, ...]


def renumberings(
    wordings: Mapping[str, Sequence[Run[str]]], texts: Mapping[str, str], numbers: Mapping[str, str]
) -> Iterator[Renumbering]:
    """Yield the articles whose text went on under another number.

    Args:
        wordings: of each article, in the order of their days, by the keys of ``texts``.
        numbers: of each article.
    """
    split: dict[str, tuple[str, ...]] = {}

    def words(key: str) -> tuple[str, ...]:
        if key not in split:
            split[key] = tuple(_WORD.findall(fold(texts[key].lower())))
        return split[key]

    ended: dict[date, list[_Text]] = defaultdict(list)
    begun: dict[date, list[_Text]] = defaultdict(list)
    for article, runs in wordings.items():
        stayed = {
            after.start
            for before, after in pairwise(runs)
            if before.end == after.start and _same(words(before.value), words(after.value))
        }
        for run in runs:
            if len(words(run.value)) < FEWEST_WORDS:
                continue
            if run.end is not None and run.end not in stayed:
                ended[run.end].append(_Text(article, words(run.value)))
            if run.start not in stayed:
                begun[run.start].append(_Text(article, words(run.value)))
    for day in sorted(ended):
        for similarity, old, new in _paired(ended[day], begun.get(day, ()), numbers):
            yield Renumbering(old, new, day, round(similarity, 3))


def _same(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether an article keeps its text under its number."""
    return Indel.normalized_similarity(before, after, score_cutoff=SIMILAR) > 0


def _paired(ended: Iterable[_Text], begun: Sequence[_Text], numbers: Mapping[str, str]) -> list[tuple[float, str, str]]:
    """Similarity, old and new article of the pairs of one day, the most similar first; each article is in one of them."""
    holding: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(begun):
        for word in set(text.words):
            holding[word].append(place)
    pairs: list[tuple[float, int, int, str, str]] = []
    for order, text in enumerate(ended):
        for place in _candidates(text, holding):
            other = begun[place]
            if numbers[other.article] == numbers[text.article]:
                continue
            least = SIMILAR if min(len(text.words), len(other.words)) >= _SHORT else _SIMILAR_IF_SHORT
            similarity = Indel.normalized_similarity(text.words, other.words, score_cutoff=least)
            if similarity:
                pairs.append((-similarity, abs(order - place), order, text.article, other.article))
    taken_old: set[str] = set()
    taken_new: set[str] = set()
    found: list[tuple[float, str, str]] = []
    for similarity, _, _, old, new in sorted(pairs):
        if old not in taken_old and new not in taken_new:
            taken_old.add(old)
            taken_new.add(new)
            found.append((-similarity, old, new))
    return found


def _candidates(text: _Text, holding: Mapping[str, Sequence[int]]) -> list[int]:
    """The texts that share most of a text's rarest words."""
    shared = sorted((word for word in {*text.words} if word in holding), key=lambda word: (len(holding[word]), word))
    votes = Counter(place for word in shared[:_RAREST] for place in holding[word][:200])
    return [place for place, _ in votes.most_common(_MOST_CANDIDATES)]
