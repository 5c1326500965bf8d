"""Fit latent semantic analysis with scikit-learn: TF-IDF over words, truncated SVD."""

from collections.abc import Sequence
from typing import cast

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from gnn.encoders.lsa import Lsa
from gnn.recipe import EncoderOptions
from search.arrays import Matrix, unit


def fit_lsa(documents: Sequence[list[str]], languages: tuple[str, ...], options: EncoderOptions) -> tuple[Lsa, Matrix]:
    """The encoder of analysed articles, and their embeddings float32[n, d].

    d is the recipe's, or less where the articles have fewer words.
    """
    vectorizer = TfidfVectorizer(
        analyzer=_as_it_is,  # pyright: ignore[reportArgumentType]  # a callable is documented
        sublinear_tf=True,
        min_df=options.min_df if len(documents) > 1000 else 1,
        max_df=options.max_df if len(documents) > 1000 else 1.0,
        dtype=np.float32,  # pyright: ignore[reportArgumentType]  # any float type is documented
    )
    weights = sparse.csr_matrix(vectorizer.fit_transform(documents))
    dimensions = min(options.dimensions, *(size - 1 for size in cast(tuple[int, int], weights.shape)))
    svd = TruncatedSVD(dimensions, n_iter=4, random_state=0)
    articles = unit(svd.fit_transform(weights).astype(np.float32))
    mean = articles.mean(0)
    lsa = Lsa(
        {word: int(column) for word, column in vectorizer.vocabulary_.items()},
        vectorizer.idf_.astype(np.float32),
        np.ascontiguousarray(np.asarray(svd.components_).T, np.float32),
        mean,
        languages,
    )
    return lsa, unit(articles - mean)


def _as_it_is(words: list[str]) -> list[str]:
    return words
