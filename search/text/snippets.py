"""The part of an article that shows why it answers: the passage with most of the query's words, marked."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from runtime.bounded_cache import BoundedCache
from search.text.analysis import AnalysedText, Token, analyzer

WIDTH = 240
"""Length of a snippet, in characters."""
_ANALYSED: BoundedCache[tuple[str, str], AnalysedText] = BoundedCache(8_000_000)
"""Texts that snippets were cut from last, analysed, by text and language: about ten thousand articles of a French code, in
25 MB with the texts. What a query finds, others find too, and analysis takes thirty times as long as finding words in it."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage, the half-open ranges of its matched words in it, and the words as they stand there."""

    text: str
    marks: tuple[tuple[int, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The matched words, each form once, in order."""
        return tuple(dict.fromkeys(self.text[start:end].lower() for start, end in self.marks))

    def line(self, width: int) -> "Snippet":
        """Return the part of at most ``width`` characters that holds the most different matched words."""
        if len(self.text) <= width:
            return self
        room = max(width - 4, 1)  # what was cut on either side takes two columns

        def held(first: int) -> int:
            return len({self.text[s:e].lower() for s, e in self.marks if first <= s and e <= first + room})

        start = max((max(s - room // 8, 0) for s, _ in self.marks), key=lambda first: (held(first), -first), default=0)
        start = min(start, max(len(self.text) - room, 0))
        first_mark = next((s for s, _ in self.marks if s >= start), start)
        begin = min(_word_start(self.text, start), first_mark) if start else 0
        end = begin + room
        if end < len(self.text):
            end = max(self.text.rfind(" ", begin + room // 2, end + 1), begin + room // 2)
        before, after = ("… " if begin and not self.text.startswith("…", begin) else ""), (" …" if end < len(self.text) else "")
        shift = len(before) - begin
        marks = tuple((s + shift, e + shift) for s, e in self.marks if begin <= s and e <= end)
        return Snippet(before + self.text[begin:end] + after, marks)


def snippet(text: str, query: str, language: str, width: int = WIDTH) -> Snippet:
    """Return the passage of ``text`` with the most different words of ``query``; its beginning where none has any."""
    matches = _analysed(text, language).find(_wanted(query, language))
    start = best = 0
    if matches:
        held = list(_words_within(matches, width))
        best = held.index(max(held))
        start = min(matches[best].start - width // 8, len(text) - width)  # a match near the end shows what leads to it
        start = min(_word_start(text, start), matches[best].start) if start > 0 and matches[best].end > width else 0
    end = len(text) if start + width >= len(text) else max(text.rfind(" ", start + width // 2, start + width), start + width // 2)
    if matches:
        end = max(end, matches[best].end)
    before, after = ("… " if start else ""), (" …" if end < len(text) else "")
    passage = before + text[start:end].replace("\n", " ") + after
    shift = len(before) - start
    marks = tuple((t.start + shift, t.end + shift) for t in matches if start <= t.start and t.end <= end)
    return Snippet(passage, marks)


@lru_cache(maxsize=256)
def _wanted(query: str, language: str) -> frozenset[str]:
    """Return the words of a query; a page asks for them with every hit."""
    return frozenset(analyzer(language).tokens(query))


def _analysed(text: str, language: str) -> AnalysedText:
    found = _ANALYSED.get((text, language))
    if found is None:
        found = AnalysedText(text, language)
        _ANALYSED.put((text, language), found, len(text))
    return found


def _words_within(matches: Sequence[Token], width: int) -> Iterator[int]:
    """Yield the number of different words among the matches that a passage from each of them on has room for."""
    held: Counter[str] = Counter()
    beyond = different = 0
    for first, match in enumerate(matches):
        while beyond < len(matches) and matches[beyond].end <= match.start + width:
            held[matches[beyond].word] += 1
            different += held[matches[beyond].word] == 1
            beyond += 1
        yield different
        if beyond == first:  # longer than the passage, and so not in it
            beyond += 1
            continue
        held[match.word] -= 1
        different -= held[match.word] == 0


def _word_start(text: str, position: int) -> int:
    blank = text.find(" ", position)
    return position if blank < 0 or blank > position + 40 else blank + 1
