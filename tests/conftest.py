"""Fixtures that several rooms share: the tiny law, and real law, loaded and indexed."""

import fcntl
import os
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.fetching.npm import LEGI_DATA, SERVICE_PUBLIC, fetch
from ingest.sources import ingest
from search.acts.views import build_act_texts
from search.corpus.read import read_corpus
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.support.tiny_law import write_law

pytest_plugins = ["tests.support.memory", "tests.support.servers"]
SOURCES = Path(__file__).parent.parent / "lexgraph-data" / "sources"


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny law in its graph and its text index; not to be written to."""
    home = tmp_path_factory.mktemp("tiny")
    ingest(EmbeddedStore(home), write_law(home / "sources"))
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
        build_act_texts(home, corpus, text, graph.rows("acts"))
    build_text_index(home, corpus, text, Bm25Options())
    return home


def _shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of this run that all its workers share."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def real_sources() -> tuple[Path, Path]:
    """The data folders of the French codes and of the service-public sheets, fetched once and kept."""
    SOURCES.mkdir(parents=True, exist_ok=True)
    with (SOURCES / ".lock").open("a") as lock:  # not "w": it would tell a test of the demo that something was written
        fcntl.flock(lock, fcntl.LOCK_EX)
        return fetch(LEGI_DATA, SOURCES), fetch(SERVICE_PUBLIC, SOURCES)


@pytest.fixture(scope="session")
def real_home(tmp_path_factory: pytest.TempPathFactory, real_sources: tuple[Path, Path]) -> Path:
    """A home with four French codes and the service-public questions, made once a run; not to be written to."""
    shared = _shared(tmp_path_factory)
    home, done = shared / "real", shared / "real.done"
    with (shared / "real.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            for source in real_sources:
                ingest(EmbeddedStore(home), source)
            done.touch()
    return home
