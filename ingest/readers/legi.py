"""Reader of LEGI JSON: one French code a file, a tree of ``{type, data, children}`` (npm ``@socialgouv/legi-data``)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, cast

from ingest.readers.support.decode import file_json
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.html import plain_text
from ingest.readers.support.json_lines import Json, iso_date, list_of, text_of
from schema.errors import BadSource
from schema.identifiers import act_id, article_ids, normal_number, section_ids, section_number
from schema.records import Act, ActTree, Article, Citation, OutsideKind, Read, Rejected, Section, Wording

FILE_PATTERN = "LEGITEXT*.json"
_ACT = re.compile(r"^LEGITEXT\d{12}$")
_IDENTIFIERS = {"section": re.compile(r"^LEGISCTA\d{12}$"), "article": re.compile(r"^LEGIARTI\d{12}$")}
_PERMANENT = re.compile(r"[A-Za-z0-9_-]{1,40}")
_TARGETS: tuple[tuple[re.Pattern[str], OutsideKind], ...] = (
    (re.compile(r"(?:LEGI|JORF)ARTI\d{12}"), "article"),
    (re.compile(r"LEGISCTA\d{12}"), "section"),
    (re.compile(r"(?:LEGI|JORF)TEXT\d{12}"), "act"),
)
_NO_END_YEAR = 2999
"""The publisher writes the first of January 2999 for "no end known"."""
LICENCE = "Licence Ouverte 2.0"


@dataclass(slots=True)
class _Node:
    """The code, a section or an article as it stands in the file.

    Attributes:
        place: JSON path.
        parent, position: identifier of what it stands in, and its place there.
        above: the publisher's identifiers of the nodes that it stands in.
        id: identifier in the graph; that of an article is made once all articles are there.
    """

    place: str
    record: Json
    parent: str = ""
    position: int = 0
    level: int = 0
    above: frozenset[str] = frozenset()
    id: str = ""

    @property
    def data(self) -> Json:
        """The properties of the node."""
        return self.record["data"]

    @property
    def own_id(self) -> str:
        """The publisher's identifier of this wording."""
        return self.data["id"]

    @property
    def permanent_id(self) -> str:
        """The publisher's identifier of all wordings."""
        cid = self.data.get("cid")
        return cid if isinstance(cid, str) and _PERMANENT.fullmatch(cid) else self.own_id

    def text(self, name: str) -> str:
        """Return a text of the node, "" where it has none."""
        return text_of(self.data, f"{self.place}.data", name)

    def day(self, name: str) -> date | None:
        """Return a day that is given in ISO 8601."""
        return _known_day(iso_date(self.data.get(name), f"{self.place}.data.{name}"))

    def moment(self, name: str) -> date | None:
        """Return a day that is given in milliseconds since 1970."""
        return _epoch_date(self.data.get(name), f"{self.place}.data.{name}")


@dataclass(slots=True)
class _Reading:
    """A code while it is read."""

    file: str
    act: Act
    leaves: list[_Node] = field(default_factory=list[_Node])
    sections: list[Section] = field(default_factory=list[Section])
    articles: list[Article] = field(default_factory=list[Article])
    citations: list[Citation] = field(default_factory=list[Citation])
    wordings: list[Wording] = field(default_factory=list[Wording])
    rejected: list[Rejected] = field(default_factory=list[Rejected])

    def reject(self, place: str, reason: str, record: object) -> None:
        """Note a record that cannot be read."""
        self.rejected.append(Rejected(self.file, place, reason, record))


def recognises(path: Path) -> bool:
    """Return whether a file is named or begins like LEGI JSON."""
    if path.match(FILE_PATTERN):
        return True
    if path.suffix != ".json":
        return False
    with path.open("rb") as stream:
        return b'"LEGITEXT' in stream.read(4096)


def read(path: Path) -> Iterator[Read]:
    """Yield the code in a file (`read_act`)."""
    yield read_act(path)


def read_act(path: Path) -> ActTree:
    """Return one code from its LEGI JSON file.

    A section or article that cannot be read is rejected with its place and reason, and all below it with
    it; the rest of the code is read.

    Raises:
        MissingFile: there is no such file.
        BadSource: the file as a whole is not LEGI JSON.
    """
    root = _root(path)
    try:
        act = _act(root)
    except Unreadable as error:
        raise BadSource(path, error.place, error.reason) from None
    root.id = act.id
    reading = _Reading(path.name, act)
    _read_sections(reading, root)
    _read_articles(reading)
    return ActTree(
        act,
        tuple(reading.sections),
        tuple(reading.articles),
        tuple(reading.citations),
        tuple(reading.rejected),
        tuple(reading.wordings),
        wordings_dated=True,
    )


def _root(path: Path) -> _Node:
    value = file_json(path)
    root = cast(Json, value) if isinstance(value, dict) else {}
    if root.get("type") != "code" or not isinstance(root.get("data"), dict):
        raise BadSource(path, "$", 'not LEGI JSON: the root must be {"type": "code", "data": …, "children": …}')
    source_id = root["data"].get("id")
    if not isinstance(source_id, str) or not _ACT.fullmatch(source_id):
        raise BadSource(path, "$.data.id", f"not an identifier of a code: {source_id!r}")
    return _Node("$", root, above=frozenset({source_id}))


def _act(root: _Node) -> Act:
    return Act(
        id=act_id("fr", root.own_id),
        jurisdiction="fr",
        kind="code",
        title=root.text("title").strip(),
        language="fr",
        status=root.text("etat"),
        source="legi",
        source_id=root.own_id,
        updated=root.day("dateDebutVersion"),  # the first day of this consolidation, not of the code
        licence=LICENCE,
    )


def _read_sections(reading: _Reading, root: _Node) -> None:
    """Read the sections, and collect the articles, in reading order."""
    seen: set[str] = set()
    stack = list(reversed(_children(reading, root)))
    while stack:
        node = stack.pop()
        if node.own_id in seen:
            reading.reject(node.place, f"repeated identifier {node.own_id}", node.record)
            continue
        seen.add(node.own_id)
        if not node.id:
            reading.leaves.append(node)
            continue
        try:
            reading.sections.append(_section(node, reading.act))
        except Unreadable as error:
            reading.reject(error.place, error.reason, node.record)
            continue
        stack += reversed(_children(reading, node))


def _section(node: _Node, act: Act) -> Section:
    title = node.text("title")
    return Section(
        id=node.id,
        act_id=act.id,
        parent_id=node.parent,
        position=node.position,
        number=section_number(title),
        heading=" ".join(title.split()),
        level=node.level,
        status=node.text("etat"),
        valid_from=node.day("dateDebut"),
        valid_to=node.day("dateFin"),
        source_id=node.permanent_id,
        source_ids=tuple(sorted({node.permanent_id, node.own_id})),
    )


def _children(reading: _Reading, parent: _Node) -> list[_Node]:
    """The readable children of a node, its sections with their identifiers."""
    records = parent.record.get("children", [])
    if not isinstance(records, list):
        reading.reject(f"{parent.place}.children", "not a list", records)
        return []
    readable: list[_Node] = []
    siblings: set[str] = set()
    for position, record in enumerate(cast(list[Any], records)):
        place = f"{parent.place}.children[{position}]"
        try:
            _check(record, place, parent.above, siblings)
        except Unreadable as error:
            reading.reject(error.place, error.reason, record)
            continue
        siblings.add(record["data"]["id"])
        readable.append(_Node(place, record, parent.id, position, parent.level + 1, parent.above | {record["data"]["id"]}))
    sections = [node for node in readable if node.record["type"] == "section"]
    titles = ((str(node.data.get("title") or ""), node.permanent_id) for node in sections)
    repeated: set[str] = set()
    taken: set[str] = set()
    for node, id in zip(sections, section_ids(parent.id, list(titles)), strict=True):
        node.id = id
        if id in taken:  # two wordings of one section
            reading.reject(node.place, f"repeated identifier {node.permanent_id}", node.record)
            repeated.add(node.place)
        taken.add(id)
    return [node for node in readable if node.place not in repeated]


def _check(record: object, place: str, above: frozenset[str], siblings: set[str]) -> None:
    """Refuse what is no section or article, or has the identifier of a sibling or of a section that it stands in.

    Raises:
        Unreadable: it is so.
    """
    node = cast(Json, record) if isinstance(record, dict) else {}
    data = node.get("data")
    if not isinstance(data, dict):
        raise Unreadable(place, "not an object with data")
    kind, data = node.get("type"), cast(Json, data)
    identifier = data.get("id")
    pattern = _IDENTIFIERS.get(str(kind))
    if pattern is None:
        raise Unreadable(place, f"neither a section nor an article: type {kind!r}")
    if not isinstance(identifier, str) or not pattern.fullmatch(identifier):
        raise Unreadable(place, f"not an identifier of {'a section' if kind == 'section' else 'an article'}: {identifier!r}")
    if identifier in above:
        raise Unreadable(place, f"a cycle in the tree: section {identifier} contains itself")
    if identifier in siblings:
        raise Unreadable(place, f"repeated identifier {identifier}")
    if kind == "article":
        number = data.get("num")
        if not isinstance(number, str) or not normal_number(number):
            raise Unreadable(place, f"article {identifier} without a number")
        text_of(data, f"{place}.data", "num")


def _read_articles(reading: _Reading) -> None:
    """Read the articles that were collected; their identifiers depend on all of their numbers."""
    act, taken = reading.act, set[str]()
    identifiers = article_ids(act.id, ((node.data["num"], node.permanent_id) for node in reading.leaves))
    for node, node.id in zip(reading.leaves, identifiers, strict=True):
        try:
            if node.id in taken:  # two wordings of one article
                raise Unreadable(node.place, f"repeated identifier {node.permanent_id}")
            html = node.text("texteHtml")
            text, links = plain_text(html) if html else (node.text("texte").strip(), [])
            article = _article(node, act, text)
            wordings = list(_wordings(node))
        except Unreadable as error:
            reading.reject(error.place, error.reason, node.record)
            continue
        taken.add(node.id)
        reading.articles.append(article)
        reading.wordings += wordings
        for link in links:
            target, kind = link_target(link.href)
            reading.citations.append(Citation(node.id, target, kind, text[link.start : link.end], link.start, link.end))


def _article(node: _Node, act: Act, text: str) -> Article:
    return Article(
        id=node.id,
        act_id=act.id,
        parent_id=node.parent,
        position=node.position,
        number=" ".join(node.data["num"].split()),
        heading="",
        text=text,
        language="fr",
        status=node.text("etat"),
        valid_from=node.moment("dateDebut"),
        valid_to=node.moment("dateFin"),
        source_id=node.permanent_id,
        source_ids=tuple(sorted({node.own_id, node.permanent_id, *(wording.own_id for wording in _other_wordings(node))})),
    )


def link_target(href: str) -> tuple[str, OutsideKind]:
    """Return what a Légifrance link points to: the identifier of an article, else of a section, else of a text.

    Any other address is given back whole, as a page.
    """
    for pattern, kind in _TARGETS:
        match = pattern.search(href)
        if match:
            return match[0], kind
    return href[:500], "page"


def _other_wordings(node: _Node) -> Iterator[_Node]:
    """The wordings of an article that the file lists with their days; it holds no text of them."""
    for position, listed in enumerate(list_of(node.data, f"{node.place}.data", "articleVersions")):
        place = f"{node.place}.data.articleVersions[{position}]"
        data = cast(Json, listed) if isinstance(listed, dict) else {}
        if isinstance(data.get("id"), str):
            text_of(data, place, "id")
            yield _Node(place, {"data": data})


def _wordings(node: _Node) -> Iterator[Wording]:
    """The earlier and later wordings of an article."""
    seen = {node.own_id}
    for wording in _other_wordings(node):
        if wording.own_id in seen or wording.data.get("dateDebut") is None:
            continue
        seen.add(wording.own_id)
        start, end = wording.moment("dateDebut"), wording.moment("dateFin")
        if start is None or start != end:  # some were never in force
            yield Wording(node.id, wording.own_id, wording.text("etat"), start, end)


def _epoch_date(value: object, place: str) -> date | None:
    """A date from milliseconds since 1970, as the publisher gives it."""
    if value is None:
        return None
    try:
        return _known_day(datetime.fromtimestamp(int(cast(int, value)) / 1000, UTC).date())
    except (ValueError, TypeError, OverflowError, OSError):
        raise Unreadable(place, f"not a date: {value!r:.60}") from None


def _known_day(day: date | None) -> date | None:
    return day if day and day.year < _NO_END_YEAR else None
