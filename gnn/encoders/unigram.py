"""Word pieces of a text by a unigram vocabulary (Kudo, ACL 2018, section 3.2), in Python alone: no tokenizer at query time."""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice

_BEGINNING = "▁"
"""Stands before the first piece of a word."""
_UNKNOWN_PENALTY = 10.0
"""How much less likely than the least likely piece a character is that no piece spells (as in SentencePiece)."""
_CACHED_WORDS = 200_000
_DROPPED = (*range(0x01, 0x09), 0x0B, *range(0x0E, 0x20), 0x7F, 0x8F, 0x9F)
_BLANK = (0x09, 0x0A, 0x0C, 0x0D, 0x1680, *range(0x200B, 0x2010), 0x2028, 0x2029, 0x2581, 0xFEFF, 0xFFFD)
_CONTROL: dict[int, str | None] = {**dict.fromkeys(_DROPPED, None), **dict.fromkeys(_BLANK, " ")}
"""Control characters and odd blanks, as SentencePiece's rules for machine translation treat them."""
_ODD = re.compile("[" + "".join(re.escape(chr(code)) for code, to in _CONTROL.items() if not (to and chr(code).isspace())) + "]")
"""Those that splitting at blanks does not treat so by itself."""


class Unigram:
    """Splits words into the pieces whose probabilities have the greatest product.

    Args:
        pieces: v pieces, none twice; the first of a word begins with U+2581.
        scores: v logarithms of their probabilities.
    """

    def __init__(self, pieces: Sequence[str], scores: Sequence[float]) -> None:
        self.pieces, self.scores = list(pieces), [float(score) for score in scores]
        self._place = {piece: place for place, piece in enumerate(self.pieces)}
        self._longest = max(map(len, self.pieces), default=0)
        self._unknown = min(self.scores, default=0.0) - _UNKNOWN_PENALTY
        self._of_word = lru_cache(_CACHED_WORDS)(self._split)

    def of_text(self, text: str, limit: int | None = None) -> list[int]:
        """Return the places of the pieces of a text, in its order, at most ``limit``; what no piece spells is left out."""
        if _ODD.search(text):
            text = text.translate(_CONTROL)
        words = unicodedata.normalize("NFKC", text).split()
        return list(islice(chain.from_iterable(map(self._of_word, words)), limit))

    def _split(self, word: str) -> tuple[int, ...]:
        """Return the places of the pieces of a word, by the best path through it (Viterbi)."""
        word = _BEGINNING + word
        best = [0.0] + [float("-inf")] * len(word)
        last = [(0, -1)] * (len(word) + 1)
        for start in range(len(word)):
            so_far = best[start]
            for end in range(start + 1, min(start + self._longest, len(word)) + 1):
                place = self._place.get(word[start:end], -1)
                if place < 0 and end > start + 1:
                    continue
                score = so_far + (self.scores[place] if place >= 0 else self._unknown)
                if score > best[end]:
                    best[end], last[end] = score, (start, place)
        path: list[int] = []
        at = len(word)
        while at:
            at, place = last[at]
            path.append(place)
        return tuple(place for place in reversed(path) if place >= 0)
