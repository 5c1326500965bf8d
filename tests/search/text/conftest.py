"""The tiny law, and a prefix of its own on the shared Elasticsearch, for tests of the text index."""

from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from cypher.engines.ladybug import open_graph
from docker.elasticsearch_server import ElasticsearchServer
from search.corpus.read import read_corpus
from search.text.elasticsearch import ElasticText
from tests.search.text.own_server import Law, remove_all, text_at


@pytest.fixture(scope="module")
def law(tiny_home: Path) -> Law:
    with open_graph(tiny_home) as graph:
        return read_corpus(graph)


@pytest.fixture
def text(elasticsearch_server: ElasticsearchServer) -> Iterator[ElasticText]:
    """The shared server, under a prefix of this test's own."""
    server = text_at(elasticsearch_server.address, text_prefix=f"test-{uuid4().hex[:8]}")
    yield server
    remove_all(elasticsearch_server, server)
    server.close()
