"""The text index of a corpus: its arrays on disk with two BM25 indexes beside them, or those on Elasticsearch.

A folder is named by what it was made from. It is written under another name and renamed when it is whole,
so that a reader finds all of it or none, and a second run with the same law and options finds it done. Where
the BM25 indexes are on a server, the folder has the arrays alone, and is made when the server is done.
"""

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runtime.atomic_folder import PART, sweep_parts, whole_folder
from runtime.progress import Progress, silent
from schema.errors import NotReady, StorageFull
from search.corpus.corpus import Corpus, CorpusText
from search.in_time.history import FOLDER as HISTORY
from search.in_time.history import History, open_history, save_history
from search.text.bm25 import Bm25Index
from search.text.options import Bm25Options, index_key
from search.text.protocol import EmbeddedLexical, Lexical
from search.text.vocabulary import FOLDER as VOCABULARY
from search.text.vocabulary import Vocabulary, load_vocabulary, save_vocabulary
from search.text.words import group_documents, tokenised

if TYPE_CHECKING:
    from search.text.elasticsearch import ElasticText

FOLDER = "index"
_GONE = ".gone-"
_ON_SERVER = "-server"


@dataclass(frozen=True, eq=False)
class TextIndex:
    """An open text index: the corpus, and BM25 over its articles and groups of articles, wherever that is.

    Attributes:
        key: what it was made from, in short; the same for both kinds of index.
        languages: of the law, in alphabetical order.
        vocabulary: what queries are understood by.
        history: the law of other days; None where no text of it is known.
    """

    key: str
    corpus: Corpus
    languages: tuple[str, ...]
    lexical: Lexical
    vocabulary: Vocabulary
    history: History | None


def index_folder(home: Path, corpus_sha256: str, options: Bm25Options, *, server: "ElasticText | None" = None) -> Path:
    """Return the folder of the index of the law of one fingerprint, made or not; of a server's index, that of its arrays."""
    name = index_key(corpus_sha256, options)
    return home / FOLDER / (name if server is None else name + _ON_SERVER)


def index_is_built(home: Path, corpus_sha256: str, options: Bm25Options, *, server: "ElasticText | None" = None) -> bool:
    """Return whether the folder of an index is complete; one that an older version made may lack its vocabulary."""
    return (index_folder(home, corpus_sha256, options, server=server) / VOCABULARY).is_dir()


def build_text_index(
    home: Path,
    corpus: Corpus,
    text: CorpusText,
    options: Bm25Options,
    *,
    server: "ElasticText | None" = None,
    progress: Progress = silent,
) -> Path:
    """Make the index of a corpus, unless it exists, and return its folder.

    Of an index on a server (`search.text.elasticsearch_build.load_law`) the folder has the arrays of the law, and BM25 over the
    wordings that are not present ones.

    Raises:
        StorageFull: the disk is full; no index was touched.
    """
    folder = index_folder(home, corpus.sha256, options, server=server)
    try:
        if folder.is_dir():
            save_vocabulary(folder, corpus, text)  # of an index that an older version made
            return folder
        with whole_folder(folder) as part:
            if server is None or corpus.known.any():
                analysed = tokenised(corpus, text, progress)
                if server is None:
                    _save_bm25(part, corpus, analysed, options, progress)
                if corpus.known.any():
                    save_history(part / HISTORY, corpus, text, analysed, options)
            corpus.save(part)
            save_vocabulary(part, corpus, text)
            (part / "languages.json").write_text(json.dumps(sorted(set(text.languages))))
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; no index was touched") from None
    return folder


def _save_bm25(
    folder: Path, corpus: Corpus, analysed: tuple[list[list[str]], list[list[str]]], options: Bm25Options, progress: Progress
) -> None:
    """Write the indexes of articles and of groups; ``analysed`` as `search.text.words.tokenised` gives it."""
    words, above = analysed
    with progress("BM25", 2) as advance:
        Bm25Index.build(words, k1=options.k1, b=options.b).save(folder / "articles")
        advance(1)
        documents = group_documents(corpus, words, above)
        Bm25Index.build(documents, k1=options.section_k1, b=options.section_b).save(folder / "groups")
        advance(1)


def open_text_index(home: Path, corpus_sha256: str, options: Bm25Options, *, server: "ElasticText | None" = None) -> TextIndex:
    """Open the index of the law of one fingerprint. A server is not asked yet: what it lacks shows at the first query.

    Raises:
        NotReady: it has not been made.
    """
    if not corpus_sha256:
        raise NotReady("the law is being loaded, or its load was cut off: run `lexgraph ingest` again")
    folder = index_folder(home, corpus_sha256, options, server=server)
    if not index_is_built(home, corpus_sha256, options, server=server):
        raise NotReady("the text index does not hold the law of the graph: run `lexgraph index`")
    try:
        corpus = Corpus.load(folder)
        vocabulary = load_vocabulary(folder)
        languages = tuple(json.loads((folder / "languages.json").read_text()))
        lexical: Lexical
        if server is not None:
            lexical = server.lexical(corpus, languages, options)
        else:
            articles, groups = Bm25Index.load(folder / "articles"), Bm25Index.load(folder / "groups")
            lexical = EmbeddedLexical(articles, groups, corpus.group, languages)
        history = open_history(folder / HISTORY, corpus, options) if corpus.known.any() else None
        return TextIndex(index_key(corpus_sha256, options), corpus, languages, lexical, vocabulary, history)
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
