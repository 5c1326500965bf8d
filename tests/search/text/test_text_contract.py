"""What every text index must do, whichever it is: the same assertions on bm25s and on Elasticsearch."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.read import read_corpus
from search.modes import Mode
from search.retrieval import DEEPEST, Retriever
from search.text.elasticsearch import ElasticText
from search.text.elasticsearch_build import load_law
from search.text.index import TextIndex, build_text_index, open_text_index
from search.text.options import Bm25Options
from search.text.words import group_documents, tokenised
from tests.search.text.test_bm25 import plain_bm25, tokenised_query
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

QUERIES = ["pain", "pain pain farine", "boulanger licenciement malade", "article L. 111-1", "l'inspecteur du moulin zzz"]
LUCENE_SYNTAX = [
    "pain AND NOT pain",
    "words:pain",
    '"pain',
    "pain~2",
    "(pain",
    "pain^9 +farine",
    "pa*",
    "/pain/",
    "\\pain",
    "[a TO z] pain",
]
FILTERS = [
    Filter(),
    Filter(act=BAKERS_ID),
    Filter(act=MILLERS_ID),
    Filter(section=f"{BAKERS_ID}/partie-legislative"),
    Filter(section=f"{BAKERS_ID}/partie-legislative/livre-ii"),
    Filter(in_force_on=date(1980, 1, 1)),
    Filter(in_force_on=date(2030, 1, 1)),
    Filter(in_force_on=date(1900, 1, 1)),
    Filter(BAKERS_ID, f"{BAKERS_ID}/partie-legislative/livre-ii", date(2030, 1, 1)),
]


@pytest.fixture(scope="module", params=["bm25s", pytest.param("Elasticsearch", marks=pytest.mark.servers)])
def index(request: pytest.FixtureRequest, tiny_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextIndex]:
    server: ElasticText | None = None
    if request.param == "Elasticsearch":
        server = ElasticText(
            Settings(text=request.getfixturevalue("elasticsearch_server").address, text_prefix=f"contract-{uuid4().hex[:8]}")
        )
    home = tmp_path_factory.mktemp("contract")
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
        if server is not None:
            load_law(server, corpus, text, Bm25Options())
    build_text_index(home, corpus, text, Bm25Options(), server=server)
    yield open_text_index(home, corpus.sha256, Bm25Options(), server=server)
    if server is not None:
        server.close()


@pytest.mark.parametrize("query", QUERIES)
def test_scores_are_the_formula(index: TextIndex, tiny_home: Path, query: str) -> None:
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
    words, above = tokenised(corpus, text)
    options = Bm25Options()
    lists = index.lexical.lists(query, Filter())
    asked = tokenised_query(query)
    np.testing.assert_allclose(lists["bm25"], plain_bm25(words, asked, options.k1, options.b), rtol=1e-5, atol=1e-6)
    groups = list(group_documents(corpus, words, above))
    expected = np.array(plain_bm25(groups, asked, options.section_k1, options.section_b))[corpus.group]
    np.testing.assert_allclose(lists["section"], expected, rtol=1e-5, atol=1e-6)
    assert lists["bm25"].dtype == lists["section"].dtype == np.float32


@pytest.mark.parametrize("sections", [True, False])
def test_several_queries_at_once_are_answered_as_each_by_itself(index: TextIndex, sections: bool) -> None:
    queries = [QUERIES[0], "zzz", "…", *QUERIES]
    together = index.lexical.lists_of(queries, Filter(), sections=sections)
    assert len(together) == len(queries)
    for query, lists in zip(queries, together, strict=True):
        alone = index.lexical.lists(query, Filter(), sections=sections)
        assert lists.keys() == alone.keys() == ({"bm25", "section"} if sections else {"bm25"})
        for name, scores in lists.items():
            np.testing.assert_array_equal(scores, alone[name])
    assert index.lexical.lists_of(["…"], Filter(), sections=sections)[0]["bm25"].tolist() == [0] * len(index.corpus.articles)


@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_what_passes_a_filter_has_the_score_that_it_has_without(index: TextIndex, filter: Filter) -> None:
    mask = index.corpus.passing(filter)
    free = index.lexical.lists("pain boulanger moulin farine annexe", Filter())
    filtered = index.lexical.lists("pain boulanger moulin farine annexe", filter)
    for name in ("bm25", "section"):
        np.testing.assert_allclose(filtered[name][mask], free[name][mask], rtol=1e-6)
    assert free["bm25"].any()


@pytest.mark.parametrize("mode", [Mode.BM25, Mode.HYBRID])
@pytest.mark.parametrize("filter", FILTERS, ids=repr)
def test_a_page_has_what_answers_and_passes(index: TextIndex, filter: Filter, mode: Mode) -> None:
    mask = index.corpus.passing(filter)
    retriever = Retriever(index, None)
    words = "pain boulanger moulin farine"
    everywhere = retriever.search(words, Mode.BM25, first=DEEPEST)
    expected = {hit.id for hit in everywhere if mask is None or mask[hit.position]}
    hits = retriever.search(words, mode, filter=filter, first=DEEPEST)
    assert expected == {hit.id for hit in hits if "bm25" in hit.places and hit.places["bm25"].score > 0}
    assert all(mask is None or mask[hit.position] for hit in hits)
    assert hits.degraded == ()


@pytest.mark.parametrize("query", LUCENE_SYNTAX)
def test_a_query_is_words_and_never_a_language(index: TextIndex, query: str) -> None:
    """What these would mean to Lucene is not what they say: each asks for its words."""
    plain = "".join(c if c.isalnum() else " " for c in query)
    for name, scores in index.lexical.lists(query, Filter()).items():
        np.testing.assert_allclose(scores, index.lexical.lists(plain, Filter())[name], rtol=1e-6)


@pytest.mark.parametrize("query", ["zzz xylophone", "de la du", "…", "\x00", "😀", "x" * 40_000])
def test_a_query_without_a_known_word_scores_nothing(index: TextIndex, query: str) -> None:
    lists = index.lexical.lists(query, Filter())
    assert not any(scores.any() for scores in lists.values())
    assert all(len(scores) == len(index.corpus.articles) for scores in lists.values())
    assert Retriever(index, None, max_query_characters=1 << 20).search(query) == []


def test_a_long_query_is_answered(index: TextIndex) -> None:
    words = " ".join(f"mot{i}" for i in range(1500))
    scores = index.lexical.lists(words + " pain", Filter())["bm25"]
    np.testing.assert_allclose(scores, index.lexical.lists("pain", Filter())["bm25"], rtol=1e-5)
