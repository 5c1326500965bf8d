"""One contract for every engine: the same law in, the same rows out, whatever keeps it."""

import re
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import Neo4jError, ServiceUnavailable

from cypher.authority import write_authority
from cypher.engines.ladybug import EmbeddedStore
from cypher.engines.neo4j import Neo4jGraph, Neo4jStore
from cypher.engines.neo4j_errors import Server
from cypher.engines.neo4j_vectors import VectorStore
from cypher.export.dump import canonical_dump
from cypher.graph import Graph, Statements, Store
from cypher.statements import statements
from docker.neo4j_server import Neo4jServer
from gnn.model.subgraph import exported_edges, subgraph_edges
from gnn.versions.active import active_id, flip
from ingest.loading.origins import known_origins
from ingest.loading.questions import load_questions, read_questions
from ingest.sources import ingest
from ingest.update import update_sources
from schema.errors import BadQuery, GraphBusy, GraphTooNew, NotReady, QueryTimeout, ServerUnavailable
from schema.filter import Filter
from schema.labels import SCHEMA_VERSION
from schema.records import Question
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.in_time.act_on_day import ActOnDay
from search.vectors.neo4j import ServedVectors, bound_of, filter_rows, for_cosine
from tests.ingest.loading.test_difference import newer_bakers
from tests.support.law_history import CODE_ID, STATES, write_history
from tests.support.servers import on_shared
from tests.support.small_history import HISTORY
from tests.support.small_history import write_repository as write_commits
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID, bakers, millers, statute, write_law

SERVERS = [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")]
ENGINES = [pytest.param("embedded"), *SERVERS]
MakeStore = Callable[[str], Store]


def store_of(server: Neo4jServer, home: Path) -> Neo4jStore:
    """The graph of a server, with a home of its own."""
    return Neo4jStore(home, Server(server.address, "neo4j", server.password))


@pytest.fixture
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """An empty graph of an engine."""

    def make(engine: str) -> Store:
        home = tmp_path / "home"
        if engine == "embedded":
            return EmbeddedStore(home)
        server: Neo4jServer = request.getfixturevalue(engine)
        server.clear()
        return store_of(server, home)

    return make


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, make_store: MakeStore) -> Store:
    return make_store(request.param)


@pytest.fixture
def law(store: Store, tmp_path: Path) -> Store:
    """The tiny law, loaded."""
    ingest(store, write_law(tmp_path / "law"))
    return store


def dump_of(store: Store) -> list[str]:
    with store.reading() as graph:
        return list(canonical_dump(graph))


@pytest.fixture
def embedded_law(tmp_path: Path) -> EmbeddedStore:
    """What the embedded engine makes of the tiny law: what every other is held against."""
    embedded = EmbeddedStore(tmp_path / "embedded")
    ingest(embedded, write_law(tmp_path / "beside" / "law"))
    return embedded


def test_before_any_law_there_is_no_graph(store: Store) -> None:
    with pytest.raises(NotReady, match="lexgraph ingest"):
        store.reading()
    assert store.stamp() is None


def test_every_engine_holds_the_same_graph(law: Store, embedded_law: EmbeddedStore) -> None:
    assert dump_of(law) == dump_of(embedded_law)
    with law.reading() as graph, embedded_law.reading() as other:
        assert read_corpus(graph)[0].sha256 == read_corpus(other)[0].sha256
        authority, expected = ({r["id"]: r["authority"] for r in g.rows("stored_authority")} for g in (graph, other))
        assert authority == pytest.approx(expected, abs=1e-3)


READS = sorted(name for name, body in statements("ladybug").items() if "RETURN" in body)


@pytest.mark.slow
def test_every_statement_that_reads_gives_the_same_rows(law: Store, embedded_law: EmbeddedStore, tmp_path: Path) -> None:
    question = Question("q1", "De quoi le pain est-il fait ?", "", "mine", (f"{BAKERS_ID}/L111-1", f"{BAKERS_ID}/L111-2"))
    statutes = tmp_path / "statutes"
    statute(statutes, 1, "Les fours sont déclarés ; voir la directive 2010/75/UE.")
    first = "/eli/etat/leg/loi/2001/02/01/n1/jo"
    statute(
        statutes,
        2,
        "Voir la loi du 1er février 2001 concernant les fours.",
        modifies=f"{first}; /eli/dir_ue/2010/75/jo",
        cites=first,
    )
    newer = write_law(tmp_path / "newer", newer_bakers(), millers())
    history = write_history(tmp_path / "history")
    for store in (law, embedded_law):
        load_questions(store, "mine", [question, Question("q2", "Et le sel ?", "", "mine", ())])
        ingest(store, statutes)
        ingest(store, newer)
        ingest(store, history)
    with law.reading() as graph, embedded_law.reading() as other:
        ids = [row["id"] for name in ("acts", "corpus_sections", "corpus_articles", "outside_ids") for row in other.rows(name)]
        ids += [row["cited"] for row in other.rows("cited")]
        some: dict[str, Any] = {"act_id": BAKERS_ID, "ids": ids, "source": "mine", "id": ids[0], "files": "law-as-git/"}
        of = {label: other.rows(f"{label}_source_ids")[0]["source_ids"][0] for label in ("article", "section")}
        silent: list[str] = []
        for name in READS:
            some["source_id"] = of["section" if name.endswith("section") else "article"]
            wanted = {key: some[key] for key in re.findall(r"\$(\w+)", statements("ladybug")[name])}
            rows, expected = (sorted(map(_comparable, g.rows(name, **wanted))) for g in (graph, other))
            assert rows == expected, name
            silent += [] if rows else [name]
    assert silent == ["models", "runs"]


def _comparable(row: dict[str, Any]) -> str:
    return str(sorted((key, _plain(value)) for key, value in row.items() if key not in _OF_THE_LOAD))


_OF_THE_LOAD = ("address", "loaded_at", "recorded")
"""Where law was loaded from, and when: two graphs of the same law may differ in these."""
_MOMENT = re.compile(r"(?<=@)\d{4}-\d\d-\d\dT[\d:.+]+")


def _plain(value: Any) -> Any:
    """A value as both engines give it: they collect lists in orders of their own."""
    if isinstance(value, str):
        return _MOMENT.sub("…", value)
    return round(value, 3) if isinstance(value, float) else sorted(map(str, value)) if isinstance(value, list) else value


@pytest.mark.slow
def test_every_engine_holds_the_same_history(store: Store, tmp_path: Path) -> None:
    """Loaded at once, and state by state: wordings, places, numbers, and the present law."""
    embedded = EmbeddedStore(tmp_path / "embedded")
    ingest(embedded, write_history(tmp_path / "whole" / "law"))
    days = list(STATES)
    for day in days:
        ingest(store, write_history(tmp_path / "parts" / "law", [day]))
    expected = dump_of(embedded)
    assert dump_of(store) == expected
    assert sum('"RENUMBERED_TO"' in line for line in expected) == 1
    assert not ingest(store, tmp_path / "parts" / "law").anything_changed
    with store.reading() as graph, embedded.reading() as other:
        corpora = [read_corpus(g)[0] for g in (graph, other)]
        assert corpora[0].sha256 == corpora[1].sha256
        for day in (*map(date.fromisoformat, days), date(2020, 1, 1)):
            assert table(graph, day) == table(other, day)
        assert [number for number, *_ in table(graph, date(2020, 1, 1))] == ["1", "20", "21", "10"]
        assert graph.rows("renumberings", ids=[f"{CODE_ID}/10"]) == other.rows("renumberings", ids=[f"{CODE_ID}/10"])


@pytest.mark.slow
def test_every_engine_keeps_its_sources_current(store: Store, tmp_path: Path) -> None:
    repository = write_commits(tmp_path / "fours", HISTORY[:-1])
    ingest(store, repository)
    ingest(store, write_law(tmp_path / "law"))
    stamp = store.stamp()
    assert [update.note.partition(";")[0] for update in update_sources(store)] == ["nothing new", "loaded from a folder"]
    assert store.stamp() == stamp
    write_commits(repository, HISTORY[-1:])
    assert [update.anything_changed for update in update_sources(store)] == [True, False]
    known = known_origins(store)
    assert [(origin.id, origin.kind, origin.error) for origin in known.values()] == [
        ("fours", "repository", ""), ("law", "folder", ""),
    ]  # fmt: skip
    assert known["fours"].as_of == date(2020, 1, 1)
    embedded = EmbeddedStore(tmp_path / "embedded")
    ingest(embedded, repository)
    ingest(embedded, tmp_path / "law")
    assert dump_of(store) == dump_of(embedded)
    repository.rename(tmp_path / "gone")
    (failed, _) = update_sources(store)
    assert failed.failures
    assert known_origins(store)["fours"] == replace(
        known["fours"], error=str(failed.failures[0]), failed_at=known_origins(store)["fours"].failed_at
    )


def table(graph: Graph, day: date) -> list[tuple[str, str, str]]:
    """Number, heading above and text of the articles of the small code on a day."""
    stood = ActOnDay.of(graph, CODE_ID, day)
    return [(part.number, stood.path_above(part.id)[-1][1], part.row["text"]) for part in stood.articles()]


@pytest.mark.slow
def test_a_newer_release_is_the_difference_and_leaves_what_a_fresh_load_gives(law: Store, tmp_path: Path) -> None:
    report = ingest(law, write_law(tmp_path / "newer", newer_bakers(), millers()))
    counts = {verb: {k: n for k, n in getattr(report, verb).items() if n} for verb in ("created", "changed", "moved", "removed")}
    assert counts == {verb: {"Article": 1} for verb in ("created", "changed", "moved", "removed")}
    scratch = EmbeddedStore(tmp_path / "scratch")
    ingest(scratch, write_law(tmp_path / "newer-again", newer_bakers(), millers()))
    assert _law_of(law) == _law_of(scratch)
    ingest(law, write_law(tmp_path / "old", bakers(), millers()))
    ingest(scratch, write_law(tmp_path / "old-again", bakers(), millers()))
    assert _law_of(law) == _law_of(scratch)


def _law_of(store: Store) -> list[str]:
    """The dump without the names of files and earlier wordings, which tell how a graph came about."""
    kept = (line for line in dump_of(store) if not re.search('"Source"|"Wording"|"HAS_WORDING"', line))
    return [re.sub('"file":"[^"]*"', "", line) for line in kept]


def test_loading_the_same_again_changes_nothing(law: Store, tmp_path: Path) -> None:
    before, stamp = dump_of(law), law.stamp()
    report = ingest(law, tmp_path / "law")
    assert (report.unchanged_files, report.anything_changed) == (2, False)
    assert (dump_of(law), law.stamp()) == (before, stamp)


def test_a_load_that_was_cut_off_goes_on(law: Store, tmp_path: Path, embedded_law: EmbeddedStore) -> None:
    """As a process leaves a server that is killed after the last act, before the law has its fingerprint."""
    with law.writing() as graph:
        graph.write("set_corpus_sha256", sha256="")
        last = graph.rows("sources")[-1]
        graph.write("delete_sources", ids=[last["id"]])
    assert ingest(law, tmp_path / "law").read_files == 1
    assert dump_of(law) == dump_of(embedded_law)


def test_questions_come_change_and_go(law: Store) -> None:
    def questions() -> list[Question]:
        with law.reading() as graph:
            return read_questions(graph, "mine")

    first = Question("q1", "Du pain ?", "", "mine", (f"{BAKERS_ID}/L111-1",))
    second = Question("q2", "Un moulin ?", "", "mine", (f"{MILLERS_ID}/L1",))
    assert load_questions(law, "mine", [first, second]).created == {"Question": 2}
    assert questions() == [first, second]
    changed = replace(first, text="Du bon pain ?")
    report = load_questions(law, "mine", [changed])
    assert (report.changed["Question"], report.removed["Question"]) == (1, 1)
    assert questions() == [changed]


def test_a_transaction_is_all_or_nothing(law: Store) -> None:
    with law.writing() as graph:
        before = graph.rows("article_source_ids")

        def work(transaction: Statements) -> None:
            transaction.write("delete_articles", ids=[row["id"] for row in before])
            assert transaction.rows("article_source_ids") == []
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            graph.atomically(work)
        assert graph.rows("article_source_ids") == before


def test_one_writer_at_a_time(law: Store) -> None:
    with law.exclusive("graph"), pytest.raises(GraphBusy), law.writing():
        raise AssertionError("two writers at once")
    with law.writing():
        pass


def test_a_graph_says_what_keeps_it(law: Store) -> None:
    with law.reading() as graph:
        told = graph.described()
    assert re.fullmatch(
        r"embedded, ladybug [\d.]+|Neo4j [\d.]+ community, (no Graph Data Science|Graph Data Science [\d.]+)", told
    )


def test_a_free_query_reads_and_cannot_write(law: Store) -> None:
    with law.reading(10) as graph:
        table = graph.query("MATCH (a:Article {act_id: $act}) RETURN a.number AS number ORDER BY number", {"act": BAKERS_ID}, 2)
        assert (table.columns, len(table.rows), table.truncated) == (("number",), 2, True)
        for statement in ("MATCH (a:Article) DETACH DELETE a", "MATCH (a RETURN"):
            with pytest.raises(BadQuery):
                graph.query(statement, {}, 10)
        assert graph.rows("article_source_ids")


def test_a_graph_of_another_schema_is_refused_and_migrated(law: Store) -> None:
    before = dump_of(law)
    with law.writing() as graph:
        graph.write("set_schema_version", schema_version=SCHEMA_VERSION + 1)
    for attempt in (law.reading, lambda: law.writing().__enter__(), law.migrate):
        with pytest.raises(GraphTooNew, match="newer Lexgraph"):
            attempt()
    _set_version(law, SCHEMA_VERSION - 1)
    with pytest.raises(NotReady, match="lexgraph migrate"):
        law.reading()
    assert law.migrate() == (SCHEMA_VERSION - 1, SCHEMA_VERSION)
    assert law.migrate() == (SCHEMA_VERSION, SCHEMA_VERSION)
    assert dump_of(law) == before


def _set_version(store: Store, version: int) -> None:
    """Write past the check of the version."""
    if isinstance(store, EmbeddedStore):
        from cypher.engines.ladybug import GRAPH_FILE, EmbeddedGraph

        with EmbeddedGraph(store.home / GRAPH_FILE, read_only=False) as graph:
            graph.write("set_schema_version", schema_version=version)
        return
    from cypher.engines.neo4j import Neo4jGraph
    from cypher.engines.neo4j_connection import Connection, connect

    assert isinstance(store, Neo4jStore)
    with Neo4jGraph(Connection(store.server, connect(store.server))) as graph:
        graph.write("set_schema_version", schema_version=version)


# What servers have and the embedded engine reads from files.


@pytest.fixture(params=SERVERS)
def served(request: pytest.FixtureRequest, make_store: MakeStore, tmp_path: Path) -> Store:
    store = make_store(request.param)
    ingest(store, write_law(tmp_path / "law"))
    ingest(store, write_history(tmp_path / "history"))  # with articles that have ended
    return store


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
