"""Confidence: what it is taken from, what it is for a query, and where there is none."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from cypher.engines.ladybug import open_graph
from schema.filter import Filter
from search.modes import Mode
from search.ranking.hits import RankingList
from search.ranking.scope import EVIDENCE, Evidence, Scope
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.search.test_retrieval import random_model

SCOPE = Scope(
    means=(2.0, 3.0, 0.0, 5.0, 1.0, 0.5, 2.0),
    spreads=(1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0),
    weights=(-1.0, 0.0, 0.0, 0.5, 1.0, 0.0, 0.0),
    bias=0.1,
    threshold=0.4,
)


@pytest.fixture(scope="module")
def retriever(tiny_home: Path) -> Retriever:
    with open_graph(tiny_home) as graph:
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
    index = open_text_index(tiny_home, sha256, Bm25Options())
    return Retriever(index, replace(random_model(index.corpus), scope=SCOPE))


def test_confidence_is_the_logistic_of_standardised_evidence() -> None:
    assert SCOPE.confidence((2.0, 8.0, 9.0, 5.0, 1.0, 0.0, 8.0)) == pytest.approx(1 / (1 + np.exp(-0.1)))
    assert SCOPE.confidence((3.0, 0.0, 0.0, 7.0, 1.0, 0.0, 8.0)) == pytest.approx(1 / (1 + np.exp(-(0.1 - 1.0 + 0.5))))
    assert 0 <= SCOPE.confidence((1e6, *[0.0] * 6)) < SCOPE.confidence((-1e6, *[0.0] * 6)) <= 1


def test_evidence_is_of_words_embedding_and_lists(retriever: Retriever) -> None:
    vocabulary = retriever.index.vocabulary
    headings, often = vocabulary.headings, vocabulary.words["farine"]
    known = next(iter(headings.column))
    acts = np.array([[1.0, 0.0], [0.0, 1.0]], np.float32)
    lists = {name: RankingList(np.array(scores, np.float32)) for name, scores in (("vector", [1, 3]), ("bm25", [4, 2]))}
    evidence = Evidence(vocabulary, acts, np.array([0, 1]))
    found = evidence("La farine, zzzz", [known, known, "zzz", "yyy", "xxx"], np.array([1.0, 0.5], np.float32), lists)
    rarest = float(np.log1p(headings.count))
    expected = ((headings.idf[0] + 3 * rarest) / 4, np.log1p(often) / 2, 0.75, 3.0, 4 / 2, 0.5, 0.0)
    assert found == pytest.approx(expected)
    assert evidence("?", [], np.zeros(2, np.float32), {}) == pytest.approx((rarest, *[0] * 6))
    assert len(found) == len(EVIDENCE)


def test_evidence_tells_lists_that_agree_from_lists_that_do_not(retriever: Retriever) -> None:
    evidence = Evidence(retriever.index.vocabulary, np.zeros((2, 2), np.float32), np.arange(1000) % 2)

    def found(*scores: npt.NDArray[np.float32]) -> tuple[float, ...]:
        lists = {name: RankingList(each) for name, each in zip(("vector", "bm25"), scores, strict=True)}
        return evidence("farine", ["farine"], np.zeros(2, np.float32), lists)[5:]

    even = np.where(np.arange(1000) % 2, 0, np.arange(1000)).astype(np.float32)  # of the first act alone
    odd = np.roll(even, 1)
    (one_act, lead), (two_acts, no_lead) = found(even, even), found(even, odd)
    assert one_act == 1
    assert 0.4 < two_acts < 0.6
    assert lead > no_lead > 0


def test_a_page_says_how_sure_it_is(retriever: Retriever) -> None:
    hits = retriever.search("la farine du pain")
    evidence = retriever.rank("la farine du pain").evidence
    assert evidence is not None
    assert hits.confidence is not None
    assert 0 < hits.confidence < 1
    assert hits.probably_outside is (hits.confidence < SCOPE.threshold)
    assert retriever.search("pain").confidence != hits.confidence


def test_what_names_an_article_is_sure(retriever: Retriever) -> None:
    hits = retriever.search("L121-1 du code de la boulangerie")
    assert (hits.confidence, hits.probably_outside) == (1.0, False)


def test_words_that_the_law_has_nowhere_are_outside(retriever: Retriever) -> None:
    model = retriever.model
    assert model is not None
    by_words = replace(model, scope=replace(SCOPE, weights=(-1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0)))  # its vectors mean nothing
    sure, unsure = (Retriever(retriever.index, by_words).search(q).confidence for q in ("la farine du pain", "zyzzyva quokka"))
    assert sure is not None
    assert unsure is not None
    assert unsure < sure


def test_of_a_query_in_another_language_it_is_not_known(retriever: Retriever) -> None:
    hits = retriever.search("what is the price of farine and pain")
    assert len(hits) > 0
    assert (hits.understood.language, hits.confidence, hits.probably_outside) == ("en", None, None)
    assert retriever.search("what is the rule of L121-1 du code de la boulangerie").confidence == 1.0, "what it names is there"


@pytest.mark.parametrize("mode", [Mode.BM25, Mode.VECTOR, Mode.HIERARCHICAL])
def test_other_modes_do_not_say(retriever: Retriever, mode: Mode) -> None:
    hits = retriever.search("la farine du pain", mode)
    assert (hits.confidence, hits.probably_outside) == (None, None)


def test_a_filter_leaves_it_open(retriever: Retriever) -> None:
    hits = retriever.search("la farine du pain", filter=Filter(act="Code de la boulangerie"))
    assert hits
    assert (hits.confidence, hits.probably_outside) == (None, None)


def test_a_model_that_has_not_learnt_it_leaves_it_open(retriever: Retriever) -> None:
    model = retriever.model
    assert model is not None
    for other in (None, replace(model, scope=None)):
        hits = Retriever(retriever.index, other).search("la farine du pain")
        assert hits
        assert (hits.confidence, hits.probably_outside) == (None, None)
