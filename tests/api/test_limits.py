"""What the server refuses, and what it keeps to itself."""

import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from graphql import get_introspection_query
from starlette.testclient import TestClient

from api.app import make_app
from api.graphql.limits import Limits
from cypher.engines.ladybug import EmbeddedGraph
from schema.settings import Settings
from tests.api.conftest import answer, ask, no_model, refusal


def test_a_query_that_is_too_deep_is_refused(client: TestClient) -> None:
    deep = "next { " * 12 + "id" + " }" * 12
    message, code = refusal(client, f'{{ article(act: "a", number: "1") {{ {deep} }} }}')
    assert message == "the query is 13 levels deep; at most 12 are answered"
    assert code == "TooLarge"


def test_depth_is_counted_through_fragments(client: TestClient) -> None:
    fragments = "".join(f"fragment F{i} on Article {{ next {{ ...F{i + 1} }} }} " for i in range(12))
    query = f'{{ article(act: "a", number: "1") {{ ...F0 }} }} {fragments} fragment F12 on Article {{ id }}'
    assert refusal(client, query)[0] == "the query is 13 levels deep; at most 12 are answered"


def test_aliases_are_counted(client: TestClient) -> None:
    query = "{ " + " ".join(f"a{i}: acts {{ totalCount }}" for i in range(31)) + " }"
    assert refusal(client, query)[0] == "the query has 31 aliases; at most 30 are answered"


def test_a_long_query_document_is_refused(client: TestClient) -> None:
    message, _ = refusal(client, "{ acts { " + "id " * 2000 + "} }")
    assert "more than 1000 tokens" in message


@pytest.mark.parametrize("spread", ["...F{0} ...F{0}", "a: next {{ ...F{0} }} b: next {{ ...F{0} }}"])
def test_fragments_that_multiply_are_refused_without_being_multiplied_out(client: TestClient, spread: str) -> None:
    fragments = " ".join(f"fragment F{i} on Article {{ {spread.format(i + 1)} }}" for i in range(30))
    query = f'{{ article(act: "a", number: "1") {{ ...F0 }} }} {fragments} fragment F30 on Article {{ next {{ id }} }}'
    assert refusal(client, query)[1] == "TooLarge"


def test_fragments_that_hold_themselves_are_refused(client: TestClient) -> None:
    found = answer(client, '{ article(act: "a", number: "1") { ...A } } fragment A on Article { next { ...A } }')
    assert "Cannot spread fragment 'A' within itself" in found["errors"][0]["message"]


NESTED = """query($n: Int = 100) { search(query: "pain", first: $n) { edges { node { citedBy(first: $n) { edges { node {
  cites(first: $n) { edges { node { id } } } } } } } } } }"""


def test_pages_within_pages_are_refused_when_they_could_bring_too_much(client: TestClient) -> None:
    for variables in ({}, {"n": 100}):
        message, code = refusal(client, NESTED, **variables)
        assert "objects, at most 50,000 are answered: ask for smaller pages" in message
        assert code == "TooLarge"
    assert ask(client, NESTED, n=5)["search"]["edges"]


def test_tools_can_read_the_schema(client: TestClient) -> None:
    names = {kind["name"] for kind in ask(client, get_introspection_query())["__schema"]["types"]}
    assert {"Act", "Section", "Article", "Node", "SearchMode", "SearchFilter", "PageInfo"} <= names


def test_reading_the_schema_in_circles_is_refused(client: TestClient) -> None:
    query = "{ __schema { types { fields { type { fields { type { fields { type { fields { name } } } } } } } } } }"
    assert "introspection depth" in answer(client, query)["errors"][0]["message"].lower()


def test_the_ide_is_served_to_browsers(client: TestClient) -> None:
    page = client.get("/graphql", headers={"accept": "text/html"})
    assert page.status_code == 200
    assert "GraphiQL" in page.text


def test_a_long_body_is_refused(tiny_home: Path) -> None:
    with TestClient(make_app(Settings(home=tiny_home), no_model, Limits(body_bytes=1000))) as client:
        body = b'{"query": "{ acts { totalCount } }"}'
        for content in (body.ljust(1001), iter([body.ljust(500), b" " * 500, b" "])):
            refused = client.post("/graphql", content=content, headers={"content-type": "application/json"})
            assert refused.status_code == 413
            assert refused.json()["errors"][0]["message"] == "the request is too long: at most 1,000 bytes are read"
        for content in (body.ljust(1000), iter([body.ljust(500), b" " * 500])):
            served = client.post("/graphql", content=content, headers={"content-type": "application/json"})
            assert served.json()["data"]["acts"]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b'{"query": 1}',
        b'{"query": ""}',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"query": "{ acts { totalCount } }", "operationName": []}',
        b'{"query": "{ acts { totalCount } }", "variables": 1}',
    ],
)
def test_a_body_that_is_no_query_is_the_clients_error(client: TestClient, body: bytes) -> None:
    refused = client.post("/graphql", content=body, headers={"content-type": "application/json"})
    assert 400 <= refused.status_code < 500 or "errors" in refused.json()
    assert "Traceback" not in refused.text


@pytest.mark.usefixtures("nothing_remembered")
def test_an_error_that_nobody_expected_is_logged_and_not_shown(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(graph: EmbeddedGraph, statement: str, **parameters: Any) -> Any:
        raise RuntimeError("the secret of the bakers")

    monkeypatch.setattr(EmbeddedGraph, "rows", broken)
    with caplog.at_level(logging.ERROR):
        response = client.post("/graphql", json={"query": "{ acts { totalCount } }"})
    assert response.json()["errors"][0]["message"] == "internal error"
    assert response.json()["errors"][0]["extensions"] == {"code": "Internal"}
    assert "secret" not in response.text
    assert "the secret of the bakers" in caplog.text


def test_errors_of_clients_are_not_logged(client: TestClient, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        refusal(client, '{ search(query: "") { model } }')
        answer(client, "{ nonsense }")
    assert "Traceback" not in caplog.text
    assert "empty" not in caplog.text


def test_a_mistyped_field_is_named(client: TestClient) -> None:
    assert (
        "Cannot query field 'titel' on type 'Act'"
        in answer(client, "{ acts { edges { node { titel } } } }")["errors"][0]["message"]
    )


def test_serving_loads_nothing_that_only_training_needs() -> None:
    heavy = ("torch", "transformers", "sklearn", "ingest")
    script = f"import sys, api.app; print([name for name in {heavy} if name in sys.modules])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"
