"""One contract for every engine: the same law in, the same rows out, whatever keeps it."""

import re
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.engines.neo4j import Neo4jGraph, Neo4jStore
from cypher.export.dump import canonical_dump
from cypher.graph import Graph, Statements, Store
from cypher.statements import statements
from ingest.loading.origins import known_origins
from ingest.loading.questions import load_questions, read_questions
from ingest.sources import ingest
from ingest.update import update_sources
from schema.errors import BadQuery, GraphBusy, GraphTooNew, NotReady
from schema.labels import SCHEMA_VERSION
from schema.records import Question
from search.corpus.read import read_corpus
from search.in_time.act_on_day import ActOnDay
from tests.ingest.loading.test_difference import newer_bakers
from tests.support.law_history import CODE_ID, STATES, write_history
from tests.support.small_history import HISTORY
from tests.support.small_history import write_repository as write_commits
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID, bakers, millers, statute, write_law


def dump_of(store: Store) -> list[str]:
    with store.reading() as graph:
        return list(canonical_dump(graph))


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
    from cypher.engines.neo4j_connection import Connection, connect

    assert isinstance(store, Neo4jStore)
    with Neo4jGraph(Connection(store.server, connect(store.server))) as graph:
        graph.write("set_schema_version", schema_version=version)


# What servers have and the embedded engine reads from files.
