"""Embeddings of the wordings that an article had before, or will have, by a trained version: nothing is trained.

A wording stands where its article did on its first day, beside what its article has for neighbours; its section mean is that of
all that ever stood there.
"""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.encoders.joined import JoinedEncoder
from gnn.encoders.passages import passage_below
from gnn.model.document_tower_numpy import DocumentWeights
from gnn.model.inductive import LAW, Advance, features_of_law, features_of_passages, kept_of_law
from gnn.model.subgraph import Ints, SubgraphEdges, subgraph_edges
from search.arrays import Matrix, unit
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.tree import group_sums, sums_below
from search.text.words import HeadingWords, wording_words

_FOLDER = "-wordings"
_FILE = "wordings.npy"


def wordings_file(model: Path, corpus_sha256: str) -> Path:
    """Return where a version keeps its embeddings of the wordings of a law, float32[v, d], by row of `Corpus.versions`."""
    return model / f"{LAW}{corpus_sha256[:16]}{_FOLDER}" / _FILE


def embed_wordings(
    model: Path,
    options: dict[str, Any],
    corpus: Corpus,
    text: CorpusText,
    *,
    advance: Advance = lambda n: None,
    threads: int = 2,
) -> int:
    """Give every wording of a law whose text is known an embedding by a trained version; return how many were made.

    Args:
        model: folder of the version, which has the law's articles (`gnn.model.inductive.extend`).
        options: of the document tower, from the version's recipe.
        corpus: the law.
        text: its words.
        advance: told of each passage that was encoded.
        threads: of the encoder.

    Raises:
        StorageFull: the disk is full; the version is unharmed.
    """
    file = wordings_file(model, corpus.sha256)
    if file.exists() or not corpus.known.any():
        return 0
    rows = np.flatnonzero(corpus.known)
    encoder = JoinedEncoder.load(model / "encoder", threads)
    parents = [corpus.version_parents[row] for row in rows.tolist()]
    headings, own = HeadingWords(corpus, text), wording_words(corpus, text)
    words = [[*headings.above(parent), *own[row]] for parent, row in zip(parents, rows.tolist(), strict=True)]
    passages = [passage_below(text.path(corpus, parent), text.wordings[row]) for parent, row in zip(parents, rows, strict=True)]
    features = features_of_passages(encoder, words, passages, advance)
    embedded = _embedded(model, options, corpus, rows, features)
    vectors = np.zeros((len(corpus.versions), embedded.shape[1]), np.float32)
    vectors[rows] = embedded
    with kept_of_law(file.parent, f"{LAW}*{_FOLDER}") as part:
        np.save(part / file.name, vectors)
    return len(rows)


def _embedded(model: Path, options: dict[str, Any], corpus: Corpus, rows: npt.NDArray[np.intp], features: Matrix) -> Matrix:
    """Return float32[rows, d]: features of wordings through a version's trained layers, the law's other nodes beside them."""
    law = features_of_law(model, corpus)
    sections = unit(sums_below(corpus, law))
    stood = np.array(corpus.version_parents, np.int32)[rows]
    _, group = np.unique(np.concatenate([corpus.article_parent, stood]), return_inverse=True)
    parents = unit(group_sums(group.astype(np.int32), np.concatenate([law, features])))[group]
    n = len(law)
    x = np.concatenate([law, sections, features])
    s = np.concatenate([parents[:n], sections, parents[n:]])
    edges, kinds = _with_wordings(subgraph_edges(corpus, options["edges"]), corpus.versions[rows, 0], n + len(sections))
    return DocumentWeights.load(model, options["heads"])(x, s, edges, kinds)[n + len(sections) :]


def _with_wordings(law: SubgraphEdges, articles: npt.NDArray[np.int32], first: int) -> tuple[Ints, Ints]:
    """Return the edges of the law, and for each wording those that lead to its article; nothing looks at a wording.

    Args:
        law: edges between articles and sections.
        articles: int[k], the article of each wording.
        first: number of the node of the first wording.
    """
    order = np.argsort(law.edges[1], kind="stable")
    heads = law.edges[1][order]
    begin, end = np.searchsorted(heads, articles), np.searchsorted(heads, articles, side="right")
    counts = end - begin
    picked = order[np.repeat(begin - np.r_[0, np.cumsum(counts)[:-1]], counts) + np.arange(counts.sum())]
    to = first + np.repeat(np.arange(len(articles)), counts)
    edges = np.concatenate([law.edges, np.stack([law.edges[0][picked], to])], axis=1)
    return edges, np.concatenate([law.kinds, law.kinds[picked]])
