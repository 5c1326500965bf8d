"""The law as arrays, read while another process writes."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedGraph, EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.errors import GraphBusy, NotReady
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus, steady_law
from search.text.index import build_text_index, index_folder, open_text_index, remove_other_indexes
from search.text.options import Bm25Options
from tests.support.commands import Lexgraph
from tests.support.disturbance import digests
from tests.support.tiny_law import article, bakers, millers, write_law
from tests.support.variants import variants

_READS = ("acts", "corpus_sections", "corpus_articles", "corpus_wordings", "corpus_citations")


def newer(home: Path, folder: Path) -> None:
    """Another process loads a release: an article and a section of it are new, and a citation between them."""
    root = millers()
    root["children"][0]["children"].append(article(23, "L3", "<p>Le meunier pèse la farine (article L. 1).</p>"))
    ingest(EmbeddedStore(home), write_law(folder / "newer", bakers(), root))


class Torn:
    """A graph of which each read is a transaction of its own, as on a server: after one of them it is another law."""

    engine = "neo4j"
    vectors = None
    gds = None

    def __init__(self, home: Path, folder: Path, after: str) -> None:
        self._home, self._folder, self._after = home, folder, after
        self._graph = open_graph(home)

    def rows(self, statement: str, **parameters: Any) -> list[dict[str, Any]]:
        found = self._graph.rows(statement, **parameters)
        if statement == self._after:
            self._after = ""
            newer(self._home, self._folder)
            self._graph.close()
            self._graph = open_graph(self._home)
        return found

    def __enter__(self) -> "Torn":
        return self

    def __exit__(self, *_: object) -> None:
        self._graph.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    ingest(EmbeddedStore(tmp_path / "home"), write_law(tmp_path / "law", bakers(), millers()))
    return tmp_path / "home"


@pytest.mark.parametrize("after", variants(_READS, quick=2))
def test_law_that_changes_while_it_is_read_is_not_given_out(home: Path, tmp_path: Path, after: str) -> None:
    with Torn(home, tmp_path, after) as graph:
        with pytest.raises(GraphBusy, match="changed while it was read"):
            read_corpus(graph)  # pyright: ignore[reportArgumentType]
        corpus, text = read_corpus(graph)  # pyright: ignore[reportArgumentType]
    with open_graph(home) as graph:
        assert corpus.sha256 == graph.rows("graph_row")[0]["corpus_sha256"]
    assert len(corpus.articles) == len(text.texts) == 11


@pytest.mark.parametrize("after", variants(_READS, quick=2))
def test_an_index_is_of_one_law_and_stays(home: Path, tmp_path: Path, after: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Lexgraph.over(home)

    @contextmanager
    def reading(_: EmbeddedStore, timeout_s: float = 0) -> Generator[Torn]:
        with Torn(home, tmp_path, after) as graph:
            yield graph

    with monkeypatch.context() as patched:
        patched.setattr(EmbeddedStore, "reading", reading)
        ended = run("index")
    assert (ended.code, ended.err) == (75, "lexgraph: the law changed while it was read: try again\n")
    assert not (home / "index").exists()
    run.do("index")
    with open_graph(home) as graph:
        (folder,) = (home / "index").iterdir()
        assert folder == index_folder(home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())


def test_law_whose_load_was_cut_off_is_not_read(home: Path) -> None:
    with EmbeddedStore(home).writing() as graph:
        graph.write("set_corpus_sha256", sha256="")
    with open_graph(home) as graph, pytest.raises(NotReady, match="its load was cut off"):
        read_corpus(graph)


def test_what_goes_wrong_over_steady_law_is_told_as_it_is(home: Path) -> None:
    def fail(graph: EmbeddedGraph) -> None:
        with steady_law(graph):
            raise KeyError("a mistake of the caller's own")

    with open_graph(home) as graph, pytest.raises(KeyError):
        fail(graph)


def test_two_processes_that_index_one_law_leave_it_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second begins and ends while the first writes."""
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
    build_text_index(home, corpus, text, Bm25Options())
    (whole,) = (home / "index").iterdir()
    expected = digests(whole)
    shutil.rmtree(whole)
    save = Corpus.save

    def interrupted(self: Corpus, folder: Path) -> None:
        monkeypatch.undo()
        build_text_index(home, corpus, text, Bm25Options())
        remove_other_indexes(home, whole.name)
        assert folder.is_dir(), "what is being written is left to its writer"
        save(self, folder)

    monkeypatch.setattr(Corpus, "save", interrupted)
    assert build_text_index(home, corpus, text, Bm25Options()) == whole
    assert digests(whole) == expected
    assert [path.name for path in (home / "index").iterdir()] == [whole.name]


def test_an_index_of_an_older_version_is_told_and_completed(tmp_path: Path, tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, text = read_corpus(graph)
    folder = build_text_index(tmp_path, corpus, text, Bm25Options())
    shutil.rmtree(folder / "query")
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        open_text_index(tmp_path, corpus.sha256, Bm25Options())
    kept = (folder / "corpus.json").stat().st_mtime_ns
    build_text_index(tmp_path, corpus, text, Bm25Options())
    assert (folder / "corpus.json").stat().st_mtime_ns == kept, "what is there stays"
    assert open_text_index(tmp_path, corpus.sha256, Bm25Options()).vocabulary.words["boulanger"] > 1
