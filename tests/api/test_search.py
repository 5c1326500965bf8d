"""Search over GraphQL: hits, reasons, filters, pages, modes, and what is refused."""

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.ladybug import EmbeddedGraph
from cypher.graph import Graph
from schema.settings import Settings
from search.corpus.corpus import Corpus
from search.query.terms import Terms
from search.ranking.candidates import FEATURES
from search.ranking.reranker import Reranker
from search.ranking.scope import EVIDENCE, Scope
from search.ranking.trees import Trees
from search.text.protocol import EmbeddedLexical
from search.text.snippets import Snippet
from search.vectors.model import VectorModel
from tests.api.conftest import answer, ask, refusal, word_model
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

SEARCH = """query($query: String!, $mode: SearchMode! = HYBRID, $filter: SearchFilter, $first: Int! = 10, $after: String,
    $pooled: Boolean! = true) {
  search(query: $query, mode: $mode, filter: $filter, first: $first, after: $after, pooled: $pooled) {
    model edges { cursor score node { id } places { list rank score } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }"""
MODES = ("HYBRID", "BM25", "VECTOR", "HIERARCHICAL")
ALL = "le pain, la farine, le boulanger, le meunier, un inspecteur, le licenciement"


def found(client: TestClient, query: str, **variables: Any) -> list[str]:
    return [edge["node"]["id"] for edge in ask(client, SEARCH, query=query, **variables)["search"]["edges"]]


def test_a_hit_says_why_it_is_there(client: TestClient) -> None:
    query = """{ search(query: "Combien pèse la baguette ?", first: 1) { tookMs model edges { score node { number act { title } }
      places { list rank score } snippet { text words marks { start end } } } } }"""
    page = ask(client, query)["search"]
    assert page["model"] is None
    assert page["tookMs"] > 0
    hit = page["edges"][0]
    assert hit["node"] == {"number": "L111-2", "act": {"title": "Code de la boulangerie"}}
    assert {place["list"]: place["rank"] for place in hit["places"]}["bm25"] == 1
    snippet = hit["snippet"]
    assert snippet["text"].startswith("La baguette pèse deux cent cinquante grammes")
    assert [snippet["text"][mark["start"] : mark["end"]] for mark in snippet["marks"]] == ["baguette", "pèse"]
    assert snippet["words"] == ["baguette", "pèse"]


def test_a_reranked_hit_says_how_far_it_was_moved_and_by_what(tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = np.zeros((1, 3), np.int32)
    least = np.full((1, 3), -np.inf)  # of the first feature: all go right
    stump = Trees(FEATURES, node - [[0, 1, 1]], least, node + 1, node + 2, np.array([[0.0, -1.0, 2.0]]))

    def model_of(graph: Graph, corpus: Corpus) -> VectorModel:
        return replace(word_model(graph, corpus), reranker=Reranker(stump, 1.0))

    query = """{ search(query: "le pain", first: 2) { edges { move { places reasons { feature amount } } } } }"""
    with TestClient(make_app(Settings(home=tiny_home), model_of)) as client:
        moves = [edge["move"] for edge in ask(client, query)["search"]["edges"]]
    assert moves == [{"places": 0, "reasons": [{"feature": FEATURES[0], "amount": 2.0}]}] * 2
    monkeypatch.setenv("LEXGRAPH_RERANK", "false")
    with TestClient(make_app(Settings(home=tiny_home), model_of)) as client:
        assert [edge["move"] for edge in ask(client, query)["search"]["edges"]] == [None, None], "the setting turns it off"


def test_a_text_index_that_analyses_in_its_own_way_marks_its_words(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, int]] = []

    def highlights(index: object, query: str, ids: list[str]) -> dict[str, Snippet]:
        asked.append((query, len(ids)))
        return {ids[0]: Snippet("Les baguettes.", ((4, 13),))}

    monkeypatch.setattr(EmbeddedLexical, "highlights", highlights)
    monkeypatch.setattr(EmbeddedLexical, "marks", True)
    edges = ask(client, '{ search(query: " pain ", first: 2) { edges { snippet { text words } } } }')["search"]["edges"]
    assert edges[0]["snippet"] == {"text": "Les baguettes.", "words": ["baguettes"]}
    assert "pain" in edges[1]["snippet"]["words"], "what it says nothing of is marked here"
    assert asked == [("pain", 2)], "one question for the whole page"


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_article_with_the_words_of_the_question(model_client: TestClient, mode: str) -> None:
    page = ask(model_client, SEARCH, query="le moulin est contrôlé par un inspecteur", mode=mode)["search"]
    assert page["edges"][0]["node"]["id"] == f"{MILLERS_ID}/L2"
    assert page["model"] == "words-1"
    lists = {place["list"] for place in page["edges"][0]["places"]}
    assert lists == {"HYBRID": {"vector", "bm25", "section", "feedback"}}.get(mode, {mode.lower()})


@pytest.mark.parametrize("mode", ["VECTOR", "HIERARCHICAL"])
def test_modes_that_need_a_model_say_how_to_make_one(client: TestClient, mode: str) -> None:
    assert refusal(client, SEARCH, query="pain", mode=mode) == ("no model is active: run `lexgraph train`", "NotReady")


def test_pooling_can_be_left_out(client: TestClient) -> None:
    pooled, alone = (ask(client, SEARCH, query="farine", pooled=choice)["search"]["edges"] for choice in (True, False))
    assert pooled[0]["score"] != alone[0]["score"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("first", [1, 3, 100])
def test_pages_walk_every_hit_once_in_the_order_of_one_long_page(model_client: TestClient, mode: str, first: int) -> None:
    whole = found(model_client, ALL, mode=mode, first=100)
    walked: list[str] = []
    after = None
    while True:
        page = ask(model_client, SEARCH, query=ALL, mode=mode, first=first, after=after)["search"]
        info = page["pageInfo"]
        assert info["hasPreviousPage"] == bool(walked)
        assert (info["startCursor"], info["endCursor"]) == (page["edges"][0]["cursor"], page["edges"][-1]["cursor"])
        walked += [edge["node"]["id"] for edge in page["edges"]]
        if not info["hasNextPage"]:
            break
        after = info["endCursor"]
    assert walked == whole
    assert len(set(walked)) == len(walked) >= 5


def test_a_page_without_hits_has_no_cursors(client: TestClient) -> None:
    page = ask(client, SEARCH, query="xylophone", mode="BM25")["search"]
    assert page["edges"] == []
    assert page["pageInfo"] == {"hasNextPage": False, "hasPreviousPage": False, "startCursor": None, "endCursor": None}


@pytest.mark.parametrize("mode", MODES)
def test_the_filter_by_act_lets_only_its_articles_answer(model_client: TestClient, mode: str) -> None:
    hits = found(model_client, ALL, mode=mode, filter={"act": MILLERS_ID})
    assert set(hits) == {f"{MILLERS_ID}/L1", f"{MILLERS_ID}/L2"}


@pytest.mark.parametrize("mode", MODES)
def test_the_filter_by_section_lets_only_articles_below_it_answer(model_client: TestClient, mode: str) -> None:
    hits = found(model_client, ALL, mode=mode, filter={"section": f"{BAKERS_ID}/partie-legislative/livre-ii"})
    assert set(hits) == {f"{BAKERS_ID}/L121-1", f"{BAKERS_ID}/L121-2"}


def test_the_filter_by_day_keeps_articles_from_their_first_day_until_the_day_before_their_end(client: TestClient) -> None:
    def in_force(day: str) -> set[str]:
        hits = found(client, "boulanger", filter={"section": f"{BAKERS_ID}/partie-legislative/livre-ii", "inForceOn": day})
        return {id.rpartition("/")[2] for id in hits}

    assert in_force("1997-05-18") == {"L121-2"}  # L121-1 begins on day 10,000
    assert in_force("1997-05-19") == {"L121-1", "L121-2"}
    assert in_force("2024-10-03") == {"L121-1", "L121-2"}
    assert in_force("2024-10-04") == {"L121-1"}  # L121-2 ended before day 20,000


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "there", "nowhere"), [("kind", "code", "directive"), ("jurisdiction", "fr", "lu")])
def test_the_filters_by_kind_and_jurisdiction_look_at_the_act(
    model_client: TestClient, mode: str, name: str, there: str, nowhere: str
) -> None:
    assert found(model_client, ALL, mode=mode, filter={name: there}) == found(model_client, ALL, mode=mode)
    assert found(model_client, ALL, mode=mode, filter={name: there.upper()}) == found(model_client, ALL, mode=mode)
    message, kind = refusal(model_client, SEARCH, query=ALL, mode=mode, filter={name: nowhere})
    assert f"{nowhere}; nearest: {there}" in message
    assert kind == "BadQuery"


def test_conditions_of_a_filter_must_all_hold(client: TestClient) -> None:
    where = {"act": MILLERS_ID, "section": f"{BAKERS_ID}/partie-legislative"}
    assert found(client, "farine", filter=where) == []


@pytest.mark.parametrize(
    ("variables", "problem", "code"),
    [
        ({"query": ""}, "the query is empty", "BadQuery"),
        ({"query": " \n\t "}, "the query is empty", "BadQuery"),
        ({"query": "a" * 100_000}, "the query has 100,000 characters; at most 2,000 are answered", "BadQuery"),
        ({"query": "pain", "first": 0}, "first: 0 is not between 1 and 100", "BadQuery"),
        ({"query": "pain", "first": -1}, "first: -1 is not between 1 and 100", "BadQuery"),
        ({"query": "pain", "first": 1000}, "first: 1000 is not between 1 and 100", "BadQuery"),
        ({"query": "pain", "after": ""}, "after: '' is not a cursor of this list", "BadQuery"),
        ({"query": "pain", "after": "é\ud83d"}, "is not a cursor of this list", "BadQuery"),
        ({"query": "pain", "after": "MTAuYWJj"}, "after: 'MTAuYWJj' is not a cursor of this list", "BadQuery"),
        ({"query": "pain", "filter": {"act": "fr/NOTHING"}}, "no such act: fr/NOTHING", "NotFound"),
        ({"query": "pain", "filter": {"section": BAKERS_ID}}, f"no such section: {BAKERS_ID}", "NotFound"),
        ({"query": "pain", "filter": {"inForceOn": "2024-02-30"}}, 'cannot represent a Date: "2024-02-30"', "BadQuery"),
        ({"query": "pain", "filter": {"inForceOn": "yesterday"}}, 'cannot represent a Date: "yesterday"', "BadQuery"),
        ({"query": "pain", "filter": {"inForceOn": 2024}}, "cannot represent a Date", "BadQuery"),
        ({"query": "pain", "first": 10**10}, "Int cannot represent non 32-bit signed integer value", "BadQuery"),
        ({"query": "pain", "mode": "MAGIC"}, "Value 'MAGIC' does not exist in 'SearchMode' enum", "BadQuery"),
    ],
)  # fmt: skip
def test_bad_input_is_named(client: TestClient, variables: dict[str, Any], problem: str, code: str) -> None:
    message, found_code = refusal(client, SEARCH, **variables)
    assert problem in message
    assert found_code == code


def test_a_cursor_belongs_to_one_search(client: TestClient) -> None:
    cursor = ask(client, SEARCH, query="pain", first=1)["search"]["pageInfo"]["endCursor"]
    for other in (
        {"query": "farine"},
        {"query": "pain", "mode": "BM25"},
        {"query": "pain", "filter": {"act": BAKERS_ID}},
        {"query": "pain", "filter": {"kind": "code"}},
    ):
        assert refusal(client, SEARCH, after=cursor, **other)[1] == "BadQuery"
    assert ask(client, SEARCH, query="pain", first=3, after=cursor)["search"]["edges"]  # the length of a page may change


@pytest.mark.parametrize(
    "query",
    [
        "🥖",
        "' OR 1=1 --",
        '"}) MATCH (n) DETACH DELETE n //',
        "\x00",
        "«»",
        "l'",
        "*",
        "pain\u0301",
        "ﬁ İ ß",
        "\ud83d",
        "$ids",
        "x" * 2000,
    ],
)
def test_any_text_is_a_query(model_client: TestClient, query: str) -> None:
    for mode in MODES:
        assert "errors" not in answer(model_client, SEARCH, query=query, mode=mode)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The statements that requests ask the graph, as they come; the service looks for newer law beside them."""
    statements: list[str] = []
    rows = EmbeddedGraph.rows

    def counted(graph: EmbeddedGraph, statement: str, **parameters: Any) -> Any:
        if threading.current_thread().name.startswith("request"):
            statements.append(statement)
        return rows(graph, statement, **parameters)

    monkeypatch.setattr(EmbeddedGraph, "rows", counted)
    return statements


NESTED = """query($query: String!, $first: Int!) { search(query: $query, first: $first) { edges { cursor snippet { text } node {
  id url act { title } parent { id } ancestors { id ... on Section { heading } } next { text } previous { text }
  siblings { edges { node { id act { title } } } } cites { edges { node { id ... on Article { act { title } } } } }
  history { edges { node { validFrom text } } renumberedTo { on } } wordings { totalCount } citesOutside { edges { target } }
  citedBy { edges { node { text act { title } ancestors { id } } } } } } } }"""
BREAD = "la farine du pain et le boulanger"


@pytest.mark.usefixtures("nothing_remembered")
def test_a_longer_page_costs_no_more_graph_queries(client: TestClient, asked: list[str]) -> None:
    def cost(first: int) -> list[str]:
        asked.clear()
        assert len(ask(client, NESTED, query=BREAD, first=first)["search"]["edges"]) == first
        return sorted(asked)

    short = cost(2)
    assert len(cost(8)) <= len(short)
    assert {"acts_by_id", "sections_by_id", "contents", "cites", "cited_by"} <= set(short)


def test_what_was_read_of_a_release_is_not_read_again_and_says_the_same(
    client: TestClient, asked: list[str], request: pytest.FixtureRequest
) -> None:
    ask(client, NESTED, query=BREAD, first=8)
    asked.clear()
    again = client.post("/graphql", json={"query": NESTED, "variables": {"query": BREAD, "first": 8}})
    assert asked == []
    request.getfixturevalue("nothing_remembered")
    fresh = client.post("/graphql", json={"query": NESTED, "variables": {"query": BREAD, "first": 8}})
    assert asked
    assert again.content == fresh.content


READ = """query($query: String!, $filter: SearchFilter) { search(query: $query, filter: $filter, first: 3) {
    correctedQuery queryLanguage translatedQuery named missing { text message nearest { id } } confidence probablyOutside
    edges { node { id } places { list rank } } } }"""


def test_a_query_says_what_was_understood_of_it(client: TestClient) -> None:
    page = ask(client, READ, query="art. L. 121-1 du code de la boulangerie")["search"]
    assert page["named"] == [f"{BAKERS_ID}/L121-1"]
    assert page["edges"][0]["node"]["id"] == f"{BAKERS_ID}/L121-1"
    assert page["edges"][0]["places"][0] == {"list": "citation", "rank": 1}
    assert (page["missing"], page["correctedQuery"]) == ([], None)
    assert (page["confidence"], page["probablyOutside"]) == (None, None), "no model has learnt it"
    page = ask(client, READ, query="boulanjer", filter={"act": "Code de la Meunerie"})["search"]
    assert (page["correctedQuery"], page["queryLanguage"]) == ("boulanger", None)
    assert page["edges"][0]["node"]["id"] == f"{MILLERS_ID}/L1"


def test_a_page_says_how_sure_it_is(tiny_home: Path) -> None:
    def model_with(threshold: float) -> Callable[[Graph, Corpus], VectorModel]:
        scope = Scope((0.0,) * len(EVIDENCE), (1.0,) * len(EVIDENCE), (0.0,) * len(EVIDENCE), 0.0, threshold)
        return lambda graph, corpus: replace(word_model(graph, corpus), scope=scope)

    for threshold, outside in ((0.4, False), (0.6, True)):
        with TestClient(make_app(Settings(home=tiny_home), model_with(threshold))) as client:
            page = ask(client, READ, query="la farine du pain")["search"]
            assert (page["confidence"], page["probablyOutside"]) == (0.5, outside)
            assert page["edges"], "the hits are shown all the same"


def test_a_query_in_another_language_says_by_which_terms_it_was_searched(tiny_home: Path) -> None:
    def model_with(graph: Graph, corpus: Corpus) -> VectorModel:
        # Every word means the only term that there is.
        terms = Terms({"farine": 9}, {}, np.ones((1, 2), np.float32), lambda texts: np.ones((len(texts), 2), np.float32))
        return replace(word_model(graph, corpus), terms=terms)

    with TestClient(make_app(Settings(home=tiny_home), model_with)) as client:
        page = ask(client, READ, query="what is the flour of the bread?")["search"]
        assert (page["queryLanguage"], page["translatedQuery"]) == ("en", "farine farine")
        assert page["edges"][0]["places"][0]["list"] == "bm25"
        page = ask(client, READ, query="la farine du pain")["search"]
        assert (page["queryLanguage"], page["translatedQuery"]) == (None, None)


def test_an_article_that_is_missing_comes_with_the_nearest(client: TestClient) -> None:
    page = ask(client, READ, query="L121-9 du code de la boulangerie")["search"]
    (missing,) = page["missing"]
    assert missing["text"] == "L121-9 du code de la boulangerie"
    assert missing["message"].startswith("No article L121-9 in Code de la boulangerie; nearest: L121-2, L121-1")
    assert missing["nearest"][0] == {"id": f"{BAKERS_ID}/L121-2"}
    assert page["edges"] == []
