"""Reader of COLIEE Task 3, English: the Civil Code of Japan as text, and questions with the articles that decide them.

The text may begin with a line that is its title; after it, one heading, caption or article a line: ``Part I …``,
``Chapter …``, ``Section …``, ``Subsection …``, ``Division …``; a caption in parentheses on the line before an article;
``Article 398-2  (1) …`` with paragraphs and items on the lines after it. Questions come as XML (``riteval_*.xml``) or, in
later years, as JSON; whether their articles entail them (``label``) is another task's, and is not read.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ingest.readers.support.act_builder import TreeBuilder
from ingest.readers.support.decode import file_json, starts_with, xml_events
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import Json, bounded_lines, text_of
from schema.errors import BadSource, MissingFile
from schema.identifiers import act_id
from schema.records import Act, ActTree, Question, Read, Rejected

FILE_PATTERN = "*"
SOURCE = "coliee"
CODE = act_id("jp", "civil-code")
LONGEST_FILE = 8 << 20
"""Bytes of a file of questions; those of one year have some hundred thousand."""
_RANKS = ("Part", "Chapter", "Section", "Subsection", "Division")
_HYPHEN = r"[-\u2010-\u2013]"
_NUMBER = rf"[0-9]{{1,4}}(?:{_HYPHEN}[0-9]{{1,4}})*"
_HEADING = re.compile(rf"(?:^|(?<=\s))({'|'.join(_RANKS)})\s+([IVXLC]+\b|{_NUMBER})(?=\s|$)")
_ARTICLE = re.compile(rf"^Articles?\s+({_NUMBER})(?:\s+(?:through|to)\s+(?:Article\s+)?({_NUMBER}))?(?![\w.])[\s.:]*")
_CAPTION = re.compile(r"^[(（]([^()（）]{1,300})[)）]$")
_TITLE = re.compile(r"^(?:The )?Civil Code\b", re.IGNORECASE)
_LINES_TO_A_HEADING = 5
"""Lines, blank ones left out, among which the first heading of the code's text is."""
_ITEM = re.compile(r"^[ivxl\d]+$")
_NAMED = re.compile(rf"^\s*Articles?\s+({_NUMBER})", re.MULTILINE)
_PAIR_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_DEVELOPMENT = ("R01", "R02")
"""Years (of Reiwa) whose questions are for development; older ones train, later ones test, as the task's own do."""


def recognises(path: Path) -> bool:
    """Return whether a file is the code's text, or questions."""
    if path.suffix not in _READERS:
        return False
    start = starts_with(path).decode("utf-8-sig", "replace").lstrip()
    if path.suffix == ".txt":
        lines = [line.strip() for line in start.splitlines() if line.strip()]
        return any(map(_HEADING.match, lines[:_LINES_TO_A_HEADING])) and any(map(_ARTICLE.match, lines))
    if path.suffix == ".xml":
        return "<pair" in start and "<t1" in start
    return start.startswith("[") and '"id"' in start and ('"paragraph"' in start or '"query"' in start)


def read(path: Path) -> Iterator[Read]:
    """Return the code, or the questions of one year.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is not UTF-8 text, XML or JSON of this form.
    """
    if not path.exists():
        raise MissingFile(f"{path}: no such file")
    return _READERS.get(path.suffix, _code)(path)


def _code(path: Path) -> Iterator[Read]:
    reading = _Code(path.name)
    number = 0
    with path.open(encoding="utf-8-sig") as stream:
        try:
            for number, line in enumerate(bounded_lines(stream, path), 1):
                reading.line(number, " ".join(line.split()))
        except UnicodeDecodeError as error:
            raise BadSource(path, f"after line {number}", f"not UTF-8 text ({error.reason})") from None
    yield reading.tree(path)


class _Code:
    """The code while it is read, line by line."""

    def __init__(self, file: str) -> None:
        self.file = file
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
        self.last: tuple[int, ...] = ()
        self.number = ""
        self.heading = ""
        self.caption = ""
        self.lines: list[str] = []
        self.first = 0
        self.begun = False
        self.rejected: list[Rejected] = []

    def line(self, at: int, line: str) -> None:
        """Take up the next line."""
        if line and not self.begun:
            self.begun = True
            if _TITLE.match(line):
                return
        article, caption = _ARTICLE.match(line), _CAPTION.match(line)
        order = tuple(map(int, _hyphened(article[1]).split("-"))) if article else ()
        if article and order > self.last:  # else a line of text that begins with the article that it cites
            self._close()
            self.last = order
            self.number = _hyphened(article[1]) + (f" to {_hyphened(article[2])}" if article[2] else "")
            self.heading, self.caption, self.first = self.caption, "", at
            self._text(at, line[article.end() :])
        elif _HEADING.match(line):
            self._close()
            self._headings(line)
        elif caption and not _ITEM.match(caption[1]):
            self._text(at, self._uncaptioned())
            self.caption = caption[1]
        elif line:
            self._text(at, self._uncaptioned())
            self._text(at, line)

    def _uncaptioned(self) -> str:
        """A line in parentheses that no article follows: it was none's caption."""
        caption, self.caption = self.caption, ""
        return f"({caption})" if caption else ""

    def _text(self, at: int, text: str) -> None:
        if text:
            self.first = self.first if self.lines or self.number else at
            self.lines.append(text)

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


def _hyphened(number: str) -> str:
    return re.sub(_HYPHEN, "-", number)


def _pairs(path: Path) -> Iterator[Read]:
    seen: set[str] = set()
    pairs = (element for event, element in xml_events(path, LONGEST_FILE) if event == "end" and element.tag == "pair")
    for number, element in enumerate(pairs, 1):
        texts = {child.tag: "".join(child.itertext()) for child in element}
        row = {"id": element.get("id"), "query": texts.get("t2"), "paragraph": texts.get("t1")}
        yield _question(path, f"pair {number}", row, seen)
        element.clear()


def _objects(path: Path) -> Iterator[Read]:
    items = file_json(path, LONGEST_FILE)
    if not isinstance(items, list):
        raise BadSource(path, "$", "not a list of questions")
    seen: set[str] = set()
    for n, item in enumerate(cast(list[Any], items)):
        yield _question(path, f"$[{n}]", cast(Json, item) if isinstance(item, dict) else {}, seen)


_READERS: Mapping[str, Callable[[Path], Iterator[Read]]] = {".txt": _code, ".xml": _pairs, ".json": _objects}


def _question(path: Path, place: str, row: Json, seen: set[str]) -> Question | Rejected:
    """A question with the articles that its paragraphs (one text or a list of them) begin lines with."""
    try:
        paragraph = row.get("paragraph")
        texts = cast(list[Any], paragraph) if isinstance(paragraph, list) else [paragraph]
        articles = "\n".join(text_of({"paragraph": text}, place, "paragraph") for text in texts)
        id, query = (text_of(row, place, name) for name in ("id", "query"))
        relevant = tuple(dict.fromkeys(f"{CODE}/{_hyphened(number)}" for number in _NAMED.findall(articles)))
        if not _PAIR_ID.fullmatch(id):
            raise Unreadable(place, f"not an identifier of a question: {id[:60]!r}")
        if id in seen:
            raise Unreadable(place, f"repeated identifier: {id}")
        if not query.strip() or not relevant:
            raise Unreadable(place, f"{id}: a question without a query, or without an article that its paragraphs begin with")
    except Unreadable as error:
        return error.rejected(path.name, row)
    seen.add(id)
    year = id[:3].upper()
    split = "train" if not year.startswith("R") else "development" if year in _DEVELOPMENT else "test"
    question = Question(f"{SOURCE}/{id}", " ".join(query.split()), "", SOURCE, relevant)
    return replace(question, split=split, split_by_dossier=split)
