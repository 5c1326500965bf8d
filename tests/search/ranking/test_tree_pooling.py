"""Pooling over the tree against the formula, written out."""

from collections.abc import Callable, Iterable
from math import exp
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.ranking.tree_pooling import SHARPNESS, PoolingWeights, Scores, TreePooling


@pytest.fixture(scope="module")
def corpus(tiny_home: Path) -> Corpus:
    with open_graph(tiny_home) as graph:
        return read_corpus(graph)[0]


def slow(corpus: Corpus, scores: Scores, weights: PoolingWeights) -> list[float]:
    """S'(a) = S(a) + Σ_g w_g · Σ_j softmax_j(β · S_j) · S_j, an article and a member at a time."""

    def pool(members: Iterable[int]) -> float:
        own = [float(scores[j]) for j in members if np.isfinite(scores[j])]
        return sum(exp(SHARPNESS * s) * s for s in own) / sum(exp(SHARPNESS * s) for s in own)

    cites = {tuple(pair) for pair in corpus.cites.tolist()}
    n = len(corpus.articles)
    groups: list[tuple[float, Callable[[int, int], bool]]] = [
        (weights.section, lambda a, j: corpus.article_parent[a] == corpus.article_parent[j]),
        (weights.stem, lambda a, j: corpus.stem[a] == corpus.stem[j]),
        (weights.citations, lambda a, j: a == j or (a, j) in cites or (j, a) in cites),
    ]
    result: list[float] = []
    for a in range(n):
        if not np.isfinite(scores[a]):
            result.append(-np.inf)
            continue
        result.append(float(scores[a]) + sum(w * pool(j for j in range(n) if same(a, j)) for w, same in groups if w))
    return result


@pytest.mark.parametrize(
    "weights", [PoolingWeights(), PoolingWeights(0.2, 0, 0), PoolingWeights(0, 0.7, 0), PoolingWeights(0, 0, 1.5)]
)
@pytest.mark.parametrize("left_out", [0, 3, 9])
def test_pooling_is_the_formula(corpus: Corpus, weights: PoolingWeights, left_out: int) -> None:
    random = np.random.default_rng(left_out)
    scores = random.normal(0, 2, len(corpus.articles)).astype(np.float32)
    scores[random.choice(len(scores), left_out, replace=False)] = -np.inf
    before = scores.copy()
    np.testing.assert_allclose(TreePooling(corpus)(scores, weights), slow(corpus, scores, weights), rtol=1e-4, atol=1e-5)
    assert (scores == before).all(), "the scores given stay as they are"


@pytest.mark.parametrize("few", [0, 1, 4])
def test_a_few_articles_are_pooled_as_all_are(corpus: Corpus, few: int) -> None:
    random = np.random.default_rng(few)
    scores = random.normal(0, 2, len(corpus.articles)).astype(np.float32)
    scores[random.choice(len(scores), 3, replace=False)] = -np.inf
    positions = random.permutation(np.flatnonzero(np.isfinite(scores)))[:few]
    pooling, weights = TreePooling(corpus), PoolingWeights(0.9, 0.4, 0.2)
    np.testing.assert_array_equal(pooling.at(positions, scores, weights), pooling(scores, weights)[positions])


def test_groups_are_those_of_the_tree_the_numbers_and_the_citations(corpus: Corpus) -> None:
    names = [id.split("/", 2)[2] for id in corpus.articles]
    at = {name: i for i, name in enumerate(names)}
    assert corpus.group[at["L111-1"]] == corpus.group[at["L111-3"]] != corpus.group[at["R111-1"]]
    assert corpus.stem[at["L111-1"]] == corpus.stem[at["R111-1"]] != corpus.stem[at["L121-1"]]
    assert corpus.stem[at["L1"]] != corpus.stem[at["L2"]]
    matrix = corpus.cited_either_way.toarray()
    assert (matrix == matrix.T).all()
    assert (matrix.diagonal() == 1).all()
    assert matrix[at["L111-1"]].sum() == 3, "itself, L111-2 and R111-1"


def test_where_nothing_answers_nothing_is_pooled(corpus: Corpus) -> None:
    none = np.full(len(corpus.articles), -np.inf, np.float32)
    assert np.isneginf(TreePooling(corpus)(none, PoolingWeights())).all()
