"""Addresses at the publisher, citations that leave the graph, and texts of a day, over GraphQL."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.settings import Settings
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.api.conftest import ask, no_model
from tests.support.dated_law import write_dated_law
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, statute

LEGIFRANCE = "https://www.legifrance.gouv.fr"


@pytest.fixture(scope="module")
def dated_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The app over the dated law and two wordings of a Luxembourg act, both with their text."""
    home: Path = tmp_path_factory.mktemp("dated")
    ingest(EmbeddedStore(home), write_dated_law(home / "law"))
    for day, text in (("2001-02-01", "Le four est déclaré."), ("2010-01-01", "Le four est contrôlé.")):
        path = statute(home / "acts", 1, text)
        path.write_text(path.read_text("utf-8").replace('last_updated: "2001-02-01"', f'last_updated: "{day}"'), "utf-8")
        ingest(EmbeddedStore(home), home / "acts")
    with open_graph(home) as graph:
        build_text_index(home, *read_corpus(graph), Bm25Options())
    with TestClient(make_app(Settings(home=home), no_model)) as client:
        yield client


def test_all_that_the_publisher_has_an_address_for_has_one(dated_client: TestClient) -> None:
    query = """query($act: ID!, $section: ID!, $lu: ID!) { act(id: $act) { url } section(id: $section) { url }
      article(act: $act, number: "L111-1") { url ancestors { url } wordings { edges { node { url } } } }
      lu: act(id: $lu) { url contents { edges { node { url } } } } }"""
    section = f"{BAKERS_ID}/partie-legislative/livre-ier"
    found = ask(dated_client, query, act=BAKERS_ID, section=section, lu="lu/leg-loi-2001-02-01-n1")
    code = f"{LEGIFRANCE}/codes/texte_lc/{BAKERS}"
    book = f"{LEGIFRANCE}/codes/section_lc/{BAKERS}/LEGISCTA000000000002"
    assert (found["act"]["url"], found["section"]["url"]) == (code, book)
    assert found["article"]["url"] == f"{LEGIFRANCE}/codes/article_lc/LEGIARTI000000000001"
    assert [above["url"] for above in found["article"]["ancestors"]][::2] == [code, book]
    assert found["lu"]["url"] == "http://data.legilux.public.lu/eli/etat/leg/loi/2001/02/01/n1/jo"
    assert found["lu"]["contents"]["edges"][0]["node"]["url"] is None


def test_citations_that_leave_the_graph_are_shown(dated_client: TestClient) -> None:
    query = """query($act: ID!) { article(act: $act, number: "L121-2") {
      citesOutside { totalCount pageInfo { hasNextPage } edges { text start end kind target targetKind url } } } }"""
    article = ask(dated_client, query, act=BAKERS_ID)["article"]
    assert article["citesOutside"] == {
        "totalCount": 1,
        "pageInfo": {"hasNextPage": False},
        "edges": [{
            "text": "article L. 9", "start": 45, "end": 57, "kind": "link", "target": "LEGIARTI000000000999",
            "targetKind": "article", "url": None,
        }],
    }  # fmt: skip


def test_the_wording_of_a_day_never_has_another_days_text(dated_client: TestClient) -> None:
    query = """query($act: ID!, $on: Date!) { article(act: $act, number: "L2") {
      wording(on: $on) { text validFrom validTo url } } }"""
    now, then, never = (
        ask(dated_client, query, act=MILLERS_ID, on=day)["article"]["wording"]
        for day in ("2020-01-01", "1990-01-01", "1950-01-01")
    )
    assert now["text"].startswith("Le moulin")
    assert now["url"].endswith("/LEGIARTI000000000022")
    assert then == {
        "text": None, "validFrom": "1970-01-01", "validTo": "2000-01-01",
        "url": f"{LEGIFRANCE}/codes/article_lc/LEGIARTI000000000220",
    }  # fmt: skip
    assert never is None


def test_a_difference_from_a_wording_that_is_not_known_says_so(dated_client: TestClient) -> None:
    query = """query($id: ID!, $from: Date!) { difference(article: $id, from: $from, to: "2020-01-01") {
      same spans { text } from { state wording { validFrom text } knownFrom } to { state } } }"""

    def since(day: str) -> dict[str, Any]:
        return ask(dated_client, query, id=f"{MILLERS_ID}/L2", **{"from": day})["difference"]

    unknown = {"same": None, "spans": None, "to": {"state": "SAME"}}
    dates_alone = {"state": "UNKNOWN", "wording": {"validFrom": "1970-01-01", "text": None}, "knownFrom": None}
    assert since("1990-01-01") == unknown | {"from": dates_alone}
    assert since("1950-01-01") == unknown | {"from": {"state": "UNKNOWN", "wording": None, "knownFrom": None}}


def test_hits_say_whether_the_text_of_the_filters_day_is_known(dated_client: TestClient) -> None:
    query = """query($words: String!, $filter: SearchFilter) { search(query: $words, filter: $filter, first: 1) {
      edges { textOfDay snippet { text } node { id } } } }"""

    def first(words: str, **only: str) -> tuple[str | None, str]:
        (edge,) = ask(dated_client, query, words=words, filter=only or None)["search"]["edges"]
        return edge["textOfDay"], edge["snippet"]["text"]

    assert first("moulin")[0] is None
    assert first("moulin", inForceOn="2020-01-01")[0] == "SAME"
    assert first("moulin", inForceOn="1990-01-01")[0] == "UNKNOWN"
    assert first("four", inForceOn="2005-01-01", jurisdiction="lu") == ("OTHER", "Le four est déclaré.")
    assert first("four", inForceOn="2015-01-01", jurisdiction="lu") == ("SAME", "Le four est contrôlé.")
