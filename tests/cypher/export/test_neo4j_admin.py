"""Files for ``neo4j-admin database import``, loaded by the real program: the server holds the same graph."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from cypher.engines.ladybug import GRAPH_FILE, EmbeddedStore, open_graph
from cypher.engines.neo4j import Neo4jStore
from cypher.export.dump import canonical_dump
from cypher.export.neo4j_admin import SCRIPT, write_import_files
from cypher.graph import Graph
from docker.maven import NEO4J_5, NEO4J_2026, Product
from docker.neo4j_server import Neo4jServer
from ingest.sources import ingest
from schema.errors import BadSource, NotReady
from schema.labels import EDGES, NODES
from search.corpus.read import read_corpus
from tests.gnn.conftest import question_sheets
from tests.support.disturbance import dump
from tests.support.law_history import write_history
from tests.support.on_server import store_of
from tests.support.servers import OwnNeo4j
from tests.support.subgraphs import check_edges, check_ranks
from tests.support.tiny_law import BAKERS_ID, article, bakers, millers, section, write_law, write_sheets
from tests.test_lexgraph import run

NASTY = "Il dit \"non\", puis 'oui' ; C:\\pain\\ «é»,\tfin\\"


def import_into(server: Neo4jServer, folder: Path) -> str:
    """Stop a server, run the script that lies beside the files, start the server again; what the program said."""
    server.stop()
    done = subprocess.run(
        ["sh", str(folder / SCRIPT), "--overwrite-destination"],
        env=os.environ | {"NEO4J_ADMIN": str(server.admin)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    server.start()
    return done.stdout


def counts(graph: Graph) -> dict[str, int]:
    """How many nodes of each label and edges of each type there are."""
    found = {row["label"]: row["n"] for row in graph.rows("counts")} | {
        row["type"]: row["n"] for row in graph.rows("edge_counts")
    }
    return {name: n for name, n in found.items() if n and name != "Lock"}


def check_same(home: Path, store: Neo4jStore) -> None:
    with pytest.raises(NotReady, match="run `lexgraph migrate`"):
        store.reading()
    assert store.migrate()[0] == 0
    with open_graph(home) as before, store.reading() as after:
        assert counts(after) == counts(before)
        assert list(canonical_dump(after)) == list(canonical_dump(before))
        constrained = {row["labelsOrTypes"][0] for row in after.connection.rows("SHOW CONSTRAINTS YIELD labelsOrTypes", {})}
        assert {node.name for node in NODES} <= constrained


@pytest.fixture(scope="module")
def full_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with every label and edge type in it, and text that is hard to quote."""
    home = tmp_path_factory.mktemp("full")
    root = bakers()
    nasty = article(30, "L999", '<p>Un"e ligne</p><p>et, une autre ;</p>')
    nasty["data"]["texteHtml"] = nasty["data"]["texte"] = f'<p>{NASTY}</p><p></p><p>fin, "ici"</p>'
    root["children"].append(section(91, f"Titre {NASTY}", nasty))
    ingest(EmbeddedStore(home), write_law(home / "law", bakers(), millers()))
    root["children"][0]["children"][0]["children"][0]["data"]["texteHtml"] = "<p>Le pain est fait de seigle.</p>"
    ingest(EmbeddedStore(home), write_law(home / "law", root, millers()))  # what gave way is kept as a version
    (home / "acts").mkdir()
    relations = [
        {"type": type, "target": target}
        for type in ("CITES", "TRANSPOSES", "AMENDS", "REPEALS", "CONSOLIDATES")
        for target in ("lu/second", "eu/32010L0075")
    ]
    first = {"type": "act", "id": "lu/first", "title": "Loi des fours", "relations": relations}
    lines = [first, {"type": "act", "id": "lu/second", "title": "Loi des moulins"}]
    (home / "acts" / "acts.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    ingest(EmbeddedStore(home), home / "acts")
    ingest(EmbeddedStore(home), write_history(home / "history"))
    ingest(EmbeddedStore(home), write_sheets(home / "sheets", question_sheets()))
    with EmbeddedStore(home).writing() as graph:
        metrics = '{"R@100": 0.5, "with": "quotes"}'
        graph.write(
            "create_model", id="m-1", created="2026-01-01", recipe="small", encoder="lsa", dimensions=6, corpus_sha256="x",
            metrics=metrics, status="active", activated="",
        )  # fmt: skip
        graph.write(
            "create_run", id="r-1", started="a", ended="b", outcome="kept", reason="two\nlines", recipe="small", model="m-1",
            corpus_sha256="x", questions_sha256="y", device="cpu", record="",
        )  # fmt: skip
    return home


@pytest.mark.parametrize("product", [NEO4J_2026, NEO4J_5], ids=str)
def test_the_real_program_imports_the_same_graph(product: Product, full_home: Path, tmp_path: Path, own_neo4j: OwnNeo4j) -> None:
    told = run(full_home, "export", "--neo4j-admin", str(tmp_path / "files"))
    assert told.returncode == 0, told.stderr
    assert str(tmp_path / "files" / SCRIPT) in told.stdout
    with open_graph(full_home) as graph:
        held = counts(graph)
    assert held.keys() == {table.name for table in (*NODES, *EDGES)}, "the test sees every label and edge type"
    server = own_neo4j(product)
    said = import_into(server, tmp_path / "files")
    assert f"{sum(held[node.name] for node in NODES)} nodes" in said
    store = store_of(server, tmp_path / "home")
    check_same(full_home, store)

    with store.reading() as graph:
        run_rows = graph.connection.rows("MATCH (r:Run) RETURN r.reason AS reason", {})
        assert run_rows == [{"reason": "two\nlines"}], "the journal, which the dump leaves out"
        authority = "MATCH (a:Article) RETURN a.id AS id, a.authority AS authority ORDER BY id"
        with open_graph(full_home) as before:
            assert [tuple(row.values()) for row in graph.connection.rows(authority, {})] == before.query(authority, {}, 100).rows
        # A server's graph gives the same files.
        write_import_files(graph, tmp_path / "again")
    for path in sorted((tmp_path / "again").iterdir()):
        assert path.read_bytes() == (tmp_path / "files" / path.name).read_bytes(), path.name

    # What was imported is updated as what was ingested.
    newer = bakers()
    newer["children"][0]["children"][0]["children"].pop()
    newer_law = write_law(tmp_path / "newer", newer)
    ingest(store, newer_law)
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / GRAPH_FILE).write_bytes((full_home / GRAPH_FILE).read_bytes())
    ingest(EmbeddedStore(tmp_path / "copy"), newer_law)
    with store.reading() as graph:
        assert "\n".join(canonical_dump(graph)) == dump(tmp_path / "copy")


@pytest.mark.xdist_group("real law")
def test_real_law_is_imported_whole_exported_and_ranked_alike(real_home: Path, tmp_path: Path, own_neo4j: OwnNeo4j) -> None:
    with open_graph(real_home) as graph:
        rows = write_import_files(graph, tmp_path / "files")
    assert rows["Article.csv"] == 29_115
    server = own_neo4j(NEO4J_2026, gds=True)
    import_into(server, tmp_path / "files")
    store = store_of(server, tmp_path / "home")
    check_same(real_home, store)
    with store.reading() as graph, open_graph(real_home) as embedded:
        corpus, _ = read_corpus(graph)
        assert read_corpus(embedded)[0].articles == corpus.articles
        check_edges(graph, corpus)
        check_ranks(graph)


def test_pages_of_any_size_give_the_same_files(full_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_graph(full_home) as graph:
        whole = write_import_files(graph, tmp_path / "whole")
        monkeypatch.setattr("cypher.export.neo4j_admin.PAGE", 3)
        assert write_import_files(graph, tmp_path / "paged") == whole
    for name in whole:
        lines = [sorted((tmp_path / folder / name).read_text().splitlines()) for folder in ("whole", "paged")]
        assert lines[0] == lines[1], name


def test_a_separator_inside_an_item_is_refused_and_leaves_no_script(full_home: Path, tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / GRAPH_FILE).write_bytes((full_home / GRAPH_FILE).read_bytes())
    with EmbeddedStore(tmp_path / "home").writing() as graph:
        graph._run("MATCH (a:Article {id: $id}) SET a.source_ids = ['a\x1fb']", {"id": f"{BAKERS_ID}/L111-1"})  # pyright: ignore
        graph.changed = True
    with open_graph(tmp_path / "home") as graph, pytest.raises(BadSource, match=r"U\+001F"):
        write_import_files(graph, tmp_path / "files")
    assert not (tmp_path / "files" / SCRIPT).exists()


def test_export_without_a_place_is_a_clear_error(tiny_home: Path) -> None:
    done = run(tiny_home, "export")
    assert done.returncode == 64
    assert "--neo4j-admin" in done.stderr
