"""The records that readers give and the graph keeps: acts, sections, articles, citations, questions, origins.

All are frozen and compare by value, so that a newer release of a source can be held against the graph.
"""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from schema.identifiers import bounded

CitationKind = Literal["link", "text"]
OutsideKind = Literal["article", "section", "act", "page"]
OriginKind = Literal["git", "npm", "repository", "bundle", "archive", "folder", "file"]
RelationType = Literal["CITES", "TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES"]


@dataclass(frozen=True, slots=True)
class Act:
    """A code, a statute, a decree, a directive: the root of a tree of sections and articles.

    Attributes:
        id: jurisdiction and the publisher's identifier, as ``fr/LEGITEXT000006072050``.
        jurisdiction: a country's two letters, or eu.
        kind: code, loi, directive …, as the source names it.
        title: in full.
        language: ISO 639-1.
        status: as the publisher gives it.
        valid_from: first day in force.
        valid_to: first day no longer in force; none while no end is known.
        eli: European Legislation Identifier.
        celex: number in EUR-Lex.
        source: format or collection that it was read from.
        source_id: the publisher's identifier.
        licence: licence under which the publisher gives it.
        short_title: name in use, where it has one.
        published: date that the act bears.
        updated: date of the consolidation that was read.
        subjects: the publisher's own, as fields or departments.
        preamble: text outside its sections and articles.
        known_from: first day whose law its source has, where it has the law of every day.
        known_to: last such day.
    """

    id: str
    jurisdiction: str
    kind: str
    title: str
    language: str
    status: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    eli: str = ""
    celex: str = ""
    source: str = ""
    source_id: str = ""
    licence: str = ""
    short_title: str = ""
    published: date | None = None
    updated: date | None = None
    subjects: tuple[str, ...] = ()
    preamble: str = ""
    known_from: date | None = None
    known_to: date | None = None

    @property
    def as_of(self) -> date | None:
        """Day whose law is the present one, where the source has the law of every day; None where it has one law alone."""
        return self.updated if self.known_from else None


@dataclass(frozen=True, slots=True)
class Section:
    """A part, book, title, chapter, section …: an inner node of the tree.

    Attributes:
        id: identifier of the act and the numbered parts of the headings down to it.
        act_id: the act that it is a part of.
        parent_id: section or act that it stands in.
        position: place among what stands in the same section or act.
        number: numbered part of the heading, as ``Livre Ier``.
        heading: in full.
        level: 1 below the act.
        status: as the publisher gives it.
        valid_from: first day in force.
        valid_to: first day no longer in force; none while no end is known.
        source_id: the publisher's identifier.
        source_ids: the publisher's identifiers of all its states.
        text: words under the heading itself, before anything below it.
        stays: its headings in time, as `schema.wordings.Stay` writes them, oldest first; none where only this one is known.
    """

    id: str
    act_id: str
    parent_id: str
    position: int
    number: str
    heading: str
    level: int
    status: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    source_id: str = ""
    source_ids: tuple[str, ...] = ()
    text: str = ""
    stays: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Article:
    """A leaf of the tree, with the text of its present wording.

    Attributes:
        id: identifier of the act and the normalised number, as ``fr/LEGITEXT000006072050/L1234-9``.
        act_id: the act that it is a part of.
        parent_id: section or act that it stands in.
        position: place among what stands in the same section or act.
        number: as the publisher writes it.
        heading: title of its own, where it has one.
        text: one paragraph a line.
        language: ISO 639-1.
        status: as the publisher gives it.
        valid_from: first day of this wording.
        valid_to: first day no longer in force; none while no end is known.
        source_id: the publisher's identifier, the same for every wording.
        source_ids: the publisher's identifiers of every wording.
        stays: its places in time, position and parent, as `schema.wordings.Stay` writes them; none where it never moved.
        instrument: the act or decision that gave it this wording, as the publisher names it.
    """

    id: str
    act_id: str
    parent_id: str
    position: int
    number: str
    heading: str
    text: str
    language: str
    status: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    source_id: str = ""
    source_ids: tuple[str, ...] = ()
    stays: tuple[str, ...] = ()
    instrument: str = ""

    @property
    def text_sha256(self) -> str:
        """SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Citation:
    """A citation of an article: the words, their place in its text (code points), and the target.

    ``target`` is the publisher's own identifier of what is cited (or an address); whether the graph has it
    is found out when the citation is linked.
    """

    article_id: str
    target: str
    target_kind: OutsideKind
    text: str
    start: int
    end: int
    kind: CitationKind = "link"


@dataclass(frozen=True, slots=True)
class Relation:
    """An effect of one act on another: it cites, transposes, amends, repeals or consolidates it.

    ``target`` names the other act as a citation does. ``basis`` says where that was found (metadata, title, preamble),
    ``evidence`` in what words, ``confidence`` how sure it is, from 0 to 1.
    """

    act_id: str
    type: RelationType
    target: str
    basis: str
    evidence: str = ""
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Wording:
    """An earlier or later wording of an article.

    Attributes:
        article_id: the article.
        source_id: the publisher's identifier of this wording.
        status: as the publisher gives it.
        valid_from: first day in force.
        valid_to: first day no longer in force; none while no end is known.
        text: one paragraph a line; "" where the source gives its dates alone.
        instrument: the act or decision that gave the article this wording, as the publisher names it.
    """

    article_id: str
    source_id: str
    status: str = ""
    valid_from: date | None = None
    valid_to: date | None = None
    text: str = ""
    instrument: str = ""

    @property
    def id(self) -> str:
        """The article's identifier, and the publisher's of the wording, or its dates and a digest of its text.

        Two wordings can have the same dates: those of no day, where an article changes twice on one.
        """
        own = f"{self.valid_from or ''}..{self.valid_to or ''}" + (f"~{self.text_sha256[:8]}" if self.text else "")
        return bounded(f"{self.article_id}@{self.source_id or own}")

    @property
    def text_sha256(self) -> str:
        """SHA-256 of the text's UTF-8 bytes, in hexadecimal; "" where the text is not known."""
        return hashlib.sha256(self.text.encode()).hexdigest() if self.text else ""


@dataclass(frozen=True, slots=True)
class Renumbering:
    """An article whose text goes on under another number.

    Attributes:
        article_id: the article under its old number.
        target: the article under its new one.
        on: first day under the new number.
        similarity: of the two texts, from 0 to 1.
    """

    article_id: str
    target: str
    on: date
    similarity: float


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record that could not be read: where it stands, why, and the record itself as it was found.

    ``path`` is where its file or archive lay, ``source`` the name that the graph knows the file by.
    """

    file: str
    place: str
    reason: str
    record: Any = None
    path: str = ""
    source: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """A reader's remark on a file that it read all the same.

    Attributes:
        is_warning: something may be wrong with the file; else this only tells of what is in it.
    """

    file: str
    place: str
    reason: str
    is_warning: bool = True


@dataclass(frozen=True, slots=True)
class ActTree:
    """One act with all that is below it, sections and articles in reading order.

    ``wordings_dated`` says that the source knows since when each article reads as it does; where it does not, the first
    day of an article is that of its act. ``wordings_whole`` says that it gives every wording with its text, so that the graph
    keeps no others.
    """

    act: Act
    sections: tuple[Section, ...]
    articles: tuple[Article, ...]
    citations: tuple[Citation, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    wordings: tuple[Wording, ...] = ()
    relations: tuple[Relation, ...] = ()
    wordings_dated: bool = False
    wordings_whole: bool = False
    renumberings: tuple[Renumbering, ...] = ()


@dataclass(frozen=True, slots=True)
class Question:
    """A legal question with its relevant articles.

    A reader may name these by the publisher's identifiers; the graph holds its own.

    Attributes:
        id: the source's own.
        text: the question, or the title of the sheet that answers it.
        description: more about it, where the source has it.
        source: benchmark or file that it comes from.
        relevant: articles that answer it; none where the law at hand cannot (`outside_source`).
        split: its part of the random split: train, development or test.
        split_by_dossier: its part of the split that keeps topics together.
    """

    id: str
    text: str
    description: str
    source: str
    relevant: tuple[str, ...]
    split: str = ""
    split_by_dossier: str = ""


def outside_source(source: str) -> str:
    """Return the source of the questions that came with those of another source and that the law at hand cannot answer."""
    return f"{source}-outside"


@dataclass(frozen=True, slots=True)
class Origin:
    """A place that law or questions are loaded from, and may be loaded from again: what people call a source.

    Attributes:
        id: name of its collection, which its releases share.
        kind: git (a remote), npm, repository, bundle, archive, folder or file.
        address: of a remote or a package, without credentials, else the path.
        version: of a package.
        as_of: day whose law it is: of the newest commit, of the version's publication, of the newest file.
        loaded_at: moment of the last load, or of the last look at a remote or a package that went through; ISO 8601.
        error: reason why the last try failed; "" where it went through.
        failed_at: moment of that failure.
    """

    id: str
    kind: str
    address: str
    version: str = ""
    as_of: date | None = None
    loaded_at: str = ""
    error: str = ""
    failed_at: str = ""

    @property
    def is_fetched(self) -> bool:
        """True of a place that is asked for what is new."""
        return self.kind in ("git", "npm")

    def age(self, now: datetime) -> timedelta:
        """Return the time since the last success."""
        return now - datetime.fromisoformat(self.loaded_at)

    def is_stale(self, after_days: int, now: datetime) -> bool:
        """Return whether the last success is longer ago than so many days; never where these are 0."""
        return bool(after_days) and self.age(now) > timedelta(days=after_days)


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest.

    Attributes:
        name: what the graph knows it by.
        reader: name and version of the reader that reads it.
        rank: of two files that give the same act, the one of lower rank is the better source.
        size: bytes to read, where they are not those of the file itself.
    """

    name: str
    path: Path
    reader: str = ""
    rank: int = 0
    size: int | None = None


Read = ActTree | Question | Rejected | Remark
"""What readers give, one after another."""
