"""Plain text with its paragraphs, made of pieces of marked-up text, and where the links stand in it."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Link:
    """A link: its address, and the half-open range of code points that its words take in the text."""

    href: str
    start: int
    end: int


@dataclass(slots=True)
class TextBuilder:
    """Text that grows piece by piece: white space folds to one blank inside a paragraph, and to one line end between two."""

    links: list[Link] = field(default_factory=list[Link])
    length: int = 0
    _parts: list[str] = field(default_factory=list[str])
    _gap: str = ""
    _open: list[tuple[str, int | None]] = field(default_factory=list[tuple[str, int | None]])

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    def line_break(self) -> None:
        """End the paragraph."""
        if self.length:
            self._gap = "\n"

    def blank(self, *, instead: bool = False) -> None:
        """Set the next words apart by a blank; not if they begin a paragraph, unless it goes ``instead`` of the line end."""
        if self.length and (instead or not self._gap):
            self._gap = " "

    def add(self, text: str) -> None:
        """Add a piece of text."""
        words = text.split()
        if text[:1].isspace() or not words:
            self.blank()
        if words:
            self._emit(" ".join(words))
            if text[-1:].isspace():
                self.blank()

    def extend(self, text: str, links: Iterable[Link]) -> None:
        """Add the paragraphs of another text, with its links."""
        self.line_break()
        if text:
            start = self.length + len(self._gap)
            self._emit(text)
            self.links += (Link(link.href, start + link.start, start + link.end) for link in links)

    def _emit(self, words: str) -> None:
        self._parts += (self._gap, words)
        self.length += len(self._gap)
        if self._open:
            self._open = [(href, self.length if start is None else start) for href, start in self._open]
        self.length += len(words)
        self._gap = ""

    def open_link(self, href: str) -> None:
        """Begin a link: its words come next."""
        self._open.append((href, None))

    def close_link(self) -> Link:
        """End the link that was opened last."""
        href, start = self._open.pop()
        link = Link(href, self.length if start is None else start, self.length)
        self.links.append(link)
        return link
