"""The text index of a corpus on disk: two BM25 indexes and the arrays of the corpus, one folder a corpus.

A folder is named by what it was made from. It is written under another name and renamed when it is whole,
so that a reader finds all of it or none, and a second run with the same law and options finds it done.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path

from schema.errors import NotReady, StorageFull
from schema.progress import Progress, silent
from search.analysis import analyzer
from search.bm25 import Bm25Index
from search.corpus import Corpus, CorpusText

FOLDER = "index"
_GONE = ".gone-"
FORMAT = 1
"""Raised when analysis or the layout of the folder changes, so that indexes are made anew."""
HEADING_WEIGHT = 2
"""How many times the headings above a section stand in its document."""


@dataclass(frozen=True, slots=True)
class Bm25Options:
    """k1 and b of the index over articles and of the one over sections."""

    k1: float = 1.2
    b: float = 0.75
    section_k1: float = 1.5
    section_b: float = 0.6


@dataclass(frozen=True, eq=False)
class TextIndex:
    """An open text index: the corpus, BM25 over its articles, and BM25 over its groups of articles."""

    key: str
    corpus: Corpus
    articles: Bm25Index
    groups: Bm25Index
    languages: tuple[str, ...]


def index_key(corpus_sha256: str, options: Bm25Options) -> str:
    """The name of the folder of an index: what it is made from, in short."""
    made_from = json.dumps([FORMAT, corpus_sha256, asdict(options)], sort_keys=True)
    return hashlib.sha256(made_from.encode()).hexdigest()[:16]


def tokenised(corpus: Corpus, text: CorpusText, progress: Progress = silent) -> tuple[list[list[str]], list[list[str]]]:
    """The words of every article (headings above it, number, text), and of the headings above it alone."""
    headings: dict[int, list[str]] = {}
    words: list[list[str]] = []
    above: list[list[str]] = []
    with progress("analysis", len(corpus.articles)) as advance:
        for position in range(len(corpus.articles)):
            analyse = analyzer(text.languages[corpus.article_act[position]]).tokens
            parent = int(corpus.article_parent[position])
            if parent not in headings:
                headings[parent] = list(chain.from_iterable(map(analyse, text.path(corpus, parent))))
            own = chain(analyse(text.numbers[position]), analyse(text.texts[position]))
            words.append([*headings[parent], *own])
            above.append(headings[parent])
            if position % 1000 == 999:
                advance(1000)
    return words, above


def group_documents(corpus: Corpus, words: Sequence[list[str]], above: Sequence[list[str]]) -> Iterator[list[str]]:
    """One document a group of articles (those of one parent): the headings, weighted, and all their words."""
    members: list[list[int]] = [[] for _ in range(int(corpus.group.max(initial=-1)) + 1)]
    for position, group in enumerate(corpus.group.tolist()):
        members[group].append(position)
    for positions in members:
        headings = above[positions[0]]
        yield headings * HEADING_WEIGHT + [w for p in positions for w in words[p][len(headings) :]]


def build_text_index(home: Path, corpus: Corpus, text: CorpusText, options: Bm25Options, *, progress: Progress = silent) -> Path:
    """Make the index of a corpus, unless it is there; the folder that holds it.

    Raises:
        StorageFull: the disk is full; no index was touched.
    """
    folder = home / FOLDER / index_key(corpus.sha256, options)
    if folder.is_dir():
        return folder
    words, above = tokenised(corpus, text, progress)
    part = folder.with_suffix(".part")
    try:
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        with progress("BM25", 2) as advance:
            Bm25Index.build(words, k1=options.k1, b=options.b).save(part / "articles")
            advance(1)
            documents = group_documents(corpus, words, above)
            Bm25Index.build(documents, k1=options.section_k1, b=options.section_b).save(part / "groups")
            advance(1)
        corpus.save(part)
        (part / "languages.json").write_text(json.dumps(sorted(set(text.languages))))
        os.replace(part, folder)
    except OSError as error:
        shutil.rmtree(part, ignore_errors=True)
        raise StorageFull(f"{folder}: {error.strerror}; no index was touched") from None
    return folder


def open_text_index(home: Path, corpus_sha256: str, options: Bm25Options) -> TextIndex:
    """The index of the law of one fingerprint.

    Raises:
        NotReady: it has not been made.
    """
    key = index_key(corpus_sha256, options)
    folder = home / FOLDER / key
    if not folder.is_dir():
        raise NotReady("the text index does not hold the law of the graph: run `lexgraph index`")
    try:
        return TextIndex(
            key,
            Corpus.load(folder),
            Bm25Index.load(folder / "articles"),
            Bm25Index.load(folder / "groups"),
            tuple(json.loads((folder / "languages.json").read_text())),
        )
    except FileNotFoundError:  # removed between the look and the reading
        raise NotReady("the text index was being replaced: try again") from None


def remove_other_indexes(home: Path, keep: str) -> None:
    """Remove the indexes of law that the graph no longer holds, and what killed runs left.

    For one process at a time, as the making of an index is (`cypher.embedded.exclusive`).
    """
    for folder in list((home / FOLDER).glob("*")):
        if folder.name != keep:
            # Renamed first: killed halfway, what is left must not look like an index.
            gone = folder if folder.name.startswith(_GONE) else folder.rename(folder.with_name(_GONE + folder.name))
            shutil.rmtree(gone, ignore_errors=True)
