"""The records that readers give and the graph keeps: acts, sections, articles, citations, questions.

All are frozen and compare by value, so that a newer release of a source can be held against the graph.
"""

import hashlib
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any, Literal

CitationKind = Literal["link", "text"]
OutsideKind = Literal["article", "section", "act", "page"]


@dataclass(frozen=True, slots=True)
class Act:
    """A code, a statute, a decree, a directive: the root of a tree of sections and articles."""

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


@dataclass(frozen=True, slots=True)
class Section:
    """A part, book, title, chapter, section …: an inner node of the tree. ``level`` is 1 below the act."""

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


@dataclass(frozen=True, slots=True)
class Article:
    """A leaf of the tree. ``text`` has one paragraph a line; ``source_ids`` names every version of it.

    ``valid_to`` is exclusive, and None while no end is known.
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

    @property
    def text_sha256(self) -> str:
        """SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Citation:
    """What an article cites: the words, where they stand in its text (code points), and the target.

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
class Rejected:
    """A record that could not be read: where it stands, why, and the record itself as it was found."""

    file: str
    place: str
    reason: str
    record: Any = None


@dataclass(frozen=True, slots=True)
class ActTree:
    """One act with all that is below it, sections and articles in reading order."""

    act: Act
    sections: tuple[Section, ...]
    articles: tuple[Article, ...]
    citations: tuple[Citation, ...] = ()
    rejected: tuple[Rejected, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionLink:
    """A link of a question into the law, by the publisher's identifier of an article or a section."""

    target: str
    target_kind: Literal["article", "section"]


@dataclass(frozen=True, slots=True)
class Question:
    """A legal question with its relevant articles, and its part in each split (train, development, test)."""

    id: str
    text: str
    description: str
    source: str
    relevant: tuple[str, ...]
    split: str = ""
    split_by_dossier: str = ""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to ingest: the name that it is known by in the graph, where it lies, the reader that reads it."""

    name: str
    path: Path
    reader: str = field(default="")
