"""Words as both text indexes see them: elision, article numbers, stop words, stemming, accents.

Analysis happens once, here, for every text index, so that BM25 ranks the same list in every mode.
"""

import re
import unicodedata
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import Stemmer
from bm25s.stopwords import STOPWORDS_EN, STOPWORDS_FRENCH

from schema.identifiers import fold

_STOP_WORDS = {
    "fr": frozenset(STOPWORDS_FRENCH) | {"cette", "cet", "dont", "où", "si", "sans", "ainsi"},
    "en": frozenset(STOPWORDS_EN),
}
_LITTLE_SAID = """
    combien comment durant laquelle lequel lesquelles lesquels lors lorsque pendant pourquoi quand quel quelle quels quelles quoi
"""
"""Words that the index has, and that say nothing of what a question is about."""
_FEW = 10
"""Words of a short query."""
_NOT_ASKED = {"fr": frozenset(fold(word) for word in _LITTLE_SAID.split())}
_ALGORITHMS = {"fr": "french", "en": "english"}
_ELISION = r"(?:jusqu|lorsqu|puisqu|quoiqu|qu|[cdjlmnst])['\u2019]"
# "L. 1234-9", "R.* 12", "D1234": one word. A bare letter, a blank and a plain number ("il y a 15 jours") is none.
_ARTICLE_NUMBER = (
    r"(?P<letter>l\.?o|[lrdac])(?:\.\s?\*{0,2}\s?|\s?\*{1,2}\s?|\s(?=\d+-\d)|(?=\d))(?P<digits>\d+(?:[-\u2010\u2011]\d+)*)"
)
# An accent may stand behind its letter, as a character of its own.
_HYPHENS = str.maketrans("\u2010\u2011", "--")
_TOKEN = re.compile(rf"\b(?:{_ELISION}|{_ARTICLE_NUMBER}|(?P<word>\w[\w\u0300-\u036f]*))")


_REMEMBERED = 500_000
"""Words whose stems are kept; a server must not grow with what it is asked."""


class Token(NamedTuple):
    """An indexed word and the half-open range of code points it was made from."""

    word: str
    start: int
    end: int


class AnalysedText:
    """The indexed words of a text and their places, in little more memory than the text itself takes."""

    def __init__(self, text: str, language: str) -> None:
        words: list[str] = []
        self._starts, self._ends, self._at = array("I"), array("I"), array("I")
        at = 0
        for word, start, end in analyzer(language).analyse(text):
            self._starts.append(start)
            self._ends.append(end)
            self._at.append(at)
            words.append(word)
            at += len(word) + 1
        self._words = f" {' '.join(words)} "  # no word has a blank in it

    def find(self, wanted: Collection[str]) -> list[Token]:
        """Return those of some words that the text has, in order.

        >>> [token.start for token in AnalysedText("Le pain, la farine et le pain", "fr").find({"pain"})]
        [3, 25]
        """
        found: list[tuple[int, str]] = []
        for word in wanted:
            framed = f" {word} "
            at = self._words.find(framed)
            while at >= 0:
                found.append((bisect_left(self._at, at), word))
                at = self._words.find(framed, at + len(word) + 1)
        return [Token(word, self._starts[i], self._ends[i]) for i, word in sorted(found)]


class _Indexed(dict[str, str]):
    """The indexed form of each word in small letters, "" for a stop word: made when it is first asked for, and remembered."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._stop = _STOP_WORDS.get(language, frozenset[str]())
        self._stemmer = Stemmer.Stemmer(_ALGORITHMS[language], 0) if language in _ALGORITHMS else None

    def __missing__(self, word: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        whole = unicodedata.normalize("NFC", word)
        stem = self._stemmer.stemWord(whole) if self._stemmer else whole
        indexed = self[word] = "" if whole in self._stop else fold(stem)
        return indexed


class Analyzer:
    """Analysis for one language; an unknown one is split and folded, without stemming or stop words."""

    def __init__(self, language: str) -> None:
        self.language = language
        self._indexed = _Indexed(language)

    def analyse(self, text: str) -> Iterator[Token]:
        """Return the words of a text with their places, in order.

        >>> [token.word for token in Analyzer("fr").analyse("L'indemnité prévue à l'article L. 1234-9")]
        ['indemn', 'prevu', 'articl', 'l1234-9']
        """
        for match in _TOKEN.finditer(_lower(text)):
            letter, digits, word = match.groups()
            indexed = self._indexed[word] if word else _number(letter, digits) if digits else ""
            if indexed:
                yield Token(indexed, *match.span())

    def tokens(self, text: str) -> list[str]:
        """Return the words of a text: those of `analyse`, in half the time."""
        found: list[str] = []
        indexed = self._indexed
        for letter, digits, word in _TOKEN.findall(_lower(text)):
            if word:
                stem = indexed[word]
                if stem:
                    found.append(stem)
            elif digits:
                found.append(_number(letter, digits))
        return found


def _lower(text: str) -> str:
    """Return a text in small letters, each where it stood: a few letters would change their length."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


def _number(letter: str, digits: str) -> str:
    """Return the number of an article as one word."""
    return letter.replace(".", "") + digits.translate(_HYPHENS)


@cache
def analyzer(language: str) -> Analyzer:
    """Return the analyzer of a language, made once."""
    return Analyzer(language)


def _asked(query: str, language: str) -> list[str]:
    """Return the words of a query that say what it is about, by one language.

    In a few words each counts, and "pendant" would rank; a long question has enough that say more.
    """
    tokens = list(analyzer(language).analyse(query))
    idle = _NOT_ASKED.get(language, frozenset[str]()) if len(tokens) <= _FEW else frozenset[str]()
    return [token.word for token in tokens if fold(query[token.start : token.end].lower()) not in idle]


def says_little(word: str, language: str) -> bool:
    """Return whether a word of a query is a stop word, or one that says nothing of what a question is about."""
    return not analyzer(language).tokens(word) or fold(word.lower()) in _NOT_ASKED.get(language, frozenset[str]())


@lru_cache(maxsize=256)
def query_tokens(query: str, languages: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a query over law in several languages: those of the first, and what the others add.

    Remembered for a while: the text index and the encoder of one search ask for the same words.
    """
    tokens: list[str] = []
    for language in languages:
        words = _asked(query, language)
        tokens += words if not tokens else [word for word in words if word not in tokens]
    return tuple(tokens)
