"""Terms of the law, by which a query in another language is asked: to each of its words the nearest, by multilingual embeddings.

Term-by-term query translation (Litschko et al., "Unsupervised Cross-Lingual Information Retrieval Using Monolingual Data Only",
SIGIR 2018, section 2), by the embeddings of a sentence encoder that has learnt from translations, and of pairs of words too.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from search.arrays import Encode, unit
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
_TOGETHER = 0.3
"""Gain of a pair over two words that are as near ("parental leave": not what one leaves). These three were chosen on titles of
development questions in English."""
_MOST_ASKED = 100
"""Words of a query that are looked up."""
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
        if second - first <= _BETWEEN + 1:
            yield " ".join(heading[words[first].start() : words[second].end()].split())


def _says_something(word: str, languages: Sequence[str]) -> bool:
    return len(word) >= _SHORTEST and not any(is_small_word(word, language) for language in languages)


@dataclass(frozen=True, eq=False)
class Terms:
    """Words of a law and pairs of them, with their embeddings.

    Attributes:
        words: with how often each stands in the law.
        pairs: with how often each stands in its headings.
        vectors: floating[words and pairs, d], unit length.
        embed: texts of any language to their embeddings, float32[texts, d], which are not of unit length yet.
    """

    words: Mapping[str, int]
    pairs: Mapping[str, int]
    vectors: npt.NDArray[np.floating]
    embed: Encode

    @cached_property
    def _names(self) -> list[str]:
        return [*self.words, *self.pairs]

    @cached_property
    def _frequency(self) -> npt.NDArray[np.float32]:
        counts = np.array([*self.words.values(), *self.pairs.values()], np.float32)
        return np.float32(_FREQUENT) * np.log(counts)

    def said(self, text: str, language: str) -> str:
        """Return a text of another language in terms of the law, "" where none is near.

        Two words that follow each other, small ones left out, are one term where that is nearer than the terms of both.

        Args:
            language: ISO 639-1 code, by which its small words are known.
        """
        asked = [word for word in WORD.findall(text.lower()) if _says_something(word, [language])][:_MOST_ASKED]
        if not asked or not self.words:
            return ""
        words, pairs = self._nearest(asked)
        return " ".join(term for term in _divided(words, pairs) if term)

    def _nearest(self, asked: Sequence[str]) -> tuple[list[_Near], list[_Near]]:
        """Return the terms of words, and of each with the next; a word that none is near to has ""."""
        together = [" ".join(two) for two in pairwise(asked)]
        cosines = unit(self.embed([*asked, *together])) @ np.asarray(self.vectors, np.float32).T
        likely = cosines + self._frequency
        n, m = len(asked), len(self.words)
        meant = np.argmax(likely[:n, :m], axis=1).tolist()
        words = [
            (self._names[term] if row[term] >= _NEAR else "", float(row.max()))
            for row, term in zip(cosines[:n, :m], meant, strict=True)
        ]
        if not self.pairs:
            return words, []
        said = (np.argmax(likely[n:, m:], axis=1) + m).tolist()
        return words, [(self._names[term], float(row[term])) for row, term in zip(cosines[n:], said, strict=True)]


def _divided(words: Sequence[_Near], pairs: Sequence[_Near]) -> list[str]:
    """Return the terms of the division into words and pairs whose cosines have the highest sum, that of a pair counted twice."""
    best: list[tuple[float, list[str]]] = [(0.0, [])]
    for place, (term, cosine) in enumerate(words):
        chosen = (best[-1][0] + cosine, [*best[-1][1], term])
        if place and pairs:
            pair, together = pairs[place - 1]
            as_pair = best[-2][0] + 2 * together + _TOGETHER
            chosen = max(chosen, (as_pair, [*best[-2][1], pair]), key=lambda division: division[0])
        best.append(chosen)
    return best[-1][1]
