"""What servers have and the embedded engine reads from files: vectors, subgraphs, locks of jobs, and what goes wrong there."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from cypher.authority import write_authority
from cypher.engines.neo4j import Neo4jGraph
from cypher.engines.neo4j_vectors import VectorStore
from cypher.graph import Graph, Statements, Store
from gnn.model.subgraph import exported_edges, subgraph_edges
from gnn.versions.active import active_id, flip
from schema.errors import BadQuery, GraphBusy, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.vectors.neo4j import ServedVectors, bound_of, filter_rows, for_cosine
from tests.support.law_history import CODE_ID
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID


def vectors_of(graph: Graph) -> VectorStore:
    assert graph.vectors is not None
    return graph.vectors


def made_up_model(corpus: Corpus) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], float]:
    """Embeddings of unit length, biases and a scale."""
    random = np.random.default_rng(5)
    articles = random.normal(size=(len(corpus.articles), 8)).astype(np.float32)
    articles /= np.linalg.norm(articles, axis=1, keepdims=True)
    return articles, random.normal(size=len(corpus.articles)).astype(np.float32), 12.0


def some_filters(corpus: Corpus) -> list[Filter]:
    deep = max(range(len(corpus.sections)), key=corpus.level)
    return [
        Filter(),
        Filter(act=BAKERS_ID),
        Filter(section=corpus.sections[0]),
        Filter(section=corpus.sections[deep]),
        Filter(in_force_on=date(1969, 12, 31)),
        Filter(in_force_on=date(2024, 1, 1)),
        Filter(across_time=True),
        Filter(act=CODE_ID),
        Filter(kind="code"),
        Filter(kind="decree"),
        Filter(jurisdiction="fr", act=MILLERS_ID),
        Filter(act=BAKERS_ID, section=corpus.sections[0], in_force_on=date(2024, 1, 1)),
    ]


def test_the_vectors_of_a_server_rank_as_the_files_do_whatever_the_filter(served: Store) -> None:
    with served.writing() as graph:
        vectors = vectors_of(graph)
        corpus, _ = read_corpus(graph)
        articles, bias, scale = made_up_model(corpus)
        bound = bound_of(bias, scale)
        vectors.write_filters(filter_rows(corpus))
        vectors.write("made-up.1", "Article", corpus.articles, for_cosine(articles, bias, scale, bound))
        vectors.build("made-up.1", "Article", 10)
        search = ServedVectors(vectors, "made-up.1", corpus, scale, bound)
        for seed, filter in enumerate(some_filters(corpus)):
            query = np.random.default_rng(seed).normal(size=8).astype(np.float32)
            query /= np.linalg.norm(query)
            logits = scale * (articles @ query) + bias
            mask = corpus.passing(filter)
            passing = np.arange(len(articles)) if mask is None else np.flatnonzero(mask)
            best = passing[np.argsort(-logits[passing], kind="stable")][:5]
            positions, scores = search.ask(query, filter, 5)()
            assert positions.tolist() == best.tolist(), filter
            np.testing.assert_allclose(scores, logits[best], rtol=0, atol=1e-4)


def test_a_filter_that_the_index_cannot_apply_leaves_no_page_short(served: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways of a server without filters in its index: few are scored one by one, many are asked for until k pass."""
    with served.writing() as graph:
        vectors = vectors_of(graph)
        corpus, _ = read_corpus(graph)
        articles, bias, scale = made_up_model(corpus)
        vectors.write_filters(filter_rows(corpus))
        vectors.write("m", "Article", corpus.articles, for_cosine(articles, bias, scale, bound_of(bias, scale)))
        vectors.build("m", "Article", 10)
        search = ServedVectors(vectors, "m", corpus, scale, bound_of(bias, scale))
        query = articles[0]
        answers = {}
        for way, (inside, limit) in {"inside": (vectors.filters_in_index, 10), "exact": (False, 10), "asked": (False, 0)}.items():
            monkeypatch.setattr(vectors, "filters_in_index", inside)
            monkeypatch.setattr("cypher.engines.neo4j_vectors.EXACT_LIMIT", limit if way == "asked" else 1000)
            answers[way] = search.ask(query, Filter(act=MILLERS_ID), 2)()[0].tolist()
        assert answers["exact"] == answers["asked"] == answers["inside"]
        assert len(answers["exact"]) == min(2, sum(id.startswith(MILLERS_ID) for id in corpus.articles))


def test_a_version_of_vectors_is_written_beside_another_and_dropped_without_a_trace(served: Store) -> None:
    with served.writing() as graph:
        vectors = vectors_of(graph)
        corpus, _ = read_corpus(graph)
        for model, sign in (("one", 1), ("two", -1)):
            for label, ids in (("Article", corpus.articles), ("Section", corpus.sections)):
                rows = np.eye(len(ids), 64, dtype=np.float32) * sign
                vectors.write(model, label, ids, rows)
                vectors.build(model, label, 64)
        assert vectors.online("one")
        assert vectors.online("two")
        vectors.drop("one")
        assert not vectors.online("one")
        assert vectors.written("one", "Article") == set()
        assert vectors.written("two", "Article") == set(corpus.articles)
        nearest = vectors.nearest("two", "Section", -np.eye(1, 64, 2, dtype=np.float32)[0], 1)
        assert nearest.ids == [corpus.sections[2]]
        assert nearest.cosines == pytest.approx([1])


def test_the_subgraph_of_a_server_is_that_of_the_corpus(served: Store) -> None:
    with served.reading() as graph:
        corpus, _ = read_corpus(graph)
        expected = subgraph_edges(corpus, ("contains", "cites"))
        assert graph.gds is not None
        for through_gds in (True, False):
            found = exported_edges(graph, corpus, ("contains", "cites"), through_gds=through_gds)
            np.testing.assert_array_equal(found.edges, expected.edges)
            np.testing.assert_array_equal(found.kinds, expected.kinds)


def test_a_job_whose_lock_went_to_another_learns_it_when_it_asks(served: Store) -> None:
    with suppress(GraphBusy), served.exclusive("models") as check_lock:
        check_lock()
        with served.writing() as graph:
            assert isinstance(graph, Neo4jGraph)
            graph.connection.update("MATCH (n:Lock {id: 'models'}) SET n.holder = 'another' RETURN n.id", {})
        with pytest.raises(GraphBusy, match="went to another"):
            check_lock()
    with pytest.raises(GraphBusy), served.exclusive("models"):
        raise AssertionError("the lock is another's")


def steal(store: Store, work: str) -> None:
    """Another job takes a lock, as if it had run out."""
    with store.reading() as graph:
        assert isinstance(graph, Neo4jGraph)
        assert graph.connection.update(f"MATCH (n:Lock {{id: '{work}'}}) SET n.holder = 'another' RETURN n.id", {})


def give_up(store: Store, work: str) -> None:
    with store.reading() as graph:
        assert isinstance(graph, Neo4jGraph)
        graph.connection.update(f"MATCH (n:Lock {{id: '{work}'}}) DELETE n", {})


def test_what_a_job_writes_without_its_lock_is_not_committed(served: Store) -> None:
    def law() -> str:
        with served.reading() as graph:
            return graph.rows("graph_row")[0]["questions_sha256"]

    def write_late() -> None:
        with served.writing() as graph:
            graph.write("set_questions_sha256", sha256="in time")

            def work(transaction: Statements) -> None:
                transaction.write("set_questions_sha256", sha256="too late")
                steal(served, "graph")

            with pytest.raises(GraphBusy, match="went to another"):
                graph.atomically(work)
            with pytest.raises(GraphBusy, match="went to another"):
                graph.write("set_questions_sha256", sha256="later still")

    before = law()
    with pytest.raises(GraphBusy):
        write_late()
    assert law() == "in time"
    give_up(served, "graph")
    with served.writing() as graph:
        graph.write("set_questions_sha256", sha256=before)


def test_writers_of_one_job_do_not_wait_for_each_other(served: Store) -> None:
    """Two transactions of one holder stand under the lock at once; none does once another job has it."""
    with suppress(GraphBusy), served.writing() as graph, ThreadPoolExecutor(2) as pool:
        assert isinstance(graph, Neo4jGraph)
        holder = graph.connection.rows("MATCH (n:Lock {id: 'graph'}) RETURN n.holder AS holder", {})[0]["holder"]
        both_there = threading.Barrier(2, timeout=30)

        def work(transaction: Statements, number: int) -> None:
            transaction.write("merge_outside", rows=[{"id": f"lone {number}", "kind": "article"}])
            assert transaction.rows("hold_lock", id="graph", holder=holder, fence=100 + number)
            both_there.wait()

        list(pool.map(lambda number: graph.atomically(partial(work, number=number)), range(graph.writers)))
        assert {"lone 0", "lone 1"} <= {row["id"] for row in graph.rows("outside_ids")}
        graph.write("delete_lone_outside")
        steal(served, "graph")
        for _ in range(2 * graph.writers):
            with pytest.raises(GraphBusy, match="went to another"):
                graph.write("merge_outside", rows=[{"id": "too late", "kind": "article"}])
        assert "too late" not in {row["id"] for row in graph.rows("outside_ids")}
    give_up(served, "graph")


def test_a_flip_without_the_lock_of_the_models_does_not_happen(served: Store) -> None:
    with served.writing() as graph:
        graph.write(
            "create_model", id="a", created="2026-01-01", recipe="r", encoder="e", dimensions=1, corpus_sha256="", metrics="{}",
            status="active", activated="2026-01-01",
        )  # fmt: skip

    def flip_late() -> None:
        with served.exclusive("models"):
            steal(served, "models")
            with served.writing() as graph:
                graph.atomically(lambda transaction: flip(transaction, "b"))

    with pytest.raises(GraphBusy, match="the lock of the models went to another"):
        flip_late()
    with served.reading() as graph:
        assert active_id(graph) == "a"
    give_up(served, "models")
    with served.writing() as graph:
        graph.write("delete_model", id="a")


def test_a_server_that_is_too_old_is_not_written_to(served: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def locks() -> list[dict[str, object]]:
        with served.reading() as graph:
            assert isinstance(graph, Neo4jGraph)
            return graph.connection.rows("MATCH (n:Lock) RETURN n.id AS id, n.asked AS asked ORDER BY id", {})

    before = locks()
    with monkeypatch.context() as patched:
        patched.setattr("cypher.engines.neo4j.OLDEST", (3000, 1))
        with pytest.raises(NotReady, match="is too old"), served.exclusive("index"):
            raise AssertionError("the lock is not taken")
    assert locks() == before


@pytest.mark.parametrize("error", [OSError(13, "no such drawer"), ValueError("no such day"), KeyError("x")])
def test_what_goes_wrong_in_a_callers_own_work_is_told_as_it_is(served: Store, error: Exception) -> None:
    def work(transaction: Statements) -> None:
        transaction.write("set_questions_sha256", sha256="half")
        raise error

    with served.writing() as graph:
        before = graph.rows("graph_row")
        with pytest.raises(type(error)) as caught:
            graph.atomically(work)
        assert caught.value is error
        assert graph.rows("graph_row") == before


def test_an_integer_beyond_64_bits_is_a_bad_query(served: Store) -> None:
    with served.reading() as graph:
        with pytest.raises(BadQuery, match="beyond 64 bits"):
            graph.query("RETURN $n AS n", {"n": 2**70}, 10)
        assert graph.query("RETURN $n AS n", {"n": 2**62}, 10).rows == [(2**62,)]
    with served.reading(timeout_s=5) as graph, pytest.raises(BadQuery, match="beyond 64 bits"):
        graph.query("RETURN $n AS n", {"n": [-(2**64)]}, 10)


def test_a_query_that_the_server_ends_lets_others_be_asked(served: Store) -> None:
    slow = "UNWIND range(1, 100000) AS a UNWIND range(1, 100000) AS b RETURN max(a * b % 7) AS n"
    with served.reading(timeout_s=1) as graph:
        with pytest.raises(QueryTimeout, match="past its time limit"):
            graph.query(slow, {}, 1)
        assert graph.rows("acts")


def test_errors_of_the_plugin_are_one_line(served: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with served.reading() as graph:
        gds = graph.gds
        assert gds is not None

        def away(labels: list[str]) -> dict[int, str]:
            raise ServiceUnavailable("connection\nlost")

        monkeypatch.setattr(gds, "_identifiers", away)
        for ask in (gds.ranks, lambda: gds.edges("CITES", "Article", "Article")):
            with pytest.raises(ServerUnavailable, match="does not answer: connection lost"):
                ask()


class _NoMemory(Neo4jError):
    code = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"  # pyright: ignore


def test_a_server_without_memory_for_the_plugin_gets_its_authority_all_the_same(
    served: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served.writing() as graph:
        stored = {row["id"]: row["authority"] for row in graph.rows("stored_authority")}
        graph.write("set_authority", rows=[{"id": id, "authority": 9.0} for id in stored])
        gds = graph.gds
        assert gds is not None

        def no_memory(changed: str) -> dict[str, float]:
            raise _NoMemory("the memory pool limit was exceeded")

        monkeypatch.setattr(gds, "_changed_ranks", no_memory)
        write_authority(graph)
        assert {row["id"]: row["authority"] for row in graph.rows("stored_authority")} == pytest.approx(stored, abs=1e-3)
