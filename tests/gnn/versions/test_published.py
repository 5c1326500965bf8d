"""Vectors on a server follow the law, whichever way it goes."""

from pathlib import Path

import numpy as np
import pytest

from cypher.engines.neo4j_vectors import VectorStore, property_of
from cypher.engines.open import open_store
from cypher.graph import ReadableGraph
from docker.neo4j_server import Neo4jServer
from gnn.versions.active import active_id
from gnn.versions.files import load_model, trained_bound
from gnn.versions.serving import is_ready
from schema.errors import BadQuery, GraphBusy, LexgraphError, NotReady, QueryTimeout, ServerUnavailable
from search.corpus.read import read_corpus
from search.vectors.neo4j import for_cosine
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID, Json, article, bakers, millers, write_law

CHANGED, GONE = f"{BAKERS_ID}/L111-1", f"{MILLERS_ID}/L2"


def release(run: Lexgraph, folder: Path, *roots: Json) -> None:
    run.do("ingest", "--force", write_law(folder / "law", *roots))


def other_law() -> tuple[Json, Json]:
    """The tiny law in which an article has other words, and another is gone."""
    first, second = bakers(), millers()
    first["children"][0]["children"][0]["children"][0] = article(1, "L111-1", "<p>Le meunier pèse le moulin.</p>")
    second["children"][0]["children"].pop()
    return first, second


def assert_vectors_of_the_law(run: Lexgraph, graph: ReadableGraph) -> None:
    id = active_id(graph)
    assert id is not None
    corpus, _ = read_corpus(graph)
    model = load_model(run.home, id, corpus)
    stored = for_cosine(model.articles, model.bias, model.scale, trained_bound(run.home, id, model.scale))
    name = property_of(id)
    for label, ids, wanted in (("Article", corpus.articles, stored), ("Section", corpus.sections, model.sections)):
        rows = graph.query(f"MATCH (n:{label}) RETURN n.id, n.{name}", {}, 1000).rows
        found = dict(rows)
        assert found.keys() == set(ids)
        for position, node in enumerate(ids):
            np.testing.assert_array_equal(np.array(found[node], np.float32), wanted[position], err_msg=node)


def test_law_that_is_taken_back_and_law_that_comes_back_have_their_vectors(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    run = Lexgraph.over(tmp_path / "home", neo4j_2026)
    load_tiny_law(run, tmp_path)
    run.do("train", "--recipe", recipe_file(tmp_path, "small"))
    store = open_store(run.settings)
    with store.reading() as graph:
        assert_vectors_of_the_law(run, graph)
        id = active_id(graph)
        assert id is not None
        first = store.stamp()
        assert run.do("index").endswith("nothing changed\n")
        release(run, tmp_path, *other_law())
        failed = run("doctor")
        assert failed.code == 1
        run.do("index")
        assert_vectors_of_the_law(run, graph)
        corpus, _ = read_corpus(graph)
        assert CHANGED in corpus.articles
        assert GONE not in corpus.articles
        assert is_ready(store, graph, id, corpus.sha256)
        release(run, tmp_path, bakers(), millers())
        assert store.stamp() != first, "the law is the first again; its vectors are not"
        run.do("index")
        assert_vectors_of_the_law(run, graph)
        assert store.stamp() == first
        assert "ok    model" in run.do("doctor")

        # Away and back without an index between: what came back has no vector, and the fingerprint is the same.
        release(run, tmp_path, *other_law())
        release(run, tmp_path, bakers(), millers())
        told = run("doctor")
        assert told.code == 1
        assert "the server lacks its vectors of this law: run `lexgraph index`" in told.out
        assert ": 1 articles and sections embedded" in run.do("index")
        assert_vectors_of_the_law(run, graph)
        assert "ok    model" in run.do("doctor")
    store.close()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ServerUnavailable("away"), ServerUnavailable),
        (QueryTimeout("slow"), QueryTimeout),
        (GraphBusy("no memory"), GraphBusy),
        (BadQuery("no such index"), NotReady),
        (LexgraphError("failed"), NotReady),
    ],
)
def test_waiting_for_an_index_tells_a_server_that_is_away_from_an_index_that_is_not_there(
    error: LexgraphError, told: type[LexgraphError]
) -> None:
    def failing(statement: str, parameters: dict[str, object]) -> list[dict[str, object]]:
        raise error

    vectors = VectorStore(failing, failing, lambda statement, parameters: list, filters_in_index=True)
    with pytest.raises(told) as found:
        vectors.wait("m", "Article")
    assert type(found.value) is told
