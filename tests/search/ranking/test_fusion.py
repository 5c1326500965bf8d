"""Lists made comparable, fused, and cut."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from search.ranking.fusion import DEPTH, Scores, head_of, kth_highest, standard_scores, top, weighted

OUT = -np.inf
ANY_SCORES = arrays(np.float32, st.integers(1, 40), elements=st.sampled_from([OUT, -3.0, -1.0, 0.0, 0.5, 2.0, 7.0]))


def scores(*values: float) -> Scores:
    return np.array(values, np.float32)


def within(values: Scores, depth: int) -> Scores:
    """Standard scores over a head of another length than the usual one."""
    return standard_scores(values, head_of(values, depth))


def test_standard_scores_have_mean_nought_and_spread_one() -> None:
    result = standard_scores(np.random.default_rng(1).normal(5, 3, 500).astype(np.float32))
    assert abs(float(result.mean())) < 1e-5
    assert float(result.std()) == pytest.approx(1, abs=1e-5)
    assert result.dtype == np.float32


def test_below_the_head_all_take_its_lowest_score() -> None:
    np.testing.assert_allclose(within(scores(1, 9, 5, 2, 7), 3), [-1.2247, 1.2247, -1.2247, -1.2247, 0], atol=1e-4)


def test_what_is_left_out_stays_out_with_a_head_full_or_not() -> None:
    np.testing.assert_allclose(within(scores(1, OUT, 3), 3), [-1, OUT, 1])
    np.testing.assert_allclose(within(scores(1, OUT, 3, OUT, 0), 2), [-1, OUT, 1, OUT, -1])


@pytest.mark.parametrize(
    ("values", "expected"), [((2, 2, 2), (0, 0, 0)), ((2, OUT), (0, OUT)), ((OUT, OUT), (OUT, OUT)), ((4,), (0,))]
)
def test_a_list_without_differences_says_nothing(values: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert standard_scores(scores(*values)).tolist() == list(expected)


@given(ANY_SCORES, st.integers(1, 50))
def test_standard_scores_keep_the_order_and_what_is_out(values: Scores, depth: int) -> None:
    result = within(values, depth)
    assert (np.isneginf(result) == np.isneginf(values)).all()
    assert not np.isnan(result).any()
    order = np.argsort(values, kind="stable")
    assert (np.diff(result[order][np.isfinite(result[order])]) >= 0).all()


def test_a_weighted_sum_leaves_out_lists_without_a_weight() -> None:
    lists = {"a": scores(1, 2), "b": scores(10, OUT), "c": scores(5, 5)}
    assert weighted(lists, {"a": 2, "b": 1, "c": 0}).tolist() == [12, OUT]
    assert lists["a"].tolist() == [1, 2], "the lists themselves stay as they are"
    with pytest.raises(ValueError, match="no list has a weight"):
        weighted(lists, {"d": 1})


@given(ANY_SCORES, st.integers(-1, 45))
def test_the_top_is_the_head_of_the_sorted_list(values: Scores, k: int) -> None:
    expected = [i for i in sorted(range(len(values)), key=lambda i: (-values[i], i)) if values[i] > OUT][: max(k, 0)]
    assert top(values, k).tolist() == expected


@given(
    st.integers(1, 20_000),
    st.integers(0, 2**32 - 1),
    st.sampled_from([2, 5, 300, 10**6]),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([OUT, -1.0]),
)
def test_the_kth_highest_is_found_whatever_is_equal(
    n: int, seed: int, levels: int, share: float, depth: float, lowest: float
) -> None:
    """Lists with few and many levels, a share of them at the lowest, in order of position or not."""
    random = np.random.default_rng(seed)
    values = random.integers(0, levels, n).astype(np.float32)
    values[: int(share * n)] = lowest
    if seed % 2:
        random.shuffle(values)
    k = 1 + int(depth * (n - 1))
    assert kth_highest(values, k) == np.sort(values)[n - k]
    head = np.sort(values)[n - min(k, n) :]
    np.testing.assert_array_equal(head_of(values, k), head[np.isfinite(head)])


def test_what_a_server_cuts_off_below_the_head_does_not_change_what_is_fused() -> None:
    """An index that gives the best `DEPTH` alone, 0 for all others, is as good as one that gives all scores."""
    random = np.random.default_rng(3)
    scores = random.gamma(1, size=5 * DEPTH).astype(np.float32)
    scores[random.random(len(scores)) < 0.3] = 0
    mask = random.random(len(scores)) < 0.5
    for allowed in (np.ones(len(scores), bool), mask):
        full = np.where(allowed, scores, np.float32(-np.inf))
        cut = np.zeros_like(scores)
        best = top(full, DEPTH)
        cut[best] = scores[best]
        cut = np.where(allowed, cut, np.float32(-np.inf))
        np.testing.assert_array_equal(standard_scores(full), standard_scores(cut))
