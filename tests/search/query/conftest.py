"""The codes and acts to look up in, loaded and indexed."""

from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.sources import ingest
from search.corpus.read import read_corpus
from search.query.understanding import Understanding
from search.retrieval import Retriever
from search.text.index import build_text_index
from search.text.options import Bm25Options
from tests.search.test_degraded import model_of
from tests.search.test_retrieval import retriever_of
from tests.support.codes_and_acts import write_codes


@pytest.fixture(scope="package")
def codes_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the codes and acts; not to be written to."""
    home = tmp_path_factory.mktemp("codes")
    for folder in write_codes(home / "sources"):
        ingest(EmbeddedStore(home), folder)
    with open_graph(home) as graph:
        build_text_index(home, *read_corpus(graph), Bm25Options())
    return home


@pytest.fixture(scope="package")
def retriever(codes_home: Path) -> Retriever:
    """Searches with a model whose vectors mean nothing, so that every mode can be asked."""
    lexical = retriever_of(codes_home, with_model=False)
    return Retriever(lexical.index, model_of(lexical.index))


@pytest.fixture(scope="package")
def understanding(retriever: Retriever) -> Understanding:
    """Understands queries over the codes and acts."""
    return retriever.understanding
