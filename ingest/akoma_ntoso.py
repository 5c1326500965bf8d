"""Reader of Akoma Ntoso 3.0 (OASIS LegalDocML, also its 2.0): hierarchy, references, FRBR identification and dates.

What counts as an article differs: codes number articles, statutes of the common law sections. The reader takes the
elements ``article`` of a document where it has any, else ``section``, ``rule``, ``regulation`` or ``paragraph``; what
holds them is a section of the tree.
"""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from ingest.lines import starts_with
from ingest.tree import Cited, TreeBuilder
from schema.errors import BadSource, MissingFile
from schema.identifiers import act_id
from schema.records import Act, Read, Rejected, Relation

FILE_PATTERN = "*.xml"
_ROOT = re.compile(rb"<(?:\w+:)?akomaNtoso\b")
_DEEPEST = 200
"""Levels of elements; real documents have some thirty."""
_UNITS = ("article", "section", "rule", "regulation", "paragraph")
_BODIES = frozenset({"body", "mainBody", "judgmentBody", "debateBody", "amendmentBody", "collectionBody", "portionBody"})
_HIERARCHY = frozenset(
    [
        "alinea",
        "article",
        "book",
        "chapter",
        "clause",
        "division",
        "hcontainer",
        "indent",
        "level",
        "list",
        "paragraph",
        "part",
        "point",
        "proviso",
        "rule",
        "section",
        "subchapter",
        "subclause",
        "subdivision",
        "sublist",
        "subparagraph",
        "subpart",
        "subrule",
        "subsection",
        "subtitle",
        "title",
        "tome",
        "transitional",
        "crossHeading",
    ]
)
_BLOCKS = frozenset(
    [
        "p",
        "block",
        "blockList",
        "item",
        "li",
        "listIntroduction",
        "listWrapUp",
        "intro",
        "wrapUp",
        "content",
        "num",
        "heading",
        "subheading",
        "tr",
        "table",
        "ul",
        "ol",
        "tblock",
        "toc",
        "tocItem",
        "longTitle",
        "recital",
        "recitals",
        "preamble",
        "preface",
        "formula",
        "citation",
    ]
)
_UNSEEN = frozenset({"meta", "authorialNote", "embeddedStructure", "quotedStructure"})
_UNIT_ID = re.compile(r"^(.*?(?:^|__)(?:art|sec|rule|reg|article|section)[_-][^_]+)")
_LANGUAGES = {"eng": "en", "fra": "fr", "fre": "fr", "deu": "de", "ita": "it", "spa": "es", "por": "pt", "nld": "nl"}
_SAFE = re.compile(r"[^A-Za-z0-9.~_-]+")


def recognises(path: Path) -> bool:
    """Whether a file begins with an Akoma Ntoso document."""
    return path.suffix == ".xml" and bool(_ROOT.search(starts_with(path)))


def read(path: Path) -> Iterator[Read]:
    """The document in a file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is not XML, declares entities, nests without reason, or has no FRBR identification.
    """
    root = _parsed(path)
    document = next((child for child in root if _tag(child) != "components"), None)
    if _tag(root) != "akomaNtoso" or document is None:
        raise BadSource(path, "/", "not Akoma Ntoso: the root must be akomaNtoso with a document in it")
    reading = _Reading(path, document)
    yield reading.tree()


def _parsed(path: Path) -> Element:
    depth = 0
    root: Element | None = None
    try:
        for event, element in iterparse(path, events=("start", "end"), forbid_dtd=True):
            root = element if root is None else root
            depth += 1 if event == "start" else -1
            if depth > _DEEPEST:
                raise BadSource(path, "", f"elements nest deeper than {_DEEPEST} levels")
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    except ParseError as error:
        line, column = error.position
        raise BadSource(path, f"line {line}, column {column}", f"not XML: {error}") from None
    except (DefusedXmlException, ValueError, LookupError) as error:
        raise BadSource(path, "", f"not XML that is read: {error}") from None
    if root is None:
        raise BadSource(path, "line 1", "not XML: nothing in it")
    return root


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _first(element: Element, *names: str) -> Element | None:
    """The first descendant by a path of names, whatever its namespace."""
    found: Element | None = element
    for name in names:
        found = next((child for child in found if _tag(child) == name), None) if found is not None else None
    return found


def _value(element: Element | None, attribute: str = "value") -> str:
    return (element.get(attribute) or "").strip() if element is not None else ""


def work_of(address: str) -> str:
    """The FRBR work that an address names: without language, version and portion.

    >>> work_of("/akn/za/act/2009/10/eng@2010-01-01/!main~sec_5")
    '/akn/za/act/2009/10'
    """
    path = re.sub(r"^https?://[^/]+", "", address).split("#")[0].split("/!")[0].split("~")[0]
    return re.sub(r"/(?:[a-z]{3}(?:@[^/]*)?|@[^/]*)(?:/.*)?$", "", re.sub(r"^/akn(?=/)", "", path)).rstrip("/") and (
        ("/akn" if path.startswith("/akn/") else "")
        + re.sub(r"/[a-z]{3}(?:@[^/]*)?(?:/.*)?$|/@[^/]*$", "", re.sub(r"^/akn(?=/[a-z])", "", path)).rstrip("/")
    )


class _Reading:
    """One document while it is read."""

    def __init__(self, path: Path, document: Element) -> None:
        self.path = path
        self.document = document
        self.rejected: list[Rejected] = []
        self.work = ""
        self.builder = TreeBuilder(self._act())
        self.unit = next((unit for unit in _UNITS if any(_tag(e) == unit for e in self._body_elements())), "")

    def _bodies(self) -> list[Element]:
        return [child for child in self.document if _tag(child) in _BODIES]

    def _body_elements(self) -> Iterator[Element]:
        for body in self._bodies():
            yield from body.iter()

    def _act(self) -> Act:
        identification = _first(self.document, "meta", "identification")
        work = _first(identification, "FRBRWork") if identification is not None else None
        if work is None:
            raise BadSource(self.path, "/meta/identification", "no FRBRWork: nothing says which act this is")
        uri = _value(_first(work, "FRBRuri")) or _value(_first(work, "FRBRthis")).split("/!")[0]
        parts = [part for part in uri.removeprefix("/akn").split("/") if part]
        country = _value(_first(work, "FRBRcountry")).lower() or (parts[0].lower() if parts else "")
        if len(parts) < 2 or not re.fullmatch(r"[a-z]{2,3}(?:-[a-z0-9]{1,8})*", country):
            raise BadSource(self.path, "/meta/identification/FRBRWork", f"not a work: {uri[:100]!r}, country {country[:20]!r}")
        self.work = uri
        expression = _first(identification, "FRBRExpression") if identification is not None else None
        language = _value(_first(expression, "FRBRlanguage"), "language").lower() if expression is not None else ""
        alias = [e for e in work if _tag(e) == "FRBRalias"]
        titles = [_value(e) for e in alias if e.get("name") == "title"] or [_value(e) for e in alias]
        title = (titles[0] if titles else "") or self._heading_title() or uri
        published = self._date(work)
        return Act(
            id=act_of_work(uri, country),
            jurisdiction=country.split("-")[0],
            kind=_value(_first(work, "FRBRsubtype")) or (parts[1] if len(parts) > 1 else _tag(self.document)),
            title=" ".join(title.split()),
            language=_LANGUAGES.get(language, language[:2] or "en"),
            source="akoma-ntoso",
            source_id=uri,
            published=published,
            valid_from=published,
            updated=self._date(expression),
            preamble="\n".join(
                _text(e)[0] for e in self.document if _tag(e) in ("coverPage", "preface", "preamble", "conclusions")
            ),
        )

    def _heading_title(self) -> str:
        found = next((e for e in self.document.iter() if _tag(e) in ("docTitle", "shortTitle")), None)
        return "".join(found.itertext()) if found is not None else ""

    def _date(self, level: Element | None) -> date | None:
        text = _value(_first(level, "FRBRdate"), "date") if level is not None else ""
        found = re.match(r"(\d{4})(?:-(\d\d)-(\d\d))?", text)
        try:
            return date(int(found[1]), int(found[2] or 1), int(found[3] or 1)) if found else None
        except ValueError:
            self._reject("FRBRdate", f"a date that is none: {text[:40]!r}")
            return None

    def _reject(self, place: str, reason: str) -> None:
        self.rejected.append(Rejected(self.path.name, place, reason))

    def tree(self):
        """The act with all that is below it."""
        act = self.builder.act
        for body in self._bodies():
            if self.unit:
                self._walk(body, act.id)
            else:
                self._article(body, act.id)
        for number, attachment in enumerate(self._attachments(), 1):
            heading = _first(attachment, "heading")
            name = " ".join("".join(heading.itertext()).split()) if heading is not None else ""
            self._article(attachment, act.id, number=(name or f"Schedule {number}")[:80], heading=name)
        relations = list(self._relations())
        return self.builder.tree(self.rejected, relations)

    def _attachments(self) -> Iterator[Element]:
        for child in self.document:
            if _tag(child) in ("attachments", "components"):
                yield from (e for e in child if _tag(e) in ("attachment", "component"))

    def _walk(self, element: Element, parent: str) -> None:
        """Units below an element become articles, what holds units sections; other text that of the section."""
        stack = [(child, parent) for child in reversed(list(element))]
        while stack:
            node, above = stack.pop()
            tag = _tag(node)
            if tag in _UNSEEN:
                continue
            if tag == self.unit:
                self._article(node, above)
            elif tag in _HIERARCHY and any(_tag(e) == self.unit for e in node.iter()):
                section = self._section(node, above)
                stack += [
                    (child, section) for child in reversed(list(node)) if _tag(child) not in ("num", "heading", "subheading")
                ]
            elif tag in _HIERARCHY:
                self._article(node, above)
            else:
                stack += [(child, above) for child in reversed(list(node)) if isinstance(child.tag, str)]

    def _section(self, node: Element, parent: str) -> str:
        number, heading = self._named(node)
        text = [_text(child)[0] for child in node if _tag(child) in ("intro", "content", "wrapUp")]
        label = f"{_tag(node).capitalize()} {number}".strip()
        return self.builder.section(
            parent,
            f"{label} – {heading}" if heading else label,
            number=label,
            source_id=self._source_id(node),
            text="\n".join(part for part in text if part),
        )

    def _named(self, node: Element) -> tuple[str, str]:
        number, heading = (_first(node, name) for name in ("num", "heading"))
        words = [" ".join("".join(e.itertext()).split()) if e is not None else "" for e in (number, heading)]
        bare = re.sub(rf"^(?:{_tag(node)}|art\.?|sec\.?|§)\s+", "", words[0], flags=re.IGNORECASE)
        return bare.strip(" .:()"), words[1]

    def _source_id(self, node: Element) -> str:
        id = node.get("eId") or node.get("id") or ""
        return f"{self.work}#{id}" if id else ""

    def _article(self, node: Element, parent: str, *, number: str = "", heading: str = "") -> None:
        own, title = self._named(node)
        text, cited = _text(node, skip=("num", "heading") if own or title else ())
        if not text and not own and not title:
            return
        self.builder.article(
            parent,
            number or own or _tag(node),
            text,
            heading=heading or title,
            source_id=self._source_id(node),
            cited=[Cited(start, end, target) for start, end, href in cited if (target := self._target(href))],
        )

    def _target(self, href: str) -> str:
        """What a reference names, as `Citation` does: an act, or a unit of one."""
        if href.startswith("#"):
            return f"{self.work}#{_unit(href[1:])}" if len(href) > 1 else ""
        if not href.startswith(("/", "http")):
            return ""
        work = work_of(href)
        portion = href.partition("#")[2] or href.partition("~")[2]
        if not work:
            return ""
        return f"{work}#{_unit(portion)}" if portion else work

    def _relations(self) -> Iterator[Relation]:
        """Acts that the analysis says are amended or repealed, or amend this one."""
        act = self.builder.act.id
        seen: set[tuple[str, str]] = set()
        for element in self.document.iter():
            if _tag(element) != "textualMod" or _tag(element) == "passiveModifications":
                continue
            destination = _value(_first(element, "destination"), "href")
            source = _value(_first(element, "source"), "href")
            if not destination.startswith("/") or (source and not source.startswith("#")):
                continue  # what was done to this act stands in the act that did it
            type = "REPEALS" if element.get("type") == "repeal" else "AMENDS"
            target = work_of(destination)
            if target and (type, target) not in seen:
                seen.add((type, target))
                yield Relation(act, type, target, "metadata", f"textualMod {element.get('type', '')} {destination[:300]}")


def act_of_work(uri: str, country: str) -> str:
    """The identifier of the act of a work: ``/akn/za/act/2009/10`` is ``za/act-2009-10``."""
    parts = [part for part in re.sub(r"^/akn(?=/)", "", uri).split("/") if part][1:]
    return act_id(country.split("-")[0], _SAFE.sub("-", "-".join(parts)) or "act")


def _unit(portion: str) -> str:
    found = _UNIT_ID.match(portion)
    return found[1] if found else portion


def _text(node: Element, skip: tuple[str, ...] = ()) -> tuple[str, list[tuple[int, int, str]]]:
    """The text of an element, one block a line, and its references: (start, end, address)."""
    out: list[str] = []
    length = 0
    gap = ""
    references: list[tuple[int, int, str]] = []

    def emit(text: str | None) -> None:
        nonlocal length, gap
        if not text:
            return
        words = " ".join(text.split())
        if (text[0].isspace() or not words) and length and not gap:
            gap = " "
        if words:
            out.extend((gap, words))
            length += len(gap) + len(words)
            gap = " " if text[-1].isspace() else ""

    # (element, whether it is left): markup nests less deep than Python recurses, but a stack is as plain.
    stack: list[tuple[Element, bool, int]] = [(node, False, 0)]
    while stack:
        element, leaving, start = stack.pop()
        tag = _tag(element)
        if leaving:
            if tag == "ref" and length > start:
                begin = start + (len(gap) if False else 0)
                references.append((begin, length, element.get("href") or ""))
            if tag in _BLOCKS and length:
                gap = "" if tag == "num" else "\n"
                if tag == "num":
                    gap = " "
            if element is not node:
                emit(element.tail)
            continue
        if element is not node and (tag in _UNSEEN or tag in skip or not isinstance(element.tag, str)):
            emit(element.tail)
            continue
        if (tag in _BLOCKS | _HIERARCHY and length and gap != " ") or (tag in _HIERARCHY and length):
            gap = "\n"
        place = length + (1 if element.text and element.text[0].isspace() and length else len(gap))
        stack.append((element, True, place))
        emit(element.text)
        stack += [(child, False, 0) for child in reversed(list(element))]
    return "".join(out), references
