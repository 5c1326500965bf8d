"""A Neo4j that dies, hangs, restarts, fills up or refuses: one clear line, nothing lost, nothing doubled."""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import gnn.versions.serving
from cypher.engines import neo4j as neo4j_graph
from cypher.engines import neo4j_connection, neo4j_lease
from cypher.engines import neo4j_vectors as vectors
from cypher.engines.ladybug import open_graph
from cypher.engines.open import open_store
from cypher.export.dump import canonical_dump
from cypher.graph import Statements
from docker.maven import NEO4J_2026
from docker.neo4j_server import Neo4jServer
from ingest.loading.load import corpus_sha256
from schema.errors import QueryTimeout, ServerUnavailable
from tests.cypher.engines.test_release import may_mount, small_disk
from tests.support.commands import Ended, Lexgraph, load_tiny_law, recipe_file
from tests.support.disturbance import dump
from tests.support.servers import start_or_skip
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, article, bakers, code, link, millers, section, write_law

pytestmark = [pytest.mark.servers, pytest.mark.xdist_group("faults")]  # of their own, started by one worker

ARTICLES = 2500
"""More than one batch of the loader, so that a death between batches is one inside a transaction."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A server of this module's own, to kill."""
    server = Neo4jServer(NEO4J_2026, tmp_path_factory.mktemp("own") / "neo4j", gds=False, short_lived=True)
    start_or_skip(server)
    yield server
    server.kill()


@pytest.fixture
def neo4j(server: Neo4jServer) -> Neo4jServer:
    """The server, running and empty."""
    server.resume()
    server.start()
    server.clear()
    return server


@pytest.fixture
def run(neo4j: Neo4jServer, tmp_path: Path) -> Lexgraph:
    return Lexgraph.over(tmp_path / "home", neo4j)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs give up early on a server that will not come back, and their locks end soon."""
    monkeypatch.setattr(neo4j_connection, "RETRY_S", 2.0)
    monkeypatch.setattr(neo4j_lease, "LEASE_S", 4.0)


@pytest.fixture(scope="module")
def big_law(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny law and an act of a few thousand articles that cite each other and the bakers' code."""
    articles = (
        article(n, f"L{n}", f"<p>Le pain {n} ({link(n - 1, f'article L. {n - 1}')}, {link(4, 'article L. 121-1')}).</p>")
        for n in range(1000, 1000 + ARTICLES)
    )
    root = code("LEGITEXT000000000009", "Code du pain", section(90, "Livre Ier", *articles))
    return write_law(tmp_path_factory.mktemp("big"), bakers(), millers(), root)


@pytest.fixture(scope="module")
def undisturbed(big_law: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The canonical dump and the fingerprint of the law, loaded where nothing happened."""
    home = tmp_path_factory.mktemp("undisturbed")
    Lexgraph.over(home).do("ingest", big_law)
    with open_graph(home) as graph:
        return dump(home), corpus_sha256(graph)


def state(run: Lexgraph) -> tuple[str, str]:
    with open_store(run.settings).reading() as graph:
        return "\n".join(canonical_dump(graph)), corpus_sha256(graph)


def assert_one_line(ended: Ended, code: int, words: str) -> None:
    assert ended.code == code, ended
    assert ended.err.startswith("lexgraph: ")
    assert ended.err.count("\n") == 1
    assert words in ended.err


@contextmanager
def at_write(monkeypatch: pytest.MonkeyPatch, number: int, happen: Callable[[], None]) -> Generator[None]:
    """Something happens inside a transaction, before its ``number``-th statement that writes; once."""
    write = neo4j_graph._Transaction.write
    seen = 0

    def counting(self: Any, statement: str, **parameters: Any) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            happen()
        write(self, statement, **parameters)

    with monkeypatch.context() as patched:
        patched.setattr(neo4j_graph._Transaction, "write", counting)
        yield
    assert seen >= number, f"only {seen} statements were written"


@pytest.mark.parametrize("number", [2, 9, 24])
def test_an_ingest_whose_server_dies_is_gone_on_with(
    run: Lexgraph,
    neo4j: Neo4jServer,
    big_law: Path,
    undisturbed: tuple[str, str],
    impatient: None,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
) -> None:
    with at_write(monkeypatch, number, neo4j.kill):
        ended = run("ingest", big_law)
    assert_one_line(ended, ServerUnavailable.exit_code, "does not answer")
    neo4j.start()
    told = run("index")
    assert told.code == 69, "half a law is not indexed"
    again(run, "ingest", big_law)
    assert state(run) == undisturbed
    with open_store(run.settings).reading() as graph:
        assert graph.rows("graph_row")[0]["corpus_sha256"] == undisturbed[1]
    assert "3 files unchanged" in run.do("ingest", big_law)


def test_a_server_that_restarts_under_an_ingest_is_waited_for(
    run: Lexgraph, neo4j: Neo4jServer, big_law: Path, undisturbed: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neo4j_connection, "RETRY_S", 240.0)  # a slow machine restarts slowly
    monkeypatch.setattr(neo4j_lease, "LEASE_S", 240.0)
    starting = threading.Thread(target=neo4j.start)

    def restart() -> None:
        neo4j.kill()
        starting.start()

    with at_write(monkeypatch, 20, restart):
        run.do("ingest", big_law)
    starting.join()
    assert state(run) == undisturbed


def test_vectors_and_flips_that_a_dying_server_cut_off(
    run: Lexgraph, neo4j: Neo4jServer, tmp_path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_tiny_law(run, tmp_path)
    run.do("train", "--recipe", recipe_file(tmp_path, "first"))
    store = open_store(run.settings)

    def versions() -> dict[str, str]:
        return {version["id"]: version["status"] for version in json.loads(run.do("models", "--json"))}

    (first,) = versions()

    # In the middle of the vectors of a second version.
    update = vectors.VectorStore.write
    monkeypatch.setattr(vectors, "BATCH", 3)

    def dying(self: Any, *arguments: Any, advance: Callable[[int], object]) -> None:
        written = 0

        def kill_after_two_batches(n: int) -> None:
            nonlocal written
            written += n
            if written == 6:
                neo4j.kill()

        update(self, *arguments, advance=kill_after_two_batches)

    second = recipe_file(tmp_path, "second", seed=8)
    with monkeypatch.context() as patched:
        patched.setattr(vectors.VectorStore, "write", dying)
        assert_one_line(run("train", "--recipe", second), 71, "does not answer")
    neo4j.start()
    assert versions() == {first: "active"}
    (half,) = {path.name for path in (run.home / "models").iterdir()} - {first}
    with store.reading() as graph:
        assert graph.vectors is not None
        assert len(graph.vectors.written(half, "Article")) == 6
        assert not graph.vectors.online(half)
    again(run, "train", "--recipe", second)
    assert versions() == {first: "ready", half: "active"}
    with store.reading() as graph:
        assert graph.vectors is not None
        assert graph.vectors.written(half, "Article") == graph.vectors.written(first, "Article")
        assert len(graph.vectors.written(half, "Article")) == 10
        assert graph.vectors.online(half)

    # In the middle of a flip: between the statement that retires the old version and that which activates the new.
    def flip(transaction: Statements, id: str, *, by_hand: bool) -> None:
        transaction.write("retire_models", status="replaced")
        neo4j.kill()
        transaction.write("activate_model", id=id, now="2026-01-01")

    with monkeypatch.context() as patched:
        patched.setattr(gnn.versions.serving, "flip", flip)
        assert_one_line(run("models", "activate", first), 71, "does not answer")
    neo4j.start()
    assert versions() == {first: "ready", half: "active"}, "the old version serves on"
    again(run, "models", "activate", first)
    assert versions() == {first: "active", half: "replaced"}


def again(run: Lexgraph, *arguments: object) -> None:
    """Run a command when the lock of the job that died has ended, which it does by itself."""
    ended = run(*arguments)
    while ended.code == 75 and "another process is writing" in ended.err:
        ended = run(*arguments)
    assert ended.code == 0, ended


def test_what_is_no_server_of_ours_is_told_in_one_line(run: Lexgraph, neo4j: Neo4jServer) -> None:
    def with_setting(**changes: str) -> Ended:
        return Lexgraph(run.home, {**run.environment, **{f"LEXGRAPH_GRAPH{n}": v for n, v in changes.items()}})("status")

    assert_one_line(with_setting(_PASSWORD="wrong"), 78, "user 'neo4j' or the password is refused")
    assert "wrong" not in with_setting(_PASSWORD="wrong").err.replace("is wrong", "")
    assert_one_line(with_setting(_DATABASE="nowhere"), 78, "no database 'nowhere': check LEXGRAPH_GRAPH_DATABASE")
    assert_one_line(with_setting(**{"": "bolt://127.0.0.1:1"}), 71, "Neo4j at bolt://127.0.0.1:1 does not answer")
    assert_one_line(with_setting(**{"": neo4j.http_address}), 78, "not the address of a Neo4j server")
    assert_one_line(with_setting(**{"": "bolt://127.0.0.1:port"}), 78, "not the address of a Neo4j server")
    assert_one_line(with_setting(**{"": "bolt" + neo4j.http_address.removeprefix("http")}), 71, "does not answer")
    assert_one_line(run("status"), 69, "run `lexgraph ingest` first")


def test_a_server_that_hangs_ends_a_query_and_works_again(run: Lexgraph, neo4j: Neo4jServer, tmp_path: Path) -> None:
    run.do("ingest", write_law(tmp_path / "law"))
    with open_store(run.settings).reading(timeout_s=1) as graph:
        acts = graph.rows("acts")
        neo4j.pause()
        with pytest.raises(QueryTimeout, match="LEXGRAPH_QUERY_TIMEOUT_S"):
            graph.rows("acts")
        with pytest.raises(ServerUnavailable, match="LEXGRAPH_QUERY_TIMEOUT_S"):
            graph.rows("acts")  # not asked again so soon
        neo4j.resume()
        while True:
            try:
                assert graph.rows("acts") == acts
                break
            except (QueryTimeout, ServerUnavailable):
                continue
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN max(a * b % 7) AS n"
    limited = Lexgraph(run.home, {**run.environment, "LEXGRAPH_QUERY_TIMEOUT_S": "0.5"})
    assert_one_line(limited("cypher", slow), 71, "time limit (LEXGRAPH_QUERY_TIMEOUT_S)")
    assert "Act" in run.do("status")


@pytest.mark.skipif(os.geteuid() != 0 or not may_mount(), reason="only root may mount a small disk")
def test_a_full_disk_is_told_and_a_load_gone_on_with_when_there_is_space(tmp_path: Path, big_law: Path, impatient: None) -> None:
    articles = "MATCH (a:Article) WHERE a.act_id IN $acts RETURN a.id, a.text ORDER BY a.id"
    read_law = ("cypher", articles, "--param", f"acts={json.dumps([BAKERS_ID, MILLERS_ID])}", "--json")
    with small_disk(400) as disk:
        config = {"server.directories.data": str(disk), "db.tx_log.rotation.size": "1m"}
        neo4j = Neo4jServer(NEO4J_2026, tmp_path / "full", config, gds=False, short_lived=True)
        start_or_skip(neo4j)
        try:
            run = Lexgraph.over(tmp_path / "home", neo4j)
            run.do("ingest", write_law(tmp_path / "law"))
            law = run.do(*read_law)
            ballast = disk / "ballast"
            free = int(subprocess.run(["df", "--output=avail", "-k", disk], capture_output=True, text=True).stdout.split()[1])
            ballast.write_bytes(b"\0" * 1024 * max(free - 600, 0))
            ended = run("ingest", big_law)
            assert_one_line(ended, 74, "space")
            # Where its log is what met the end of the disk, the server answers nothing until it is started again.
            read = run(*read_law)
            if read.out != law:
                assert_one_line(read, 71, "must be started again")
            ballast.unlink()
            neo4j.kill()
            neo4j.start()
            assert run.do(*read_law) == law
            again(run, "ingest", big_law)
            undisturbed = Lexgraph.over(tmp_path / "undisturbed")
            undisturbed.do("ingest", tmp_path / "law")
            undisturbed.do("ingest", big_law)
            assert state(run) == state(undisturbed)
        finally:
            neo4j.kill()


def test_nothing_of_a_password_is_shown(run: Lexgraph, neo4j: Neo4jServer) -> None:
    assert neo4j.password not in repr(open_store(run.settings))
    assert BAKERS not in run("doctor").out
    assert neo4j.password not in run("doctor").out
