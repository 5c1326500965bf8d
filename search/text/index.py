"""The text index of a corpus: its arrays on disk with two BM25 indexes beside them, or those on Elasticsearch.

A folder is named by what it was made from. It is written under another name and renamed when it is whole,
so that a reader finds all of it or none, and a second run with the same law and options finds it done. Where
the BM25 indexes are on a server, the folder has the arrays alone, and is made when the server is done.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.atomic_folder import PART, sweep_parts, whole_folder
from runtime.progress import Progress, silent
from schema.errors import MissingExtra, NotReady, StorageFull
from schema.settings import Settings
from search.corpus.corpus import Corpus, CorpusText
from search.text.analysis import analyzer
from search.text.bm25 import Bm25Index
from search.text.protocol import EmbeddedLexical, Lexical

if TYPE_CHECKING:
    from search.text.elasticsearch import ElasticText

FOLDER = "index"
_GONE = ".gone-"
_ON_SERVER = "-server"
FORMAT = 3
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

    @classmethod
    def of(cls, settings: Settings) -> "Bm25Options":
        """Those of the settings."""
        return cls(settings.bm25_k1, settings.bm25_b, settings.section_bm25_k1, settings.section_bm25_b)


@dataclass(frozen=True, eq=False)
class TextIndex:
    """An open text index: the corpus, and BM25 over its articles and groups of articles, wherever that is.

    Attributes:
        key: what it was made from, in short; the same for both kinds of index.
        languages: of the law, in alphabetical order.
    """

    key: str
    corpus: Corpus
    languages: tuple[str, ...]
    lexical: Lexical


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


def text_server(settings: Settings) -> "ElasticText | None":
    """The server that the settings name for the text index; None where it is the embedded one. It is not asked yet.

    Raises:
        MissingExtra: its client is not installed.
        BadSetting: the address is none.
    """
    if not settings.text:
        return None
    try:
        from search.text.elasticsearch import ElasticText
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("elasticsearch", "elastic_transport"):
            raise
        raise MissingExtra(f"text {settings.text} needs the extra `servers`: pip install 'lexgraph[servers]'") from None
    return ElasticText.of(settings)


def index_folder(home: Path, corpus_sha256: str, options: Bm25Options, *, server: "ElasticText | None" = None) -> Path:
    """Where the index of the law of one fingerprint lies, or would; on a server, its arrays."""
    name = index_key(corpus_sha256, options)
    return home / FOLDER / (name if server is None else name + _ON_SERVER)


def build_text_index(
    home: Path,
    corpus: Corpus,
    text: CorpusText,
    options: Bm25Options,
    *,
    server: "ElasticText | None" = None,
    progress: Progress = silent,
) -> Path:
    """Make the index of a corpus, unless it is there; the folder that holds it.

    Args:
        server: takes the two BM25 indexes; then the folder has the arrays of the corpus alone.

    Raises:
        StorageFull: the disk is full; no index was touched.
        ServerUnavailable: the server does not answer; a second run goes on where this one stopped.
    """
    if server is not None:
        server.load(corpus, text, options, progress=progress)
    return save_arrays(home, corpus, text, options, server=server, progress=progress)


def save_arrays(
    home: Path,
    corpus: Corpus,
    text: CorpusText,
    options: Bm25Options,
    *,
    server: "ElasticText | None" = None,
    progress: Progress = silent,
) -> Path:
    """The folder of an index on this machine, made unless it is there: of a server's index, the arrays of the law alone.

    Raises:
        StorageFull: the disk is full; no index was touched.
    """
    folder = index_folder(home, corpus.sha256, options, server=server)
    if folder.is_dir():
        return folder
    try:
        with whole_folder(folder) as part:
            if server is None:
                _save_bm25(part, corpus, text, options, progress)
            corpus.save(part)
            (part / "languages.json").write_text(json.dumps(sorted(set(text.languages))))
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; no index was touched") from None
    return folder


def _save_bm25(folder: Path, corpus: Corpus, text: CorpusText, options: Bm25Options, progress: Progress) -> None:
    words, above = tokenised(corpus, text, progress)
    with progress("BM25", 2) as advance:
        Bm25Index.build(words, k1=options.k1, b=options.b).save(folder / "articles")
        advance(1)
        documents = group_documents(corpus, words, above)
        Bm25Index.build(documents, k1=options.section_k1, b=options.section_b).save(folder / "groups")
        advance(1)


def open_text_index(home: Path, corpus_sha256: str, options: Bm25Options, *, server: "ElasticText | None" = None) -> TextIndex:
    """The index of the law of one fingerprint. A server is not asked yet: what it lacks shows at the first query.

    Raises:
        NotReady: it has not been made.
    """
    if not corpus_sha256:
        raise NotReady("the law is being loaded, or its load was cut off: run `lexgraph ingest` again")
    folder = index_folder(home, corpus_sha256, options, server=server)
    if not folder.is_dir():
        raise NotReady("the text index does not hold the law of the graph: run `lexgraph index`")
    try:
        corpus = Corpus.load(folder)
        languages = tuple(json.loads((folder / "languages.json").read_text()))
        lexical: Lexical
        if server is not None:
            lexical = server.lexical(corpus, languages, options)
        else:
            articles, groups = Bm25Index.load(folder / "articles"), Bm25Index.load(folder / "groups")
            lexical = EmbeddedLexical(articles, groups, corpus.group, languages)
        return TextIndex(index_key(corpus_sha256, options), corpus, languages, lexical)
    except FileNotFoundError:  # removed between the look and the reading
        raise NotReady("the text index was being replaced: try again") from None


def remove_other_indexes(home: Path, keep: str) -> None:
    """Remove the indexes of law that the graph no longer holds, and what killed runs left.

    For one process at a time, as the making of an index is (`cypher.engines.ladybug.exclusive`).
    """
    sweep_parts(home / FOLDER)
    for folder in list((home / FOLDER).glob("*")):
        if folder.name != keep and not folder.name.endswith(PART):  # what is still there, another process is making
            # Renamed first: killed halfway, what is left must not look like an index.
            gone = folder if folder.name.startswith(_GONE) else folder.rename(folder.with_name(_GONE + folder.name))
            shutil.rmtree(gone, ignore_errors=True)
