"""Reader of COLIEE Task 3, English: the Civil Code of Japan as text, and questions with the articles that decide them.

The text may begin with lines that are its title; after them, one heading, caption or article a line: ``Part I …``,
``Chapter …``, ``Section …``, ``Subsection …``, ``Division …``; a caption in parentheses on the line before an article;
``Article 398-2  (1) …`` with paragraphs and items on the lines after it. Questions come as XML (``riteval_*.xml``) or, in
later years, as JSON; whether their articles entail them (``label``) is another task's, and is not read. The first editions have
an article behind its caption in one line, ``(Fraud or Duress)Article 96(1)…``, or its number alone, ``<article id="96"/>``.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from ingest.readers.support.coliee_code import CODE, NUMBER, SOURCE, hyphened, is_code, read_code
from ingest.readers.support.decode import file_json, starts_with, xml_events
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import Json, bounded_lines, text_of
from schema.errors import BadSource, MissingFile
from schema.records import Question, Read, Rejected

FILE_PATTERN = "*"
LONGEST_FILE = 8 << 20
"""Bytes of a file of questions; those of one year have some hundred thousand."""
_NAMED = re.compile(rf"^\s*(?:[(（][A-Z\"“][^()（）\n]{{0,300}}[)）]\s*)?Articles?\s+({NUMBER})", re.MULTILINE)
"""The article that a line begins with, its caption before it or not; a paragraph that begins with another article names none."""
_PAIR_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_DEVELOPMENT = ("R01", "R02")
"""Years (of Reiwa) whose questions are for development; older ones train, later ones test, as the task's own do."""


def recognises(path: Path) -> bool:
    """Return whether a file is the code's text, or questions."""
    if path.suffix not in _READERS:
        return False
    start = starts_with(path).decode("utf-8-sig", "replace").lstrip()
    if path.suffix == ".txt":
        return is_code(start)
    if path.suffix == ".xml":
        return "<pair" in start and ("<t1" in start or "<t2" in start)
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
    lines: list[str] = []
    with path.open(encoding="utf-8-sig") as stream:
        try:
            lines += (" ".join(line.split()) for line in bounded_lines(stream, path))
        except UnicodeDecodeError as error:
            raise BadSource(path, f"after line {len(lines)}", f"not UTF-8 text ({error.reason})") from None
    yield read_code(path, lines)


def _pairs(path: Path) -> Iterator[Read]:
    seen: set[str] = set()
    pairs = (element for event, element in xml_events(path, LONGEST_FILE) if event == "end" and element.tag == "pair")
    for number, element in enumerate(pairs, 1):
        texts = {child.tag: "".join(child.itertext()) for child in element}
        named = [f"Article {article.get('id', '')}" for article in element.iterfind("t1/article")]
        row = {"id": element.get("id"), "query": texts.get("t2"), "paragraph": [*named, texts.get("t1", "")]}
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
        relevant = tuple(dict.fromkeys(f"{CODE}/{hyphened(number)}" for number in _NAMED.findall(articles)))
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
