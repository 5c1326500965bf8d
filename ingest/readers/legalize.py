"""Reader of law-as-git: one act a file, Markdown under YAML front matter (GitHub ``legalize-dev``).

Headings, numbering and front matter differ between jurisdictions. The structure is taken from the file; what must be
known beforehand stands in a small table, and a jurisdiction that is not in it is read by the words most of them share.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from ingest.readers.support.act_builder import Cited, TreeBuilder
from ingest.readers.support.decode import file_text
from ingest.readers.support.dialects import Dialects
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.front_matter import JURISDICTIONS, Jurisdiction, act_of, any_jurisdiction, front_matter, relations_of
from ingest.readers.support.headings import ENUMERATED, NUMBER, rank_of
from ingest.readers.support.markdown import MarkdownText, inline
from ingest.readers.support.text_builder import Link
from schema.errors import BadSource
from schema.identifiers import eli_target, normal_number, slug
from schema.records import Act, ActTree, Read, Relation, Remark

FILE_PATTERN = "*.md"
LONGEST_FILE = 32 << 20
"""Bytes of a file that is read; the longest real act has 9 MB."""
_HEADING = re.compile(r"^(#{1,6})[ \t]+(.*)$")
_QUOTES = " \t*«»\"“”‘’'"
_LONGEST_HEADING = 25
"""Words of a heading; what is longer is a paragraph that is marked as one."""
_LONGEST_BARE = 40
"""Characters of a line that heads an article without being marked as a heading."""
_CLOSING = re.compile(r"^(?:Mandons et ordonnons|Le présent (?:règlement|arrêté) (?:sera|est) publié)")


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
        matter, first = front_matter(lines)
        act = act_of(matter)
    except Unreadable as error:
        raise BadSource(path, error.place, error.reason) from None
    jurisdiction = JURISDICTIONS.get(act.jurisdiction)
    if jurisdiction is None:
        yield Remark(path.name, "front matter", f"unknown jurisdiction {act.jurisdiction!r}: read by the words most share")
    yield _Reading(act, jurisdiction or any_jurisdiction(act.language)).tree(lines, first, relations_of(act, matter))


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
        if self._is_flat(lines[first:]):
            return self._flat_tree("\n".join(lines[first:]), relations)
        for number in range(first, len(lines)):
            line = lines[number]
            heading = _HEADING.match(line) if line.startswith("#") else None
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

    def _is_flat(self, lines: Sequence[str]) -> bool:
        """Return whether the articles of an act have no marks: its headings have none either."""
        if any(self._names_article(line) for line in lines if line.startswith("#")):
            return False
        return any(len(line) <= _LONGEST_BARE and self._names_article("# " + line) for line in lines)

    def _flat_tree(self, body: str, relations: list[Relation]) -> ActTree:
        """Return an act whose headings are paragraphs like others."""
        for _, block in Dialects(self.jurisdiction, self.act.title).blocks(body.encode()):
            if block.is_article:
                self._article(block.number)
            self.into.extend(block.text, block.links)
            for heading in block.headings:
                self._heading(heading.marks, heading.words)
        return self._records(relations)

    def _names_article(self, line: str) -> bool:
        heading = _HEADING.match(line)
        bare = inline(heading[2].rstrip(" \t#"))[0].strip(_QUOTES) if heading else ""
        article = self.jurisdiction.article.match(bare)
        return bool(article and NUMBER.match(bare[article.end() :]))

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
        rank = rank_of(bare)
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
            match = NUMBER.match(rest)
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


def _looks_like_a_section(words: str, bare: str, rank: int) -> bool:
    if rank < ENUMERATED:
        return len(bare.split()) <= 3 * _LONGEST_HEADING
    first = words.lstrip(" *")[:1]
    return first.isalpha() and first.isupper() and len(bare.split()) <= _LONGEST_HEADING and not bare.endswith((":", ";", ","))
