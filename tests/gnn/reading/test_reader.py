"""Reranking by what is read: only the first articles move, and a reader that knows nothing moves none."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from gnn.reading.first_stage import Found, answerable, found_in, standard
from gnn.reading.learning import drawn_from
from gnn.reading.reader import ReadingReranker, chosen_share, ranks_among
from schema.errors import LexgraphError
from search.evaluation import UNRANKED
from search.query.understanding import Understood
from search.ranking.candidates import FEATURES
from search.ranking.hits import Ranking
from search.ranking.reranker import Candidates, Reranked
from search.ranking.trees import no_trees


class Says:
    """A reader that says the same number of an article whatever is asked."""

    parameters = 0

    def __init__(self, of: npt.NDArray[np.float32]) -> None:
        self.of = of

    def scores(self, found: Found) -> npt.NDArray[np.float32]:
        return self.of[found.positions]


SCORES = np.array([0.5, 9, 8, 7, 6, 5, 4, -np.inf], np.float32)
BEST = np.array([1, 2, 3, 4, 5, 6, 0])


def ranking(named: tuple[int, ...] = ()) -> Ranking:
    candidates = Candidates(BEST, SCORES[BEST][:, None].astype(np.float64))
    reranked = Reranked(candidates, np.arange(len(BEST)), no_trees(FEATURES), np.zeros(len(BEST), bool))
    return Ranking(SCORES, {}, reranked=reranked, understood=replace(Understood(""), named=named))


def test_only_the_first_articles_move_and_the_scores_stay_the_same() -> None:
    read = Says(np.arange(8, dtype=np.float32))  # the higher its position, the better
    after = ReadingReranker(read, 4, 100.0).reordered("pain", ranking())
    assert np.argsort(-after, kind="stable").tolist() == [4, 3, 2, 1, 5, 6, 0, 7]
    assert np.array_equal(np.sort(after), np.sort(SCORES))
    assert np.array_equal(after[[0, 5, 6, 7]], SCORES[[0, 5, 6, 7]])


def test_a_share_of_nothing_leaves_the_order_as_it_is() -> None:
    read = Says(np.arange(8, dtype=np.float32))
    assert ReadingReranker(read, 4, 0.0).reordered("pain", ranking()) is SCORES
    alike = Says(np.ones(8, np.float32))
    assert np.array_equal(ReadingReranker(alike, 4, 3.0).reordered("pain", ranking()), SCORES)


def test_articles_that_the_query_names_stay_first() -> None:
    read = Says(np.arange(8, dtype=np.float32))
    after = ReadingReranker(read, 4, 100.0).reordered("article 1", ranking(named=(1,)))
    assert np.argsort(-after, kind="stable").tolist() == [1, 4, 3, 2, 5, 6, 0, 7]


def test_a_ranking_without_candidates_stays_as_it_is() -> None:
    read = ReadingReranker(Says(np.arange(8, dtype=np.float32)), 4, 1.0)
    assert read.reordered("pain", replace(ranking(), reranked=None)) is SCORES


def test_a_feature_that_is_not_a_number_is_an_error() -> None:
    rows = np.array([[1.0], [np.nan]])
    with pytest.raises(LexgraphError, match="not a finite number"):
        found_in("pain", Candidates(np.array([1, 2]), rows), np.array([1]))


def test_standard_scores_have_mean_zero_and_deviation_one_unless_all_are_alike() -> None:
    assert standard(np.array([1.0, 3.0])).tolist() == [-1.0, 1.0]
    assert standard(np.array([2.0, 2.0, 2.0])).tolist() == [0.0, 0.0, 0.0]
    assert standard(np.zeros(0)).tolist() == []


def found(relevant: list[int]) -> Found:
    return found_in("pain", Candidates(BEST, SCORES[BEST][:, None].astype(np.float64)), np.array(relevant))


def test_ranks_are_those_in_the_new_order_and_the_rest_stays_behind() -> None:
    learnt = np.array([0.0, 1.0, 2.0])  # 3, 2, 1, then as before
    assert ranks_among(found([1, 3, 5, 7]), learnt).tolist() == [1, 3, 5, UNRANKED]


def test_the_share_is_chosen_on_the_questions_and_is_nothing_where_reading_does_not_help() -> None:
    asked = [found([4]), found([5])]
    right = np.zeros(8, np.float32)
    right[[4, 5]] = 1
    assert chosen_share(Says(right), asked, 6) > 0
    assert chosen_share(Says(-right), asked, 6) == 0
    assert chosen_share(Says(right), [], 6) == 0


def test_only_queries_with_a_right_and_a_wrong_article_among_the_first_teach() -> None:
    assert [one.relevant.tolist() for one in answerable([found([2]), found([6]), found([1, 2, 3])], 3)] == [[2]]
    (first,) = answerable([found([2])], 3)
    assert first.positions.tolist() == [1, 2, 3]
    assert first.before.tolist() == pytest.approx(standard(SCORES[[1, 2, 3]]).tolist())


def test_what_is_drawn_has_a_relevant_article_and_others() -> None:
    drawn = list(drawn_from(found([2, 4]), 20, 3, np.random.default_rng(0)))
    assert {BEST[one.relevant] for one in drawn} == {2, 4}
    assert all(len(set(one.others)) == 3 and not {2, 4} & set(BEST[list(one.others)].tolist()) for one in drawn)
    (few,) = drawn_from(found([1, 2, 3, 4, 5, 6]), 1, 3, np.random.default_rng(0))
    assert BEST[list(few.others)].tolist() == [0], "fewer than were wanted"
