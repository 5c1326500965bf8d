"""The part of an article that shows why it answers: the passage with most of the query's words, marked."""

from dataclasses import dataclass
from itertools import islice, takewhile

from search.text.analysis import Token, analyzer

WIDTH = 240
"""Length of a snippet, in characters."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A passage, the half-open ranges of its matched words in it, and the words as they stand there."""

    text: str
    marks: tuple[tuple[int, int], ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The matched words, each form once, in order."""
        return tuple(dict.fromkeys(self.text[start:end].lower() for start, end in self.marks))


def snippet(text: str, query: str, language: str, width: int = WIDTH) -> Snippet:
    """Return the passage of ``text`` with the most different words of ``query``; its beginning where none has any."""
    analyse = analyzer(language)
    wanted = set(analyse.tokens(query))
    matches = [token for token in analyse.analyse(text) if token.word in wanted]
    start = best = 0
    if matches:
        best = max(
            range(len(matches)),
            key=lambda i: (len(_words_within(matches, i, width)), -i),
        )
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


def _words_within(matches: list[Token], first: int, width: int) -> set[str]:
    return {t.word for t in takewhile(lambda t: t.end <= matches[first].start + width, islice(matches, first, None))}


def _word_start(text: str, position: int) -> int:
    blank = text.find(" ", position)
    return position if blank < 0 or blank > position + 40 else blank + 1
