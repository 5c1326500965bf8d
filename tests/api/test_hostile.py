"""Nothing that a stranger sends stops the service, and nothing brings more than an error that says what to mend."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from graphql import build_client_schema, get_introspection_query, get_named_type
from starlette.testclient import TestClient

from api.app import make_app
from api.graphql.limits import Limits
from schema.settings import Settings
from tests.api.conftest import answer, ask, no_model, refusal
from tests.support.hostile_texts import HOSTILE_TEXTS
from tests.support.tiny_law import BAKERS_ID

_SELECTED = {
    "Node": "{ id }",
    "Act": "{ id }",
    "Section": "{ id }",
    "Article": "{ id }",
    "SearchConnection": "{ edges { node { id } snippet { text } } }",
    "SimilarActConnection": "{ edges { node { id } } }",
    "ChangeConnection": "{ edges { node { id } } }",
    "Difference": "{ same spans { text } }",
    "ActConnection": "{ edges { node { id } } }",
    "ArticleConnection": "{ edges { node { id } } }",
}
_FITTING = {"query": "pain", "id": BAKERS_ID, "act": BAKERS_ID, "number": "L111-1"} | {
    "article": f"{BAKERS_ID}/L111-1", "from": "2020-06-01", "to": "2021-06-01",
}  # fmt: skip
_TEXTS = {"String", "ID", "Date"}
TEXT, JSON = {"content-type": "text/plain"}, {"content-type": "application/json"}


def string_arguments(client: TestClient) -> Iterator[tuple[str, str, str]]:
    """Every argument that is a text: its field, its name, and a query that hands it on."""
    schema = build_client_schema(ask(client, get_introspection_query()))
    assert schema.query_type is not None
    for name, field in schema.query_type.fields.items():
        for argument, kind in field.args.items():
            if get_named_type(kind.type).name not in _TEXTS:
                continue
            needed = [
                other
                for other, of in field.args.items()
                if str(of.type).endswith("!") and other != argument and other in _FITTING
            ]
            others = "".join(f", {other}: {json.dumps(_FITTING[other])}" for other in needed)
            selected = _SELECTED[get_named_type(field.type).name]
            yield name, argument, f"query($x: {kind.type}) {{ {name}({argument}: $x{others}) {selected} }}"


@pytest.mark.slow
def test_hostile_texts_in_every_argument_bring_an_answer_or_a_plain_error(model_client: TestClient) -> None:
    assert len(HOSTILE_TEXTS) >= 200
    arguments = list(string_arguments(model_client))
    assert {("search", "query"), ("search", "after"), ("node", "id"), ("article", "number")} <= {(f, a) for f, a, _ in arguments}
    filters = [
        ("search", name, f'query($x: {kind}) {{ search(query: "pain", filter: {{{name}: $x}}) {{ edges {{ node {{ id }} }} }} }}')
        for name, kind in (
            ("act", "ID"),
            ("section", "ID"),
            ("kind", "String"),
            ("jurisdiction", "String"),
            ("inForceOn", "Date"),
        )
    ]
    for field, argument, query in (*arguments, *filters):
        for text in HOSTILE_TEXTS:
            body = json.dumps({"query": query, "variables": {"x": text}})
            response = model_client.post("/graphql", content=body, headers={"content-type": "application/json"})
            assert response.status_code == 200, (field, argument, text[:80])
            codes = {error["extensions"]["code"] for error in response.json().get("errors", ())}
            assert codes <= {"BadQuery", "NotFound"}, (field, argument, text[:80], response.text[:300])


def test_neighbours_of_neighbours_of_neighbours_are_counted_as_they_are(tiny_home: Path) -> None:
    again = "siblings(first: 3) { edges { node { siblings(first: 3) { edges { node { id } } } } } }"
    nested = f"query($id: ID!) {{ node(id: $id) {{ ... on Article {{ {again} }} }} }}"
    id = f"{BAKERS_ID}/L111-2"
    with TestClient(make_app(Settings(home=tiny_home), no_model, Limits(values=12))) as client:
        assert refusal(client, nested, id=id) == ("the answer has more than 12 values: ask for smaller pages", "TooLarge")
        assert ask(client, "query($id: ID!) { node(id: $id) { id } }", id=id)["node"] == {"id": id}
    with TestClient(make_app(Settings(home=tiny_home), no_model)) as client:
        assert ask(client, nested, id=id)["node"]["siblings"]["edges"]


def test_a_request_that_takes_too_long_is_ended(tiny_home: Path) -> None:
    with TestClient(make_app(Settings(home=tiny_home, request_timeout_s=1e-6), no_model)) as client:
        response = client.post("/graphql", json={"query": "{ acts { totalCount } }"})
        error = response.json()["errors"][0]
        assert error["extensions"]["code"] == "QueryTimeout"
        assert "LEXGRAPH_REQUEST_TIMEOUT_S" in error["message"]


def test_a_body_that_trickles_in_is_given_up(tiny_home: Path) -> None:
    sent: list[Any] = []

    async def receive() -> dict[str, object]:
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b" ", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    async def scenario() -> None:
        app = make_app(Settings(home=tiny_home), no_model, Limits(body_s=0.1))
        scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": [(b"host", b"law")]}
        async with app.router.lifespan_context(app):
            await app(scope, receive, send)

    asyncio.run(scenario())
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["errors"][0]["extensions"] == {"code": "TooSlow"}


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("{ sear", "Syntax"),
        ("{ nonsense }", "Validation"),
        ("query($n: Int!) { acts(first: $n) { totalCount } }", "BadQuery"),
        ("{ acts(first: 0) { totalCount } }", "BadQuery"),
        ("{ acts { edges { node { id } } } " + "id " * 2000 + "}", "TooLarge"),
        ('{ search(query: "") { model } }', "BadQuery"),
        ('{ search(query: "pain", filter: {act: "fr/none"}) { model } }', "NotFound"),
    ],
)
def test_every_error_has_a_code(client: TestClient, query: str, code: str) -> None:
    errors = answer(client, query)["errors"]
    assert {error["extensions"]["code"] for error in errors} == {code}


def test_a_search_that_fails_leaves_its_neighbours(client: TestClient) -> None:
    found = answer(
        client, '{ a: search(query: "") { model } b: acts { totalCount } c: search(query: "pain") { edges { node { id } } } }'
    )
    assert found["data"]["a"] is None
    assert found["data"]["b"] == {"totalCount": 2}
    assert found["data"]["c"]["edges"]
    assert [error["path"] for error in found["errors"]] == [["a"]]


@pytest.mark.parametrize(
    ("query", "status"),
    [("{ sear", 400), ("{ nonsense }", 400), ("{ acts { totalCount } }", 200), ('{ search(query: "") { model } }', 200)],
)
def test_the_media_type_of_graphql_is_given_where_it_is_asked_for(client: TestClient, query: str, status: int) -> None:
    accepted = "application/graphql-response+json, application/json;q=0.9"
    response = client.post("/graphql", json={"query": query}, headers={"accept": accepted})
    assert response.headers["content-type"] == "application/graphql-response+json; charset=utf-8"
    assert response.status_code == status
    plain = client.post("/graphql", json={"query": query})
    assert (plain.status_code, plain.headers["content-type"].partition(";")[0]) == (200, "application/json")
    assert plain.json() == response.json()


@pytest.mark.parametrize(
    ("request_of", "status", "code"),
    [
        ({"method": "PUT", "url": "/graphql"}, 405, "MethodNotAllowed"),
        ({"method": "POST", "url": "/graphql", "content": b"x", "headers": TEXT}, 415, "UnsupportedMediaType"),
        ({"method": "POST", "url": "/graphql", "content": b"{", "headers": JSON}, 400, "BadRequest"),
        ({"method": "GET", "url": "/graphql"}, 400, "BadRequest"),
    ],
)
def test_a_request_that_is_none_has_the_same_shape_of_error(client: TestClient, request_of: Any, status: int, code: str) -> None:
    response = client.request(**request_of)
    assert response.status_code == status
    (error,) = response.json()["errors"]
    assert error["extensions"] == {"code": code}
    assert error["message"]
