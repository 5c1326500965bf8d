"""The graph file: one writer at a time, a full disk that harms nothing, files that are refused by name."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cypher.engines.ladybug import GRAPH_FILE, EmbeddedGraph, EmbeddedStore, open_graph, release, release_stamp
from cypher.graph import Statements
from cypher.rows import row_of
from ingest.sources import ingest
from schema.errors import BadQuery, GraphBusy, GraphTooNew, NotReady, PoolFull, QueryTimeout, StorageFull
from schema.labels import EDGES, NODES, SCHEMA_VERSION
from schema.records import Question
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.support.disturbance import digests, dump, start_python
from tests.support.tiny_law import article, bakers, section, write_law
from tests.support.variants import variants

# Exits as the command line would: with the error's code, its class and message on standard output.
INGEST = """
import resource, signal, sys
from pathlib import Path
from cypher.engines.ladybug import EmbeddedStore
from ingest.sources import ingest
from schema.errors import LexgraphError
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
if sys.argv[3] != "none":
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    ingest(EmbeddedStore(Path(sys.argv[1])), Path(sys.argv[2]))
except LexgraphError as error:
    print(type(error).__name__, error)
    sys.exit(error.exit_code)
"""


@pytest.fixture
def home(tmp_path: Path, tiny_home: Path) -> Path:
    """A home of one's own with the tiny law."""
    (tmp_path / "home").mkdir()
    shutil.copy(tiny_home / GRAPH_FILE, tmp_path / "home")
    return tmp_path / "home"


@pytest.fixture(scope="module")
def much_more(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A newer release of the bakers' code, three thousand articles longer."""
    words = "Le pain est cuit au four, sans être brûlé. " * 20
    root = bakers()
    root["children"].append(section(90, "Livre III", *(article(n, f"L{n}", f"<p>{words}{n}</p>") for n in range(5000, 8000))))
    return write_law(tmp_path_factory.mktemp("more"), root)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory, tiny_home: Path, much_more: Path) -> tuple[int, str]:
    """The size and the canonical dump of the graph with that release, written where nothing happened."""
    home = tmp_path_factory.mktemp("undisturbed")
    shutil.copy(tiny_home / GRAPH_FILE, home)
    assert run_ingest(home, much_more) == (0, "")
    return (home / GRAPH_FILE).stat().st_size, dump(home)


def run_ingest(home: Path, sources: Path, limit: object = "none") -> tuple[int, str]:
    process = start_python(INGEST, home, sources, limit)
    out, errors = process.communicate()
    assert "Traceback" not in errors, errors
    return process.returncode, out


@pytest.mark.slow
@pytest.mark.xdist_group("file size limit")  # on one worker, which loads what is compared once
@pytest.mark.parametrize("share", [0.001, 0.1, 0.3, 0.5, 0.8, 0.99])
def test_a_file_size_limit_is_a_full_disk_and_the_old_graph_stays(
    home: Path, much_more: Path, undisturbed: tuple[int, str], share: float
) -> None:
    before = dump(home)
    needed, newer = undisturbed
    code, out = run_ingest(home, much_more, int(needed * share))
    assert out.startswith("StorageFull no space left")
    assert code == StorageFull.exit_code == 74
    assert sorted(path.name for path in home.iterdir()) == [GRAPH_FILE, "graph.lock"]
    assert dump(home) == before
    assert run_ingest(home, much_more) == (0, "")
    assert dump(home) == newer


@contextmanager
def small_disk(megabytes: int) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder], check=True, capture_output=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def may_mount() -> bool:
    try:
        with small_disk(1):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


DISKS = (2, 3, 5, 8) if os.geteuid() == 0 and may_mount() else ()
"""Sizes in MiB. Only root may mount a small disk; elsewhere the limit above stands for it."""


@pytest.mark.parametrize("megabytes", variants(DISKS))
def test_a_full_disk_leaves_the_old_graph(home: Path, much_more: Path, megabytes: int) -> None:
    before = dump(home)
    with small_disk(megabytes) as disk:
        shutil.copy(home / GRAPH_FILE, disk)
        code, out = run_ingest(disk, much_more)
        assert out.startswith("StorageFull no space left")
        assert code == 74
        assert dump(disk) == before
        assert sorted(path.name for path in disk.iterdir()) == [GRAPH_FILE, "graph.lock"]


@pytest.mark.slow
def test_a_full_disk_leaves_no_half_index(tmp_path: Path, tiny_home: Path) -> None:
    script = """
import resource, signal, sys
from pathlib import Path
from cypher.engines.ladybug import open_graph
from schema.errors import StorageFull
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with open_graph(Path(sys.argv[1])) as graph:
    corpus, text = read_corpus(graph)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), int(sys.argv[3])))
try:
    build_text_index(Path(sys.argv[2]), corpus, text, Bm25Options())
except StorageFull as error:
    print(error)
    sys.exit(error.exit_code)
"""
    sizes = sorted({path.stat().st_size for path in (tiny_home / "index").rglob("*") if path.is_file()})
    for limit in sizes[:-1]:
        process = start_python(script, tiny_home, tmp_path, limit)
        out, errors = process.communicate()
        assert (process.returncode, "no index was touched" in out) == (74, True), (limit, out, errors)
        assert digests(tmp_path) == {}
    with open_graph(tiny_home) as graph:
        build_text_index(tmp_path, *read_corpus(graph), Bm25Options())
    assert digests(tmp_path / "index") == digests(tiny_home / "index")


def write_questions(graph: EmbeddedGraph, thousands: int) -> None:
    """Write questions of a kilobyte each, a thousand at a time."""
    for portion in range(thousands):
        texts = (f"{portion} {n} " + "Le pain est cuit au four. " * 40 for n in range(1000))
        questions = (Question(f"{portion}-{n}", text, "", "own", ()) for n, text in enumerate(texts))
        graph.write("create_questions", rows=[row_of(question) | {"file": ""} for question in questions])


@pytest.mark.slow
def test_too_little_memory_leaves_the_old_graph_and_says_which_setting_to_raise(home: Path) -> None:
    before = dump(home)
    with pytest.raises(PoolFull, match=r"buffer pool .* is too small for this: raise LEXGRAPH_MEMORY_MB") as caught:  # noqa: SIM117
        with release(home, memory_mb=16) as graph:
            write_questions(graph, 40)
    assert caught.value.exit_code == 78
    assert sorted(path.name for path in home.iterdir()) == [GRAPH_FILE, "graph.lock"]
    assert dump(home) == before


@pytest.mark.slow
def test_a_load_may_take_more_memory_than_its_readers_are_given(tmp_path: Path) -> None:
    """At 64 MiB the engine could not bring fourteen megabytes of text, all in one group of rows, into the file."""
    with release(tmp_path, memory_mb=64) as graph:
        write_questions(graph, 25)
    with open_graph(tmp_path, memory_mb=64) as graph:
        assert graph.query("MATCH (q:Question) RETURN count(q)", {}, 1).rows == [(25_000,)]


def test_a_second_writer_is_told_and_changes_nothing(home: Path, tmp_path: Path) -> None:
    newer = bakers()
    newer["children"].pop()
    sources = write_law(tmp_path / "sources", newer)
    before = dump(home)
    with release(home) as graph:
        graph.write("set_corpus_sha256", sha256="of the first writer")
        with pytest.raises(GraphBusy, match="another process is writing") as caught:
            ingest(EmbeddedStore(home), sources)
        code, out = run_ingest(home, sources)
        assert dump(home) == before
    assert caught.value.exit_code == code == 75
    assert out.startswith("GraphBusy")
    with open_graph(home) as graph:
        assert graph.rows("graph_row")[0]["corpus_sha256"] == "of the first writer"
    assert run_ingest(home, sources) == (0, "")


def test_a_graph_of_a_newer_version_is_refused_and_left_alone(home: Path, tmp_path: Path) -> None:
    with release(home) as graph:
        graph._run("MATCH (g:Graph) SET g.schema_version = 99", {})  # pyright: ignore[reportPrivateUsage]
        graph.changed = True
    content = (home / GRAPH_FILE).read_bytes()
    newer = write_law(tmp_path / "sources", bakers() | {"children": []})
    for attempt in (lambda: open_graph(home), lambda: ingest(EmbeddedStore(home), newer), lambda: release(home).__enter__()):
        with pytest.raises(GraphTooNew, match=rf"{GRAPH_FILE}.*schema 99, this one knows {SCHEMA_VERSION}") as caught:
            attempt()
        assert caught.value.exit_code == 78
    assert (home / GRAPH_FILE).read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"not a graph", bytes(1 << 16), b"LBUG1" + bytes(1 << 16)], ids=len)
def test_a_file_that_is_no_graph_is_refused_by_its_own_name_and_left_alone(tmp_path: Path, content: bytes) -> None:
    sources = write_law(tmp_path / "sources")
    (tmp_path / GRAPH_FILE).write_bytes(content)
    for attempt in (
        lambda: open_graph(tmp_path),
        lambda: ingest(EmbeddedStore(tmp_path), sources),
        lambda: release(tmp_path).__enter__(),
    ):
        with pytest.raises(NotReady, match=rf"{tmp_path / GRAPH_FILE}: not a") as caught:
            attempt()
        assert caught.value.exit_code == 69
    assert (tmp_path / GRAPH_FILE).read_bytes() == content


def test_without_a_graph_a_reader_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(NotReady, match="run `lexgraph ingest`"):
        open_graph(tmp_path)
    assert release_stamp(tmp_path) is None


def test_a_release_in_which_something_fails_is_none(home: Path) -> None:
    stamp = release_stamp(home)
    with pytest.raises(ZeroDivisionError), release(home) as graph:  # noqa: PT012
        graph.write("set_corpus_sha256", sha256="never")
        raise ZeroDivisionError
    with release(home) as graph:
        graph.rows("acts")
    assert release_stamp(home) == stamp, "neither failed nor reading work makes a release"


def test_a_transaction_is_all_or_nothing(home: Path) -> None:
    with release(home) as graph:
        before = graph.rows("article_source_ids")

        def work(transaction: Statements) -> None:
            transaction.write("delete_articles", ids=[row["id"] for row in before])
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            graph.atomically(work)
        assert graph.rows("article_source_ids") == before


def test_every_table_of_the_schema_is_made_and_can_be_dumped(tmp_path: Path) -> None:
    with release(tmp_path):
        pass
    assert not (tmp_path / GRAPH_FILE).exists()  # a graph without law is no release
    with release(tmp_path) as graph:
        graph.write("set_corpus_sha256", sha256="")
    assert dump(tmp_path).count("\n") == 0
    with open_graph(tmp_path) as graph:
        made = {row[0] for row in graph.query("CALL show_tables() RETURN name", {}, 100).rows}
    assert made == {table.name for table in (*NODES, *EDGES)}


def test_a_free_query_is_bounded_checked_and_cannot_write(home: Path) -> None:
    with open_graph(home) as graph:
        table = graph.query("MATCH (a:Article) RETURN a.id ORDER BY a.id", {}, 4)
        assert (len(table.rows), table.truncated, table.columns) == (4, True, ("a.id",))
        assert not graph.query("MATCH (a:Act) RETURN a.id", {}, 4).truncated
        for wrong in (
            "MATCH (a:Article RETURN a",
            "MATCH (x:Nothing) RETURN x",
            "MATCH (a:Act) DETACH DELETE a",
            "",
        ):
            with pytest.raises(BadQuery, match="cypher: "):
                graph.query(wrong, {}, 4)


def test_a_query_that_needs_too_much_memory_is_told_so(home: Path) -> None:
    greedy = "UNWIND range(1, 3000000) AS a RETURN a, string(a) + ' pains au four' AS pains ORDER BY pains"
    with open_graph(home, memory_mb=64) as graph:
        with pytest.raises(BadQuery, match=r"cypher: the buffer pool .* raise LEXGRAPH_MEMORY_MB, or ask for less"):
            graph.query(greedy, {}, 10)
        assert graph.query("MATCH (a:Act) RETURN count(a)", {}, 1).rows != []


def test_a_query_past_its_time_limit_is_stopped(home: Path) -> None:
    forever = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN sum(a * b % 7)"
    with EmbeddedGraph(home / GRAPH_FILE, timeout_s=0.1) as graph, pytest.raises(QueryTimeout, match="LEXGRAPH_QUERY_TIMEOUT_S"):
        graph.query(forever, {}, 1)
