"""Search over vectors in whole numbers against the product of floats."""

import numpy as np
import pytest

from search.arrays import Matrix, Scores
from search.ranking.fusion import top
from search.vectors.quantised import CANDIDATES, QuantisedSearch

DEEP = 1000
NO_BIAS = np.zeros(5 * CANDIDATES, np.float32)


@pytest.fixture(scope="module")
def vectors() -> Matrix:
    matrix = np.random.default_rng(3).normal(size=(5 * CANDIDATES, 64)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return matrix


@pytest.fixture(scope="module")
def bias() -> Scores:
    drawn = np.random.default_rng(4).normal(0, 0.5, 5 * CANDIDATES).astype(np.float32)
    drawn[::7] = -np.inf  # articles without an embedding
    return drawn


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_are_those_of_the_product_with_its_scores(vectors: Matrix, bias: Scores, seed: int) -> None:
    query = np.random.default_rng(seed).normal(size=64).astype(np.float32)
    product = (vectors @ query) * np.float32(3) + bias
    scores = QuantisedSearch.over(vectors).scores(query, 3, bias, None)
    assert top(scores, DEEP).tolist() == top(product, DEEP).tolist()
    np.testing.assert_allclose(scores[top(product, DEEP)], top_scores(product, DEEP), rtol=1e-4)
    assert (np.isneginf(scores) == np.isneginf(product)).all()


def test_a_filter_leaves_all_places_to_what_passes_it(vectors: Matrix) -> None:
    mask = np.zeros(len(vectors), bool)
    mask[-CANDIDATES:] = True
    query = -vectors[-CANDIDATES:].sum(0)  # those that pass are far from it
    product = vectors @ query
    scores = np.where(mask, QuantisedSearch.over(vectors).scores(query, 1, NO_BIAS, mask), np.float32(-np.inf))
    np.testing.assert_array_equal(top(scores, DEEP), top(np.where(mask, product, np.float32(-np.inf)), DEEP))


def test_no_candidate_is_below_what_was_not_compared_whole(vectors: Matrix) -> None:
    query = vectors[17]
    scores = QuantisedSearch.over(vectors).scores(query, 1, NO_BIAS, None)
    product = vectors @ query
    best = top(scores, CANDIDATES)
    np.testing.assert_allclose(scores[best], product[best], rtol=1e-5)
    others = np.setdiff1d(np.arange(len(vectors)), best)
    assert scores[others].max() < scores[best].min()


def test_vectors_that_are_all_zero_score_their_bias(bias: Scores) -> None:
    none = np.zeros((len(bias), 8), np.float32)
    np.testing.assert_array_equal(QuantisedSearch.over(none).scores(np.ones(8, np.float32), 2, bias, None)[:3], bias[:3])


def top_scores(scores: Scores, k: int) -> Scores:
    return scores[top(scores, k)]


def test_among_some_of_the_vectors_their_scores_are_those_that_they_have_among_all(vectors: Matrix, bias: Scores) -> None:
    search, rows = QuantisedSearch.over(vectors), np.arange(3, len(vectors), 2)
    product = ((vectors @ vectors[5]) * np.float32(3) + bias)[rows]
    scores = search.among(rows).scores(vectors[5], 3, bias[rows], None)
    assert top(scores, DEEP).tolist() == top(product, DEEP).tolist()
    np.testing.assert_allclose(top_scores(scores, DEEP), top_scores(product, DEEP), rtol=1e-4)


def test_what_is_below_the_least_that_counts_stays_below_it(vectors: Matrix) -> None:
    product = vectors @ vectors[17]
    least = np.float32(np.sort(product)[-50])
    scores = QuantisedSearch.over(vectors).scores(vectors[17], 1, NO_BIAS, None, least=least)
    best = np.flatnonzero(product >= least)
    assert set(np.flatnonzero(scores >= least)) <= set(best)
    assert len(set(np.flatnonzero(scores >= least))) >= 49, "one may be a rounding below"
    np.testing.assert_allclose(scores[scores >= least], product[scores >= least], rtol=1e-5)
