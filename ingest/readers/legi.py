"""Reader of LEGI JSON: one French code a file, a tree of ``{type, data, children}`` (npm ``@socialgouv/legi-data``)."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

from ingest.readers.support.html import plain_text
from schema.errors import BadSource, MissingFile
from schema.identifiers import act_id, article_ids, normal_number, section_ids, section_number
from schema.records import Act, ActTree, Article, Citation, OutsideKind, Read, Rejected, Section, Wording

FILE_PATTERN = "LEGITEXT*.json"
_ACT = re.compile(r"^LEGITEXT\d{12}$")
_ARTICLE = re.compile(r"^LEGIARTI\d{12}$")
_SECTION = re.compile(r"^LEGISCTA\d{12}$")
_PERMANENT = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TARGETS: tuple[tuple[re.Pattern[str], OutsideKind], ...] = (
    (re.compile(r"(?:LEGI|JORF)ARTI\d{12}"), "article"),
    (re.compile(r"LEGISCTA\d{12}"), "section"),
    (re.compile(r"(?:LEGI|JORF)TEXT\d{12}"), "act"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_NO_END_YEAR = 2999
"""The publisher writes the first of January 2999 for "no end known"."""
LICENCE = "Licence Ouverte 2.0"

Json = dict[str, Any]


class _Reject(Exception):
    """A record that cannot be read, with the reason."""


@dataclass(slots=True)
class _Node:
    """A section or article as found: its place in the file and in the tree."""

    place: str
    data: Json
    parent: str
    position: int


@dataclass(slots=True)
class _Reading:
    file: str
    articles: list[_Node] = field(default_factory=list[_Node])
    sections: list[Section] = field(default_factory=list[Section])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    seen: set[str] = field(default_factory=set[str])

    def reject(self, place: str, reason: str, record: object) -> None:
        self.rejected.append(Rejected(self.file, place, reason, record))


def decoded_json(path: Path) -> object:
    """The JSON value in a UTF-8 file.

    Raises:
        MissingFile: there is no such file.
        BadSource: wrong encoding, truncated or malformed JSON, nesting beyond all reason; with the place.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    try:
        return json.loads(raw.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadSource(path, f"line {line}, byte {error.start}", "not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise BadSource(path, f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadSource(path, "", f"not JSON that can be read: {error}") from None
    except RecursionError:
        raise BadSource(path, "", "nested too deeply to be a law") from None


def recognises(path: Path) -> bool:
    """Whether a file is named or begins like LEGI JSON."""
    if path.match(FILE_PATTERN):
        return True
    if path.suffix != ".json":
        return False
    with path.open("rb") as stream:
        return b'"LEGITEXT' in stream.read(4096)


def read(path: Path) -> Iterator[Read]:
    """The code in a file (`read_act`)."""
    yield read_act(path)


def read_act(path: Path) -> ActTree:
    """One code from its LEGI JSON file.

    A section or article that cannot be read is rejected with its place and reason, and all below it with
    it; the rest of the code is read.

    Raises:
        MissingFile: there is no such file.
        BadSource: the file as a whole is not LEGI JSON.
    """
    root = decoded_json(path)
    if not isinstance(root, dict) or cast(Json, root).get("type") != "code" or not isinstance(cast(Json, root).get("data"), dict):
        raise BadSource(path, "$", 'not LEGI JSON: the root must be {"type": "code", "data": …, "children": …}')
    tree = cast(Json, root)
    data = cast(Json, tree["data"])
    source_id = data.get("id")
    if not isinstance(source_id, str) or not _ACT.fullmatch(source_id):
        raise BadSource(path, "$.data.id", f"not an identifier of a code: {source_id!r}")
    try:
        act = Act(
            id=act_id("fr", source_id),
            jurisdiction="fr",
            kind="code",
            title=_text(data, "title").strip(),
            language="fr",
            status=_text(data, "etat"),
            valid_from=_iso_date(data.get("dateDebutVersion")),
            source="legi",
            source_id=source_id,
            licence=LICENCE,
        )
    except _Reject as error:
        raise BadSource(path, "$.data", str(error)) from None
    reading = _Reading(path.name)
    _walk(reading, act, tree)
    articles, citations, wordings = _articles(reading, act)
    return ActTree(
        act,
        tuple(reading.sections),
        tuple(articles),
        tuple(citations),
        tuple(reading.rejected),
        tuple(wordings),
        wordings_dated=True,
    )


def _walk(reading: _Reading, act: Act, root: Json) -> None:
    """Collect sections (as records) and articles (as found), in reading order."""
    ancestors = frozenset({act.source_id})
    stack = list(reversed(_children(reading, act, root, "$", act.id, 1, ancestors)))
    while stack:
        node, section_id, level, above = stack.pop()
        if node.data["data"]["id"] in reading.seen:
            reading.reject(node.place, f"repeated identifier {node.data['data']['id']}", node.data)
            continue
        reading.seen.add(node.data["data"]["id"])
        if section_id is None:
            reading.articles.append(node)
            continue
        data = node.data["data"]
        permanent = _permanent(data)
        try:
            reading.sections.append(
                Section(
                    id=section_id,
                    act_id=act.id,
                    parent_id=node.parent,
                    position=node.position,
                    number=section_number(_text(data, "title")),
                    heading=" ".join(_text(data, "title").split()),
                    level=level,
                    status=_text(data, "etat"),
                    valid_from=_iso_date(data.get("dateDebut")),
                    valid_to=_iso_date(data.get("dateFin")),
                    source_id=permanent,
                    source_ids=tuple(sorted({permanent, data["id"]})),
                )
            )
        except _Reject as error:
            reading.reject(node.place, str(error), node.data)
            continue
        below = above | {data["id"]}
        stack += reversed(_children(reading, act, node.data, node.place, section_id, level + 1, below))


def _children(
    reading: _Reading, act: Act, parent: Json, place: str, parent_id: str, level: int, ancestors: frozenset[str]
) -> list[tuple[_Node, str | None, int, frozenset[str]]]:
    """The readable children of a node: (node, identifier if a section, level, identifiers above it)."""
    found = parent.get("children", [])
    if not isinstance(found, list):
        reading.reject(f"{place}.children", "not a list", found)
        return []
    kept: list[tuple[_Node, bool]] = []
    here: set[str] = set()
    for position, child in enumerate(cast(list[Any], found)):
        at = f"{place}.children[{position}]"
        try:
            is_section = _check_node(child, ancestors, here)
        except _Reject as error:
            reading.reject(at, str(error), child)
            continue
        here.add(child["data"]["id"])
        kept.append((_Node(at, child, parent_id, position), is_section))
    headed = [(str(n.data["data"].get("title") or ""), _permanent(n.data["data"])) for n, is_section in kept if is_section]
    identifiers = iter(section_ids(parent_id, headed))
    children: list[tuple[_Node, str | None, int, frozenset[str]]] = []
    taken: set[str] = set()
    for node, is_section in kept:
        identifier = next(identifiers) if is_section else None
        if identifier in taken:  # two versions of one section
            reading.reject(node.place, f"repeated identifier {_permanent(node.data['data'])}", node.data)
            continue
        if identifier:
            taken.add(identifier)
        children.append((node, identifier, level, ancestors))
    return children


def _permanent(data: Json) -> str:
    cid = data.get("cid")
    return cid if isinstance(cid, str) and _PERMANENT.fullmatch(cid) else data["id"]


def _is_whole(text: str) -> bool:
    """Whether a text has no half characters (lone surrogates), which no UTF-8 can hold."""
    return text.isascii() or not _SURROGATE.search(text)


def _check_node(node: object, ancestors: frozenset[str], siblings: set[str]) -> bool:
    """Whether the node is a section (else an article).

    Raises:
        _Reject: it is neither, or has the identifier of a sibling or of a section that it stands in.
    """
    if not isinstance(node, dict) or not isinstance(cast(Json, node).get("data"), dict):
        raise _Reject("not an object with data")
    kind = cast(Json, node).get("type")
    identifier = cast(Json, node)["data"].get("id")
    pattern = {"section": _SECTION, "article": _ARTICLE}.get(str(kind))
    if pattern is None:
        raise _Reject(f"neither a section nor an article: type {kind!r}")
    if not isinstance(identifier, str) or not pattern.fullmatch(identifier):
        raise _Reject(f"not an identifier of {'a section' if kind == 'section' else 'an article'}: {identifier!r}")
    if identifier in ancestors:
        raise _Reject(f"a cycle in the tree: section {identifier} contains itself")
    if identifier in siblings:
        raise _Reject(f"repeated identifier {identifier}")
    if kind == "article":
        number = cast(Json, node)["data"].get("num")
        if not isinstance(number, str) or not normal_number(number):
            raise _Reject(f"article {identifier} without a number")
        if not _is_whole(number):
            raise _Reject("num holds half a character (a lone surrogate)")
    return kind == "section"


def _articles(reading: _Reading, act: Act) -> tuple[list[Article], list[Citation], list[Wording]]:
    identifiers = article_ids(act.id, ((n.data["data"]["num"], _permanent(n.data["data"])) for n in reading.articles))
    articles: list[Article] = []
    citations: list[Citation] = []
    wordings: list[Wording] = []
    taken: set[str] = set()
    for node, identifier in zip(reading.articles, identifiers, strict=True):
        data = node.data["data"]
        try:
            if identifier in taken:  # two versions of one article
                raise _Reject(f"repeated identifier {_permanent(data)}")
            html = _text(data, "texteHtml")
            text, links = plain_text(html) if html else (_text(data, "texte").strip(), [])
            articles.append(
                Article(
                    id=identifier,
                    act_id=act.id,
                    parent_id=node.parent,
                    position=node.position,
                    number=" ".join(data["num"].split()),
                    heading="",
                    text=text,
                    language="fr",
                    status=_text(data, "etat"),
                    valid_from=_epoch_date(data.get("dateDebut")),
                    valid_to=_epoch_date(data.get("dateFin")),
                    source_id=_permanent(data),
                    source_ids=tuple(sorted(set(_version_ids(data)))),
                )
            )
            wordings += _wordings(identifier, data)
        except _Reject as error:
            reading.reject(node.place, str(error), node.data)
            continue
        taken.add(identifier)
        for link in links:
            target, kind = link_target(link.href)
            citations.append(Citation(identifier, target, kind, text[link.start : link.end], link.start, link.end))
    return articles, citations, wordings


def link_target(href: str) -> tuple[str, OutsideKind]:
    """What a Légifrance link points to: the identifier of an article, else of a section, else of a text.

    Any other address is given back whole, as a page.
    """
    for pattern, kind in _TARGETS:
        found = pattern.search(href)
        if found:
            return found[0], kind
    return href[:500], "page"


def _version_ids(data: Json) -> Iterator[str]:
    yield data["id"]
    yield _permanent(data)
    wordings = data.get("articleVersions") or []
    if not isinstance(wordings, list):
        raise _Reject("articleVersions is not a list")
    for wording in cast(list[Any], wordings):
        id = cast(Json, wording).get("id") if isinstance(wording, dict) else None
        if isinstance(id, str):
            if not _is_whole(id):
                raise _Reject("articleVersions holds half a character (a lone surrogate)")
            yield id


def _wordings(article: str, data: Json) -> Iterator[Wording]:
    """The earlier and later wordings of an article: their days, as the file holds no text of them."""
    seen = {data["id"]}
    for found in cast(list[Any], data.get("articleVersions") or []):
        wording = cast(Json, found) if isinstance(found, dict) else {}
        if not isinstance(wording.get("id"), str) or wording["id"] in seen or wording.get("dateDebut") is None:
            continue
        seen.add(wording["id"])
        start, end = _epoch_date(wording.get("dateDebut")), _epoch_date(wording.get("dateFin"))
        if start is None or start != end:  # some were never in force
            yield Wording(article, wording["id"], _text(wording, "etat"), start, end)


def _text(data: Json, name: str) -> str:
    value = data.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _Reject(f"{name} is not text: {value!r:.60}")
    if not _is_whole(value):
        raise _Reject(f"{name} holds half a character (a lone surrogate)")
    return value


def _iso_date(value: object) -> date | None:
    if value in (None, ""):
        return None
    try:
        found = date.fromisoformat(str(value)[:10])
    except ValueError:
        raise _Reject(f"a date that is none: {value!r:.60}") from None
    return None if found.year >= _NO_END_YEAR else found


def _epoch_date(value: object) -> date | None:
    """A date from milliseconds since 1970, as the publisher gives it."""
    if value is None:
        return None
    try:
        found = datetime.fromtimestamp(int(cast(int, value)) / 1000, UTC).date()
    except (ValueError, TypeError, OverflowError, OSError):
        raise _Reject(f"a date that is none: {value!r:.60}") from None
    return None if found.year >= _NO_END_YEAR else found
