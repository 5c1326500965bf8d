"""What a person pastes into Neo4j Browser runs on real servers and shows what its title says."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import neo4j
import numpy as np
import pytest
from pydantic import SecretStr

from cypher.engines.ladybug import open_graph
from cypher.engines.neo4j import Neo4jStore
from cypher.explore import browser_link as link_module
from cypher.explore.browser_link import browser_link
from docker.neo4j_server import Neo4jServer
from ingest.sources import ingest
from schema.errors import BadSetting, NotReady, ServerUnavailable
from schema.labels import EDGES, NODES
from schema.settings import Settings
from tests.support.disturbance import ROOT
from tests.support.on_server import environment_of, settings_of, store_of
from tests.support.servers import on_shared
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID, article, bakers, link, millers, section, write_law

FOLDER = Path(link_module.__file__).parent / "browser"
QUERIES = {path.stem: path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.cypher"))}
GUIDE = (ROOT / "docs" / "browser.md").read_text(encoding="utf-8")
MODEL = "small-2026.01"
L111_1, L111_2, L131_1 = (f"{BAKERS_ID}/{n}" for n in ("L111-1", "L111-2", "L131-1"))
SERVERS = [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def store(server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Neo4jStore:
    """The tiny law with a chain of citations, an active model, and vectors: the nearest of the first is the last."""
    home = tmp_path_factory.mktemp("browser")
    store = store_of(server, home)
    root = bakers()
    cites_one_that_cites = article(31, "L131-1", f"<p>Le four aussi ({link(2, 'article L. 111-2')}).</p>", first_day=19_000)
    root["children"].append(section(31, "Livre III : Du four", cites_one_that_cites))
    ingest(store, write_law(home / "law", root, millers()))
    with store.writing() as graph:
        graph.write(
            "create_model", id=MODEL, created="2026-01-01", recipe="small", encoder="lsa", dimensions=4, corpus_sha256="",
            metrics="{}", status="active", activated="",
        )  # fmt: skip
        ids = sorted(row["id"] for row in graph.rows("article_source_ids"))
        angles = np.linspace(0.5, 2.5, len(ids))
        angles[ids.index(L111_1)], angles[ids.index(L131_1)] = 0.0, 0.001
        vectors = np.stack([np.cos(angles), np.sin(angles), 0 * angles, 0 * angles], 1).astype(np.float32)
        graph.vectors.write(MODEL, "Article", ids, vectors)
        graph.vectors.build(MODEL, "Article", 4)
    return store


def asked(store: Neo4jStore, name: str, **parameters: Any) -> list[dict[str, Any]]:
    """The rows of a saved query, with the parameters that its first lines name."""
    assert set(defaults(name)) == parameters.keys()
    with store.reading() as graph:
        return graph.connection.rows(QUERIES[name], parameters)


def defaults(name: str) -> dict[str, str]:
    return dict(re.findall(r"^//   :param (\w+) => (.+)$", QUERIES[name], re.MULTILINE))


def nodes(rows: list[dict[str, Any]]) -> set[str]:
    """Identifiers of the nodes on the paths of the answer."""
    return {part["id"] for row in rows for path in row.values() for part in path or () if "id" in part}


def edges(rows: list[dict[str, Any]]) -> set[str]:
    return {part["_type"] for row in rows for path in row.values() for part in path or () if "_type" in part}


def test_a_code_opens_two_levels_down(store: Neo4jStore) -> None:
    found = nodes(asked(store, "tree_of_an_act", act=BAKERS_ID))
    below = ["partie-legislative", "partie-legislative/livre-ier", "partie-legislative/livre-ii", "livre-iii", "L131-1"]
    assert {BAKERS_ID, *(f"{BAKERS_ID}/{part}" for part in below)} <= found
    assert L111_1 not in found, "three levels down"
    assert not any(id.startswith(MILLERS_ID) for id in found)


def test_an_article_stands_among_its_neighbours(store: Neo4jStore) -> None:
    rows = asked(store, "neighbourhood_of_an_article", article=L111_2)
    above = {BAKERS_ID, f"{BAKERS_ID}/partie-legislative", f"{BAKERS_ID}/partie-legislative/livre-ier"}
    assert nodes(rows) == {L111_2, L111_1, f"{BAKERS_ID}/L111-3", L131_1} | above
    assert edges(rows) == {"CONTAINS", "NEXT", "CITES"}
    assert "LEGIARTI000000000999" in nodes(asked(store, "neighbourhood_of_an_article", article=f"{BAKERS_ID}/L121-2"))


def test_citations_are_followed_over_several_steps(store: Neo4jStore) -> None:
    rows = asked(store, "citation_chains", article=L131_1)
    chains = [[part["id"] for part in row["path"] if "id" in part] for row in rows]
    assert chains == [[L131_1, L111_2], [L131_1, L111_2, L111_1]]


def test_transpositions_run_while_there_are_none(store: Neo4jStore) -> None:
    assert asked(store, "transpositions") == []


def test_articles_that_nobody_cites_are_listed(store: Neo4jStore) -> None:
    rows = asked(store, "articles_nobody_cites", act=BAKERS_ID)
    with store.reading() as graph:
        cited = {row["target"] for row in graph.rows("corpus_citations")}
        all_ids = {row["id"] for row in graph.rows("articles_of_acts", ids=[BAKERS_ID])}
    assert {L111_1, L111_2} < cited
    assert {row["id"] for row in rows} == all_ids - cited
    assert all(row["number"] and row["text"] for row in rows)


def test_sections_are_ranked_by_what_is_below_them(store: Neo4jStore) -> None:
    top = asked(store, "sections_by_authority", act=BAKERS_ID, level=1)
    assert [row["section"] for row in top] == ["Partie législative", "Partie réglementaire", "Livre III : Du four"]
    with store.reading() as graph:
        authority = {row["id"]: row["authority"] for row in graph.rows("stored_authority")}
    below = [n for id, n in authority.items() if re.search(r"LEGITEXT000000000001/L1[12]", id)]
    assert top[0]["articles"] == len(below) == 5
    assert top[0]["authority"] == pytest.approx(sum(below), abs=0.006)


def test_what_came_into_force_after_a_day_is_listed(store: Neo4jStore) -> None:
    assert [row["id"] for row in asked(store, "changed_since", since="2020-01-01")] == [L131_1]
    early = [row["id"] for row in asked(store, "changed_since", since="1990-01-01")]
    assert early == [L131_1, f"{BAKERS_ID}/L121-1"]


def test_the_nearest_articles_come_from_the_active_models_index(store: Neo4jStore) -> None:
    rows = asked(store, "nearest_by_embedding", article=L111_1)
    assert rows[0] == {
        "cosine": 1.0, "number": "L131-1", "text": "Le four aussi (article L. 111-2).", "id": L131_1,
    }  # fmt: skip
    assert len(rows) == 10
    assert [row["cosine"] for row in rows] == sorted((row["cosine"] for row in rows), reverse=True)
    assert L111_1 not in {row["id"] for row in rows}


def test_every_saved_query_is_described_tested_and_in_the_guide() -> None:
    tested = set(re.findall(r'asked\(store, "(\w+)"', Path(__file__).read_text(encoding="utf-8")))
    assert tested == QUERIES.keys()
    for name, text in QUERIES.items():
        title, sentence = text.splitlines()[:2]
        assert re.match(r"// [A-Z].{10,}[^.]$", title), name
        assert re.match(r"// (Shows|Lists|Ranks) ", sentence), name
        assert f"cypher/explore/browser/{name}.cypher" in GUIDE
        assert title.removeprefix("// ") in GUIDE
        used = set(re.findall(r"\$(\w+)", text))
        assert used == defaults(name).keys(), name
        assert text.count(";") == text.rstrip().endswith(";") == 1, "one statement, so that it can be pasted whole"


ON_SERVERS = {"nearest_by_embedding"}
"""Asks an index of vectors, which the embedded graph has in files beside it."""
EMBEDDED = {
    "articles_nobody_cites": ({"act": BAKERS_ID}, L111_1, False),
    "changed_since": ({"since": "1990-01-01"}, f"{BAKERS_ID}/L121-1", True),
    "citation_chains": ({"article": L111_2}, L111_1, True),
    "neighbourhood_of_an_article": ({"article": L111_2}, f"{BAKERS_ID}/L111-3", True),
    "sections_by_authority": ({"act": BAKERS_ID, "level": 1}, f"{BAKERS_ID}/partie-legislative", True),
    "transpositions": ({}, BAKERS_ID, False),
    "tree_of_an_act": ({"act": BAKERS_ID}, f"{BAKERS_ID}/partie-legislative/livre-ier", True),
}
"""Parameters, and an identifier that the answer has, or one that it lacks."""


def test_every_saved_query_but_that_of_vectors_is_for_both_engines() -> None:
    assert EMBEDDED.keys() | ON_SERVERS == QUERIES.keys()


@pytest.mark.parametrize("name", EMBEDDED)
def test_the_saved_queries_run_on_the_embedded_graph(tiny_home: Path, name: str) -> None:
    parameters, id, is_there = EMBEDDED[name]
    with open_graph(tiny_home) as graph:
        rows = str(graph.query(QUERIES[name], parameters, 1000).rows)
    assert (f"'{id}'" in rows) is is_there
    assert rows != "[]" or name == "transpositions"


def test_the_defaults_are_values_of_cypher(store: Neo4jStore) -> None:
    with store.reading() as graph:
        for name in QUERIES:
            for value in defaults(name).values():
                assert graph.connection.rows(f"RETURN {value} AS value", {})[0]["value"]


def rules_of(text: str) -> dict[str, dict[str, str]]:
    """What the Browser's own parser makes of a style: blanks outside braces and all quotes go; a property is one colon."""
    rules: dict[str, dict[str, str]] = {}
    for selector, body in re.findall(r"([^{}]+)\{((?:[^{}\"]|\"[^\"]*\")*)\}", text):
        pairs = [part.split(":") for part in body.replace('"', "").split(";") if part.strip()]
        assert all(len(pair) == 2 for pair in pairs), selector
        rules["".join(selector.split())] = {name.strip(): value.strip() for name, value in pairs}
    return rules


def test_the_style_knows_every_label_and_edge_type_by_properties_that_they_have() -> None:
    rules = rules_of((FOLDER / "style.grass").read_text(encoding="utf-8"))
    tables = {f"node.{node.name}": node.properties for node in NODES}
    tables |= {f"relationship.{edge.name}": edge.properties for edge in EDGES}
    assert rules.keys() == tables.keys() | {"node", "relationship"}
    for selector, properties in tables.items():
        rule = rules[selector]
        assert re.fullmatch(r"#[0-9A-F]{6}", rule["color"])
        named = re.fullmatch(r"\{(\w+)\}|<type>", rule["caption"])
        assert named, selector
        assert named[1] is None or named[1] in properties
        assert ("diameter" if selector.startswith("node") else "shaft-width") in rule
    assert rules["node.Act"]["diameter"] > rules["node.Section"]["diameter"] > rules["node.Article"]["diameter"]


# --- The address ------------------------------------------------------------------------------------------------------


@pytest.fixture
def without_a_browser() -> Iterator[str]:
    """The address of an HTTP server that knows nothing."""

    class Nothing(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(404)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Nothing) as httpd:
        threading.Thread(target=httpd.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{httpd.server_port}"
        httpd.shutdown()


def test_the_address_opens_the_browser_with_the_connection_filled_in(server: Neo4jServer, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "lexgraph.py"), "browser"]
    environment = os.environ | environment_of(server)
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    port = server.address.rpartition(":")[2]
    assert done.stdout == f"{server.http_address}/browser/?connectURL=bolt://neo4j@127.0.0.1:{port}\n"
    assert server.password not in done.stdout + done.stderr
    path = done.stdout.strip().removeprefix(server.http_address)
    assert server.request("GET", path)[0] == 200
    with neo4j.GraphDatabase.driver(f"bolt://127.0.0.1:{port}", auth=("neo4j", server.password)) as driver:
        driver.verify_connectivity()


def test_open_opens_it(server: Neo4jServer, tmp_path: Path) -> None:
    (tmp_path / "firefox").write_text(f'#!/bin/sh\necho "$1" > {tmp_path / "opened"}\n')
    (tmp_path / "firefox").chmod(0o755)
    environment = os.environ | environment_of(server) | {"BROWSER": f"{tmp_path / 'firefox'} %s"}
    command = [sys.executable, str(ROOT / "lexgraph.py"), "browser", "--open"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (tmp_path / "opened").read_text() == done.stdout != ""


def test_the_port_is_the_usual_one_and_no_password_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("cypher.explore.browser_link._check", opened.append)
    settings = Settings.model_validate(
        {
            "home": tmp_path, "graph": "neo4j+s://law.example:9999", "graph_password": "secret",
            "graph_user": "jean d'arc", "graph_database": "french law",
        }
    )  # fmt: skip
    link = browser_link(settings)
    assert opened == ["http://law.example:7474"]
    assert "secret" not in link
    assert link == ("http://law.example:7474/browser/?connectURL=neo4j%2Bs://jean%2520d%2527arc@law.example:9999&db=french%20law")
    named = settings.model_copy(update={"graph_http": "https://me:secret@law.example/neo4j/browser/", "graph": "bolt://[::1]"})
    assert browser_link(named).startswith(
        "https://law.example/neo4j/browser/?connectURL=bolt://jean%2520d%2527arc@%5B::1%5D:7687"
    )


@pytest.mark.parametrize(
    ("graph", "graph_http", "error", "told"),
    [
        ("", "", BadSetting, "LEXGRAPH_GRAPH is empty"),
        (
            "bolt://127.0.0.1:9",
            "http://127.0.0.1:9",
            ServerUnavailable,
            "nothing answers at http://127.0.0.1:9 .*LEXGRAPH_GRAPH_HTTP",
        ),
        ("bolt://127.0.0.1:9", "127.0.0.1:9", BadSetting, "LEXGRAPH_GRAPH_HTTP"),
        ("bolt://127.0.0.1:9", "ftp://127.0.0.1:9", BadSetting, "not an address of HTTP"),
        ("bolt://x:ninety:secret", "", BadSetting, "not the address of a Neo4j server"),
        ("bolt://127.0.0.1:9", "http://x:ninety:secret", BadSetting, "not an address with a scheme"),
    ],
)
def test_an_address_that_leads_nowhere_is_one_clear_line(
    graph: str, graph_http: str, error: type[Exception], told: str, tmp_path: Path
) -> None:
    settings = Settings(home=tmp_path, graph=graph, graph_http=graph_http, graph_password=SecretStr("secret"))
    with pytest.raises(error, match=told) as caught:
        browser_link(settings)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_without_a_browser_is_told_apart(without_a_browser: str, tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="answers 404: no Neo4j Browser there"):
        browser_link(Settings(home=tmp_path, graph="bolt://127.0.0.1:9", graph_http=without_a_browser))


def test_the_settings_of_a_server_give_its_address(server: Neo4jServer, tmp_path: Path) -> None:
    assert browser_link(settings_of(server, tmp_path)).startswith(server.http_address)
