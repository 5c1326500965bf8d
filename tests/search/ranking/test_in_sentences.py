"""Lists of queries of several sentences: what the sentences find counts beside what the whole query does."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from schema.errors import ServerUnavailable
from schema.filter import Filter
from search.modes import Mode
from search.ranking.fusion import standard_scores
from search.ranking.hits import RankingList
from search.ranking.in_sentences import InSentences
from search.ranking.rankers import TEXT, Lists, Query, Words
from search.retrieval import Retriever
from search.vectors.encoding import Encoding
from tests.search.test_degraded import model_of, served
from tests.search.test_retrieval import retriever_of

FOUND = {"whole": [3, 2, 1, 0], "first": [0, 0, 4, 0], "second": [0, 1, 0, 0]}


@dataclass(frozen=True)
class Told:
    """A ranker that was told what it finds; nothing for other texts."""

    needs: str = TEXT

    def ask(self, query: Query) -> Callable[[], Lists]:
        def answer() -> Lists:
            if query.text == "away":
                raise ServerUnavailable("away")
            found = FOUND.get(query.text)
            return {} if found is None else {"bm25": RankingList(np.array(found, np.float32))}

        return answer

    def ask_each(self, queries: Sequence[Query]) -> Callable[[], list[Lists]]:
        answers = [self.ask(query) for query in queries]
        return lambda: [answer() for answer in answers]


WHOLE = Query("whole", Filter(), None, None, 10)


def asked(*parts: str, weight: float = 1.0, text: str = "whole") -> Lists:
    return InSentences(Told(), weight).ask(replace(WHOLE, text=text, parts=parts))()


def standard(name: str) -> np.ndarray:
    return standard_scores(np.array(FOUND[name], np.float32))


@pytest.mark.parametrize("weight", [1.0, 0.5])
def test_the_mean_of_the_sentences_is_added_by_its_weight(weight: float) -> None:
    ranked = asked("first", "second", weight=weight)["bm25"]
    total = standard("whole") + weight * (standard("first") + standard("second")) / 2
    np.testing.assert_allclose(ranked.comparable, standard_scores(total), rtol=1e-6)


def test_places_and_scores_are_those_of_the_whole_query() -> None:
    ranked = asked("first", "second")["bm25"]
    assert ranked.scores.tolist() == FOUND["whole"]
    assert [place and place.rank for place in ranked.places(np.arange(4))] == [1, 2, 3, 4]


def test_a_query_of_one_sentence_and_one_whose_sentences_find_nothing_are_ranked_as_they_were() -> None:
    for lists in (asked(), asked("unknown", "neither")):
        np.testing.assert_array_equal(lists["bm25"].comparable, standard("whole"))
    assert asked("first", "second", text="unknown") == {}


def test_what_goes_wrong_with_a_sentence_goes_wrong_with_the_ranker() -> None:
    ranker = InSentences(Told(), 1.0)
    assert ranker.needs == TEXT
    answer = ranker.ask(replace(WHOLE, parts=("first", "away")))
    with pytest.raises(ServerUnavailable):
        answer()


def test_an_article_that_the_filter_leaves_out_stays_out() -> None:
    mask = np.array([True, False, True, True])

    class Masking(Told):
        def ask(self, query: Query) -> Callable[[], Lists]:
            answer = super().ask(query)
            return lambda: {name: query.ranked(ranked.scores) for name, ranked in answer().items()}

    lists = InSentences(Masking(), 1.0).ask(replace(WHOLE, mask=mask, parts=("first", "second")))()
    assert np.flatnonzero(~np.isfinite(lists["bm25"].comparable)).tolist() == [1]


def test_a_vector_search_is_asked_by_one_embedding_in_which_sentences_have_their_share() -> None:
    embeddings = {"whole": [1, 0, 0], "first": [0, 1, 0], "second": [0, 0, 1], "unknown": [0, 0, 0]}

    def encode(texts: Sequence[str]) -> np.ndarray:
        return np.array([embeddings[text] for text in texts], np.float32)

    query = replace(WHOLE, encoding=Encoding(encode), parts=("first", "second"))
    np.testing.assert_allclose(query.balanced(1.0), np.array([2, 2**0.5, 2**0.5]) / 8**0.5, rtol=1e-6)
    np.testing.assert_allclose(query.balanced(0.5), np.array([4, 2**0.5, 2**0.5]) / 20**0.5, rtol=1e-6)
    np.testing.assert_array_equal(query.vector, [1, 0, 0])
    np.testing.assert_array_equal(replace(WHOLE, encoding=Encoding(encode)).balanced(1.0), [1, 0, 0])
    np.testing.assert_array_equal(replace(query, parts=("unknown", "unknown")).balanced(1.0), [1, 0, 0])
    long = replace(query, encoding=Encoding(lambda texts: 400 * encode(texts)))
    np.testing.assert_allclose(long.balanced(1.0), 400 * query.balanced(1.0), rtol=1e-6)


def test_a_model_that_reads_sentences_where_they_stand_is_asked_once() -> None:
    asked: list[tuple[str, Sequence[str]]] = []

    def encode_in(text: str, parts: Sequence[str]) -> np.ndarray:
        asked.append((text, parts))
        return np.eye(3, dtype=np.float32)

    def encode(texts: Sequence[str]) -> np.ndarray:
        raise AssertionError(texts)

    query = replace(WHOLE, encoding=Encoding(encode, encode_in), parts=("first", "second"))
    np.testing.assert_allclose(query.balanced(1.0), np.array([2, 2**0.5, 2**0.5]) / 8**0.5, rtol=1e-6)
    np.testing.assert_array_equal(query.vector, [1, 0, 0])
    assert asked == [("whole", ("first", "second"))]


@pytest.mark.parametrize("where", ["here", "on a server"])
def test_words_rank_while_the_query_is_embedded(where: str, tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = retriever_of(tiny_home, with_model=False).index
    model = model_of(index) if where == "here" else served(index, model_of(index))
    order, have_ranked, words = list[str](), threading.Event(), Words._found  # pyright: ignore[reportPrivateUsage]

    def ranked(self: Words, queries: Sequence[Query]) -> list[dict[str, np.ndarray]]:
        order.append("words")
        found = words(self, queries)
        have_ranked.set()
        return found

    def begin_in(text: str, parts: Sequence[str]) -> Callable[[], np.ndarray]:
        order.append("begun")

        def embedded() -> np.ndarray:
            assert have_ranked.wait(10), "words wait for the embedding"
            return model.encode([text, *parts])

        return embedded

    monkeypatch.setattr(Words, "_found", ranked)
    beside = replace(model, encoding=replace(model.encoding, begin_in=begin_in))
    query = "le pain du boulanger"
    hits = Retriever(index, beside).search(query)
    assert (order, hits.degraded) == (["begun", "words"], ())
    for mode in (Mode.HYBRID, Mode.VECTOR):
        plain, begun = (Retriever(index, one).scores(query, mode)[0] for one in (model, beside))
        np.testing.assert_array_equal(begun, plain)


def test_a_query_is_begun_once(tiny_home: Path) -> None:
    begun: list[str] = []

    def begin_in(text: str, parts: Sequence[str]) -> Callable[[], np.ndarray]:
        begun.append(text)
        return lambda: np.eye(1, 3, dtype=np.float32)

    query = replace(WHOLE, encoding=Encoding(lambda texts: np.eye(len(texts), 3, dtype=np.float32), begin_in=begin_in))
    query.begin()
    np.testing.assert_array_equal(query.vector, query.balanced(1.0))
    query.begin()
    assert begun == ["whole"]
    assert replace(query, text="another").vector.any()
    assert begun == ["whole", "another"]


def test_a_model_says_how_much_sentences_weigh(tiny_home: Path) -> None:
    index = retriever_of(tiny_home, with_model=False).index
    model = model_of(index)
    query = "Le boulanger cuit le pain.\nLe meunier moud la farine."
    without, with_sentences = (
        Retriever(index, replace(model, sentences=weight)).scores(query)[1]["bm25"].comparable for weight in (0.0, 1.0)
    )
    alone = Retriever(index, replace(model, sentences=1.0)).scores(query.replace(".\n", " "))[1]["bm25"].comparable
    assert not np.allclose(without, with_sentences)
    np.testing.assert_allclose(alone, without, rtol=1e-6)
