"""An act's file in one of its two dialects, cut into blocks: an article or a heading with what stands below it.

In the present dialect headings are marked (``##### Article 5``); in the flat one they are paragraphs like others, and one
that ends an article's text and looks like a heading of a section is one. From state to state of an act most blocks stay as
they are: each distinct one is read once.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ingest.readers.support.front_matter import Jurisdiction
from ingest.readers.support.headings import ENUMERATED, NUMBER, rank_of
from ingest.readers.support.markdown import MarkdownText, inline
from ingest.readers.support.text_builder import Link
from schema.identifiers import normal_number, slug

_QUOTES = " \t*«»\"“”‘’'"
# Lines that begin a block, behind the end of the line before: what begins with a certain character is looked for many
# times faster than the beginning of any line is.
_MARKED_ARTICLE = re.compile(rb"\n#{1,6}[ \t]+[*\"]{0,3}Art", re.IGNORECASE)
_MARKED = re.compile(rb"\n(#{1,6}[ \t]+[^\n]*)")
_FLAT = re.compile(rb"\n(#{1,6}[ \t]+[^\n]*|(?:Articles?|Art\.)[ \t][^\n]{1,40}(?![^\n]))", re.IGNORECASE)
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_FRONT_MATTER = re.compile(rb"\A(?:\xef\xbb\xbf)?---\n.*?\n(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_LONGEST_HEADING = 400
_NUMBERED = re.compile(
    r"(?:[\wéèÉ'-]+[ \u00a0]+)?(?:sous-)?[a-zé]+(?:[ \u00a0]+|$)"
    r"(?:$|[:(.\u2013-]|(?:\d|[IVXLC]+\b|[A-Z]\b|unique\b|premi|pr[ée]lim|l[ée]gisl|r[ée]gl|d[ée]cret|arr[êe]t|deux|second|trois|quatr|cinq))",
    re.IGNORECASE,
)
_ENUMERATION = re.compile(r"(?:[IVXLC]{1,7}|\d{1,3}(?:[-.]\d{1,2})?°?|[A-Z])(?:[- ][\w°]{1,12}){0,2}[ \u00a0]?[:\u2013] \S")
_ANNEX = re.compile(r"annexes?\b", re.IGNORECASE)
_OF_ANOTHER = re.compile(r"\s+d(?:u|e la|e l['’]|es)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of a section: its marks (1 to 6, as Markdown has them), its rank by its words, and the words."""

    marks: int
    rank: int
    words: str
    slug: str


@dataclass(frozen=True, slots=True)
class Block:
    """An article, or what stands above the first one, and the headings behind it.

    Attributes:
        number: the article's, as the file has it; "" of what is no article.
        text: of the article; of what is none, that between its headings.
        key: the text without its white space: two wordings with the same key are one.
        headings: of the sections that begin where this ends.
    """

    number: str
    normal: str = ""
    text: str = ""
    key: str = ""
    links: tuple[Link, ...] = ()
    headings: tuple[Heading, ...] = ()
    is_article: bool = False


@dataclass(slots=True)
class Headings:
    """The headings of an act as its marked states have them, by which those of its flat states are known.

    Attributes:
        marks: of each heading, by its words in small letters.
        by_word: the marks that headings beginning with a word have.
    """

    marks: dict[str, int] = field(default_factory=dict[str, int])
    by_word: dict[str, Counter[int]] = field(default_factory=dict[str, Counter[int]])

    def learn(self, headings: Iterable[Heading]) -> None:
        """Note marked headings."""
        for heading in headings:
            self.marks.setdefault(heading.slug, heading.marks)
            self.by_word.setdefault(_leading(heading), Counter())[heading.marks] += 1

    def take_over(self, later: "Headings") -> None:
        """Add headings of later states, which have the last word on their marks."""
        self.marks |= later.marks
        for word, counts in later.by_word.items():
            self.by_word.setdefault(word, Counter()).update(counts)

    def marks_of(self, heading: Heading) -> int:
        """Return the marks that a heading would have."""
        if heading.slug in self.marks:
            return self.marks[heading.slug]
        alike = self.by_word.get(_leading(heading))
        if alike:
            return alike.most_common(1)[0][0]
        return max(self.marks.values(), default=1)


def _leading(heading: Heading) -> str:
    """The kind of section that a heading is of."""
    return str(heading.rank)


@dataclass(slots=True)
class Dialects:
    """The blocks of an act's states, each distinct one read once.

    Attributes:
        known: its headings.
    """

    jurisdiction: Jurisdiction
    title: str
    known: Headings = field(default_factory=Headings)
    _read: dict[bytes, Block] = field(default_factory=dict[bytes, Block])
    _lines: dict[bytes, bool] = field(default_factory=dict[bytes, bool])
    _flat: dict[str, Heading | None] = field(default_factory=dict[str, Heading | None])

    def stand(self) -> bool:
        """Return whether what is known of headings by now takes every paragraph of flat states for what it was taken for."""
        return all(self._heading_in(paragraph) == taken for paragraph, taken in self._flat.items())

    def keep_read(self, blocks: Iterable[bytes]) -> None:
        """Forget all blocks but some, by their bytes."""
        self._read = {raw: self._read[raw] for raw in blocks}

    def is_marked(self, content: bytes) -> bool:
        """Return whether a state is in the dialect with marked headings."""
        return bool(_MARKED_ARTICLE.search(b"\n" + content))

    def blocks(self, content: bytes) -> Iterator[tuple[bytes, Block]]:
        """Yield the blocks of a state, each with its bytes."""
        if b"\r" in content:
            content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        body = b"\n" + _FRONT_MATTER.sub(b"", content, 1)
        marked = bool(_MARKED_ARTICLE.search(body))
        starts = [found.start(1) for found in (_MARKED if marked else _FLAT).finditer(body) if marked or self._begins(found[1])]
        read = self._read
        for start, end in zip([1, *starts], [*starts, len(body)], strict=True):
            if start == end:
                continue
            raw = body[start:end].strip(b"\n")
            block = read.get(raw)
            if block is None:
                block = read[raw] = self._block(raw.decode("utf-8", "replace"), marked)
            yield raw, block

    def _begins(self, line: bytes) -> bool:
        """Return whether a line without marks heads an article, rather than speaking of some ("Articles en bois").

        "Art. R. 444-1 du code de l'urbanisme" heads one of another act, which an article reproduces.
        """
        begins = self._lines.get(line)
        if begins is None:
            bare = inline(line.decode("utf-8", "replace"))[0].strip(_QUOTES)
            article = self.jurisdiction.article.match(bare)
            rest = bare[article.end() :] if article else ""
            number = NUMBER.match(rest)
            is_own = bool(number and not _OF_ANOTHER.match(rest[number.end() :])) or bool(_ANNEX.match(rest))
            begins = self._lines[line] = line.startswith(b"#") or is_own
        return begins

    def _block(self, text: str, marked: bool) -> Block:
        first, _, rest = text.partition("\n")
        heading = _HEADING.fullmatch(first)
        bare = inline(heading[2].rstrip(" \t#") if heading else first)[0].strip(_QUOTES)
        article = self.jurisdiction.article.match(bare)
        paragraphs = paragraphs_of(rest if heading or article else text)
        behind = () if marked else self._headings_behind(paragraphs)
        if not article:
            own = ()
            if heading and bare and not (len(heading[1]) == 1 and slug(bare) == slug(self.title)):
                own = (Heading(len(heading[1]), rank_of(bare), bare, slug(bare)),)
            between = MarkdownText()
            for paragraph in paragraphs:
                between.add_paragraph(paragraph)
            return Block("", text=between.text, headings=own + behind)
        return article_block(bare[article.end() :], paragraphs, behind)

    def _headings_behind(self, paragraphs: list[str]) -> tuple[Heading, ...]:
        """Take the headings of sections off the end of a text in the flat dialect."""
        taken: list[Heading] = []
        while paragraphs and (heading := self._flat_heading(paragraphs[-1])):
            taken.append(heading)
            paragraphs.pop()
        return tuple(reversed(taken))

    def _flat_heading(self, paragraph: str) -> Heading | None:
        if len(paragraph) > _LONGEST_HEADING:
            return None
        if paragraph not in self._flat:
            self._flat[paragraph] = self._heading_in(paragraph)
        return self._flat[paragraph]

    def _heading_in(self, paragraph: str) -> Heading | None:
        bare = inline(paragraph)[0].strip(_QUOTES)
        if not bare:
            return None
        rank, name = rank_of(bare), slug(bare)
        if name not in self.known.marks and not looks_like_heading(bare, rank):
            return None
        heading = Heading(1, rank, bare, name)
        return Heading(self.known.marks_of(heading), rank, bare, name)


def looks_like_heading(bare: str, rank: int) -> bool:
    """Return whether a paragraph without marks is a heading of a section: a kind of section and its number, or an enumeration."""
    if bare.endswith((";", ",", ":")) or (not bare[:1].isupper() and not bare[:1].isdigit()):
        return False
    if rank < ENUMERATED:
        return bool(_NUMBERED.match(bare))
    return bool(_ENUMERATION.match(bare)) and not bare.endswith(".")


def article_block(rest: str, paragraphs: list[str], behind: tuple[Heading, ...]) -> Block:
    """Return the article whose heading goes on with ``rest``."""
    number = rest.strip().lstrip(_QUOTES + ".").rstrip(" .")
    text = MarkdownText()
    for paragraph in paragraphs:
        text.add_paragraph(paragraph)
    words = text.text
    normal = normal_number(number)
    return Block(number, normal, words, "".join(words.split()), tuple(text.links), behind, is_article=True)


def paragraphs_of(text: str) -> list[str]:
    """Return the paragraphs of Markdown: lines up to an empty one, and each line of a list or a table by itself."""
    found: list[str] = []
    held: list[str] = []
    for line in text.split("\n"):
        stripped = line.strip()
        if held and (not stripped or stripped[0] in "|-" or held[-1].lstrip()[:1] == "|"):
            found.append(" ".join(held))
            held = []
        if stripped:
            held.append(line)
    if held:
        found.append(" ".join(held))
    return found
