"""Markdown of law to plain text with its paragraphs, and where its links stand in that text."""

import re
from dataclasses import dataclass, field
from html import unescape
from itertools import islice

from ingest.readers.support.html import Link

_MARKS = re.compile(
    r"\[(?P<words>[^\[\]\n]{0,2000})\]\((?P<href>[^()\s]{0,2000})\)"
    r"|</?(?:sup|sub|b|i|u|em|strong|span|br)\s*/?>"
    r"|(?P<escaped>(?:\\[\\`*_{}\[\]()#+.!|<>-])+)"
    r"|(?P<stars>\*{1,3})",
    re.IGNORECASE,
)
MOST_MARKS = 50_000
"""Marks of one paragraph; one with more is no Markdown, and is taken as it stands."""
_SPECIAL = re.compile(r"[\[<*\\&]")


@dataclass(slots=True)
class PlainText:
    """Text that grows by paragraphs, one a line, and the links in it."""

    parts: list[str] = field(default_factory=list[str])
    links: list[Link] = field(default_factory=list[Link])
    length: int = 0

    def add(self, markdown: str) -> None:
        """Add a paragraph; one without words is none."""
        words, links = inline(markdown)
        if not words:
            return
        if self.parts:
            self.parts.append("\n")
            self.length += 1
        self.links += (Link(link.href, link.start + self.length, link.end + self.length) for link in links)
        self.parts.append(words)
        self.length += len(words)

    @property
    def text(self) -> str:
        return "".join(self.parts)


def inline(markdown: str) -> tuple[str, list[Link]]:
    """The words of a paragraph without marks, its white space folded to single blanks, and its links.

    >>> inline("Voir l'[article  2](/x) du **1<sup>er</sup>** mai")
    ("Voir l'article 2 du 1er mai", [Link(href='/x', start=7, end=16)])
    """
    if not _SPECIAL.search(markdown):
        return " ".join(markdown.split()), []
    links: list[Link] = []
    out: list[str] = []
    length = 0

    def emit(text: str) -> None:
        nonlocal length
        text = unescape(text) if "&" in text else text
        words = " ".join(text.split())
        lead = text[:1].isspace() and length and not out[-1].endswith(" ")
        words = (" " if lead else "") + words + (" " if words and text[-1:].isspace() else "")
        if words:
            out.append(words)
            length += len(words)

    at = 0
    marks = list(islice(_MARKS.finditer(markdown), MOST_MARKS + 1))
    if len(marks) > MOST_MARKS:
        return " ".join(markdown.split()), []
    emphasis = _emphasis(markdown, marks)
    for mark in marks:
        emit(markdown[at : mark.start()])
        at = mark.end()
        if mark["href"] is not None:
            words, _ = inline(mark["words"])
            start = length
            emit(words)
            links.append(Link(mark["href"], start, length))
        elif mark["escaped"]:
            emit(mark["escaped"][1::2])
        elif mark["stars"]:
            if mark.start() not in emphasis:
                emit(mark["stars"])
        elif mark[0][1:3].lower() == "br":
            emit(" ")
    emit(markdown[at:])
    text = "".join(out)
    return text.rstrip(), [link for link in links if link.end <= len(text.rstrip())]


def _emphasis(markdown: str, marks: list[re.Match[str]]) -> set[int]:
    """Where the stars stand that open or close emphasis; others, as in "R. *123-1", are signs of the text.

    The rule of CommonMark (section 6.2): what opens touches the word behind it, what closes the word before it.
    """
    found: set[int] = set()
    open_: list[tuple[str, int]] = []
    for mark in marks:
        stars = mark["stars"]
        if not stars:
            continue
        before, after = markdown[mark.start() - 1 : mark.start()], markdown[mark.end() : mark.end() + 1]
        closes = bool(before) and not before.isspace() and (before.isalnum() or not after.isalnum())
        opens = bool(after) and not after.isspace() and (after.isalnum() or not before.isalnum())
        opener = next((place for place in reversed(open_) if place[0] == stars), None) if closes else None
        if opener:
            found |= {opener[1], mark.start()}
            del open_[open_.index(opener) :]
        elif opens and len(open_) < 100:
            open_.append((stars, mark.start()))
    return found
