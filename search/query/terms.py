"""Terms of the law, by which a query in another language is asked: to each of its words the nearest, by multilingual embeddings.

Term-by-term query translation (Litschko et al., "Unsupervised Cross-Lingual Information Retrieval Using Monolingual Data Only",
SIGIR 2018, section 2), by the embeddings of a sentence encoder that has learnt from translations, and of pairs of words too.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from search.arrays import Encode, Matrix, unit
from search.query.foreign_language import is_small_word
from search.text.vocabulary import WORD

MOST = 20_000
"""Words, and pairs of words, that are kept: the most frequent ones."""
_SEEN, _SEEN_PAIR = 10, 2
"""Times that a word stands in the law, and a pair in its headings."""
_SHORTEST = 3
_BETWEEN = 2
"""Small words that may stand between the two words of a pair ("période d'essai", "maintien dans l'emploi")."""
_NEAR = 0.6
"""Cosine from which a term is taken for what a word means."""
_FREQUENT = 0.03
"""Gain in cosine of a term e times as frequent: of several that mean nearly the same, the law says one far more often."""
_TOGETHER = 0.2
"""Gain of a pair over two words that are as near ("parental leave": not what one leaves)."""
_SPELT_ALIKE = 0.15
"""Loss in cosine of a term that is spelt as the word is: two languages often mean different things by it ("vacation"). These four
were chosen on titles of development questions in English."""
_MOST_ASKED = 50
"""Words of a query that are looked up."""
_NUMERAL = re.compile(r"x{0,3}(?:ix|iv|v?i{0,3})|ier|bis|ter|quater")
"""Words that number the parts of an act."""
_ONE_TERM = re.compile(r"(?:[\s'\u2019-]|[^\W\d_](?=['\u2019]))+")
"""Blanks, hyphens and elisions stand within a term; other signs end it."""
_NUMBER = re.compile(r"\d+")
_Near = tuple[str, float]
"""A term and its cosine."""


def frequent_words(counts: Mapping[str, int], languages: Sequence[str]) -> dict[str, int]:
    """Return the words of a law that say something, the most frequent first, with how often they stand there."""
    said = {word: n for word, n in counts.items() if n >= _SEEN and _says_something(word, languages)}
    return dict(sorted(said.items(), key=lambda item: -item[1])[:MOST])


def pairs_of_words(headings: Iterable[str], languages: Sequence[str]) -> dict[str, int]:
    """Return what stands in several headings as one term of two words, the most frequent first, with how often it does.

    >>> pairs_of_words(["La période d'essai", "Durée de la période d'essai"], ["fr"])
    {"période d'essai": 2}
    """
    counted = Counter(pair for heading in headings for pair in _pairs(heading.lower(), languages))
    return {pair: n for pair, n in counted.most_common(MOST) if n >= _SEEN_PAIR}


def _pairs(heading: str, languages: Sequence[str]) -> Iterator[str]:
    """Yield each two words that say something, with the small words between them."""
    words = list(WORD.finditer(heading))
    saying = [place for place, word in enumerate(words) if _says_something(word.group(), languages)]
    for first, second in pairwise(saying):
        between = (heading[one.end() : next_.start()] for one, next_ in pairwise(words[first : second + 1]))
        if second - first <= _BETWEEN + 1 and all(map(_ONE_TERM.fullmatch, between)):
            yield " ".join(heading[words[first].start() : words[second].end()].split())


def _says_something(word: str, languages: Sequence[str]) -> bool:
    if len(word) < _SHORTEST or _NUMERAL.fullmatch(word):
        return False
    return not any(is_small_word(word, language) for language in languages)


@dataclass(frozen=True, eq=False)
class Terms:
    """Words of a law and pairs of them, with their embeddings.

    Attributes:
        words: with how often each stands in the law.
        pairs: with how often each stands in its headings.
        vectors: float32[words and pairs, d], unit length.
        embed: texts of any language to their embeddings, float32[texts, d], which are not of unit length yet.
    """

    words: Mapping[str, int]
    pairs: Mapping[str, int]
    vectors: Matrix
    embed: Encode

    @cached_property
    def _names(self) -> list[str]:
        return [*self.words, *self.pairs]

    @cached_property
    def _place(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self._names)}

    @cached_property
    def _frequency(self) -> npt.NDArray[np.float32]:
        counts = np.array([*self.words.values(), *self.pairs.values()], np.float32)
        return np.float32(_FREQUENT) * np.log(counts)

    def said(self, text: str, language: str) -> str:
        """Return a text of another language in terms of the law, its numbers behind them; "" where no term is near.

        Two words that follow each other, small ones left out, are one term where that is about as near as the terms of both.

        Args:
            language: ISO 639-1 code, by which its small words are known.
        """
        asked = [word for word in WORD.findall(text.lower()) if _says_something(word, [language])][:_MOST_ASKED]
        if not asked or not self.words:
            return ""
        terms = [term for term in _divided(*self._nearest(asked)) if term]
        return " ".join([*terms, *_NUMBER.findall(text)]) if terms else ""

    def _nearest(self, asked: Sequence[str]) -> tuple[list[_Near], list[_Near]]:
        """Return the terms of words, and of each with the next; "" where none is near."""
        together = [" ".join(two) for two in pairwise(asked)]
        texts = list(dict.fromkeys([*asked, *together]))
        cosines = unit(self.embed(texts)) @ self.vectors.T
        for row, text in zip(cosines, texts, strict=True):
            if text in self._place:
                row[self._place[text]] -= _SPELT_ALIKE
        of = dict(zip(texts, cosines, strict=True))
        n, every = len(self.words), len(self._names)
        return [self._best(of[word], 0, n) for word in asked], [self._best(of[two], n, every) for two in together]

    def _best(self, cosines: npt.NDArray[np.float32], first: int, end: int) -> _Near:
        """Return the likeliest of the terms from ``first`` to ``end`` that are near."""
        own = cosines[first:end]
        likely = np.where(own >= _NEAR, own + self._frequency[first:end], np.float32(0))
        if not likely.any():
            return "", 0.0
        best = int(np.argmax(likely))
        return self._names[first + best], float(own[best])


def _divided(words: Sequence[_Near], pairs: Sequence[_Near]) -> list[str]:
    """Return the terms of the division into words and pairs whose cosines have the highest sum, that of a pair counted twice."""
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for place, (term, cosine) in enumerate(words):
        chosen = (best[-1][0] + cosine, [*best[-1][1], term])
        if place and pairs[place - 1][0]:
            pair, together = pairs[place - 1]
            as_pair = best[-2][0] + 2 * together + _TOGETHER
            chosen = max(chosen, (as_pair, [*best[-2][1], pair]), key=lambda division: division[0])
        best.append(chosen)
    return best[-1][1]
