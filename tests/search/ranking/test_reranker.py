"""Reranking: trees as arrays give what LightGBM gives, features are what the lists say, moves are told with their reasons."""

from collections.abc import Callable

import lightgbm
import numpy as np
import pytest

from gnn.options import RerankOptions
from gnn.training.lambdamart import Example, as_arrays, fit_trees
from schema.errors import LexgraphError
from search.ranking.fusion import HEAD
from search.ranking.reranker import WITHIN, Candidates, Reranker
from search.ranking.trees import Rows, Trees, no_trees

_NAMES = ("score before", "even", "noise")
_SMALL = RerankOptions(rounds=20, leaves=15, least_in_leaf=5, feature_share=1, row_share=1, share=0.1)  # pyright: ignore[reportCallIssue]


def examples(questions: int = 30, n: int = 40) -> list[Example]:
    """Questions whose relevant candidates are told by the second feature alone."""
    draw = np.random.default_rng(3)
    made: list[Example] = []
    for number in range(questions):
        rows = np.stack([np.sort(draw.normal(size=n))[::-1], np.arange(n) % 2, draw.normal(size=n)], 1)
        made.append(Example(number % 5, "title", Candidates(np.arange(n), rows), np.arange(0, n, 2)))
    return made


@pytest.fixture(scope="module")
def trees() -> Trees:
    return fit_trees(examples(), _NAMES, _SMALL)


def test_trees_as_arrays_give_what_lightgbm_predicts() -> None:
    draw = np.random.default_rng(5)
    rows, labels = draw.normal(size=(2000, 6)).round(1), draw.integers(0, 2, 2000)
    options = {"objective": "lambdarank", "num_leaves": 15, "min_data_in_leaf": 5, "verbosity": -1, "deterministic": True}
    booster = lightgbm.train(options, lightgbm.Dataset(rows, labels, group=[100] * 20), 30)
    ours = as_arrays(booster.dump_model(), tuple("abcdef"))
    others = draw.normal(size=(500, 6)).round(1)  # many values are thresholds, or lie on them
    np.testing.assert_allclose(ours(others), booster.predict(others), rtol=1e-9)


def test_contributions_of_the_features_add_up_to_the_score(trees: Trees) -> None:
    rows = examples()[7].candidates.rows
    at_the_root = trees.value[:, 0].sum()
    np.testing.assert_allclose(trees.contributions(rows).sum(1) + at_the_root, trees(rows), rtol=1e-9)


def test_what_tells_the_relevant_comes_first_and_is_the_reason(trees: Trees) -> None:
    candidates = examples()[3].candidates
    scores = np.zeros(60, np.float32)
    scores[:40] = np.arange(40, 0, -1)
    again, reranked = Reranker(trees, 0.0)(scores, candidates, np.zeros(40, bool))
    first = np.argsort(-again, kind="stable")
    assert set(first[:20].tolist()) == set(range(0, 40, 2))
    assert sorted(again[:40].tolist()) == sorted(scores[:40].tolist()), "the scores stay, in another order"
    np.testing.assert_array_equal(again[40:], scores[40:])
    moves = reranked.moves(np.array([38, 1, 55]))
    assert moves[0] is not None
    assert moves[1] is not None
    assert moves[0].places == 38 - int(np.flatnonzero(first == 38)[0]) > 0
    assert moves[1].places < 0
    assert next(iter(moves[0].reasons)) == "even"
    assert moves[0].reasons["even"] > 0 > moves[1].reasons["even"]
    assert moves[2] is None, "it was no candidate"


def test_reasons_are_found_when_one_is_asked_for_and_once(trees: Trees, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def contributions(self: Trees, rows: Rows, find: Callable[[Trees, Rows], Rows] = Trees.contributions) -> Rows:
        asked.append(len(rows))
        return find(self, rows)

    monkeypatch.setattr(Trees, "contributions", contributions)
    scores = np.arange(60, 0, -1).astype(np.float32)
    _, reranked = Reranker(trees, 0.0)(scores, examples()[3].candidates, np.zeros(40, bool))
    alone = [move.reasons for position in (38, 1) for move in reranked.moves(np.array([position])) if move is not None]
    asked.clear()
    first, none, second = reranked.moves(np.array([38, 55, 1]))
    assert first is not None
    assert second is not None
    assert (none, asked) == (None, [])
    assert [first.reasons, second.reasons] == alone
    assert alone[0] != alone[1]
    assert asked == [2]


def test_the_trees_choose_the_head_and_have_a_smaller_say_within_it_and_below(trees: Trees) -> None:
    draw = np.random.default_rng(11)
    n = 3 * HEAD
    rows = np.stack([np.sort(draw.normal(size=n))[::-1], np.arange(n) % 2, draw.normal(size=n)], 1)
    learnt = trees(rows)
    order = Reranker(trees, 1.0).order(rows)
    assert sorted(order.tolist()) == list(range(n))
    by_both = np.argsort(-(rows[:, 0] + learnt), kind="stable")
    assert set(order[:HEAD].tolist()) == set(by_both[:HEAD].tolist()) != set(range(HEAD)), "others than before"
    said = (rows[:, 0] + WITHIN * learnt)[order]
    assert (np.diff(said[:HEAD]) <= 0).all()
    assert (np.diff(said[HEAD:]) <= 0).all()
    assert not np.array_equal(order[:HEAD], by_both[:HEAD])
    assert not np.array_equal(order[HEAD:], by_both[HEAD:])


def test_what_stays_first_stays_first(trees: Trees) -> None:
    candidates = examples()[3].candidates
    scores = np.arange(40, 0, -1).astype(np.float32)
    stays = np.arange(40) == 1
    again, _ = Reranker(trees, 0.0)(scores, candidates, stays)
    assert int(np.argmax(again)) == 1


def test_no_trees_leave_the_order_as_it_is() -> None:
    candidates = examples()[0].candidates
    scores = np.arange(40, 0, -1).astype(np.float32)
    again, reranked = Reranker(no_trees(_NAMES), 1.0)(scores, candidates, np.zeros(40, bool))
    np.testing.assert_array_equal(again, scores)
    assert [move and (move.places, move.reasons) for move in reranked.moves(np.array([0, 5]))] == [(0, {}), (0, {})]


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_feature_without_a_value_is_named(value: float, trees: Trees) -> None:
    broken = examples()
    broken[4].candidates.rows[3, 1] = value
    with pytest.raises(LexgraphError, match=r"'even'.*not a finite number"):
        fit_trees(broken, _NAMES, _SMALL)
    with pytest.raises(LexgraphError, match=r"'even'.*not a finite number"):
        trees(broken[4].candidates.rows)


def test_a_feature_that_is_lacking_is_an_error(trees: Trees) -> None:
    with pytest.raises(LexgraphError, match="3 features and was given 2"):
        trees(examples()[0].candidates.rows[:, :2])


def test_questions_whose_answers_are_no_candidates_teach_nothing() -> None:
    lost = [Example(e.fold, e.asked, e.candidates, np.array([1000])) for e in examples()]
    assert len(fit_trees(lost, _NAMES, _SMALL).value) == 0
