"""Reader of COLIEE Task 3, English: the Civil Code of Japan as text, and questions with the articles that decide them.

The text has one heading, caption or article a line: ``Part I …``, ``Chapter …``, ``Section …``, ``Subsection …``,
``Division …``; a caption in parentheses on the line before an article; ``Article 398-2  (1) …`` with paragraphs and items
on the lines after it. Questions come as XML (``riteval_*.xml``) or, in later years, as JSON.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from ingest.lines import LONGEST_LINE, Json, Unreadable, starts_with, text_of
from ingest.tree import TreeBuilder
from schema.errors import BadSource, MissingFile
from schema.identifiers import act_id
from schema.records import Act, Question, Read, Rejected

FILE_PATTERN = "*"
SOURCE = "coliee"
CODE = act_id("jp", "civil-code")
_WORDS = ("Part", "Chapter", "Section", "Subsection", "Division")
_NUMBER = r"(?:[IVXLC]+|\d+(?:-\d+)*)(?:[-‐–]\d+)*"
_HEADING = re.compile(rf"(?:^|(?<=\s))({'|'.join(_WORDS)})\s+({_NUMBER})\b\s*")
_ARTICLE = re.compile(r"^Articles?\s+(\d+(?:[-‐–]\d+)*)(?:\s+(?:through|to)\s+(?:Article\s+)?(\d+(?:[-‐–]\d+)*))?[\s.:]*")
_CAPTION = re.compile(r"^[(（]([^()（）]{1,300})[)）]$")
_NAMED = re.compile(r"^\s*Articles?\s+(\d+(?:[-‐–]\d+)*)", re.MULTILINE)


def recognises(path: Path) -> bool:
    """Whether a file is the code's text, or questions."""
    start = starts_with(path).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")
    if path.suffix == ".txt":
        return bool(_HEADING.match(start.lstrip()))
    if path.suffix == ".xml":
        return "<pair" in start and "<t1" in start
    return path.suffix == ".json" and start.lstrip().startswith("[") and '"paragraph"' in start and '"query"' in start


def read(path: Path) -> Iterator[Read]:
    """The code, or the questions of one year.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is not UTF-8 text, XML or JSON of this form.
    """
    if not path.exists():
        raise MissingFile(f"{path}: no such file")
    return {".txt": _code, ".xml": _pairs}.get(path.suffix, _objects)(path)


def _code(path: Path) -> Iterator[Read]:
    act = Act(
        id=CODE,
        jurisdiction="jp",
        kind="code",
        title="Civil Code of Japan",
        language="en",
        source=SOURCE,
        source_id="civil-code",
    )
    builder = TreeBuilder(act)
    open_: list[tuple[int, str]] = []  # rank of the word, and the section
    number, caption, lines = "", "", list[str]()
    rejected: list[Rejected] = []

    def close() -> None:
        nonlocal number
        if number:
            builder.article(
                open_[-1][1] if open_ else act.id, number, "\n".join(lines), heading=heading, source_id=f"jp:{number}"
            )
        elif lines:
            rejected.append(Rejected(path.name, f"line {at}", "text that belongs to no article", "\n".join(lines)[:1000]))
        number = ""
        lines.clear()

    heading, at, last = "", 0, ""
    try:
        with path.open(encoding="utf-8-sig") as stream:
            for at, raw in enumerate(_bounded(stream, path), 1):
                line = " ".join(raw.split())
                found = list(_HEADING.finditer(line)) if not _ARTICLE.match(line) else []
                if not line:
                    continue
                if found and found[0].start() == 0:
                    close()
                    caption = ""
                    for n, mark in enumerate(found):
                        end = found[n + 1].start() if n + 1 < len(found) else len(line)
                        title = line[mark.start() : end].strip()
                        if title == last:
                            continue  # headings are sometimes repeated
                        last = title
                        rank = _WORDS.index(mark[1])
                        while open_ and open_[-1][0] >= rank:
                            open_.pop()
                        parent = open_[-1][1] if open_ else act.id
                        open_.append((rank, builder.section(parent, title, number=f"{mark[1]} {mark[2]}")))
                elif mark := _ARTICLE.match(line):
                    close()
                    number = _hyphen(mark[1]) + (f" to {_hyphen(mark[2])}" if mark[2] else "")
                    heading, caption = caption, ""
                    lines.append(line[mark.end() :] or "(no text)")
                elif mark := _CAPTION.match(line):
                    if caption:
                        lines.append(f"({caption})")
                    caption = mark[1]
                else:
                    if caption:
                        lines.append(f"({caption})")
                        caption = ""
                    lines.append(line)
            close()
    except UnicodeDecodeError as error:
        raise BadSource(path, f"after line {at}", f"not UTF-8 text ({error.reason})") from None
    if builder.empty:
        raise BadSource(path, "line 1", "no article in it")
    yield builder.tree(rejected)


def _bounded(stream: Any, path: Path) -> Iterator[str]:
    number = 0
    while line := stream.readline(LONGEST_LINE):
        number += 1
        if len(line) >= LONGEST_LINE:
            raise BadSource(path, f"line {number}", f"longer than {LONGEST_LINE >> 20} Mi characters")
        yield line


def _hyphen(number: str) -> str:
    return re.sub("[‐–]", "-", number)


def _named(text: str) -> tuple[str, ...]:
    """The articles that a text begins lines with."""
    return tuple(dict.fromkeys(f"{CODE}/{_hyphen(number)}" for number in _NAMED.findall(text)))


def _question(path: Path, id: str, query: str, articles: str, label: str) -> Question:
    relevant = _named(articles)
    if not id or not query.strip() or not relevant:
        raise Unreadable(id or "?", "a question without an id, a query, or an article that it names")
    year = path.stem.removeprefix("riteval_").removesuffix("_en")
    question = Question(f"{SOURCE}/{id}", " ".join(query.split()), f"label {label}" if label else "", SOURCE, relevant)
    return replace(question, split=year, split_by_dossier=year)


def _pairs(path: Path) -> Iterator[Read]:
    number = 0
    try:
        for _, element in iterparse(path, events=("end",), forbid_dtd=True):
            if element.tag != "pair":
                continue
            number += 1
            texts = {child.tag: "".join(child.itertext()) for child in element}
            try:
                yield _question(path, element.get("id", ""), texts.get("t2", ""), texts.get("t1", ""), element.get("label", ""))
            except Unreadable as error:
                yield Rejected(path.name, f"pair {number} ({error.args[0]})", error.args[1], texts)
            element.clear()
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        raise BadSource(path, f"after pair {number}", f"not XML that can be read: {error}") from None


def _objects(path: Path) -> Iterator[Read]:
    try:
        found: object = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadSource(path, "", f"not JSON that can be read: {str(error)[:200]}") from None
    if not isinstance(found, list):
        raise BadSource(path, "$", "not a list of questions")
    for n, item in enumerate(cast(list[Any], found)):
        row = cast(Json, item) if isinstance(item, dict) else {}
        place = f"$[{n}]"
        try:
            paragraph = row.get("paragraph")
            texts = cast(list[Any], paragraph) if isinstance(paragraph, list) else [paragraph]
            articles = "\n".join(text_of({"": text}, f"{place}.paragraph", "") for text in texts)
            yield _question(path, text_of(row, place, "id"), text_of(row, place, "query"), articles, str(row.get("label") or ""))
        except Unreadable as error:
            yield Rejected(path.name, f"{place} {error.args[0]}", error.args[1], item)
