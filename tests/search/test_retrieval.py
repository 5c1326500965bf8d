"""From a query to a page of hits: filters, pages, refusals, and why each hit is there."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from cypher.engines.ladybug import open_graph
from schema.errors import BadQuery, NotFound, NotReady
from schema.filter import Filter
from search.arrays import Matrix, Scores
from search.corpus.corpus import NO_END, NO_START, Corpus, Mask
from search.corpus.read import read_corpus
from search.modes import Mode
from search.ranking.candidates import FEATURES
from search.ranking.reranker import Reranker
from search.ranking.trees import no_trees
from search.retrieval import DEEPEST, IN_FULL, Retriever
from search.text.index import build_text_index, open_text_index
from search.text.options import Bm25Options
from search.vectors.encoding import Encoding
from search.vectors.model import QuestionMemory, VectorModel
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

DIMENSIONS = 8


def retriever_of(home: Path, *, with_model: bool) -> Retriever:
    with open_graph(home) as graph:
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
    index = open_text_index(home, sha256, Bm25Options())
    return Retriever(index, random_model(index.corpus) if with_model else None)


def random_model(corpus: Corpus) -> VectorModel:
    """A model whose vectors mean nothing: every article has a cosine, none is shut out."""
    random = np.random.default_rng(7)

    def units(n: int) -> Matrix:
        found = random.normal(size=(n, DIMENSIONS)).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def encode(queries: Sequence[str]) -> Matrix:
        return units(len(queries))

    n, m, k = len(corpus.articles), len(corpus.sections), len(corpus.acts)
    return VectorModel(
        id="random",
        encoding=Encoding(encode),
        articles=units(n),
        sections=units(m),
        acts=units(k),
        bias=np.zeros(n, np.float32),
        scale=10.0,
        weights={"vector": 1.0, "bm25": 0.5, "section": 0.5},
    )


@pytest.fixture(scope="module")
def lexical(tiny_home: Path) -> Retriever:
    return retriever_of(tiny_home, with_model=False)


@pytest.fixture(scope="module")
def dense(tiny_home: Path) -> Retriever:
    return retriever_of(tiny_home, with_model=True)


def passes(retriever: Retriever, filter: Filter) -> Mask:
    """Which articles pass a filter, found out one by one from the identifiers and the days."""
    corpus = retriever.corpus
    days = None if filter.in_force_on is None else (filter.in_force_on - date(1970, 1, 1)).days

    def one(i: int) -> bool:
        above: list[str] = []
        parent = int(corpus.article_parent[i])
        while parent >= 0:
            above.append(corpus.sections[parent])
            parent = int(corpus.section_parent[parent])
        in_act = filter.act is None or corpus.articles[i].startswith(filter.act + "/")
        in_force = days is None or corpus.valid_from[i] <= days < corpus.valid_to[i]
        return in_act and in_force and (filter.section is None or filter.section in above)

    return np.array([one(i) for i in range(len(corpus.articles))])


def all_filters(retriever: Retriever) -> list[Filter]:
    days = [date(1970, 1, 1) + timedelta(days) for days in (-1, 0, 9_999, 10_000, 19_999, 20_000)]
    acts, sections = [None, *retriever.corpus.acts], [None, *retriever.corpus.sections]
    return [Filter(*choice) for choice in product(acts, sections, [None, *days])]


def test_without_a_model_a_page_has_every_article_that_passes_and_shares_a_word(lexical: Retriever) -> None:
    unfiltered = {hit.id: hit for hit in lexical.search("pain boulanger moulin farine", Mode.BM25, first=DEEPEST)}
    assert len(unfiltered) > 5
    for filter in all_filters(lexical):
        allowed = passes(lexical, filter)
        expected = {id for id, hit in unfiltered.items() if allowed[hit.position]}
        assert {hit.id for hit in lexical.search("pain boulanger moulin farine", Mode.BM25, filter=filter)} == expected
        hybrid = {hit.id for hit in lexical.search("pain boulanger moulin farine", filter=filter)}
        assert expected <= hybrid
        assert all(allowed[lexical.corpus.article_position[id]] for id in hybrid)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.VECTOR, Mode.HIERARCHICAL])
def test_with_a_model_a_page_has_every_article_that_passes(dense: Retriever, mode: Mode) -> None:
    for filter in all_filters(dense):
        found = {hit.position for hit in dense.search("qui se repose", mode, filter=filter)}
        assert found == set(np.flatnonzero(passes(dense, filter)).tolist())


@pytest.mark.xdist_group("real law")
def test_no_filter_lets_through_or_loses_an_answer_of_real_law(real_home: Path, tmp_path: Path) -> None:
    """Far more articles pass than the head of a list has: what does not pass must stay out all the same."""
    with open_graph(real_home) as graph:
        corpus, text = read_corpus(graph)
    build_text_index(tmp_path, corpus, text, Bm25Options())
    index = open_text_index(tmp_path, corpus.sha256, Bm25Options())
    labour = "fr/LEGITEXT000006072050"
    section = next(id for id in corpus.sections if id.startswith("fr/LEGITEXT000006073189/"))
    filters = (
        Filter(act=labour),
        Filter(section=section),
        Filter(in_force_on=date(2010, 1, 1)),
        Filter(labour, None, date(2010, 1, 1)),
    )
    for model in (None, random_model(corpus)):
        retriever = Retriever(index, model)
        for filter, mode in product(filters, Mode if model else (Mode.HYBRID, Mode.BM25)):
            hits = retriever.search("préavis de licenciement et congés payés", mode, filter=filter, first=DEEPEST)
            mask = retriever.corpus.passing(filter)
            assert mask is not None
            assert hits, (filter, mode)
            assert all(mask[hit.position] for hit in hits), (filter, mode)


def test_pages_follow_each_other(lexical: Retriever) -> None:
    whole = [hit.id for hit in lexical.search("pain farine", first=DEEPEST)]
    pages = [hit.id for offset in range(0, 12, 3) for hit in lexical.search("pain farine", first=3, offset=offset)]
    assert pages == whole
    assert len(set(whole)) == len(whole)
    assert lexical.search("pain farine", first=0) == []
    assert lexical.search("pain farine", offset=DEEPEST) == []


def test_hits_say_why_they_are_there(lexical: Retriever) -> None:
    hits = lexical.search("baguette", Mode.BM25)
    assert [hit.id for hit in hits] == [f"{BAKERS_ID}/L111-2"]
    assert hits[0].places["bm25"].rank == 1
    assert hits[0].places["bm25"].score == pytest.approx(hits[0].score)
    hybrid = lexical.search("baguette")
    assert hybrid[0].id == f"{BAKERS_ID}/L111-2"
    assert {name: place.rank for name, place in hybrid[0].places.items()} == {"bm25": 1, "section": 1}
    assert [hit.score for hit in hybrid] == sorted((hit.score for hit in hybrid), reverse=True)


@pytest.mark.parametrize("filter", [Filter(), Filter(act=MILLERS_ID)])
@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25])
def test_where_no_word_of_the_query_is_there_the_page_is_empty(lexical: Retriever, mode: Mode, filter: Filter) -> None:
    assert lexical.search("xylophone zzz", mode, filter=filter) == []


@pytest.mark.parametrize("query", ["", "  \n\t ", "pain " * 500])
def test_an_empty_or_too_long_query_is_refused(lexical: Retriever, query: str) -> None:
    with pytest.raises(BadQuery, match=r"empty|2,499 characters; at most 2,000") as caught:
        lexical.search(query)
    assert (caught.value.exit_code, caught.value.http_status) == (64, 400)


@pytest.mark.parametrize(("first", "offset"), [(-1, 0), (10, -1)])
def test_a_page_that_is_none_is_refused(lexical: Retriever, first: int, offset: int) -> None:
    with pytest.raises(BadQuery, match="not a page"):
        lexical.search("pain", first=first, offset=offset)


@pytest.mark.parametrize("filter", [Filter(act="fr/nothing"), Filter(section=f"{BAKERS_ID}/nothing"), Filter(act="")])
def test_a_filter_on_what_is_not_there_says_so(lexical: Retriever, filter: Filter) -> None:
    with pytest.raises(NotFound, match="no such") as caught:
        lexical.search("pain", filter=filter)
    assert caught.value.http_status == 404


@pytest.mark.parametrize("mode", [Mode.VECTOR, Mode.HIERARCHICAL])
def test_without_a_model_vectors_are_not_ready(lexical: Retriever, mode: Mode) -> None:
    with pytest.raises(NotReady, match="run `lexgraph train`"):
        lexical.search("pain", mode)


@pytest.mark.parametrize("pooled", [True, False])
def test_a_weight_for_authority_moves_the_more_cited_article_up(dense: Retriever, pooled: bool) -> None:
    query, corpus = "la farine de blé", dense.corpus
    cited, uncited = (corpus.article_position[f"{BAKERS_ID}/{number}"] for number in ("L111-1", "R111-1"))
    assert corpus.authority[cited] == corpus.authority.max()
    assert corpus.authority[uncited] == corpus.authority.min()

    def scored(weights: dict[str, float], filter: Filter = Filter()) -> Scores:
        assert dense.model is not None
        model = replace(dense.model, weights={"bm25": 1.0, **weights})
        return Retriever(dense.index, model).scores(query, filter=filter, pooled=pooled)[0]

    before, after = scored({}), scored({"authority": 2.0})
    np.testing.assert_array_equal(scored({"authority": 0.0}), before)
    assert before[uncited] > before[cited]
    assert after[cited] > after[uncited]
    by_authority = np.argsort(-(after - before), kind="stable") if not pooled else np.array([cited])
    assert by_authority[0] == cited, "nothing gains more than the most cited article"

    mask = passes(dense, Filter(act=MILLERS_ID))
    np.testing.assert_array_equal(np.isfinite(scored({"authority": 2.0}, Filter(act=MILLERS_ID))), mask)
    assert dense.model is not None
    with_authority = Retriever(dense.index, replace(dense.model, weights={"bm25": 1.0, "authority": 1.0}))
    assert all(hit.places["authority"].rank >= 1 for hit in with_authority.search(query))


def test_likeness_to_the_first_answers_is_a_reason_of_pooled_hits_alone(dense: Retriever) -> None:
    assert dense.model is not None
    without = Retriever(dense.index, dense.model, feedback=0)
    hits = dense.search("le pain", first=5)
    assert all("feedback" in hit.places for hit in hits)
    assert not any("feedback" in hit.places for hit in dense.search("le pain", first=5, pooled=False))
    assert not any("feedback" in hit.places for hit in without.search("le pain", first=5))
    plain, moved = (one.scores("le pain")[0] for one in (without, dense))
    assert not np.array_equal(plain, moved)
    assert np.array_equal(np.isfinite(plain), np.isfinite(moved))


def test_a_reranker_that_learnt_nothing_leaves_the_order_even_where_votes_outweigh_a_heading(dense: Retriever) -> None:
    corpus, asked = dense.corpus, "Des annexes"
    voted = corpus.article_position[f"{BAKERS_ID}/L111-1"]
    vote = sparse.csr_array((np.ones(1, np.float32), ([0], [voted])), shape=(1, len(corpus.articles)))
    vector = np.eye(1, DIMENSIONS, dtype=np.float32)
    assert dense.model is not None
    model = replace(
        dense.model,
        encoding=Encoding(lambda queries: np.repeat(vector, len(queries), axis=0)),
        questions=QuestionMemory(vector, vote),
        weights={**dense.model.weights, "questions": 16.0},
        reranker=Reranker(no_trees(FEATURES), 1.0),
    )
    plain, reranked = (Retriever(dense.index, model, reranks=reranks).rank(asked) for reranks in (False, True))
    said = plain.lists["heading"].scores > IN_FULL
    assert said.any(), "the query is a heading"
    assert not said[voted]
    assert plain.scores.argmax() == voted, "and a training question says more"
    np.testing.assert_array_equal(reranked.scores, plain.scores)
    assert reranked.reranked is not None


def test_an_article_without_days_is_always_in_force(lexical: Retriever) -> None:
    corpus = lexical.corpus
    assert (corpus.valid_from > NO_START).all(), "all of the tiny law begins on some day"
    assert (corpus.valid_to == NO_END).sum() == len(corpus.articles) - 1, "one article ends"
    assert not corpus.in_force_on(date(1900, 1, 1)).any()
    assert corpus.in_force_on(date(9999, 12, 31)).sum() == len(corpus.articles) - 1
