"""Similar acts over GraphQL."""

import pytest
from starlette.testclient import TestClient

from tests.api.conftest import ask, refusal
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

SIMILAR = """query($id: ID!, $jurisdiction: String, $kind: String, $first: Int! = 5, $before: Float, $after: Float) {
  similarActs(id: $id, jurisdiction: $jurisdiction, kind: $kind, first: $first, yearsBefore: $before, yearsAfter: $after) {
    totalCount edges { score node { id title } places { list rank score } } } }"""


def test_an_act_finds_the_one_that_shares_its_words_and_says_why(client: TestClient) -> None:
    found = ask(client, SIMILAR, id=BAKERS_ID)["similarActs"]["edges"]
    assert [hit["node"] for hit in found] == [{"id": MILLERS_ID, "title": "Code de la meunerie"}]
    assert {"bm25", "whole-whole"} <= {place["list"] for place in found[0]["places"]}
    assert {place["rank"] for place in found[0]["places"]} == {1}


def test_filters_leave_out_what_does_not_pass(client: TestClient) -> None:
    # The tiny law has no days of publication: what has none passes no window.
    assert ask(client, SIMILAR, id=BAKERS_ID, after=1.0)["similarActs"] == {"totalCount": 0, "edges": []}
    every = ask(client, SIMILAR, id=BAKERS_ID)["similarActs"]
    assert ask(client, SIMILAR, id=BAKERS_ID, jurisdiction="FR", kind="Code")["similarActs"] == every


@pytest.mark.parametrize(
    ("variables", "problem", "code"),
    [
        ({"id": "fr/none"}, f"no such act: fr/none; nearest: {BAKERS_ID}, {MILLERS_ID}, Code de la boulangerie", "NotFound"),
        ({"id": BAKERS_ID, "jurisdiction": "eu"}, "no such jurisdiction: eu; nearest: fr", "BadQuery"),
        ({"id": BAKERS_ID, "kind": "directive"}, "no such kind of act: directive; nearest: code", "BadQuery"),
        ({"id": BAKERS_ID, "first": 0}, "first: 0 is not between 1 and 100", "BadQuery"),
        ({"id": BAKERS_ID, "after": -1.0}, "a number of years is negative, or none", "BadQuery"),
    ],
)
def test_what_cannot_be_asked_is_refused(client: TestClient, variables: dict[str, object], problem: str, code: str) -> None:
    assert refusal(client, SIMILAR, **variables) == (problem, code)
