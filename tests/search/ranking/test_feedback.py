"""Feedback: what the first answers are like, and who takes no part."""

import numpy as np
import pytest

from search.arrays import Scores, unit
from search.ranking import feedback
from search.ranking.feedback import likeness


def scores(*values: float) -> Scores:
    return np.array(values, np.float32)


ARTICLES = unit(np.array([[1, 0], [1, 0.2], [0, 1], [0.2, 1], [1, 0.1], [-1, 0]], np.float32))
EMBEDDED = np.zeros(6, np.float32)


def test_likeness_is_the_standard_score_of_the_cosine_with_the_mean_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "FIRST", 2)
    ranking = scores(3, 2, 1, 0.5, 0.2, 0.1)
    mean = ARTICLES[0] + np.exp(-1) * ARTICLES[1]
    cosines = ARTICLES @ mean
    np.testing.assert_allclose(likeness(ranking, ARTICLES, EMBEDDED), (cosines - cosines.mean()) / cosines.std(), atol=1e-5)


def test_what_is_like_the_first_is_above_what_is_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "FIRST", 1)
    alike = likeness(scores(9, 1, 2, 3, 0, -5), ARTICLES, EMBEDDED)
    assert np.argsort(-alike).tolist()[:3] == [0, 4, 1]
    assert np.argmin(alike) == 5


def test_below_the_candidates_all_stand_with_the_least_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feedback, "CANDIDATES", 3)
    alike = likeness(scores(9, 8, 7, 1, 1, 1), ARTICLES, EMBEDDED)
    assert alike[3:].tolist() == [alike[:3].min()] * 3


def test_what_is_left_out_stays_out_and_what_has_no_embedding_stays_where_it_is() -> None:
    ranking = scores(3, -np.inf, 2, 1, 0, -1)
    embedded = scores(0, 0, 0, -np.inf, 0, 0)
    alike = likeness(ranking, ARTICLES, embedded)
    assert alike[1] == -np.inf
    assert alike[3] == 0
    known = [0, 2, 4, 5]
    assert float(alike[known].mean()) == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("ranking", [scores(*[-np.inf] * 6), scores(1, *[-np.inf] * 5)])
def test_of_nothing_or_of_one_answer_there_is_nothing_to_learn(ranking: Scores) -> None:
    alike = likeness(ranking, ARTICLES, EMBEDDED)
    assert alike[np.isfinite(ranking)].tolist() == [0.0] * int(np.isfinite(ranking).sum())
    assert (alike[~np.isfinite(ranking)] == -np.inf).all()
