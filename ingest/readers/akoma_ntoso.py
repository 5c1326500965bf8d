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

from ingest.readers.support.act_builder import Cited, TreeBuilder
from ingest.readers.support.decode import starts_with, xml_events
from ingest.readers.support.text_builder import Link, TextBuilder
from schema.errors import BadSource
from schema.identifiers import act_id, eli_target, plain_name
from schema.records import Act, ActTree, Read, Relation, Remark

FILE_PATTERN = "*.xml"
LONGEST_FILE = 64 << 20
"""Bytes of a file that is read: its elements take some ten times as much memory."""
_ROOT = re.compile(rb"<(?:\w+:)?akomaNtoso\b")
_DEEPEST = 200
"""Levels of elements; real documents have some thirty."""
_UNITS = ("article", "section", "rule", "regulation", "paragraph")
_BODIES = frozenset({"amendmentBody", "body", "collectionBody", "debateBody", "judgmentBody", "mainBody", "portionBody"})
_OUTSIDE = frozenset({"conclusions", "coverPage", "preamble", "preface"})
# fmt: off
_HIERARCHY = frozenset([
    "alinea", "article", "book", "chapter", "clause", "division", "hcontainer", "indent", "level", "list", "paragraph",
    "part", "point", "proviso", "regulation", "rule", "section", "subchapter", "subclause", "subdivision", "sublist",
    "subparagraph", "subpart", "subrule", "subsection", "subtitle", "title", "tome", "transitional",
])
_BLOCKS = _HIERARCHY | frozenset([
    "attachment", "blockList", "br", "citation", "content", "crossHeading", "doc", "docTitle", "eol", "formula",
    "heading", "intro", "item", "li", "listIntroduction", "listWrapUp", "longTitle", "mainBody", "num", "ol", "p",
    "quotedStructure", "recital", "recitals", "subheading", "table", "tblock", "toc", "tocItem", "tr", "ul", "wrapUp",
])
# fmt: on
_NAMES = frozenset({"num", "heading", "subheading"})
_UNSEEN = frozenset({"meta", "authorialNote"})
_ADDRESS = re.compile(
    r"""(?:https?://[^/\s]+)?(?:/akn|/id)?
    (?P<work>(?:/[^/!~@:\#?\s]+){1,6}?/\d{4}(?:-\d\d(?:-\d\d)?)?(?:/[^/!~@:\#?\s]+){0,3}?)  # country, kind, date, number
    (?:/[a-z]{3})?(?:/?[@:][^/!~\#]*)?                                                  # language, version
    (?:/(?:!|main)[^~\#]*)?                                                             # component
    (?:/?~(?P<portion>[^\#]*))?/?(?:\#(?P<place>.*))?""",
    re.VERBOSE | re.ASCII,
)
"""An address by the naming convention (sections 4 and 5), with the prefix ``/akn`` of 3.0 or without it, as in 2.0."""
_LONGEST_ADDRESS = 500
_COUNTRY = re.compile(r"[a-z]{2}(?:-[a-z0-9]{1,8})*")
_UNIT_ID = re.compile(r"(?:.*?__)??(?:art|sec|rule|reg|para|article|section)[_-][^_.]+")
_BARE = re.compile(r"^(?:art\w*|sec\w*|rule|reg\w*|para\w*|§+)\.?\s+(?=\S)", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:-(\d\d)-(\d\d))?", re.ASCII)
_LANGUAGES = {"eng": "en", "fra": "fr", "fre": "fr", "deu": "de", "ger": "de", "ita": "it", "spa": "es", "por": "pt", "nld": "nl"}


def recognises(path: Path) -> bool:
    """Return whether a file begins with an Akoma Ntoso document."""
    return path.suffix == ".xml" and bool(_ROOT.search(starts_with(path)))


def read(path: Path) -> Iterator[Read]:
    """Yield the document in a file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is not XML, declares entities, nests without reason, or has no FRBR identification.
    """
    root = _parsed(path)
    document = next((child for child in root if _tag(child) != "components"), None)
    if _tag(root) != "akomaNtoso" or document is None:
        raise BadSource(path, "/", "not Akoma Ntoso: the root must be akomaNtoso with a document in it")
    reading = _Reading(path, document)
    yield from reading.remarks
    yield reading.tree()


def work_of(address: str) -> str:
    """Return the work that an address names, without language, version, component and portion; "" where it names none.

    >>> work_of("/akn/za/act/2009/10/eng@2010-01-01/!main~sec_5"), work_of("/za/act/2009/10/eng@/main#sec-5")
    ('/akn/za/act/2009/10', '/akn/za/act/2009/10')
    """
    address_parts = _ADDRESS.fullmatch(address) if len(address) <= _LONGEST_ADDRESS else None
    return f"/akn{address_parts['work']}" if address_parts else ""


def _parsed(path: Path) -> Element:
    root: Element | None = None
    depth = 0
    for event, element in xml_events(path, LONGEST_FILE):
        root = element if root is None else root
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            raise BadSource(path, "", f"elements nest deeper than {_DEEPEST} levels")
    if root is None:
        raise BadSource(path, "line 1", "not XML: nothing in it")
    return root


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _first(element: Element | None, *names: str) -> Element | None:
    """The first descendant by a path of names, whatever its namespace."""
    for name in names:
        element = next((child for child in element if _tag(child) == name), None) if element is not None else None
    return element


def _value(element: Element | None, attribute: str = "value") -> str:
    return " ".join((element.get(attribute) or "").split()) if element is not None else ""


def _words(element: Element | None) -> str:
    return _Text(element).text.replace("\n", " ") if element is not None else ""


class _Reading:
    """One document while it is read."""

    def __init__(self, path: Path, document: Element) -> None:
        self.path = path
        self.document = document
        self.remarks: list[Remark] = []
        self.bodies = [child for child in document if _tag(child) in _BODIES]
        tags = {_tag(element) for body in self.bodies for element in _outside_quotations(body)}
        self.unit = next((unit for unit in _UNITS if unit in tags), "")
        act = self._act()
        self.work = act.source_id
        self.builder = TreeBuilder(act)

    def _act(self) -> Act:
        identification = _first(self.document, "meta", "identification")
        work, expression = _first(identification, "FRBRWork"), _first(identification, "FRBRExpression")
        if work is None:
            raise BadSource(self.path, "/meta/identification", "no FRBRWork: nothing says which act this is")
        addresses = [_value(_first(work, name)) for name in ("FRBRuri", "FRBRthis")]
        uri = next((work_address for address in addresses if (work_address := work_of(address))), "")
        if not uri:
            raise BadSource(self.path, "/meta/identification/FRBRWork", f"not the address of a work: {addresses[0][:100]!r}")
        parts = uri.split("/")[2:]
        country = _value(_first(work, "FRBRcountry")).lower() or parts[0].lower()
        if not _COUNTRY.fullmatch(country):
            raise BadSource(self.path, "/meta/identification/FRBRWork/FRBRcountry", f"not a country: {country[:40]!r}")
        aliases = [child for child in work if _tag(child) == "FRBRalias"]
        titles = [_value(alias) for alias in aliases if alias.get("name") == "title"] + [_value(alias) for alias in aliases]
        named = next((e for e in self.document.iter() if _tag(e) in ("docTitle", "shortTitle")), None)
        language = _value(_first(expression, "FRBRlanguage"), "language").lower()
        published = self._date(work)
        preamble = [_Text(child).text for child in self.document if _tag(child) in _OUTSIDE]
        if self.unit:
            preamble += [self._loose(body) for body in self.bodies]
        return Act(
            id=act_of_work(uri, country),
            jurisdiction=country.split("-")[0],
            kind=_value(_first(work, "FRBRsubtype")) or parts[1],
            title=next(filter(None, [*titles, _words(named)]), uri),
            language=_LANGUAGES.get(language, language[:2] or "en"),
            source="akoma-ntoso",
            source_id=uri,
            published=published,
            valid_from=published,
            updated=self._date(expression),
            preamble="\n".join(filter(None, preamble)),
        )

    def _date(self, level: Element | None) -> date | None:
        text = _value(_first(level, "FRBRdate"), "date")
        parts = _DATE.match(text)
        try:
            if parts:
                return date(int(parts[1]), int(parts[2] or 1), int(parts[3] or 1))
        except ValueError:
            self.remarks.append(Remark(self.path.name, "FRBRdate", f"not a date: {text[:40]!r}"))
        return None

    def tree(self) -> ActTree:
        """Return the act with all that is below it."""
        act = self.builder.act
        for body in self.bodies:
            if self.unit:
                self._below(body, act.id)
            else:
                self._article(body, act.id, "Text")
        attachments = (e for child in self.document if _tag(child) in ("attachments", "components") for e in child)
        for number, attachment in enumerate(attachments, 1):
            heading = _words(_first(attachment, "heading"))
            self._article(attachment, act.id, heading[:80] or f"Schedule {number}")
        return self.builder.tree(relations=list(self._relations()))

    def _below(self, node: Element, parent: str) -> None:
        """Units below an element become articles, what holds units sections."""
        place = parent
        for child in node:
            tag = _tag(child)
            if tag == "crossHeading":
                place = self.builder.section(parent, _words(child), source_id=self._source_id(child))
            elif tag == self.unit:
                self._article(child, place)
            elif self._holds_units(child):
                self._below(child, self._section(child, place) if tag in _HIERARCHY else place)
            elif tag in _HIERARCHY:
                self._article(child, place, f"{tag.capitalize()} {self._number(child)}".strip())

    def _holds_units(self, node: Element) -> bool:
        return any(_tag(element) == self.unit for element in _outside_quotations(node))

    def _loose(self, node: Element) -> str:
        """The text directly below an element that holds units, beside its name."""
        loose = (c for c in node if _tag(c) not in _HIERARCHY | _NAMES | {"crossHeading"} and not self._holds_units(c))
        return "\n".join(filter(None, (_Text(child).text for child in loose)))

    def _section(self, node: Element, parent: str) -> str:
        label = f"{_tag(node).capitalize()} {self._number(node)}".strip()
        heading = _words(_first(node, "heading"))
        title = f"{label} – {heading}" if heading else label
        return self.builder.section(parent, title, number=label, source_id=self._source_id(node), text=self._loose(node))

    def _number(self, node: Element) -> str:
        return _BARE.sub("", _words(_first(node, "num"))).strip(" .:()[]\"'“”„«»")

    def _source_id(self, node: Element) -> str:
        id = node.get("eId") or node.get("id") or ""
        return f"{self.work}#{id}" if id else ""

    def _article(self, node: Element, parent: str, number: str = "") -> None:
        own, heading = self._number(node), _words(_first(node, "heading"))
        content = _Text(node, without=_NAMES)
        text = content.text
        if text or own or heading:
            cited = [cited for link in content.links if link.start < link.end and (cited := self._cited(link))]
            name = number or own or _tag(node)
            title = "" if heading == name else heading
            self.builder.article(parent, name, text, heading=title, source_id=self._source_id(node), cited=cited)

    def _cited(self, link: Link) -> Cited | None:
        """Return what a reference names: a unit of this act or another, an act, else a page."""
        href, start, end = link.href, link.start, link.end
        if len(href) > _LONGEST_ADDRESS:
            return None
        if href.startswith("#"):
            return Cited(start, end, f"{self.work}#{_unit(href[1:])}")
        european = eli_target(href)
        if european:
            return Cited(start, end, european, "article" if european.count("/") > 1 else "act")
        address = _ADDRESS.fullmatch(href)
        # Of addresses of the Web, those of the convention are told from others by their prefix.
        if address and (href.startswith("/") or re.match(r"https?://[^/]+/(?:akn|id)/", href)):
            portion = address["portion"] or address["place"]
            work = work_of(href)
            return Cited(start, end, f"{work}#{_unit(portion)}") if portion else Cited(start, end, work, "act")
        return Cited(start, end, href, "page") if href.startswith(("http://", "https://")) else None

    def _relations(self) -> Iterator[Relation]:
        """Acts that this one amends or repeals; what others do to it stands in theirs."""
        analysis = _first(self.document, "meta", "analysis", "activeModifications")
        seen: set[tuple[str, str]] = set()
        for change in analysis if analysis is not None else ():
            destination = _value(_first(change, "destination"), "href")
            type = "REPEALS" if change.get("type") == "repeal" and not _portion(destination) else "AMENDS"
            target = work_of(destination)
            if target and target != self.work and (type, target) not in seen:
                seen.add((type, target))
                yield Relation(self.builder.act.id, type, target, "metadata", f"{_tag(change)} {destination[:300]}")


def act_of_work(work: str, country: str) -> str:
    """Return the identifier of the act of a work; a locality stays with it.

    >>> act_of_work("/akn/za-cpt/act/by-law/2010/3", "za")
    'za/cpt-act-by-law-2010-3'
    """
    first, *rest = work.removeprefix("/akn").strip("/").split("/")
    jurisdiction = country.split("-")[0]
    own = [] if first.lower() == jurisdiction else [first.removeprefix(f"{jurisdiction}-")]
    return act_id(jurisdiction, plain_name("-".join([*own, *rest])))


def _portion(address: str) -> str:
    match = _ADDRESS.fullmatch(address)
    return (match["portion"] or match["place"] or "") if match else ""


def _unit(portion: str) -> str:
    """The article or section that a place in it belongs to: ``chp_1__sec_5__subsec_2`` belongs to ``chp_1__sec_5``."""
    match = _UNIT_ID.match(portion)
    return match[0] if match else portion


def _outside_quotations(node: Element) -> Iterator[Element]:
    """An element and what is below it, without the law that it quotes: amendments quote whole articles."""
    stack = [node]
    while stack:
        element = stack.pop()
        yield element
        stack += [child for child in element if _tag(child) not in ("quotedStructure", "embeddedStructure", *_UNSEEN)]


class _Text(TextBuilder):
    """The text of an element, one block a line, and its references."""

    def __init__(self, node: Element, *, without: frozenset[str] = frozenset()) -> None:
        super().__init__()
        self.numbered = False  # a number was last: what it numbers goes on in its line
        self._visit(node, without)

    def _visit(self, node: Element, without: frozenset[str] = frozenset()) -> None:
        tag = _tag(node)
        if tag in _BLOCKS:
            self._break()
        start = self.length
        if tag == "ref":
            self.open_link(node.get("href") or "")
        self._piece(node.text)
        for child in node:
            if _tag(child) not in _UNSEEN | without:
                self._visit(child)
            self._piece(child.tail)
        if tag == "ref":
            self.close_link()
        if tag == "num":
            self.numbered = self.length > start
            self.blank(instead=True)
        elif tag in _BLOCKS:
            self._break()

    def _break(self) -> None:
        if not self.numbered:
            self.line_break()

    def _piece(self, text: str | None) -> None:
        if text:
            self.add(text)
            self.numbered = self.numbered and text.isspace()
