"""A law and its index on a server, as tests of the text index make them."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cypher.engines.ladybug import EmbeddedStore, open_graph
from docker.elasticsearch_server import ElasticsearchServer
from ingest.sources import ingest
from runtime.progress import Advance, Progress
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from search.text.elasticsearch import ElasticText
from search.text.elasticsearch_build import Loaded, load_law
from search.text.index import TextIndex, build_text_index, open_text_index
from search.text.options import Bm25Options
from tests.support.tiny_law import write_law

Law = tuple[Corpus, CorpusText]
OPTIONS = Bm25Options()


def law_of(folder: Path, *roots: dict[str, Any]) -> Law:
    """The law of some codes, through a graph of its own."""
    ingest(EmbeddedStore(folder), write_law(folder / "sources", *roots))
    with open_graph(folder) as graph:
        return read_corpus(graph)


def text_at(address: str, **settings: Any) -> ElasticText:
    """The client of a server, with some settings."""
    return ElasticText(Settings(text=address, **settings))


def remove_all(server: ElasticsearchServer, text: ElasticText) -> None:
    for name in indexes(server, text):
        server.request("DELETE", f"/{name}")


def indexes(server: ElasticsearchServer, text: ElasticText) -> list[str]:
    """The names of all indexes under a prefix."""
    return sorted(server.request("GET", f"/{text.prefix}-*")[1])


def changed(loaded: Loaded) -> bool:
    return loaded.articles.any or loaded.groups.any


def opened(home: Path, law: Law, text: ElasticText | None = None) -> TextIndex:
    """The index of a law, made if it is not there."""
    if text is not None:
        load_law(text, *law, OPTIONS)
    build_text_index(home, *law, OPTIONS, server=text)
    return open_text_index(home, law[0].sha256, OPTIONS, server=text)


def assert_same_lists(index: TextIndex, other: TextIndex, query: str = "pain boulanger moulin farine article L111-1") -> None:
    for name, scores in other.lexical.lists(query, Filter()).items():
        np.testing.assert_allclose(index.lexical.lists(query, Filter())[name], scores, rtol=1e-5, atol=1e-6)


def counting(progress: Callable[[int], None]) -> Progress:
    """A progress that tells how many units of all work have been done so far."""
    done = 0

    @contextmanager
    def open_one(label: str, total: int) -> Generator[Advance]:
        def advance(n: int) -> None:
            nonlocal done
            done += n
            progress(done)

        yield advance

    return open_one
