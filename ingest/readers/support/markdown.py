"""Markdown of law to plain text with its paragraphs, and where its links stand in that text."""

import re
from html import unescape
from itertools import islice

from ingest.readers.support.text_builder import Link, TextBuilder

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


class MarkdownText(TextBuilder):
    """Text that grows by paragraphs of Markdown, one a line, and the links in it."""

    def add_paragraph(self, markdown: str) -> None:
        """Add a paragraph; one without words is none."""
        self.line_break()
        if not _SPECIAL.search(markdown):
            self.add(markdown)
            return
        marks = list(islice(_MARKS.finditer(markdown), MOST_MARKS + 1))
        if len(marks) > MOST_MARKS:
            self.add(markdown)
            return
        emphasis = _emphasis(markdown, marks)
        at = 0
        for mark in marks:
            self._unmarked(markdown[at : mark.start()])
            at = mark.end()
            if mark["href"] is not None:
                self._link(mark["href"], mark["words"])
            elif mark["escaped"]:
                self._unmarked(mark["escaped"][1::2])
            elif mark["stars"]:
                if mark.start() not in emphasis:
                    self.add(mark["stars"])
            elif mark[0][1:3].lower() == "br":
                self.blank()
        self._unmarked(markdown[at:])

    def _unmarked(self, markdown: str) -> None:
        if markdown:
            self.add(unescape(markdown) if "&" in markdown else markdown)

    def _link(self, href: str, words: str) -> None:
        text, _ = inline(words)
        if text:
            self.open_link(href)
            self._unmarked(text)
            self.close_link()


def inline(markdown: str) -> tuple[str, list[Link]]:
    """Return the words of a paragraph without marks, its white space folded to single blanks, and its links.

    >>> inline("Voir l'[article  2](/x) du **1<sup>er</sup>** mai")
    ("Voir l'article 2 du 1er mai", [Link(href='/x', start=7, end=16)])
    """
    text = MarkdownText()
    text.add_paragraph(markdown)
    return text.text, text.links


def _emphasis(markdown: str, marks: list[re.Match[str]]) -> set[int]:
    """Return where the stars stand that open or close emphasis; others, as in "R. *123-1", are signs of the text.

    The rule of CommonMark (section 6.2): what opens touches the word behind it, what closes the word before it.
    """
    places: set[int] = set()
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
            places |= {opener[1], mark.start()}
            del open_[open_.index(opener) :]
        elif opens and len(open_) < 100:
            open_.append((stars, mark.start()))
    return places
