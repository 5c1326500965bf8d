"""Spelling: words of a query that the law does not know, and the words of the law that may be meant by them.

A word that the law knows, in whatever form, is never changed but for the accents that it was written without.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property

from bm25s.stopwords import STOPWORDS_EN
from rapidfuzz import process
from rapidfuzz.distance import OSA

from schema.identifiers import fold
from search.text.analysis import analyzer, says_little

_SHORTEST = 4
"""Letters of a word that is corrected, so short only by one that sounds alike: too many are near."""
_LONG = 7
"""Letters from which two mistakes may be in a word, or one in its first letter; else one behind that, unless it sounds alike: few
people mistake how a word begins, and another short word often ends alike ("trêve", of which the law may have "grève")."""
_SEEN = 3
"""Times that a word must stand in the law to be meant: what stands there once is often a mistake itself."""
_PARTICIPLE = re.compile(r"é(?=e?s?$)")
_SMALL_LAW = 100_000
"""Words of a law up to which any that it has may be meant."""
_CANDIDATES = 50
_LEFT_OUT = 50
"""Times that a word must stand in the law with its accents for each time that it stands there without them, to be meant by it."""
_STRAY = 1e-5
"""Share of the words of a law below which an English word is there by a name or a quotation."""
# Spellings of one sound: what sounds alike is likelier to be meant than what looks alike.
_SOUNDS = tuple(
    (re.compile(pattern), by)
    for pattern, by in {
        r"(.)\1": r"\1",
        r"ph": "f",
        r"eau|au": "o",
        r"a[iy]|ei": "e",
        r"[ae]([nm])(?![aeiouy])": r"a\1",
        r"m(?=[bp])": "n",
        r"qu|k": "c",
        r"ti(?=on|el|eu)": "si",
        r"c(?=[eiy])|ss|z|x$": "s",
        r"g(?=[eiy])": "j",
        r"h|[stdxe]+$": "",
        r"y": "i",
    }.items()
)


def sound(word: str) -> str:
    """Return how a folded French word sounds, roughly.

    >>> sound("parental") == sound("parantal"), sound("conge") == sound("conje")
    (True, True)
    """
    for pattern, by in _SOUNDS:
        word = pattern.sub(by, word)
    return word


class Speller:
    """The words of one law, by which others are corrected.

    Args:
        words: how often each stands in the law, in lower case with its accents.
        languages: of the law.
    """

    def __init__(self, words: Mapping[str, int], languages: Sequence[str]) -> None:
        self._words = words
        self._languages = languages

    @cached_property
    def _total(self) -> int:
        return sum(self._words.values())

    @cached_property
    def _folded(self) -> dict[str, str]:
        """The commonest way to write each word that is one without its accents."""
        best: dict[str, str] = {}
        for word, count in self._words.items():
            plain = fold(word)
            if plain not in best or count > self._words[best[plain]]:
                best[plain] = word
        return best

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(stem for language in self._languages for word in self._words for stem in analyzer(language).tokens(word))

    @cached_property
    def _choices(self) -> list[str]:
        seen = _SEEN if self._total > _SMALL_LAW else 1
        return [
            plain
            for plain, word in self._folded.items()
            if self._words[word] >= seen
            and len(plain) >= _SHORTEST
            and not any(says_little(word, language) for language in self._languages)
        ]

    def is_known(self, word: str) -> bool:
        """Return whether the law has a word, in any form."""
        if word.lower() in self._words or fold(word.lower()) in self._folded:
            return True
        stems = [analyzer(language).tokens(word) for language in self._languages if not says_little(word, language)]
        return len(stems) < len(self._languages) or any(each[0] in self._stems for each in stems)

    def is_foreign(self, word: str) -> bool:
        """Return whether a word is a small one of English where the law is in other languages and hardly ever has it."""
        plain = word.lower()
        return "en" not in self._languages and plain in _ENGLISH and self._words.get(plain, 0) < _STRAY * self._total

    def is_strange(self, word: str) -> bool:
        """Return whether the law never has a word as it is written, with or without its accents, or has it by a mistake."""
        return self._words.get(self._folded.get(fold(word.lower()), ""), 0) < _SEEN

    def accented(self, word: str) -> str:
        """Return a word with the accents that the law writes it with, where it hardly ever leaves them out; else as it is."""
        plain = word.lower()
        written = self._folded.get(plain, plain)
        bare = self._words.get(plain, 0)
        if _PARTICIPLE.sub("e", written) == plain:  # "loue" is a word beside "loué": the law must have this one often
            bare = max(bare, 1)
        times = self._words.get(written, 0)
        return written if times >= _SEEN and times > _LEFT_OUT * bare else word

    def correction(self, word: str) -> str | None:
        """Return the word of the law that is most likely meant by one that it does not know; None where none is near.

        The word is taken to be no name: whoever asks decides by its capitals.
        """
        plain = fold(word.lower())
        if len(plain) < _SHORTEST or self.is_known(word) or plain in _ENGLISH:
            return None
        found = process.extract(plain, self._choices, scorer=OSA.distance, score_cutoff=2, limit=_CANDIDATES)
        heard = sound(plain)
        near = [
            (sound(choice) != heard, distance, choice[0] != plain[0], -self._words[self._folded[choice]], choice)
            for choice, distance, _ in found
            if sound(choice) == heard
            or (choice[0] == plain[0] and (len(plain) >= _LONG or (distance < 2 and len(plain) > _SHORTEST)))
            or (distance < 2 and len(plain) >= _LONG)
        ]
        return self._folded[min(near)[-1]] if near else None


_ENGLISH = frozenset(STOPWORDS_EN)
