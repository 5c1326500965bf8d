"""Reader of EU acts as JSON lines: ``celex``, ``title``, ``consolidated``, and ``provisions`` (articles and annexes)."""

import json
import lzma
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import date
from pathlib import Path
from typing import IO, Any, cast

from ingest.markdown import PlainText
from schema.errors import BadSource, MissingFile
from schema.identifiers import act_id, bounded, normal_number, occurrence_ids, section_number, slug
from schema.records import Act, ActTree, Article, Read, Rejected, Section

FILE_PATTERN = "*.jsonl*"
LONGEST_LINE = 64 << 20
"""Bytes of a line that is read; the longest real act has 2 MB."""
_CELEX = re.compile(r"^\d{5}[A-Z]{1,2}[A-Z0-9()_-]{1,12}$")
_LETTER = re.compile(r"^\d{5}([A-Z]{1,2})")
_KINDS = {"L": "directive", "R": "regulation", "D": "decision", "F": "framework decision", "E": "treaty"}
_NUMBER = re.compile(r"^(?:article|art\.?)\s+", re.IGNORECASE)
LICENCE = "© European Union, https://eur-lex.europa.eu, reuse with attribution (Decision 2011/833/EU)"

Json = dict[str, Any]


class _Reject(Exception):
    """A line that cannot be read: (place, reason)."""


def recognises(path: Path) -> bool:
    """Whether the first line of a file is an EU act."""
    if not path.name.endswith((".jsonl", ".jsonl.xz")):
        return False
    try:
        with _opened(path) as stream:
            start = stream.read(4096)
    except (OSError, lzma.LZMAError, EOFError):
        return False
    return start.lstrip().startswith(b"{") and b'"celex"' in start


def _opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    return lzma.open(path, "rb") if path.suffix == ".xz" else path.open("rb")


def read(path: Path) -> Iterator[Read]:
    """The acts of a file, line by line; a line that cannot be read is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any act.
    """
    number = 0
    seen: dict[str, int] = {}
    try:
        with _opened(path) as stream:
            while line := stream.readline(LONGEST_LINE + 1):
                number += 1
                if len(line) > LONGEST_LINE:
                    raise BadSource(path, f"line {number}", f"longer than {LONGEST_LINE >> 20} MiB: no act is")
                if not line.strip():
                    continue
                try:
                    tree = _tree(line, path.name, number)
                    if tree.act.id in seen:
                        raise _Reject("celex", f"repeated identifier: {tree.act.id} is on line {seen[tree.act.id]}")
                except _Reject as error:
                    place, reason = error.args
                    yield Rejected(path.name, f"line {number}, {place}", reason, line[:1000].decode("utf-8", "replace"))
                    continue
                seen[tree.act.id] = number
                yield tree
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    except (lzma.LZMAError, EOFError) as error:
        raise BadSource(path, f"after line {number}", f"the compressed file breaks off: {error}") from None


def _tree(line: bytes, file: str, number: int) -> ActTree:
    try:
        found: object = json.loads(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise _Reject(f"byte {error.start}", "not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise _Reject(f"column {error.colno}", f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise _Reject("", f"not JSON that can be read: {str(error)[:100]}") from None
    if not isinstance(found, dict):
        raise _Reject("$", "not an object")
    row = cast(Json, found)
    celex = row.get("celex")
    if not isinstance(celex, str) or not _CELEX.match(celex):
        raise _Reject("$.celex", f"not a CELEX number: {celex!r:.60}")
    provisions = row.get("provisions")
    if not isinstance(provisions, list):
        raise _Reject("$.provisions", "not a list")
    letter = _LETTER.match(celex)
    act = Act(
        id=act_id("eu", celex),
        jurisdiction="eu",
        kind=_KINDS.get(letter[1] if letter else "", "act"),
        title=" ".join(_text(row, "$", "title").split()) or celex,
        language="fr",
        status="in_force",
        celex=celex,
        source="eu-acts",
        source_id=celex,
        licence=LICENCE,
        updated=_date(row.get("consolidated")),
        published=date(int(celex[1:5]), 1, 1) if celex[0] in "23" and 1950 <= int(celex[1:5]) <= 2100 else None,
    )
    return _below(act, [_provision(item, n) for n, item in enumerate(cast(list[Any], provisions))], file, number)


def _provision(item: object, n: int) -> tuple[str, str, list[str], str, bool]:
    """Number, heading, headings above it, text, and whether it is an annex."""
    place = f"$.provisions[{n}]"
    if not isinstance(item, dict):
        raise _Reject(place, "not an object")
    provision = cast(Json, item)
    kind = provision.get("type")
    if kind not in ("article", "annex", "document"):
        raise _Reject(f"{place}.type", f"neither an article, an annex nor a document: {kind!r:.60}")
    path: object = provision.get("path") or []
    if not isinstance(path, list) or len(path_ := cast(list[Any], path)) > 20 or not all(isinstance(p, str) for p in path_):
        raise _Reject(f"{place}.path", "not a list of headings")
    heading = " ".join(_text(provision, place, "heading").split())
    number = _NUMBER.sub("", " ".join(_text(provision, place, "num").split()))
    if kind == "article":
        number = number or "sans numéro"
    elif kind == "annex":
        number, heading = (heading or "Annexe")[:80], "" if len(heading) <= 80 else heading
    else:
        number = "Texte"
    text = PlainText()
    for paragraph in _text(provision, place, "text").split("\n"):
        text.add(paragraph)
    headings = [" ".join(p.split()) for p in cast(list[str], path)]
    return number, heading, [h for h in headings if h], text.text, kind == "annex"


def _below(act: Act, provisions: list[tuple[str, str, list[str], str, bool]], file: str, line: int) -> ActTree:
    sections: dict[str, Section] = {}
    articles: list[Article] = []
    children: dict[str, int] = {}

    def place(parent: str) -> int:
        children[parent] = children.get(parent, 0) + 1
        return children[parent] - 1

    numbers = ["1er" if number.lower() == "premier" else number for number, *_ in provisions]
    ids = occurrence_ids(act.id, (normal_number(number) or "sans-numero" for number in numbers))
    for id, number, (_, heading, path, text, _) in zip(ids, numbers, provisions, strict=True):
        parent = act.id
        for level, above in enumerate(path, 1):
            section = bounded(f"{parent}/{slug(section_number(above))[:80] or 'section'}")
            if section not in sections:
                sections[section] = Section(
                    section, act.id, parent, place(parent), section_number(above)[:200], above, level, act.status
                )
            parent = section
        articles.append(Article(id, act.id, parent, place(parent), number, heading, text, act.language, act.status))
    taken = sections.keys() & {article.id for article in articles}
    if taken:
        raise _Reject("$.provisions", f"a heading and an article of one name: {min(taken)}")
    return ActTree(act, tuple(sections.values()), tuple(articles))


def _text(row: Json, place: str, name: str) -> str:
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Reject(f"{place}.{name}", f"not text: {value!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise _Reject(f"{place}.{name}", "holds half a character (a lone surrogate)") from None
    return value


def _date(value: object) -> date | None:
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise _Reject("$.consolidated", f"a date that is none: {value!r:.60}") from None
