"""Fixtures that several rooms share: the tiny law, loaded and indexed."""

from pathlib import Path

import pytest

from cypher.embedded import open_graph
from ingest.sources import ingest
from search.corpus import read_corpus
from search.text_index import Bm25Options, build_text_index
from tests.tiny_law import write_law


@pytest.fixture(scope="session")
def tiny_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny law in its graph and its text index; not to be written to."""
    home = tmp_path_factory.mktemp("tiny")
    ingest(home, write_law(home / "sources"))
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
    build_text_index(home, corpus, text, Bm25Options())
    return home
