"""Acts as bags of words in three views (title, lead, whole), numbers masked: what similar acts are found by."""

import hashlib
import json
import re
import shutil
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from cypher.graph import Row
from runtime.atomic_folder import PART, sweep_parts, whole_folder
from runtime.progress import Progress, silent
from schema.errors import NotReady, StorageFull
from search.acts.eu_titles import names_of
from search.acts.masking import masked
from search.corpus.corpus import NO_START, Corpus, CorpusText, Ints, days_of
from search.text.analysis import analyzer

View = Literal["title", "lead", "whole"]
VIEWS: tuple[View, ...] = ("title", "lead", "whole")
FOLDER = "acts"
FORMAT = 1
"""Raised when masking, analysis or the views change, so that the texts are made anew."""
LEAD_WORDS = 400
"""Words of preamble and articles in the lead of an act, beside its title and its headings: its subject matter, its scope
and its definitions stand there, before the procedure that all acts share."""
_CELEX_YEAR = re.compile(r"[23]\d{4}", re.ASCII)
_NOTICE = 2000
"""Characters within which the mark of the basic act ends the publisher's notice above a consolidated EU act."""
_BASIC_ACT = "\u25baB"
_HEAD = 500
"""Characters behind that mark that are taken for the act's own title."""


@dataclass(frozen=True, eq=False)
class ActTexts:
    """a acts over v words.

    Attributes:
        acts: identifiers, in the order of the corpus.
        published: int32[a], days since 1970-01-01, of the Union's acts the first of the year; `NO_START` where it is not known.
        words: those that two acts or more have; none has a digit.
        counts: float32[a, v] by view, how often an act has a word.
    """

    acts: list[str]
    jurisdictions: list[str]
    kinds: list[str]
    published: Ints
    words: list[str]
    counts: Mapping[View, sparse.csr_array]

    @cached_property
    def position(self) -> dict[str, int]:
        """Position by identifier."""
        return {id: position for position, id in enumerate(self.acts)}

    def save(self, folder: Path) -> None:
        """Write the texts into a folder, whole or not at all.

        Raises:
            StorageFull: the disk is full.
        """
        try:
            with whole_folder(folder) as part:
                names = {name: getattr(self, name) for name in ("acts", "jurisdictions", "kinds", "words")}
                (part / "acts.json").write_text(json.dumps(names, ensure_ascii=False), "utf-8")
                np.save(part / "published.npy", self.published)
                for view, counts in self.counts.items():
                    for name in ("data", "indices", "indptr"):
                        np.save(part / f"{view}-{name}.npy", getattr(counts, name))
        except OSError as error:
            raise StorageFull(f"{folder}: {error.strerror}") from None

    @classmethod
    def load(cls, folder: Path) -> "ActTexts":
        """Read texts that `save` wrote.

        Raises:
            FileNotFoundError: there are none.
        """
        names = json.loads((folder / "acts.json").read_text("utf-8"))
        shape = (len(names["acts"]), len(names["words"]))

        def counts(view: View) -> sparse.csr_array:
            data, indices, indptr = (np.load(folder / f"{view}-{name}.npy") for name in ("data", "indices", "indptr"))
            return sparse.csr_array((data, indices, indptr), shape=shape)

        return cls(**names, published=np.load(folder / "published.npy"), counts={view: counts(view) for view in VIEWS})


class ActParts(NamedTuple):
    """The parts of one act that views are made of, as they were published."""

    language: str
    title: str
    headings: str
    body: str


def act_parts(corpus: Corpus, text: CorpusText, acts: Sequence[Row]) -> Iterator[ActParts]:
    """Return the parts of every act, in the order of the corpus.

    The graph's rows of the acts (statement ``acts``) have what a corpus does not keep of them: the day of publication,
    the CELEX number, the preamble.
    """
    rows = {row["id"]: row for row in acts}
    articles, sections = _members(corpus)
    eu = [n for n, jurisdiction in enumerate(corpus.jurisdictions) if jurisdiction == "eu"]
    celex = (rows[corpus.acts[n]]["celex"] or "" for n in eu)
    names = names_of(celex, (text.texts[p] for n in eu for p in articles[n]))
    for number, id in enumerate(corpus.acts):
        row = rows[id]
        body = "\n".join(chain([row["preamble"] or ""], (text.texts[p] for p in articles[number])))
        above = chain((text.headings[s] for s in sections[number]), (text.article_headings[p] for p in articles[number]))
        title, body = _title_and_body(row, names.get(row["celex"] or "", ""), body)
        yield ActParts(text.languages[number], title, "\n".join(above), body)


def _first_day(celex: str) -> date | None:
    """Return the first day of the year in the CELEX number of an act of the Union: its titles seldom say more."""
    year = int(celex[1:5]) if _CELEX_YEAR.match(celex) else 0
    return date(year, 1, 1) if year >= 1950 else None


def act_texts(corpus: Corpus, text: CorpusText, acts: Sequence[Row], progress: Progress = silent) -> ActTexts:
    """Return the three views of every act; ``acts`` as in `act_parts`."""
    counter = _Counter()
    with progress("acts", len(corpus.acts)) as advance:
        for number, parts in enumerate(act_parts(corpus, text, acts)):
            counter.add(parts)
            if number % 100 == 99:
                advance(100)
    words, counts = counter.counts()
    days = {row["id"]: days_of(row["published"] or _first_day(row["celex"] or ""), NO_START) for row in acts}
    published = np.array([days[id] for id in corpus.acts], np.int32)
    return ActTexts(corpus.acts, corpus.jurisdictions, corpus.kinds, published, words, counts)


def act_texts_folder(home: Path, corpus_sha256: str) -> Path:
    """Return the folder of the texts of the law of one fingerprint, made or not."""
    return home / FOLDER / hashlib.sha256(f"{FORMAT} {corpus_sha256}".encode()).hexdigest()[:16]


def build_act_texts(home: Path, corpus: Corpus, text: CorpusText, acts: Sequence[Row], *, progress: Progress = silent) -> Path:
    """Make the texts of the acts of a corpus, unless they exist, and return their folder. Others are removed.

    Raises:
        StorageFull: the disk is full.
    """
    folder = act_texts_folder(home, corpus.sha256)
    if not folder.is_dir():
        act_texts(corpus, text, acts, progress).save(folder)
    sweep_parts(folder.parent)
    for other in list(folder.parent.iterdir()):
        if other != folder and not other.name.endswith(PART):  # what is still there, another process is making
            shutil.rmtree(other, ignore_errors=True)
    return folder


def open_act_texts(home: Path, corpus_sha256: str) -> ActTexts:
    """Open the texts of the acts of the law of one fingerprint.

    Raises:
        NotReady: they have not been made.
    """
    try:
        return ActTexts.load(act_texts_folder(home, corpus_sha256))
    except FileNotFoundError:
        raise NotReady("the acts of the graph are not indexed: run `lexgraph index`") from None


def _members(corpus: Corpus) -> tuple[list[list[int]], list[list[int]]]:
    """Return the positions of the articles and of the sections of each act."""
    articles: list[list[int]] = [[] for _ in corpus.acts]
    sections: list[list[int]] = [[] for _ in corpus.acts]
    for position, act in enumerate(corpus.article_act.tolist()):
        articles[act].append(position)
    for position in range(len(corpus.sections)):
        sections[-1 - corpus.ancestors(position)[0]].append(position)
    return articles, sections


def _title_and_body(row: Row, name: str, body: str) -> tuple[str, str]:
    """Return the title of an act in the language of its text, and its text without the publisher's notice."""
    if row["jurisdiction"] != "eu":
        return row["title"], body
    mark = body.find(_BASIC_ACT, 0, _NOTICE)
    head = body[mark : mark + _HEAD] if mark >= 0 else ""
    return f"{name}\n{head}".strip() or row["title"], body[max(mark, 0) :]


class _Counter:
    """Counts words, act by act."""

    def __init__(self) -> None:
        self._columns: dict[str, int] = {}
        self._rows: dict[View, list[array[int]]] = {view: [] for view in VIEWS}

    def add(self, act: ActParts) -> None:
        analyse = analyzer(act.language).tokens
        title_words, heading_words, body_words = (self._numbers(analyse(masked(part))) for part in act[1:])
        self._rows["title"].append(title_words)
        self._rows["lead"].append(title_words + title_words + heading_words + body_words[:LEAD_WORDS])
        self._rows["whole"].append(title_words + heading_words + body_words)

    def _numbers(self, words: list[str]) -> "array[int]":
        return array("i", (self._columns.setdefault(word, len(self._columns)) for word in words))

    def counts(self) -> tuple[list[str], dict[View, sparse.csr_array]]:
        """Return the words of two acts or more, and how often each act has them in each view."""
        found: dict[View, sparse.csr_array] = {view: _matrix(rows, len(self._columns)) for view, rows in self._rows.items()}
        kept = np.flatnonzero(np.bincount(found["whole"].indices, minlength=len(self._columns)) > 1)
        words = list(self._columns)
        return [words[column] for column in kept.tolist()], {view: _columns(counts, kept) for view, counts in found.items()}


def _matrix(rows: Sequence["array[int]"], columns: int) -> sparse.csr_array:
    lengths = [len(row) for row in rows]
    indices = np.frombuffer(b"".join(row.tobytes() for row in rows), np.int32)
    ends = np.concatenate([[0], np.cumsum(lengths)])
    counts = sparse.csr_array((np.ones(len(indices), np.float32), indices, ends), shape=(len(rows), columns))
    counts.sum_duplicates()
    return counts


def _columns(counts: sparse.csr_array, kept: npt.NDArray[np.intp]) -> sparse.csr_array:
    chosen = sparse.csr_array(counts[:, kept])
    chosen.sort_indices()
    return chosen
