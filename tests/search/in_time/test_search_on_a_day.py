"""Search on a day, over all wordings, and in the present law, of a small history."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt
import pytest

from cypher.engines.ladybug import EmbeddedStore
from ingest.sources import ingest
from schema.errors import BadQuery
from schema.filter import Filter
from schema.settings import Settings
from search.arrays import Scores
from search.build import build_indexes
from search.corpus.read import read_corpus
from search.modes import Mode
from search.ranking.diversity import diversified
from search.ranking.fusion import standard_scores
from search.retrieval import Retriever
from search.text.analysis import query_tokens
from search.text.bm25 import Bm25Index
from search.text.elasticsearch import ElasticText
from search.text.elasticsearch_build import load_law
from search.text.index import build_text_index, open_text_index
from search.text.options import Bm25Options
from search.text.words import group_documents, tokenised
from tests.search.test_degraded import model_of
from tests.support.law_history import CODE_ID, write_history

IN_1910, IN_1960, IN_2018 = date(1910, 1, 1), date(1960, 1, 1), date(2018, 1, 1)
FAULT = "dommage causé à autrui par sa faute"


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("history")
    store = EmbeddedStore(folder / "home")
    ingest(store, write_history(folder / "repository"))
    with store.reading() as graph:
        build_indexes(store.home, read_corpus(graph), graph.rows("acts"), Bm25Options())
    return folder / "home"


@pytest.fixture(scope="module", params=["bm25s", pytest.param("Elasticsearch", marks=pytest.mark.servers)])
def retriever(request: pytest.FixtureRequest, home: Path) -> Iterator[Retriever]:
    server: ElasticText | None = None
    with EmbeddedStore(home).reading() as graph:
        corpus, text = read_corpus(graph)
    if request.param == "Elasticsearch":
        address = request.getfixturevalue("elasticsearch_server").address
        server = ElasticText(Settings(text=address, text_prefix=f"days-{uuid4().hex[:8]}"))
        load_law(server, corpus, text, Bm25Options())
        build_text_index(home, corpus, text, Bm25Options(), server=server)
    yield Retriever(open_text_index(home, corpus.sha256, Bm25Options(), server=server), None)
    if server is not None:
        server.close()


def numbers(retriever: Retriever, query: str, only: Filter = Filter(), mode: Mode = Mode.HYBRID) -> list[str]:
    return [hit.id.removeprefix(f"{CODE_ID}/") for hit in retriever.search(query, mode, filter=only)]


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25])
@pytest.mark.parametrize(("day", "first"), [(IN_1910, "10"), (IN_1960, "10"), (IN_2018, "20"), (None, "20")])
def test_the_article_that_said_it_that_day_is_first(retriever: Retriever, mode: Mode, day: date | None, first: str) -> None:
    assert numbers(retriever, FAULT, Filter(in_force_on=day), mode)[0] == first


def test_words_of_another_day_find_nothing_today(retriever: Retriever) -> None:
    assert numbers(retriever, "charbon syndic", Filter(in_force_on=IN_1910))[0] == "1"
    assert numbers(retriever, "charbon syndic", Filter(in_force_on=IN_1960), Mode.BM25) == []
    assert numbers(retriever, "charbon syndic", mode=Mode.BM25) == []
    assert numbers(retriever, "gaz préfet")[0] == "1"


def test_what_ended_is_no_hit_today_and_was_one(retriever: Retriever) -> None:
    assert "2" not in numbers(retriever, "eau du pétrin puisée au puits")
    assert numbers(retriever, "eau du pétrin puisée au puits", Filter(in_force_on=IN_1960))[0] == "2"
    assert numbers(retriever, "preuve par présomption", Filter(in_force_on=IN_1960), Mode.BM25) == []


def test_what_ended_takes_no_place_in_the_list_of_a_server(retriever: Retriever, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.text.elasticsearch.DEPTH", 1)  # as if more had ended than a server is asked for
    for only, first in ((Filter(in_force_on=IN_1910), "10"), (Filter(), "20"), (Filter(in_force_on=IN_2018), "20")):
        assert numbers(retriever, "dommage à autrui", only, Mode.BM25)[:1] == [first], only


def test_over_all_time_each_hit_says_a_day_of_its_wording(retriever: Retriever) -> None:
    hits = {hit.id.rpartition("/")[2]: hit.day for hit in retriever.search(FAULT, filter=Filter(across_time=True))}
    assert hits["20"] is None, "its present wording says it"
    assert hits["10"] == date(1900, 1, 1)
    old = retriever.search("charbon syndic", filter=Filter(across_time=True))[0]
    assert (old.id, old.day) == (f"{CODE_ID}/1", date(1900, 1, 1))


@pytest.mark.parametrize(
    "only", [Filter(), Filter(in_force_on=IN_1910), Filter(across_time=True)], ids=["now", "a day", "all days"]
)
def test_each_sentence_is_asked_of_the_law_of_that_day(retriever: Retriever, only: Filter) -> None:
    by_sentences = Retriever(retriever.index, replace(model_of(retriever.index), sentences=1.0))
    sentences = ["Le gaz du préfet, le charbon du syndic.", "Le dommage causé à autrui."]
    whole = by_sentences.scores(" ".join(sentences), filter=only)[1]
    alone = [by_sentences.scores(sentence, filter=only)[1] for sentence in sentences]
    for name in ("bm25", "section"):
        parts = np.mean([lists[name].comparable for lists in alone], axis=0)
        expected = standard_scores(np.asarray(whole[name].standard + parts, np.float32))
        np.testing.assert_allclose(whole[name].comparable, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    "only", [Filter(), Filter(in_force_on=IN_1910), Filter(across_time=True)], ids=["now", "a day", "all days"]
)
def test_the_first_answers_are_of_several_sections_of_that_day(
    retriever: Retriever, only: Filter, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = retriever.index
    given: list[npt.NDArray[np.integer]] = []

    def seen(scores: Scores, section: npt.NDArray[np.integer], weight: float) -> Scores:
        given.append(section)
        return diversified(scores, section, weight)

    monkeypatch.setattr("search.retrieval.diversified", seen)
    Retriever(index, replace(model_of(index), diversity=1.5)).search(FAULT, filter=only)
    assert index.history is not None
    law = index.history.asked(only)
    (sections,) = given
    np.testing.assert_array_equal(sections, index.corpus.article_parent if law is None else law.parents)
    assert len(set(sections.tolist())) > 1


def test_a_day_and_all_days_at_once_are_refused(retriever: Retriever) -> None:
    with pytest.raises(BadQuery, match="not both"):
        retriever.search(FAULT, filter=Filter(in_force_on=IN_1910, across_time=True))


def test_a_section_holds_what_stood_in_it_that_day(retriever: Retriever) -> None:
    old = next(
        id
        for id in retriever.corpus.sections
        if "livre-ii" in id and retriever.corpus.below(retriever.corpus.section_position[id]).any()
    )
    only = Filter(section=old, in_force_on=IN_1910)
    assert set(numbers(retriever, FAULT + " négligence", only)) == {"10", "11"}


def test_sections_of_a_day_score_as_an_index_of_that_day_would(retriever: Retriever, home: Path) -> None:
    """The present law's sections, made at the query, against those that were indexed."""
    corpus = retriever.corpus
    assert retriever.index.history is not None
    law = retriever.index.history.asked(Filter(in_force_on=date(2020, 6, 1)))
    assert law is not None
    with EmbeddedStore(home).reading() as graph:
        _, text = read_corpus(graph)
    words, above = tokenised(corpus, text)
    present = np.flatnonzero(corpus.present)
    tokens = query_tokens(FAULT + " négligence", ("fr",))
    options = Bm25Options()
    groups = sorted({*corpus.group[present].tolist()})
    documents = list(group_documents(corpus, words, above))
    index = Bm25Index.build([documents[group] for group in groups], k1=options.section_k1, b=options.section_b)
    expected = index.scores(tokens)[np.searchsorted(groups, corpus.group[present])]
    np.testing.assert_allclose(law.section_scores(tokens)[present], expected, rtol=1e-5, atol=1e-6)
