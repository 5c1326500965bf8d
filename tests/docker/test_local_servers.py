"""The launcher itself: start, stop, kill and restart with data kept; what is missing is said in one line."""

import json
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

from docker import java, local_servers
from docker.elasticsearch_server import ElasticsearchServer
from docker.java import find_java
from docker.maven import ELASTICSEARCH, NEO4J_5, NEO4J_2026, ServerFailed, ServerMissing, fetch, locked
from docker.neo4j_server import Neo4jServer
from docker.processes import Process
from tests.support.disturbance import ROOT
from tests.support.servers import OwnNeo4j, need, start_or_skip

pytestmark = pytest.mark.servers  # of their own

COUNT = "MATCH (n:Kept) RETURN count(n)"


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with any server."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True) as process:
        yield process
        process.kill()


def test_neo4j_keeps_its_data_ports_and_password(own_neo4j: OwnNeo4j) -> None:
    """Killed, started again, paused, resumed, stopped."""
    server = own_neo4j(config={"db.transaction.timeout": "30s"})
    assert server.query("SHOW SETTINGS 'db.transaction.timeout' YIELD value") == [["30s"]]
    address, password = server.address, server.password
    server.query("UNWIND range(1, 7) AS i CREATE (:Kept {i: i})")

    server.kill()
    assert not server.running
    server.start()
    assert (server.address, server.query(COUNT)) == (address, [[7]])

    again = Neo4jServer(home=server.home, gds=False)  # as another process would find it
    first = server.process
    again.start()
    assert again.process == first
    assert again.password == password
    assert stat.S_IMODE((server.home / "password").stat().st_mode) == 0o600
    assert server.request("POST", "/db/neo4j/query/v2", {"statement": "RETURN 1"}, ("neo4j", "neo4j"))[0] == 401

    assert first is not None
    server.pause()
    assert first.status == psutil.STATUS_STOPPED
    server.resume()
    assert server.query("RETURN 1") == [[1]]

    server.pause()
    again.stop()  # a server that stands still is stopped as well
    assert not server.running
    assert not first.alive
    assert not first.group
    assert "Stopped" in server.log.read_text()


def test_shared_neo4j_has_graph_data_science_and_the_browser(neo4j_2026: Neo4jServer) -> None:
    components = neo4j_2026.query("CALL dbms.components() YIELD name, versions, edition")
    assert ["Neo4j Kernel", ["2026.05.0"], "community"] in components
    assert neo4j_2026.query("RETURN gds.version()") == [["2.26.0"]]
    assert neo4j_2026.request("GET", "/browser/")[0] == 200


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="groups are of runs on several workers")
def test_all_tests_of_a_shared_server_are_one_group(neo4j_2026: Neo4jServer, request: pytest.FixtureRequest) -> None:
    """The versions of pytest and pytest-xdist must fit each other, or the groups vanish without a word."""
    assert request.node.nodeid.endswith("@neo4j_2026")


def test_start_prints_the_settings_to_use(
    neo4j_2026: Neo4jServer,
    elasticsearch_server: ElasticsearchServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """With servers that run already, which `make servers` leaves as they are."""
    before = neo4j_2026.process, elasticsearch_server.process
    monkeypatch.setattr(local_servers, "development_servers", lambda: (neo4j_2026, elasticsearch_server))
    local_servers.start()
    assert (neo4j_2026.process, elasticsearch_server.process) == before
    exports = dict(line.removeprefix("export ").split("=", 1) for line in capsys.readouterr().out.splitlines()[:4])
    assert exports == {
        "LEXGRAPH_GRAPH": neo4j_2026.address,
        "LEXGRAPH_GRAPH_PASSWORD": neo4j_2026.password,
        "LEXGRAPH_TEXT": elasticsearch_server.address,
        "LEXGRAPH_GRAPH_HTTP": neo4j_2026.http_address,
    }


def test_wipe_leaves_an_empty_database(neo4j_5: Neo4jServer) -> None:
    assert neo4j_5.query("RETURN gds.version()") == [["2.13.9"]]
    neo4j_5.query("CREATE CONSTRAINT kept FOR (n:Kept) REQUIRE n.i IS UNIQUE")
    neo4j_5.query("CREATE FULLTEXT INDEX `a text` FOR (n:Kept) ON EACH [n.text]")
    neo4j_5.query("UNWIND range(1, 30000) AS i CREATE (n:Kept {i: i}) CREATE (n)-[:TO]->(n)")
    neo4j_5.query("CALL gds.graph.project('kept', 'Kept', 'TO')")
    neo4j_5.wipe()
    assert neo4j_5.query(COUNT) == [[0]]
    assert neo4j_5.query("SHOW CONSTRAINTS YIELD name") == []
    assert neo4j_5.query("SHOW INDEXES YIELD type WHERE type <> 'LOOKUP'") == []
    assert neo4j_5.query("CALL gds.graph.list() YIELD graphName") == []


def test_clear_leaves_constraints_and_no_node(neo4j_5: Neo4jServer) -> None:
    neo4j_5.wipe()
    neo4j_5.query("CREATE CONSTRAINT kept FOR (n:Kept) REQUIRE n.i IS UNIQUE")
    neo4j_5.query("CREATE VECTOR INDEX near FOR (n:Kept) ON (n.vector)")
    neo4j_5.query("UNWIND range(1, 3) AS i CREATE (n:Kept {i: i}) CREATE (n)-[:TO]->(n)")
    neo4j_5.clear()
    assert neo4j_5.query(COUNT) == [[0]]
    assert neo4j_5.query("SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name") == [["kept"]]
    neo4j_5.wipe()


def test_elasticsearch_keeps_its_documents(tmp_path: Path) -> None:
    """Run as root too, in a folder that only root may enter, as pytest's is."""
    server = ElasticsearchServer(home=tmp_path / "elasticsearch", short_lived=True)
    start_or_skip(server)
    try:
        address = server.address
        status, _ = server.request("PUT", "/kept/_doc/1?refresh=true", {"text": "congé parental"})
        assert status == 201
        server.kill()
        server.start()
        assert server.address == address
        assert server.request("GET", "/kept/_doc/1")[1]["_source"] == {"text": "congé parental"}
        process = server.process
        assert process is not None
        assert len(process.group) == 2
        if os.geteuid() == 0:
            assert Path(f"/proc/{process.pid}").stat().st_uid != 0
        server.wipe()
        assert server.request("GET", "/kept")[0] == 404
    finally:
        server.stop()
    assert not process.group


def test_a_server_ends_with_the_run_that_asked_for_it(tmp_path: Path) -> None:
    """The parent is killed outright; the server must not outlive it, nor must its files."""
    need(NEO4J_2026)
    home = tmp_path / "orphan"
    code = (
        "import os; from pathlib import Path; from docker.neo4j_server import Neo4jServer\n"
        f"server = Neo4jServer(home=Path({str(home)!r}), gds=False, short_lived=True); server.start(dies_with=os.getpid())\n"
        "print(server.process.pid, flush=True); os.kill(os.getpid(), 9)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    process = Process.of(int(done.stdout))
    assert not process.alive or process.gone(30)
    watcher = Neo4jServer(home=home)
    assert not watcher.running


def test_a_server_ends_though_its_home_was_removed_before_the_run_ended(
    tmp_path: Path, stranger: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"  # as that of a shared server among the folders of tests that have passed
    home.mkdir()
    (home / "server.json").write_text(json.dumps({"process": Process.of(stranger.pid)}))
    monkeypatch.setattr(local_servers, "time", SimpleNamespace(sleep=lambda seconds: shutil.rmtree(home)))  # pyright: ignore
    local_servers.watch(os.getpid(), home)
    assert stranger.wait(30) == -signal.SIGKILL


def test_a_leftover_pid_of_another_process_is_left_alone(tmp_path: Path, stranger: subprocess.Popen[bytes]) -> None:
    server = Neo4jServer(home=tmp_path)
    (tmp_path / "server.json").write_text(json.dumps({"process": [stranger.pid, "born at another time"]}))
    assert not server.running
    server.stop()
    server.kill()
    server.pause()
    assert stranger.poll() is None

    (tmp_path / "server.json").write_text(json.dumps({"process": Process.of(stranger.pid)}))
    assert server.running  # the same pid with the same birth is the server
    server.kill()
    assert not Process.of(stranger.pid).alive


def test_a_start_does_without_an_archive_that_could_not_be_made_or_is_being_made(tmp_path: Path) -> None:
    """The archive of classes saves work, and no start may fail for it."""
    server, home = Neo4jServer(home=tmp_path / "home", short_lived=True), find_java_or_skip()
    archive = tmp_path / f"classes-{java.java_version(home)}.jsa"
    with locked(tmp_path / ".classes.lock"):
        assert server._class_archive(tmp_path, home) == []
    archive.touch()
    assert server._class_archive(tmp_path, home) == []
    archive.write_text("classes")
    assert server._class_archive(tmp_path, home) == [f"-XX:SharedArchiveFile={archive}"]


def find_java_or_skip() -> Path:
    """The Java that runs Neo4j."""
    need(NEO4J_2026)
    return find_java(NEO4J_2026)


def test_stop_without_a_start_does_nothing(tmp_path: Path) -> None:
    server = Neo4jServer(home=tmp_path / "never")
    server.stop()
    assert not server.home.exists()
    with pytest.raises(ServerFailed, match="was never started"):
        _ = server.address


def _no_java(monkeypatch: pytest.MonkeyPatch, versions: dict[str, int]) -> None:
    monkeypatch.setattr(java, "_java_homes", lambda: [Path(home) for home in versions])
    monkeypatch.setattr(java, "java_version", lambda home: versions[str(home)])


def test_java_is_chosen_by_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    _no_java(monkeypatch, {"/a": 17, "/b": 0, "/c": 21, "/d": 25})
    assert [str(find_java(product)) for product in (NEO4J_2026, NEO4J_5, ELASTICSEARCH)] == ["/d", "/c", "/d"]
    _no_java(monkeypatch, {"/a": 17, "/c": 21})
    assert [str(find_java(product)) for product in (NEO4J_2026, NEO4J_5, ELASTICSEARCH)] == ["/c", "/c", "/c"]


@pytest.mark.parametrize(
    ("versions", "there"),
    [({}, "none"), ({"/a": 11, "/b": 17}, "11, 17"), ({"/broken": 0}, "none")],
    ids=["none", "old", "broken"],
)
def test_missing_java_is_one_line(versions: dict[str, int], there: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _no_java(monkeypatch, versions)
    with pytest.raises(ServerMissing) as raised:
        find_java(NEO4J_2026)
    assert str(raised.value) == (
        f"Neo4j 2026.05.0 needs Java 21 or 25, and this machine has {there}: "
        "apt-get install openjdk-21-jre-headless, or set JAVA_HOME"
    )


def test_missing_maven_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LEXGRAPH_SERVERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ServerMissing, match=r"Neo4j 5\.26\.30 is downloaded by Maven, which is not installed"):
        fetch(NEO4J_5)
    bare = subprocess.run([sys.executable, "-S", "-m", "docker.maven"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert bare.returncode == 69  # -S: it runs before any package is installed
    assert bare.stderr.splitlines() == [
        "error: Neo4j 2026.05.0 is downloaded by Maven, which is not installed: apt-get install maven"
    ]
    assert [file.name for file in tmp_path.iterdir()] == [".lock"]  # nothing half-made


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_tests_are_skipped_without_maven_and_fail_in_ci(
    ci: str, outcome: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LEXGRAPH_SERVERS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", ci)
    monkeypatch.setattr("docker.server.find_java", lambda product: tmp_path)  # pyright: ignore
    monkeypatch.setattr("tests.support.servers.find_java", lambda product: tmp_path)  # pyright: ignore
    with pytest.raises(outcome, match="apt-get install maven"):
        need(NEO4J_5)
    with pytest.raises(outcome, match="apt-get install maven"):
        start_or_skip(Neo4jServer(NEO4J_5, tmp_path / "home"))


def test_a_failed_download_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    maven = tmp_path / "bin" / "mvn"
    maven.parent.mkdir()
    maven.write_text("#!/bin/sh\necho '[ERROR] Could not transfer artifact: connection refused'\necho '[ERROR] more'\nexit 1\n")
    maven.chmod(0o755)
    monkeypatch.setenv("PATH", f"{maven.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("LEXGRAPH_SERVERS", str(tmp_path / "programs"))
    with pytest.raises(ServerFailed) as raised:
        fetch(ELASTICSEARCH)
    assert "Could not transfer artifact: connection refused" in str(raised.value)
    assert "\n" not in str(raised.value)
    assert [file.name for file in (tmp_path / "programs").iterdir()] == [".lock"]


def test_a_server_that_does_not_start_shows_the_end_of_its_log(tmp_path: Path) -> None:
    need(NEO4J_2026)
    server = Neo4jServer(home=tmp_path / "bad", config={"server.memory.pagecache.size": "plenty"}, gds=False)
    with pytest.raises(ServerFailed, match=r"(?s)Neo4j 2026.05.0 ended before it was ready; the end of .*console.log:.*plenty"):
        server.start()
    assert not server.running
