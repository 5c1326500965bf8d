"""The law in time over GraphQL: wordings, differences, changes, contents and hits of a day."""

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.ladybug import EmbeddedStore
from ingest.sources import ingest
from schema.settings import Settings
from search.build import build_indexes
from search.corpus.read import read_corpus
from search.text.options import Bm25Options
from tests.api.conftest import ask, no_model, refusal
from tests.support.law_history import CODE_ID, FAULT, OVEN_1900, OVEN_1950, write_history

ARTICLES = {number: f"{CODE_ID}/{number}" for number in ("1", "2", "10", "11", "20", "21")}
SPAN = "lies outside the law that is loaded: from 1900-01-01 to 2016-10-01"


@pytest.fixture(scope="module")
def ovens(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("history")
    store = EmbeddedStore(folder / "home")
    ingest(store, write_history(folder / "repository"))
    with store.reading() as graph:
        build_indexes(store.home, read_corpus(graph), graph.rows("acts"), Bm25Options())
    with TestClient(make_app(Settings(home=folder / "home"), no_model)) as client:
        yield client


def nodes(connection: dict[str, Any]) -> list[dict[str, Any]]:
    return [edge["node"] for edge in connection["edges"]]


def test_history_lists_wordings_oldest_first_with_what_gave_them(ovens: TestClient) -> None:
    query = """query($id: ID!, $first: Int!, $after: String) { node(id: $id) { ... on Article {
      history(first: $first, after: $after) {
      totalCount pageInfo { hasNextPage endCursor } edges { node { text validFrom validTo instrument isPresent } } } } } }"""
    found = ask(ovens, query, id=ARTICLES["1"], first=1)["node"]["history"]
    assert (found["totalCount"], found["pageInfo"]["hasNextPage"]) == (2, True)
    (old,) = nodes(found)
    assert old == {
        "text": OVEN_1900, "validFrom": "1900-01-01", "validTo": "1950-06-01", "instrument": "LOI-1900-01-01", "isPresent": False,
    }  # fmt: skip
    rest = ask(ovens, query, id=ARTICLES["1"], first=1, after=found["pageInfo"]["endCursor"])["node"]["history"]
    (new,) = nodes(rest)
    assert (new["text"], new["validFrom"], new["validTo"], new["isPresent"]) == (OVEN_1950, "1950-06-01", None, True)


def test_history_leads_from_the_old_number_to_the_new_and_back(ovens: TestClient) -> None:
    query = """query($id: ID!) { node(id: $id) { ... on Article { history {
      renumberedFrom { on similarity node { id } } renumberedTo { on similarity node { id } } } } } }"""
    gone = ask(ovens, query, id=ARTICLES["10"])["node"]["history"]
    assert gone == {
        "renumberedFrom": [],
        "renumberedTo": [{"on": "2016-10-01", "similarity": 1.0, "node": {"id": ARTICLES["20"]}}],
    }
    come = ask(ovens, query, id=ARTICLES["20"])["node"]["history"]
    assert come == {
        "renumberedFrom": [{"on": "2016-10-01", "similarity": 1.0, "node": {"id": ARTICLES["10"]}}],
        "renumberedTo": [],
    }


def test_a_day_has_its_wording_or_says_why_it_has_none(ovens: TestClient) -> None:
    query = """query($id: ID!, $day: Date!) { node(id: $id) { ... on Article { onDay(day: $day) {
      state wording { text } before { validTo } after { validFrom } knownFrom knownTo } } } }"""

    def on(number: str, day: str) -> dict[str, Any]:
        return ask(ovens, query, id=ARTICLES[number], day=day)["node"]["onDay"]

    known = {"knownFrom": "1900-01-01", "knownTo": "2016-10-01"}
    nothing = {"wording": None, "before": None, "after": None}
    assert on("1", "1910-01-01") == known | nothing | {"state": "OTHER", "wording": {"text": OVEN_1900}}
    assert on("1", "2018-01-01") == known | nothing | {"state": "SAME", "wording": {"text": OVEN_1950}}
    assert on("2", "2018-01-01") == known | nothing | {"state": "NONE", "before": {"validTo": "2016-10-01"}}
    assert on("20", "1910-01-01") == known | nothing | {"state": "NONE", "after": {"validFrom": "2016-10-01"}}
    assert on("1", "1850-01-01") == known | nothing | {"state": "OUTSIDE", "after": {"validFrom": "1900-01-01"}}


DIFFERENCE = """query($id: ID!, $start: Date!, $end: Date!) { difference(article: $id, from: $start, to: $end) {
  same from { state } to { state } spans { change text start end } } }"""


def test_a_difference_marks_words_where_they_stand(ovens: TestClient) -> None:
    found = ask(ovens, DIFFERENCE, id=ARTICLES["1"], start="1910-01-01", end="1960-01-01")["difference"]
    assert (found["same"], found["from"], found["to"]) == (False, {"state": "OTHER"}, {"state": "SAME"})
    texts = {"DELETED": OVEN_1900, "INSERTED": OVEN_1950, "SAME": OVEN_1900}
    for span in found["spans"]:
        assert texts[span["change"]][span["start"] : span["end"]] == span["text"]
    assert "".join(span["text"] for span in found["spans"] if span["change"] != "INSERTED") == OVEN_1900
    assert "".join(span["text"] for span in found["spans"] if span["change"] != "DELETED") == OVEN_1950
    changed = [(span["change"], span["text"]) for span in found["spans"] if span["change"] != "SAME"]
    assert changed == [
        ("DELETED", "charbon"),
        ("INSERTED", "gaz"),
        ("DELETED", "syndic selon l'article 10"),
        ("INSERTED", "préfet"),
    ]


def test_a_difference_of_one_wording_is_none(ovens: TestClient) -> None:
    found = ask(ovens, DIFFERENCE, id=ARTICLES["1"], start="1960-01-01", end="2018-01-01")["difference"]
    assert found["same"] is True
    assert [span["change"] for span in found["spans"]] == ["SAME"]


@pytest.mark.parametrize(
    ("number", "start", "end", "states"),
    [("2", "1910-01-01", "2018-01-01", ("SAME", "NONE")), ("1", "1850-01-01", "1910-01-01", ("OUTSIDE", "OTHER"))],
)
def test_a_difference_from_or_to_no_wording_says_why(
    ovens: TestClient, number: str, start: str, end: str, states: tuple[str, str]
) -> None:
    found = ask(ovens, DIFFERENCE, id=ARTICLES[number], start=start, end=end)["difference"]
    assert (found["same"], found["spans"]) == (None, None)
    assert (found["from"]["state"], found["to"]["state"]) == states


def test_a_difference_of_nothing_is_null(ovens: TestClient) -> None:
    assert ask(ovens, DIFFERENCE, id=f"{CODE_ID}/999", start="1910-01-01", end="1960-01-01")["difference"] is None


CHANGES = """query($act: ID!, $start: Date!, $end: Date!, $first: Int, $after: String) {
  changes(act: $act, from: $start, to: $end, first: $first, after: $after) {
    totalCount pageInfo { hasNextPage endCursor } edges { kind node { number } renumberedTo { number } } } }"""


def test_changes_between_two_days_page_by_page(ovens: TestClient) -> None:
    days = {"act": "Code des fours", "start": "2016-09-30", "end": "2016-10-01"}
    whole = ask(ovens, CHANGES, **days, first=10)["changes"]
    assert [(edge["node"]["number"], edge["kind"], (edge["renumberedTo"] or {}).get("number")) for edge in whole["edges"]] == [
        ("20", "NEW", None),
        ("21", "NEW", None),
        ("10", "RENUMBERED", "20"),
        ("10", "NEW", None),
        ("2", "REPEALED", None),
        ("11", "REPEALED", None),
    ]
    paged, after = [], None
    while len(paged) < whole["totalCount"]:
        page = ask(ovens, CHANGES, **days, first=2, after=after)["changes"]
        paged += page["edges"]
        after = page["pageInfo"]["endCursor"]
    assert paged == whole["edges"]
    assert page["pageInfo"]["hasNextPage"] is False


def test_changes_of_rewording_and_of_no_time(ovens: TestClient) -> None:
    found = ask(ovens, CHANGES, act=CODE_ID, start="1910-01-01", end="1960-01-01")["changes"]
    assert [(edge["kind"], edge["node"]["number"]) for edge in found["edges"]] == [("REWORDED", "1")]
    assert ask(ovens, CHANGES, act=CODE_ID, start="1910-01-01", end="1910-01-01")["changes"]["totalCount"] == 0


@pytest.mark.parametrize(
    ("asked", "message", "code"),
    [
        ({"act": "Code des moulins"}, "Code des moulins", "NotFound"),
        ({"start": "1960-01-01"}, "1960-01-01 comes after 1950-06-01", "BadQuery"),
        ({"start": "1850-01-01"}, f"1850-01-01 {SPAN}", "BadQuery"),
        ({"first": 0}, "first: 0", "BadQuery"),
        ({"after": "nonsense"}, "not a cursor of this list", "BadQuery"),
    ],
)
def test_changes_that_cannot_be_listed(ovens: TestClient, asked: dict[str, Any], message: str, code: str) -> None:
    told, its_code = refusal(ovens, CHANGES, **({"act": CODE_ID, "start": "1910-01-01", "end": "1950-06-01"} | asked))
    assert message in told
    assert its_code == code


def test_a_request_may_not_read_acts_of_many_days(ovens: TestClient) -> None:
    days = range(1910, 1916)
    asked = " ".join(f'd{year}: contents(on: "{year}-01-01", first: 1) {{ totalCount }}' for year in days)
    assert refusal(ovens, f'{{ act(id: "{CODE_ID}") {{ {asked} }} }}')[1] == "TooLarge"


CONTENTS = """query($id: ID!, $on: Date) { act(id: $id) { contents(on: $on) { totalCount edges { node {
  ... on Section { id heading validFrom validTo contents(on: $on) { edges { node {
    ... on Article { number text validFrom ancestors(on: $on) { ... on Section { heading } }
      next(on: $on) { number text } previous(on: $on) { number } } } } } } } } } } }"""


def test_contents_of_a_day_have_its_headings_and_its_wordings(ovens: TestClient) -> None:
    first, second = nodes(ask(ovens, CONTENTS, id=CODE_ID, on="1910-01-01")["act"]["contents"])
    assert (second["heading"], second["validFrom"], second["validTo"]) == (
        "Livre II : Des délits et des quasi-délits", "1900-01-01", "2016-10-01",
    )  # fmt: skip
    oven, water = nodes(first["contents"])
    assert (oven["number"], oven["text"], oven["validFrom"]) == ("1", OVEN_1900, "1900-01-01")
    assert oven["previous"] is None
    assert water["next"] == {"number": "10", "text": FAULT}
    assert water["previous"] == {"number": "1"}
    assert nodes(second["contents"])[0]["ancestors"] == [{}, {"heading": second["heading"]}]


def test_without_a_day_contents_are_those_of_the_present_law(ovens: TestClient) -> None:
    now = nodes(ask(ovens, CONTENTS, id=CODE_ID)["act"]["contents"])
    assert [section["heading"] for section in now] == [
        "Livre Ier : Des fours", "Livre II : La responsabilité extracontractuelle", "Livre III : De la preuve",
    ]  # fmt: skip
    assert [[article["number"] for article in nodes(section["contents"])] for section in now] == [["1"], ["20", "21"], ["10"]]
    assert nodes(now[0]["contents"])[0]["next"]["number"] == "20"


def test_what_was_not_there_that_day_and_days_outside_are_errors(ovens: TestClient) -> None:
    query = "query($id: ID!, $on: Date!) { node(id: $id) { ... on Article { next(on: $on) { id } } } }"
    told, code = refusal(ovens, query, id=ARTICLES["20"], on="1910-01-01")
    assert (told, code) == (f"{ARTICLES['20']} was not there on 1910-01-01", "NotFound")
    assert refusal(ovens, query, id=ARTICLES["1"], on="1850-01-01") == (f"1850-01-01 {SPAN}", "BadQuery")


SEARCH = """query($filter: SearchFilter) { search(query: "dommage causé à autrui par sa faute", filter: $filter) { edges {
  textOfDay text inForceFrom inForceTo path { ... on Act { title } ... on Section { heading } } node { number } } } }"""


def test_hits_of_a_day_have_the_days_and_the_path_of_their_wording(ovens: TestClient) -> None:
    then = ask(ovens, SEARCH, filter={"inForceOn": "1910-01-01"})["search"]["edges"][0]
    assert then == {
        "textOfDay": "OTHER", "text": FAULT, "inForceFrom": "1900-01-01", "inForceTo": "2016-10-01", "node": {"number": "10"},
        "path": [{"title": "Code des fours"}, {"heading": "Livre II : Des délits et des quasi-délits"}],
    }  # fmt: skip
    now = ask(ovens, SEARCH)["search"]["edges"][0]
    assert now == {
        "textOfDay": None, "text": FAULT, "inForceFrom": "2016-10-01", "inForceTo": None, "node": {"number": "20"},
        "path": [{"title": "Code des fours"}, {"heading": "Livre II : La responsabilité extracontractuelle"}],
    }  # fmt: skip


def test_hits_of_all_time_say_when_each_was_in_force(ovens: TestClient) -> None:
    edges = ask(ovens, SEARCH, filter={"acrossTime": True})["search"]["edges"]
    days = {edge["node"]["number"]: (edge["textOfDay"], edge["inForceFrom"], edge["inForceTo"]) for edge in edges}
    assert days["10"] == ("OTHER", "1900-01-01", "2016-10-01")
    assert days["20"] == (None, "2016-10-01", None)


def test_the_citations_of_an_earlier_wording_are_those_of_its_text(ovens: TestClient) -> None:
    query = """query($id: ID!, $day: Date!) { node(id: $id) { ... on Article { wording(on: $day) { text cites {
      totalCount edges { node: text start end target ids } } } } } }"""
    old = ask(ovens, query, id=ARTICLES["1"], day="1940-01-01")["node"]["wording"]
    (only,) = old["cites"]["edges"]
    assert old["text"][only["start"] : only["end"]] == only["node"]
    assert (only["node"], only["ids"]) == ("article 10", [ARTICLES["10"]])
    assert ask(ovens, query, id=ARTICLES["1"], day="1960-01-01")["node"]["wording"]["cites"]["totalCount"] == 0


def test_the_law_is_told_as_it_was_known(ovens: TestClient) -> None:
    query = """query($id: ID!, $known: Date!) { node(id: $id) { ... on Article {
      history(knownOn: $known) { totalCount } onDay(day: "1960-01-01", knownOn: $known) { state wording { text } } } }
      difference(article: $id, from: "1940-01-01", to: "1960-01-01", knownOn: $known) { same } }"""
    told = ask(ovens, query, id=ARTICLES["1"], known="2999-01-01")
    assert told == {
        "node": {"history": {"totalCount": 2}, "onDay": {"state": "SAME", "wording": {"text": OVEN_1950}}},
        "difference": {"same": False},
    }
    query = (
        """query($id: ID!) { difference(article: $id, from: "1940-01-01", to: "1960-01-01", knownOn: "2001-01-01") { same } }"""
    )
    said, code = refusal(ovens, query, id=ARTICLES["1"])
    assert ("what was on record of its act is known from" in said, code) == (True, "NotOnRecord")
