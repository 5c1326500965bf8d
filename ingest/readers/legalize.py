"""Reader of law-as-git: one act a file, Markdown under YAML front matter (GitHub ``legalize-dev``).

Headings, numbering and front matter differ between jurisdictions. The structure is taken from the file; what must be
known beforehand stands in a small table, and a jurisdiction that is not in it is read by the words most of them share.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from typing import Any, cast

import yaml

from ingest.readers.support.act_builder import Cited, TreeBuilder
from ingest.readers.support.decode import file_text
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import iso_date
from ingest.readers.support.markdown import MarkdownText, inline
from ingest.readers.support.text_builder import Link
from schema.errors import BadSource
from schema.identifiers import act_id, eli_target, fold, normal_number, slug
from schema.records import Act, ActTree, Read, Relation, RelationType, Remark

FILE_PATTERN = "*.md"
LONGEST_FRONT_MATTER = 64 << 10
"""Characters of front matter; those of real acts have at most a few thousand."""
DEEPEST_FRONT_MATTER = 20
"""Levels of lists and mappings in it; real acts have two."""
LONGEST_FILE = 32 << 20
"""Bytes of a file that is read; the longest real act has 9 MB."""
_IDENTIFIER = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.:~+-]{0,150}")
_COUNTRY = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}")
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*)$")
_QUOTES = " \t*«»\"“”‘’'"
_ORDINALS = r"bis|ter|quater|quinquies|sexies|septies|octies|nonies|novies|decies|undecies|duodecies|terdecies|quaterdecies"
_NUMBER = re.compile(
    rf"""(?:(?:LO|[LRDAC])\s?\.?\s?\*{{0,2}}\s?(?=\d))?          # the letter of a part of a code
    (?:\d+(?:\s?er\b|ère\b|\s?°)?|[IVXLC]+(?:\s?er)?\b|[A-Z]\b|unique|premier|préliminaire|additionnel)
    (?:[.-]\d+[a-z]?)*(?:[a-z]{{1,2}}\b)?
    (?:[ -]?(?:{_ORDINALS})\b(?:[ -]?\d+\b)?)*
    (?:\s[A-Z]\b)?""",
    re.VERBOSE | re.IGNORECASE,
)
_RANKS = (
    ("partie", "part", "parte", "teil"),
    ("livre", "book", "libro", "buch"),
    ("titre", "title", "titulo", "titolo", "titel"),
    ("sous-titre",),
    ("chapitre", "chapter", "capitulo", "capo", "kapitel"),
    ("section", "seccion", "sezione", "abschnitt"),
    ("sous-section", "subsection", "subseccion", "unterabschnitt"),
    ("paragraphe", "division"),
    ("sous-paragraphe",),
)
_RANK = {word: rank for rank, words in enumerate(_RANKS, 1) for word in words}
_WHOLE_ACT = frozenset({"annexe", "annexes", "annex", "anexo", "allegato", "anlage", "preambule"})
_LEADING = re.compile(
    r"^(?:(?:premi[eè]re?|deuxi[eè]me|seconde?|troisi[eè]me|quatri[eè]me)\s+)?([a-z]+(?:-[a-z]+)?)", re.IGNORECASE
)
_ENUMERATED = len(_RANKS) + 1
"""Rank of a heading that begins with none of those words."""
_LONGEST_HEADING = 25
"""Words of a heading; what is longer is a paragraph that is marked as one."""
_LONGEST_BARE = 40
"""Characters of a line that heads an article without being marked as a heading."""
_CLOSING = re.compile(r"^(?:Mandons et ordonnons|Le présent (?:règlement|arrêté) (?:sera|est) publié)")


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """The peculiarities of a jurisdiction's files.

    Attributes:
        language: of the acts.
        article: the words that a heading of an article begins with; they are followed by its number.
        whole_number: all that follows them is the number, rather than a number and a heading.
        strict_headings: a heading must look like one of a section to be one; others are paragraphs.
        licence: of the publisher.
    """

    language: str
    article: re.Pattern[str]
    whole_number: bool = False
    strict_headings: bool = False
    licence: str = ""


_FRENCH = re.compile(r"^(?:Articles?|Art\.?)(?![a-zà-ÿ])\s*", re.IGNORECASE)
_ANY = re.compile(
    r"^(?:Art[ií]c(?:le|ulo|olo|ol|ulos)\.?|Artigo|Artikel|Artik[eu]l[aą]?s?|Artyku[lł]|Art\.?|Pykälä|Paragraf|§+|čl(?:ánek|\.)|члан)"
    r"(?![a-zà-ÿ])\s*",
    re.IGNORECASE,
)
JURISDICTIONS: Mapping[str, Jurisdiction] = {
    "fr": Jurisdiction("fr", _FRENCH, whole_number=True, licence="Licence Ouverte 2.0"),
    "lu": Jurisdiction("fr", _FRENCH, strict_headings=True, licence="CC BY 4.0"),
}
_LANGUAGES = {
    **dict.fromkeys(("at", "ch", "de", "li"), "de"),
    **dict.fromkeys(("be", "mc"), "fr"),
    **{country: country for country in ("es", "it", "pt")},
}
"""Of acts that do not say their own; others are taken for English."""

Matter = dict[str, Any]


def recognises(path: Path) -> bool:
    """Return whether a file begins with front matter."""
    if path.suffix != ".md":
        return False
    with path.open("rb") as stream:
        return stream.read(6).removeprefix(b"\xef\xbb\xbf").startswith(b"---")


def read(path: Path) -> Iterator[Read]:
    """Yield the act in a file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is not UTF-8 text, or has no front matter that names an act.
    """
    lines = file_text(path, LONGEST_FILE).replace("\r\n", "\n").replace("\r", "\n").split("\n")
    try:
        matter, first = _front_matter(lines)
        act = _act(matter)
    except Unreadable as error:
        raise BadSource(path, error.place, error.reason) from None
    jurisdiction = JURISDICTIONS.get(act.jurisdiction)
    if jurisdiction is None:
        yield Remark(path.name, "front matter", f"unknown jurisdiction {act.jurisdiction!r}: read by the words most share")
    yield _Reading(act, jurisdiction or Jurisdiction(act.language, _ANY)).tree(lines, first, _relations(act, matter))


def _front_matter(lines: list[str]) -> tuple[Matter, int]:
    """The front matter, and the number of the first line behind it."""
    if lines[0].rstrip() != "---":
        raise Unreadable("line 1", "no front matter: the file does not begin with ---")
    end = next((n for n in range(1, min(len(lines), 2000)) if lines[n].rstrip() in ("---", "...")), None)
    if end is None:
        raise Unreadable("line 1", "front matter without an end")
    block = "\n".join(lines[1:end])
    if len(block) > LONGEST_FRONT_MATTER:
        raise Unreadable("line 1", f"front matter of {len(block):,} characters; at most {LONGEST_FRONT_MATTER:,} are read")
    try:
        # A bomb of aliases stays small: they are references, and nothing below follows what is nested.
        _check_depth(block)
        matter: object = yaml.load(block, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise Unreadable(f"line {line}", f"front matter is not YAML: {error.problem or error.context or 'unreadable'}") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise Unreadable("line 1", f"front matter is not YAML: {str(error).splitlines()[0][:200]}") from None
    if not isinstance(matter, dict):
        raise Unreadable("line 2", "front matter is not a list of names and values")
    return {str(name): value for name, value in cast(dict[Any, Any], matter).items() if isinstance(name, str)}, end + 1


def _check_depth(block: str) -> None:
    """Refuse what nests deeply before it is composed: the loader in C recurses without a bound, and ends the process."""
    depth = 0
    for event in yaml.parse(block, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST_FRONT_MATTER:
            line = event.start_mark.line + 2 if event.start_mark else 1
            raise Unreadable(f"line {line}", f"front matter nests deeper than {DEEPEST_FRONT_MATTER} levels")


class _Loader(yaml.CSafeLoader):
    """Loads scalars, lists and mappings; a mapping that merges others is refused, as it can grow without bounds."""

    def flatten_mapping(self, node: Any) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(None, None, "a merge of mappings", node.start_mark)


def _act(matter: Matter) -> Act:
    identifier, country = _string(matter, "identifier"), _string(matter, "country").lower()
    if not _IDENTIFIER.fullmatch(identifier):
        raise Unreadable("front matter", f"not an identifier of an act: {identifier[:60]!r}")
    if not _COUNTRY.fullmatch(country):
        raise Unreadable("front matter", f"not a country: {country[:60]!r}")
    title = " ".join(_string(matter, "title").split())
    if not title:
        raise Unreadable("front matter", "no title")
    jurisdiction = JURISDICTIONS.get(country)
    language = _string(matter, "language")[:2].lower() or _LANGUAGES.get(country[:2], "en")
    published = _date(matter, "publication_date") or _date(matter, "enactment_date")
    return Act(
        id=act_id(country, identifier),
        jurisdiction=country,
        kind=_string(matter, "rank").strip() or "act",
        title=title,
        language=jurisdiction.language if jurisdiction else language,
        status=_string(matter, "status"),
        valid_from=_date(matter, "entry_in_force") or published,
        eli=_string(matter, "eli"),
        source="legalize",
        source_id=identifier,
        licence=jurisdiction.licence if jurisdiction else _string(matter, "license"),
        short_title=" ".join(_string(matter, "short_title").split()),
        published=published,
        updated=_date(matter, "last_updated"),
        subjects=tuple(sorted({*_list(matter, "subjects"), *_list(matter, "department")})),
    )


def _string(matter: Matter, name: str) -> str:
    value = matter.get(name)
    if value is None or isinstance(value, list | dict):
        return ""
    if isinstance(value, date):
        return value.isoformat()
    text = str(value) if isinstance(value, str | int | float | bool) else ""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return text.strip()


def _list(matter: Matter, name: str) -> list[str]:
    """Values that stand in a list, or in a text between semicolons."""
    value = matter.get(name)
    texts = (
        [v for v in cast(list[Any], value) if isinstance(v, str)] if isinstance(value, list) else _string(matter, name).split(";")
    )
    return [text.strip() for text in texts if text.strip()]


def _date(matter: Matter, name: str) -> date | None:
    value = matter.get(name)
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return iso_date(_string(matter, name), f"front matter, {name}")


_RELATIONS: tuple[tuple[str, RelationType], ...] = (
    ("cites", "CITES"),
    ("modifies", "AMENDS"),
    ("repeals", "REPEALS"),
    ("consolidates", "CONSOLIDATES"),
    ("transposes", "TRANSPOSES"),
)


def _relations(act: Act, matter: Matter) -> list[Relation]:
    """The relations to other acts that the front matter names."""
    relations: dict[tuple[str, str], Relation] = {}
    for name, type in _RELATIONS:
        for address in _list(matter, name):
            target = eli_target(address) or address[:500]
            if target != act.id:
                relations.setdefault((type, target), Relation(act.id, type, target, "metadata", f"{name}: {address[:500]}"))
    return list(relations.values())


@dataclass(slots=True)
class _Node:
    """A section or an article while it is read."""

    parent: int
    article: bool = False
    number: str = ""
    heading: str = ""
    text: MarkdownText = field(default_factory=MarkdownText)


class _Reading:
    """One act while it is read. Sections and articles are numbered from 1 in reading order; 0 is the act."""

    def __init__(self, act: Act, jurisdiction: Jurisdiction) -> None:
        self.act = act
        self.jurisdiction = jurisdiction
        self.nodes = [_Node(-1)]
        self.open: list[tuple[int, int, int]] = []  # marks, rank and number of the sections that the next line is below
        self.into = self.nodes[0].text
        self.unnumbered = 0

    def tree(self, lines: list[str], first: int, relations: list[Relation]) -> ActTree:
        """Return the act with all that is below it."""
        paragraph: list[str] = []
        unmarked = not any(self._names_article(line) for line in lines[first:] if line.startswith("#"))
        for number in range(first, len(lines)):
            line = lines[number]
            heading = _HEADING.match(line) if line.startswith("#") else None
            if unmarked and heading is None and len(line) <= _LONGEST_BARE and self._names_article("# " + line):
                heading = _HEADING.match("###### " + line)  # some acts stand in their files without any marks
            if heading is None and line.strip():
                if paragraph and (line.lstrip()[:1] in "|-" or paragraph[-1].lstrip()[:1] == "|"):
                    self._paragraph(paragraph)
                paragraph.append(line)
                continue
            self._paragraph(paragraph)
            if heading is not None:
                self._heading(len(heading[1]), heading[2].rstrip(" \t#"))
        self._paragraph(paragraph)
        return self._records(relations)

    def _names_article(self, line: str) -> bool:
        heading = _HEADING.match(line)
        bare = inline(heading[2].rstrip(" \t#"))[0].strip(_QUOTES) if heading else ""
        article = self.jurisdiction.article.match(bare)
        return bool(article and _NUMBER.match(bare[article.end() :]))

    def _paragraph(self, lines: list[str]) -> None:
        if not lines:
            return
        text = " ".join(lines)
        lines.clear()
        if _CLOSING.match(text):
            self.into = self.nodes[0].text
        self.into.add_paragraph(text)

    def _heading(self, marks: int, markdown: str) -> None:
        words, _ = inline(markdown)
        bare = words.strip(_QUOTES)
        if marks == 1 and len(self.nodes) == 1 and slug(bare) == slug(self.act.title):
            return  # the title again
        article = self.jurisdiction.article.match(bare)
        if article:
            self._article(bare[article.end() :])
            return
        rank = _rank(bare)
        if not bare or (self.jurisdiction.strict_headings and not _looks_like_a_section(words, bare, rank)):
            self.into.add_paragraph(words)
            return
        if rank == 0:
            self.open.clear()
        while self.open and (self.open[-1][0] > marks or (self.open[-1][0] == marks and self.open[-1][1] >= rank)):
            self.open.pop()
        parent = self.open[-1][2] if self.open else 0
        self.open.append((marks, rank, self._enter(_Node(parent, heading=bare))))

    def _enter(self, node: _Node) -> int:
        """Let the next lines belong to a node; its number."""
        self.nodes.append(node)
        self.into = node.text
        return len(self.nodes) - 1

    def _article(self, rest: str) -> None:
        """Open an article whose heading goes on with ``rest``."""
        rest = rest.strip().lstrip(_QUOTES + ".")
        heading = ""
        if self.jurisdiction.whole_number:
            number = rest.rstrip(" .")
        else:
            match = _NUMBER.match(rest)
            number = match[0].strip(" .-") if match else ""
            heading = rest[match.end() :].strip(" .:–—-\u00a0" + _QUOTES) if match else rest
        if not number and heading:
            number, heading = heading[:40].strip(), heading if len(heading) > 40 else ""
        if not normal_number(number):
            self.unnumbered += 1
            number = f"sans numéro {self.unnumbered}"
        self._enter(_Node(self.open[-1][2] if self.open else 0, article=True, number=number, heading=heading[:1000]))
        if len(heading) > 1000:
            self.into.add_paragraph(heading)

    def _records(self, relations: list[Relation]) -> ActTree:
        root = self.nodes[0]
        if root.text.length and not any(node.article for node in self.nodes):
            # An act without articles is found by its own words.
            self.nodes.append(_Node(0, article=True, number="Texte", text=root.text))
            root.text = MarkdownText()
        builder = TreeBuilder(replace(self.act, preamble=root.text.text))
        ids = [self.act.id]
        for node in self.nodes[1:]:
            parent, text = ids[node.parent], node.text.text
            if node.article:
                builder.article(parent, node.number, text, heading=node.heading, cited=list(map(_cited, node.text.links)))
                ids.append(parent)  # nothing stands below an article
            else:
                ids.append(builder.section(parent, node.heading, text=text))
        return builder.tree(relations=relations)


def _cited(link: Link) -> Cited:
    target = eli_target(link.href)
    kind = "page" if not target else "article" if target.count("/") > 1 else "act"
    return Cited(link.start, link.end, target or link.href[:500], kind)


def _rank(heading: str) -> int:
    """The rank of a heading: 0 for what is not below any other, as an annex."""
    leading = _LEADING.match(_folded(heading))
    word = leading[1] if leading else ""
    if word in _WHOLE_ACT:
        return 0
    if word in _RANK:
        return _RANK[word]
    return _ENUMERATED


def _folded(heading: str) -> str:
    return fold(heading[:80].lower()).replace("\u00a0", " ").strip()


def _looks_like_a_section(words: str, bare: str, rank: int) -> bool:
    if rank < _ENUMERATED:
        return len(bare.split()) <= 3 * _LONGEST_HEADING
    first = words.lstrip(" *")[:1]
    return first.isalpha() and first.isupper() and len(bare.split()) <= _LONGEST_HEADING and not bare.endswith((":", ";", ","))
