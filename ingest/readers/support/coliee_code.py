"""The Civil Code of Japan as COLIEE gives it out: one heading, caption or article a line, later text below.

Older editions are broken at a width, as a PDF is: a line may begin with the article or the part that it cites, and captions go on
in the next line. Which lines begin an article is therefore decided over the whole text: those whose numbers rise.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path

from ingest.readers.support.act_builder import TreeBuilder
from schema.errors import BadSource
from schema.identifiers import act_id
from schema.records import Act, ActTree, Rejected

SOURCE = "coliee"
CODE = act_id("jp", "civil-code")
_RANKS = ("Part", "Chapter", "Section", "Subsection", "Division")
_HYPHEN = r"[-\u2010-\u2013]"
NUMBER = rf"[0-9]{{1,4}}(?:{_HYPHEN}[0-9]{{1,4}})*"
_HEADING = re.compile(rf"(?:^|(?<=\s))({'|'.join(_RANKS)})\s+([IVXLC]+\b|{NUMBER})(?=\s|$)")
_ARTICLE = re.compile(rf"^Articles?\s+({NUMBER})(?:\s+(?:through|to)\s+(?:Article\s+)?({NUMBER}))?(?![\w.])[\s.:]*")
_BEGINS = re.compile(r"[(（]\d|[A-Z\[\"“‘]|$")
"""How an article goes on behind its number: with a paragraph, a sentence, or in the next line."""
_CAPTION = re.compile(r"^[(（]([^()（）]{1,300})[)）]$")
_CAPTION_OPENS = re.compile(r"^[(（][^()（）]{4,}$")
_LINES_OF_A_CAPTION = 4
_TITLE = re.compile(r"^(?:The )?Civil Code\b", re.IGNORECASE)
_LINES_TO_A_HEADING = 5
"""Lines, blank ones left out, among which the first heading of the code's text is."""
_MARKED = re.compile(r"^[(（](?:[ivxl\d-]+|[a-z])[)）]")
"""A paragraph or an item, which begins a line of its own."""
_ENDS = re.compile(r"(?:[.;:)）\]”’\"]|\b[Dd]eleted)$")


def is_code(text: str) -> bool:
    """Return whether a text, of which only the beginning need be given, is the code."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return any(map(_HEADING.match, lines[:_LINES_TO_A_HEADING])) and any(map(_ARTICLE.match, lines))


def hyphened(number: str) -> str:
    """Return the number of an article with plain hyphens."""
    return re.sub(_HYPHEN, "-", number)


def read_code(path: Path, lines: Sequence[str]) -> ActTree:
    """Return the code, given its lines with single spaces.

    Raises:
        BadSource: there is no article in it.
    """
    own = list(_numbered(lines))
    reading = _Code(path.name, _beginnings([line for _, line in own]))
    for place, (at, line) in enumerate(own):
        reading.line(place, at, line)
    return reading.tree(path)


def _numbered(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank with their numbers, from 1; a caption of several lines as one."""
    held: list[tuple[int, str]] = []
    for at, line in enumerate(lines, 1):
        if not line:
            continue
        if held:
            if _CAPTION.match(together := " ".join([*(begun for _, begun in held), line])):
                yield held[0][0], together
                held.clear()
                continue
            if len(held) < _LINES_OF_A_CAPTION - 1 and not re.search("[()（）]", line) and not _ARTICLE.match(line):
                held.append((at, line))
                continue
            yield from held
            held.clear()
        if _CAPTION_OPENS.match(line):
            held.append((at, line))
        else:
            yield at, line
    yield from held


def _goes_on(line: str) -> bool:
    """Return whether a line of text ends in the middle of a sentence."""
    return not (_ENDS.search(line) or _HEADING.match(line) or _CAPTION.match(line))


def _order(number: str) -> tuple[int, ...]:
    return tuple(map(int, hyphened(number).split("-")))


def _beginnings(lines: Sequence[str]) -> frozenset[int]:
    """Return the places of the lines that begin an article: the longest run of rising numbers.

    One line that begins with a number far ahead would else take all articles up to it for its text.
    """
    lowest: list[tuple[int, ...]] = []  # by length, the lowest number that a run of that length ends with
    ends: list[int] = []  # by length, the place of that number
    earlier: dict[int, int] = {}
    for place, article in _likely(lines):
        length, last = bisect_left(lowest, _order(article[1])), _order(article[2] or article[1])
        if length == len(lowest) or last < lowest[length]:
            lowest[length : length + 1], ends[length : length + 1] = [last], [place]
            if length:
                earlier[place] = ends[length - 1]
    run = ends[-1:]
    while run and run[-1] in earlier:
        run.append(earlier[run[-1]])
    return frozenset(run)


def _likely(lines: Sequence[str]) -> list[tuple[int, re.Match[str]]]:
    """Return the places of the lines that may begin an article, in order.

    Of those that begin with one number, lines behind a caption or a heading go before those behind a sentence, and these before
    those in the midst of one.
    """
    found: list[tuple[int, re.Match[str], int]] = []
    for place, line in enumerate(lines):
        if article := _ARTICLE.match(line):
            before = lines[place - 1] if place else ""
            amid = bool(before) and _goes_on(before)
            sure = 0 if amid else 2 if _CAPTION.match(before) or _HEADING.match(before) else 1
            if not amid or _BEGINS.match(line, article.end()):
                found.append((place, article, sure))
    surest: dict[str, int] = {}
    for _, article, sure in found:
        surest[article[1]] = max(sure, surest.get(article[1], 0))
    return [(place, article) for place, article, sure in found if sure == surest[article[1]]]


class _Code:
    """The code while it is read, line by line.

    Args:
        file: name of the file.
        begin: places of the lines that begin an article.
    """

    def __init__(self, file: str, begin: frozenset[int]) -> None:
        self.file, self.begin = file, begin
        self.builder = TreeBuilder(
            Act(
                id=CODE,
                jurisdiction="jp",
                kind="code",
                title="Civil Code of Japan",
                language="en",
                source=SOURCE,
                source_id="civil-code",
            )
        )
        self.open: list[tuple[int, str, str]] = []  # rank, heading and identifier of the sections that a line is below
        self.in_title = False
        self.number = ""
        self.heading = ""
        self.caption = ""
        self.lines: list[str] = []
        self.first = 0
        self.before = ""
        self.rejected: list[Rejected] = []

    def line(self, place: int, at: int, line: str) -> None:
        """Take up the next line."""
        caption, heading = _CAPTION.match(line), self._is_heading(line)
        self.in_title = not (heading or caption or place in self.begin) and (
            self.in_title or (not place and bool(_TITLE.match(line)))
        )
        if self.in_title:  # its name, and the number that it was passed as
            return
        if place in self.begin:
            self._article(at, line)
        elif heading:
            self._close()
            self._headings(line)
        elif caption and not _MARKED.match(line):
            self._text(at, self._uncaptioned())
            self.caption = caption[1]
        else:
            self._text(at, self._uncaptioned())
            self._text(at, line)
        self.before = line

    def _is_heading(self, line: str) -> bool:
        """Return whether a line is a heading; one in the midst of a sentence that reads on like it cites one."""
        if not (mark := _HEADING.match(line)):
            return False
        title = line[mark.end() :].strip()
        return not self.lines or not _goes_on(self.before) or not title or (title[0].isupper() and not title.endswith("."))

    def _article(self, at: int, line: str) -> None:
        article = _ARTICLE.match(line)
        assert article, "it begins one"
        self._close()
        self.number = hyphened(article[1]) + (f" to {hyphened(article[2])}" if article[2] else "")
        self.heading, self.caption, self.first = self.caption, "", at
        self._text(at, line[article.end() :])

    def _uncaptioned(self) -> str:
        """A line in parentheses that no article follows: it was none's caption."""
        caption, self.caption = self.caption, ""
        return f"({caption})" if caption else ""

    def _text(self, at: int, text: str) -> None:
        if not text:
            return
        self.first = self.first if self.lines or self.number else at
        if self.lines and self._reads_on(text):
            self.lines[-1] += f" {text}"
        else:
            self.lines.append(text)

    def _reads_on(self, text: str) -> bool:
        last = self.lines[-1]
        if _MARKED.match(text) or _CAPTION.match(text) or _CAPTION.match(last):
            return False
        return _goes_on(last) or (last.endswith((")", "）")) and text[0].islower())

    def _headings(self, line: str) -> None:
        """Headings sometimes stand two in a line, and are sometimes repeated before what goes on below them."""
        marks = list(_HEADING.finditer(line))
        for mark, end in zip(marks, [*(m.start() for m in marks[1:]), len(line)], strict=True):
            title, rank = line[mark.start() : end].strip(), _RANKS.index(mark[1])
            if any(title == heading for _, heading, _ in self.open):
                continue
            while self.open and self.open[-1][0] >= rank:
                self.open.pop()
            parent = self.open[-1][2] if self.open else CODE
            self.open.append((rank, title, self.builder.section(parent, title, number=f"{mark[1]} {mark[2]}")))

    def _close(self) -> None:
        text = "\n".join(self.lines)
        if self.number:
            parent = self.open[-1][2] if self.open else CODE
            self.builder.article(parent, self.number, text, heading=self.heading, source_id=f"jp:{self.number}")
        elif text:
            self.rejected.append(Rejected(self.file, f"line {self.first}", "text that belongs to no article", text[:1000]))
        self.number, self.heading = "", ""
        self.lines.clear()

    def tree(self, path: Path) -> ActTree:
        """Return the code, with all its lines.

        Raises:
            BadSource: there is no article in it.
        """
        self._text(0, self._uncaptioned())
        self._close()
        if self.builder.empty:
            raise BadSource(path, "line 1", "no article in it")
        return self.builder.tree(self.rejected)
