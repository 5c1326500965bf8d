"""Measures against trec_eval and scikit-learn, and their intervals."""

from collections.abc import Iterable, Sequence
from typing import Any

import ir_measures as ir
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score

from search.evaluation import (
    MEASURES,
    Judged,
    all_ranks,
    f_measure,
    measure,
    measures_of,
    ranks_of,
    recall_curve,
    with_intervals,
)

_OF_IR_MEASURES = {
    **{f"R@{cut}": ir.R @ cut for cut in (100, 200, 500)},
    "MAP": ir.AP,
    "MRP": ir.Rprec,
    "nDCG@10": ir.nDCG @ 10,
    "MRR@10": ir.RR @ 10,
    "S@5": ir.Success @ 5,
}
_F2 = ir.SetF(beta=4.0)
"""Its ``beta`` is the square of the one that F2 is named by, as in trec_eval."""


def as_trec_eval_has_it(measure: Any, ranking: Sequence[int], relevant: Iterable[int]) -> float:
    """A measure of one ranking, best first, by ir-measures, which asks trec_eval."""
    qrels = [ir.Qrel("q", str(position), 1) for position in relevant]
    run = [ir.ScoredDoc("q", str(position), -float(place)) for place, position in enumerate(ranking)]
    return float(ir.calc_aggregate([measure], qrels, run)[measure])


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 300))
def test_measures_are_those_of_trec_eval(seed: int, relevant: int, retrieved: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.permutation(300).astype(np.float32)
    positions = random.choice(300, relevant, replace=False)
    ranking = np.argsort(-scores)[:retrieved]
    scores[np.argsort(-scores)[retrieved:]] = -np.inf
    found = measure(ranks_of(scores, positions))
    wanted = {name: as_trec_eval_has_it(of, ranking.tolist(), positions.tolist()) for name, of in _OF_IR_MEASURES.items()}
    assert tuple(wanted) == MEASURES
    assert found == pytest.approx(wanted, abs=1e-6)


@given(st.sets(st.integers(0, 20), min_size=1), st.sets(st.integers(0, 20), min_size=1))
def test_f2_is_that_of_trec_eval(answer: set[int], relevant: set[int]) -> None:
    right = len(answer & relevant)
    wanted = as_trec_eval_has_it(_F2, sorted(answer), relevant)
    assert f_measure(right / len(answer), right / len(relevant)) == pytest.approx(wanted)


@given(st.integers(0, 10_000), st.integers(1, 30))
def test_average_precision_and_gain_are_those_of_scikit_learn(seed: int, relevant: int) -> None:
    random = np.random.default_rng(seed)
    scores = random.permutation(300).astype(np.float32)
    positions = random.choice(300, relevant, replace=False)
    truth = np.isin(np.arange(300), positions)
    found = measure(ranks_of(scores, positions))
    assert found["MAP"] == pytest.approx(average_precision_score(truth, scores))
    assert found["nDCG@10"] == pytest.approx(ndcg_score(truth[None], scores[None], k=10))


def test_ties_go_by_position_and_what_was_not_found_ranks_behind_all() -> None:
    scores = np.array([1, 5, 5, -np.inf, 5, -np.inf], np.float32)
    assert ranks_of(scores, np.array([4, 1])).tolist() == [1, 3]
    ranks = ranks_of(scores, np.array([0, 3, 5]))
    assert ranks[0] == 4
    assert (ranks[1:] > 10**9).all()
    assert measure(ranks_of(scores, np.array([3])))["R@500"] == 0


def test_each_question_is_measured_on_its_own() -> None:
    lists = {"a": np.array([3, 2, 1], np.float32), "b": np.array([1, 2, 3], np.float32)}
    ranks = all_ranks(lists.__getitem__, [Judged("a", np.array([0])), Judged("b", np.array([0]))])
    curve = recall_curve(ranks, (1, 2, 3))
    assert [point.mean for point in curve] == [50, 50, 100]
    assert (curve[0].low, curve[0].high, curve[2].low) == (0, 100, 100)
    values = measures_of(ranks)
    assert tuple(values) == MEASURES
    assert values["MAP"].tolist() == pytest.approx([1, 1 / 3])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=60))
def test_the_interval_holds_the_mean_and_is_the_same_each_time(values: list[float]) -> None:
    found = with_intervals({"MAP": np.array(values)})
    assert found == with_intervals({"MAP": np.array(values)})
    mean, low, high = found["MAP"].mean, found["MAP"].low, found["MAP"].high
    assert mean == pytest.approx(100 * sum(values) / len(values))
    spread = 100 * (max(values) - min(values))
    assert -1e-9 <= low <= high <= 100 + 1e-9
    assert high - low <= spread + 1e-9
    if len(values) >= 10:
        assert low - 1e-9 <= mean + 0.2 * spread
        assert mean - 0.2 * spread <= high + 1e-9


def test_an_interval_lies_about_its_mean_and_narrows_with_more_questions() -> None:
    random = np.random.default_rng(3)
    few, many = (with_intervals({"MAP": random.random(n)})["MAP"] for n in (50, 5_00))
    for found in (few, many):
        assert found.low < found.mean < found.high
    assert many.high - many.low < few.high - few.low
