"""Article HTML to plain text with its paragraphs, and where its links stand in that text."""

from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

_BLOCK_NAMES = """
    address article aside blockquote br caption center dd div dl dt fieldset figcaption figure footer h1 h2 h3 h4 h5 h6
    header hr li main nav ol p pre section table tbody tfoot thead tr ul
"""
_BLOCKS = frozenset(_BLOCK_NAMES.split())
_UNSEEN = frozenset({"script", "style", "template", "-comment"})
CELL_MARK = "|"
"""Stands between the cells of one row of a table."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its address, and the half-open range of code points that its words take in the text."""

    href: str
    start: int
    end: int


@dataclass(slots=True)
class _OpenLink:
    href: str
    start: int = -1


class _Text:
    """Collects words; white space folds to one blank inside a paragraph, and to one line end between two."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.length = 0
        self.gap = ""
        self.open: list[_OpenLink] = []
        self.links: list[Link] = []

    def block(self) -> None:
        if self.length:
            self.gap = "\n"

    def add(self, text: str) -> None:
        words = text.split()
        if text[:1].isspace() or not words:
            self._blank()
        if words:
            self._emit(" ".join(words))
            if text[-1:].isspace():
                self._blank()

    def _blank(self) -> None:
        if self.length and not self.gap:
            self.gap = " "

    def _emit(self, words: str) -> None:
        self.parts += (self.gap, words)
        self.length += len(self.gap)
        for link in self.open:
            if link.start < 0:
                link.start = self.length
        self.length += len(words)
        self.gap = ""

    def close_link(self) -> None:
        link = self.open.pop()
        start = link.start if link.start >= 0 else self.length
        self.links.append(Link(link.href, start, self.length))


def plain_text(html: str) -> tuple[str, list[Link]]:
    """The text of an HTML fragment, one paragraph a line, and its links in order of their ends.

    >>> plain_text('<p>Voir <a href="/x">l\\'article  2</a>.</p><p>Fin</p>')
    ("Voir l'article 2.\\nFin", [Link(href='/x', start=5, end=16)])
    """
    root = LexborHTMLParser(html).body
    text = _Text()
    # An explicit stack: markup can nest deeper than Python recurses. True: close this tag.
    stack: list[tuple[LexborNode, bool]] = [(root, False)] if root else []
    while stack:
        node, closing = stack.pop()
        tag = node.tag or ""
        if tag == "-text":
            text.add(node.text_content or "")
            continue
        if tag in _UNSEEN:
            continue
        if tag in _BLOCKS:
            text.block()
        if closing:
            if tag == "a":
                text.close_link()
            continue
        if tag == "a":
            href = node.attributes.get("href")
            if href:
                text.open.append(_OpenLink(href))
                stack.append((node, True))
        elif tag in _BLOCKS:
            stack.append((node, True))
        elif tag in ("td", "th") and node.prev is not None:
            text.add(f" {CELL_MARK} ")
        children: list[tuple[LexborNode, bool]] = []
        child = node.last_child
        while child is not None:
            children.append((child, False))
            child = child.prev
        stack += children
    return "".join(text.parts), text.links
