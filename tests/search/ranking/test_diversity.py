"""The first answers, of several sections; held against a slow and plain way."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.modes import Mode
from search.ranking.diversity import FIRST, diversified
from search.retrieval import IN_FULL, Retriever
from tests.search.test_degraded import model_of
from tests.search.test_retrieval import retriever_of


def order(scores: list[float], sections: list[int], weight: float) -> list[int]:
    found = diversified(np.array(scores, np.float32), np.array(sections), weight)
    return np.argsort(-found, kind="stable")[: int(np.isfinite(found).sum())].tolist()


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (0.0, [0, 1, 2, 3, 4, 5, 6]),
        (0.5, [0, 1, 3, 2, 4, 5, 6]),  # 9.8 - 0.5 is still the highest; 8.2 - 2 · 0.5 is not
        (1.5, [0, 1, 3, 5, 4, 2, 6]),
        (9.0, [0, 3, 5, 1, 4, 2, 6]),  # one of each section, then the second of each
    ],
)
def test_each_of_the_first_places_goes_to_the_highest_score_less_what_its_section_had(weight: float, expected: list[int]) -> None:
    assert order([10.0, 9.8, 8.2, 8.0, 7.0, 6.0, 5.5], [1, 1, 1, 2, 2, 3, 3], weight) == expected


def test_what_is_no_answer_stays_none_and_articles_of_one_section_stay_in_order() -> None:
    assert order([3.0, -np.inf, 2.0, 1.0], [7, 7, 7, 7], 1.5) == [0, 2, 3]
    assert order([], [], 1.5) == []
    assert order([-np.inf, -np.inf], [0, 1], 1.5) == []


def slowly(scores: list[int], sections: list[int], weight: float) -> list[int]:
    left = sorted(range(len(scores)), key=lambda i: -scores[i])
    chosen: list[int] = []
    for _ in range(min(FIRST, len(scores))):
        chosen.append(max(left, key=lambda i: scores[i] - weight * sum(sections[i] == sections[before] for before in chosen)))
        left.remove(chosen[-1])
    return chosen + left


@given(st.permutations(range(12)), st.lists(st.integers(0, 3), min_size=12, max_size=12), st.sampled_from([0.5, 1.25, 3.5]))
def test_the_order_is_that_of_the_plain_way(scores: list[int], sections: list[int], weight: float) -> None:
    assert order([float(score) for score in scores], sections, weight) == slowly(scores, sections, weight)
    again = diversified(np.array(scores, np.float32), np.array(sections), weight)
    assert sorted(again.tolist()) == sorted(scores), "the same scores, in other places"


@pytest.fixture(scope="module")
def plain(tiny_home: Path) -> Retriever:
    index = retriever_of(tiny_home, with_model=False).index
    return Retriever(index, model_of(index))


def diverse(plain: Retriever) -> Retriever:
    assert plain.model is not None
    return Retriever(plain.index, replace(plain.model, diversity=50.0))


def test_a_model_that_says_so_has_several_sections_first(plain: Retriever) -> None:
    before, after = (
        [hit.position for hit in retriever.search("le pain du boulanger", first=20)] for retriever in (plain, diverse(plain))
    )
    assert before != after
    assert sorted(before) == sorted(after)
    section = plain.corpus.article_parent
    held = len(set(section[before].tolist()))
    assert len(set(section[after[: min(FIRST, held)]].tolist())) == min(FIRST, held)


def test_other_ways_of_ranking_are_left_as_they_are(plain: Retriever) -> None:
    for mode, pooled in ((Mode.BM25, True), (Mode.VECTOR, True), (Mode.HYBRID, False)):
        one, other = (retriever.scores("le pain du boulanger", mode, pooled=pooled)[0] for retriever in (plain, diverse(plain)))
        np.testing.assert_array_equal(one, other)


def test_who_types_a_heading_gets_its_section_whole(plain: Retriever) -> None:
    asked = "Des annexes"
    ranking = plain.rank(asked)
    assert ranking.lists["heading"].scores.max() > IN_FULL, "the query is a heading"
    np.testing.assert_array_equal(diverse(plain).rank(asked).scores, ranking.scores)


def test_pages_go_on_where_the_one_before_ended(plain: Retriever) -> None:
    retriever = diverse(plain)
    whole = [hit.id for hit in retriever.search("le pain", first=6)]
    parts = [hit.id for offset in (0, 3) for hit in retriever.search("le pain", first=3, offset=offset)]
    assert parts == whole


def test_what_stands_behind_an_article_that_is_named_keeps_its_order(plain: Retriever) -> None:
    ranking = plain.rank("article L. 111-1 pain")
    assert ranking.understood.named
    np.testing.assert_array_equal(diverse(plain).rank("article L. 111-1 pain").scores, ranking.scores)
