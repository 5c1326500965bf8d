"""What the API answers while Neo4j, Elasticsearch or both are away: all that is known without them, marked, and no error."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from docker.elasticsearch_server import ElasticsearchServer
from docker.maven import NEO4J_2026
from docker.neo4j_server import Neo4jServer
from gnn.versions.active import active_model
from schema.settings import Settings
from tests.api.conftest import answer
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.servers import start_or_skip
from tests.support.tiny_law import BAKERS_ID
from tests.support.waiting import eventually

pytestmark = [pytest.mark.servers, pytest.mark.xdist_group("servers down")]  # of their own, started by one worker

PATH = "ancestors { id ... on Section { number heading } ... on Act { title } }"
HIT = f"id number heading text language status validFrom validTo {PATH}"
SEARCH = f'{{ search(query: "baguette", first: 3) {{ degraded edges {{ node {{ {HIT} }} snippet {{ text words }} }} }} }}'
NESTED = f"""{{ article(act: "{BAKERS_ID}", number: "L111-2") {{
  number next {{ number }} previous {{ number text }} parent {{ id }} act {{ title kind jurisdiction language eli }}
  cites {{ totalCount edges {{ text }} }} citedBy {{ totalCount }} siblings {{ totalCount }}
}} }}"""


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Neo4jServer, ElasticsearchServer]]:
    """Two servers of this module's own, to kill."""
    folder = tmp_path_factory.mktemp("servers")
    neo4j = Neo4jServer(NEO4J_2026, folder / "neo4j", gds=False, short_lived=True)
    elasticsearch = ElasticsearchServer(home=folder / "elasticsearch", short_lived=True)
    with ThreadPoolExecutor() as starting:
        list(starting.map(start_or_skip, (neo4j, elasticsearch)))
    yield neo4j, elasticsearch
    neo4j.kill()
    elasticsearch.kill()


@pytest.fixture(scope="module")
def run(servers: tuple[Neo4jServer, ElasticsearchServer], tmp_path_factory: pytest.TempPathFactory) -> Lexgraph:
    """The tiny law on both servers, with a model whose vectors are on Neo4j."""
    folder = tmp_path_factory.mktemp("law")
    run = Lexgraph.over(folder / "home", *servers, reload_s="0.1", query_timeout_s="2", text_timeout_s="2")
    load_tiny_law(run, folder)
    run.do("train", "--recipe", recipe_file(folder, "small"))
    return run


@pytest.fixture
def up(servers: tuple[Neo4jServer, ElasticsearchServer], run: Lexgraph) -> Iterator[None]:
    """Both servers, which answer again when the test is done."""
    yield
    for server in servers:
        server.resume()
        server.start()


def serving(settings: Settings) -> TestClient:
    return TestClient(make_app(settings, partial(active_model, settings.home)))


@pytest.fixture
def client(run: Lexgraph, up: None) -> Iterator[TestClient]:
    with serving(run.settings) as client:
        assert client.get("/readyz").json()["away"] == {}
        yield client


def hits(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [edge["node"] for edge in found["data"]["search"]["edges"]]


def degraded(found: dict[str, Any]) -> list[str]:
    assert "errors" not in found, found
    return (found.get("extensions") or {}).get("degraded", [])


def test_without_neo4j_the_text_index_answers_in_full_and_nested_fields_are_empty(
    client: TestClient, servers: tuple[Neo4jServer, ElasticsearchServer]
) -> None:
    neo4j, _ = servers
    before, nested = answer(client, SEARCH), answer(client, NESTED)
    assert degraded(before) == degraded(nested) == []
    assert nested["data"]["article"]["cites"]["totalCount"] == 1

    neo4j.kill()
    found = answer(client, SEARCH)
    assert degraded(found) == ["graph", "vectors"]
    assert found["data"]["search"]["degraded"] == ["vectors"]
    assert hits(found)[0]["id"] == f"{BAKERS_ID}/L111-2"
    by_id = {node["id"]: node for node in hits(answer(client, SEARCH.replace("first: 3", "first: 10")))}
    for node in hits(before):
        assert by_id[node["id"]] == node | {"status": None}, "the same words, dates and path as from the graph"
    assert found["data"]["search"]["edges"][0]["snippet"]["words"] == ["baguette"]

    without = answer(client, NESTED)
    assert degraded(without) == ["graph"]
    article, whole = without["data"]["article"], nested["data"]["article"]
    assert (article["cites"], article["citedBy"], article["siblings"]) == (
        {"totalCount": 0, "edges": []},
        {"totalCount": 0},
        {"totalCount": 0},
    )
    for name in ("number", "next", "previous", "parent"):
        assert article[name] == whole[name]
    assert article["act"] == whole["act"] | {"eli": None}
    eventually(lambda: "graph" in client.get("/readyz").json()["away"])
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert "does not answer" in ready.json()["away"]["graph"]

    neo4j.start()
    eventually(lambda: degraded(answer(client, SEARCH)) == [])
    assert hits(answer(client, SEARCH)) == hits(before)
    assert answer(client, NESTED) == nested
    eventually(lambda: client.get("/readyz").json()["away"] == {})


def test_a_neo4j_that_hangs_is_waited_for_once(client: TestClient, servers: tuple[Neo4jServer, ElasticsearchServer]) -> None:
    neo4j, _ = servers
    neo4j.pause()
    assert degraded(answer(client, SEARCH)) == ["graph", "vectors"]
    for _ in range(20):
        assert degraded(answer(client, SEARCH)) == ["graph", "vectors"]
    waiting = sum(thread.name == "query with a limit" for thread in threading.enumerate())
    assert waiting <= 5, "one request now and then finds out whether the server is back, the others do not ask it"
    neo4j.resume()
    eventually(lambda: degraded(answer(client, SEARCH)) == [])


def test_without_elasticsearch_vectors_answer(client: TestClient, servers: tuple[Neo4jServer, ElasticsearchServer]) -> None:
    _, elasticsearch = servers
    before = answer(client, SEARCH)
    elasticsearch.kill()
    found = answer(client, SEARCH)
    assert degraded(found) == ["text"]
    assert found["data"]["search"]["degraded"] == ["text"]
    assert hits(found)
    assert degraded(answer(client, NESTED)) == []
    eventually(lambda: "text" in client.get("/readyz").json()["away"])
    assert client.get("/readyz").status_code == 200
    elasticsearch.start()
    eventually(lambda: degraded(answer(client, SEARCH)) == [])
    assert hits(answer(client, SEARCH)) == hits(before)
    eventually(lambda: client.get("/readyz").json()["away"] == {})


def test_without_both_the_error_has_a_code_and_says_both(
    client: TestClient, servers: tuple[Neo4jServer, ElasticsearchServer], run: Lexgraph
) -> None:
    for server in servers:
        server.kill()
    found = answer(client, SEARCH)
    assert found["data"] == {"search": None}
    (error,) = found["errors"]
    assert error["extensions"]["code"] == "ServerUnavailable"
    assert "Elasticsearch" in error["message"]
    assert "Neo4j" in error["message"]
    (error,) = answer(client, NESTED)["errors"]
    assert error["extensions"]["code"] == "ServerUnavailable"
    told = run("doctor")
    assert told.code == 1
    assert "FAIL  graph" in told.out

    with serving(run.settings) as late:  # started while nothing is there
        assert late.get("/healthz").status_code == 200
        assert late.get("/readyz").status_code == 503
        assert "does not answer" in late.get("/readyz").json()["reason"]
        assert late.post("/graphql", json={"query": SEARCH}).status_code == 503
        for server in servers:
            server.start()
        eventually(lambda: late.get("/readyz").status_code == 200)
        assert degraded(answer(late, SEARCH)) == []
    eventually(lambda: degraded(answer(client, SEARCH)) == [])


def test_an_index_that_lags_is_told(client: TestClient, servers: tuple[Neo4jServer, ElasticsearchServer], run: Lexgraph) -> None:
    _, elasticsearch = servers
    for name in elasticsearch.request("GET", "/lexgraph-*")[1]:
        elasticsearch.request("DELETE", f"/{name}")
    eventually(lambda: client.get("/readyz").json()["reason"])
    assert "run `lexgraph index`" in client.get("/readyz").json()["reason"]
    assert client.get("/readyz").status_code == 200
    assert degraded(answer(client, SEARCH)) == ["text"], "the vectors answer meanwhile"
    assert "FAIL  text index" in run("doctor").out
    run.do("index")
    eventually(lambda: client.get("/readyz").json()["reason"] is None)
    eventually(lambda: degraded(answer(client, SEARCH)) == [])
    assert "ok    text index" in run.do("doctor")


def test_without_neo4j_the_embedded_index_knows_identifiers_and_says_what_it_does_not(
    servers: tuple[Neo4jServer, ElasticsearchServer], run: Lexgraph, up: None
) -> None:
    neo4j, _ = servers
    embedded = Lexgraph(run.home, {name: value for name, value in run.environment.items() if name != "LEXGRAPH_TEXT"})
    embedded.do("index")
    ids = '{ search(query: "baguette", first: 1) { edges { node { id heading cites { totalCount } parent { id } } } } }'
    with serving(embedded.settings) as client:
        assert degraded(answer(client, ids)) == []
        neo4j.kill()
        found = answer(client, ids)
        assert degraded(found) == ["graph", "vectors"]
        assert hits(found)[0]["id"] == f"{BAKERS_ID}/L111-2"
        lacking = answer(client, ids.replace("heading", "number text"))
        assert degraded(lacking) == ["graph", "vectors"]
        assert (hits(lacking)[0]["number"], hits(lacking)[0]["text"]) == (None, None)
        neo4j.start()
        eventually(lambda: degraded(answer(client, ids)) == [])
    embedded.do("models")
    run.do("index")
