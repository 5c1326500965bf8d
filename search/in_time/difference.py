"""The difference between two wordings, word by word: paragraphs are aligned first, then the words of those that changed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from rapidfuzz.distance import Indel, Levenshtein

Change = Literal["same", "deleted", "inserted"]
_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_ALIKE = 0.4
"""Least similarity of two paragraphs that are compared word by word; others go and come as a whole."""

_LONG = 500_000
"""Pairs of words from which on paragraphs are compared by fewest edits: `SequenceMatcher`, which reads better, takes seconds."""


@dataclass(frozen=True, slots=True)
class Span:
    """Words that stayed, went or came.

    Attributes:
        start, end: their place in the earlier text, of those that came in the later one: half-open, in code points.
    """

    change: Change
    text: str
    start: int
    end: int


def difference(before: str, after: str) -> list[Span]:
    """Return the spans that both texts are made of, in reading order: what went stands before what came in its place.

    >>> [(span.change, span.text) for span in difference("Le pain est bon.", "Le pain est cuit.")]
    [('same', 'Le pain est '), ('deleted', 'bon'), ('inserted', 'cuit'), ('same', '.')]
    """
    spans: list[Span] = []
    old_at = new_at = 0
    for old, new in _aligned(before.splitlines(keepends=True), after.splitlines(keepends=True)):
        for change, text in _words(old, new):
            at = new_at if change == "inserted" else old_at
            if spans and spans[-1].change == change:
                spans[-1] = Span(change, spans[-1].text + text, spans[-1].start, at + len(text))
            else:
                spans.append(Span(change, text, at, at + len(text)))
            old_at += len(text) if change != "inserted" else 0
            new_at += len(text) if change != "deleted" else 0
    return spans


def _aligned(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Pairs of paragraphs; "" beside one that went or came as a whole."""
    for _, old_start, old_end, new_start, new_end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        old, new = list(before[old_start:old_end]), list(after[new_start:new_end])
        while old and new:
            alike = [Indel.normalized_similarity(old[0], other) for other in new]
            best = max(range(len(new)), key=alike.__getitem__)
            if alike[best] < _ALIKE:
                yield old.pop(0), ""
                continue
            yield from (("", other) for other in new[:best])
            yield old.pop(0), new[best]
            del new[: best + 1]
        yield from ((paragraph, "") for paragraph in old)
        yield from (("", paragraph) for paragraph in new)


def _words(before: str, after: str) -> Iterator[tuple[Change, str]]:
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) * len(new) > _LONG:
        edits = Levenshtein.opcodes(old, new)
        steps = [(edit.tag, edit.src_start, edit.src_end, edit.dest_start, edit.dest_end) for edit in edits]
    else:
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for tag, old_start, old_end, new_start, new_end in steps:
        if tag == "equal":
            yield "same", "".join(old[old_start:old_end])
            continue
        if old_end > old_start:
            yield "deleted", "".join(old[old_start:old_end])
        if new_end > new_start:
            yield "inserted", "".join(new[new_start:new_end])
