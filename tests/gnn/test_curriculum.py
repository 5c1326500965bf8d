"""Negatives from easy to hard: the order of each view on the tiny law, their fusion, buckets and shares."""

import numpy as np
import pytest

from gnn.curriculum import RECIPROCAL, Curriculum, Places, counts_of, fused_order, ranks_by
from gnn.encoders.features import Features
from gnn.model.subgraph import subgraph_edges
from gnn.options import CurriculumOptions
from gnn.recipe import Recipe
from gnn.training.loop import Examples, fit
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import small_recipe


def position(corpus: Corpus, *numbers: str) -> np.ndarray:
    return np.array([n for n, id in enumerate(corpus.articles) for number in numbers if id.endswith(f"/{number}")], np.intp)


def curriculum(places: Places, relevant: list[np.ndarray], **options: object) -> Curriculum:
    return Curriculum(places, relevant, CurriculumOptions.model_validate({"drawn": 4, **options}), seed=3)


def test_the_structural_view_counts_edges_over_the_tree(law: tuple[Corpus, CorpusText]) -> None:
    corpus = law[0]
    distances = Places.of(corpus).structural(position(corpus, "L111-1"))
    near = dict(zip((id.rpartition("/")[2] for id in corpus.articles), distances.tolist(), strict=True))
    assert near["L111-1"] == 0
    assert near["L111-2"] == near["L111-3"] == 2  # up to the book, down again
    assert near["L121-1"] == near["L121-2"] == 4  # over the legislative part
    assert near["R111-1"] == 5  # over the act, straight below whose part it stands
    assert near["L1"] == near["L2"] == 7  # over the root of both acts
    assert sorted(distances.tolist()) == [0, 2, 2, 4, 4, 5, 5, 6, 7, 7]  # the second annex stands a chapter deeper


def test_the_nearest_of_several_relevant_articles_counts(law: tuple[Corpus, CorpusText]) -> None:
    corpus = law[0]
    places = Places.of(corpus)
    both, one, other = (places.structural(position(corpus, *n)) for n in (("L111-1", "L1"), ("L111-1",), ("L1",)))
    assert both.tolist() == np.minimum(one, other).tolist()
    both, one, other = (places.sequential(position(corpus, *n)) for n in (("L111-1", "L1"), ("L111-1",), ("L1",)))
    assert both.tolist() == np.minimum(one, other).tolist()


def test_the_sequential_view_counts_articles_in_reading_order(law: tuple[Corpus, CorpusText]) -> None:
    corpus = law[0]
    (at,) = position(corpus, "L111-3").tolist()
    distances = Places.of(corpus).sequential(np.array([at]))
    n = len(corpus.articles)
    same = corpus.article_act == corpus.article_act[at]
    assert distances.tolist() == [abs(i - at) if same[i] else n for i in range(n)]
    assert distances[at + 1] == 1


def test_views_are_fused_by_reciprocal_rank_without_what_is_relevant() -> None:
    first, second = ranks_by(np.array([0.0, 1, 2, 2, 9])), ranks_by(np.array([0.0, 9, 3, 2, 1]))
    assert (first.tolist(), second.tolist()) == ([1, 2, 3, 3, 5], [1, 5, 4, 3, 2])
    worth = [1 / (RECIPROCAL + a) + 1 / (RECIPROCAL + b) for a, b in zip(first, second, strict=True)]
    assert fused_order([first, second], np.array([0])).tolist() == sorted(range(1, 5), key=lambda i: -worth[i])


def test_the_semantic_view_goes_by_the_model_at_hand(law: tuple[Corpus, CorpusText]) -> None:
    n = len(law[0].articles)
    negatives = curriculum(Places.of(law[0]), [np.array([0])], views=["semantic"], pool=3, shares=[[0, 0, 1]] * 3, drawn=1)
    for scores in (np.arange(n), -np.arange(n)):
        negatives.refresh(lambda question, scores=scores: scores.astype(np.float32))
        hardest = n - 1 if scores[-1] > 0 else 1  # of the others: the first is relevant
        assert negatives.draw([0], 0).tolist() == [hardest]


def test_each_third_of_the_epochs_draws_from_harder_buckets() -> None:
    places = Places(np.zeros((1000, 1), np.int32), np.zeros(1000, np.int32))
    negatives = curriculum(places, [np.array([0])], views=["sequential"], pool=900, drawn=100)
    negatives.refresh(lambda question: np.zeros(1000, np.float32))
    for done, shares in ((0, (0.7, 0.2, 0.1)), (0.34, (0.15, 0.7, 0.15)), (0.99, (0.1, 0.2, 0.7))):
        drawn = negatives.draw([0], done)
        assert 0 not in drawn
        counts = np.histogram(drawn, [1, 301, 601, 901])[0]
        assert counts.tolist() == [round(100 * share) for share in shares[::-1]]


def test_no_negative_is_lost_to_rounding() -> None:
    assert counts_of((0.1, 0.2, 0.7), 20) == [2, 4, 14]
    assert counts_of((0.1, 0.2, 0.7), 1) == [0, 0, 1]
    assert counts_of((0.15, 0.7, 0.15), 1) == [0, 1, 0]
    assert counts_of((0.1, 0.2, 0.7), 4) == [0, 1, 3]
    assert counts_of((0.0, 0.0, 0.0), 4) == [0, 0, 0]


@pytest.mark.slow
@pytest.mark.parametrize("layers", [0, 1])
def test_training_by_a_curriculum_learns_and_gives_the_same_model_again(
    layers: int, law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    plain = small_recipe(layers, epochs=30, patience=30, learning_rate=0.02, dropout=0.0)
    recipe = plain.model_copy(update={"curriculum": CurriculumOptions.model_validate({"drawn": 3, "pool": 6})})
    first, second = (_fit(recipe, law[0], features, questions) for _ in range(2))
    assert max(epoch.average_precision for epoch in first.curve) > 0.8
    np.testing.assert_array_equal(first.articles, second.articles)


def _fit(recipe: Recipe, corpus: Corpus, features: Features, questions: list[Question]):
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    return fit(recipe, Examples(corpus, features, subgraph_edges(corpus, recipe.document.edges), training, development))
