"""`lexgraph update` as a person sees it: what it says of each source, its exit codes, and what status and doctor say after."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.origins import origins, write_origin
from schema.errors import GraphBusy, MissingFile, NotReady
from tests.support.commands import Lexgraph
from tests.support.small_history import HISTORY, write_repository
from tests.support.tiny_law import write_law


@pytest.fixture
def run(tmp_path: Path) -> Lexgraph:
    return Lexgraph.over(tmp_path / "home")


def age(run: Lexgraph, loaded_at: str) -> None:
    with EmbeddedStore(run.home).writing() as graph:
        for origin in origins(graph):
            write_origin(graph, replace(origin, loaded_at=loaded_at))


def test_new_law_is_loaded_and_indexed_and_nothing_new_says_so(run: Lexgraph, tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "fours", HISTORY[:2])
    run.do("ingest", repository, write_law(tmp_path / "law"))
    run.do("index")
    assert run.do("update").splitlines() == [
        "fours: nothing new",
        f"law: loaded from a folder; load it again by `lexgraph ingest {tmp_path / 'law'}`",
        "index: nothing changed",
    ]
    write_repository(repository, HISTORY[2:])
    told = run.do("update")
    assert "fours: 1 article created" in told
    assert "index: nothing changed" not in told
    found = json.loads(run.do("search", "meunier farine grain", "--act", "Code des fours", "--json"))
    assert found[0]["number"] == "11"


def test_one_that_fails_is_told_by_the_exit_code_and_by_status_and_doctor(run: Lexgraph, tmp_path: Path) -> None:
    first = write_repository(tmp_path / "fours", HISTORY[:2])
    run.do("ingest", first)
    run.do("index")
    first.rename(tmp_path / "gone")
    ended = run("update")
    assert ended.code == MissingFile.exit_code
    assert f"lexgraph: {first}: no such file or folder any more" in ended.err
    (source,) = json.loads(run.do("status", "--json"))["sources"]
    assert (source["name"], source["as_of"], source["stale"]) == ("fours", "1901-07-01", False)
    assert "no such file or folder any more" in source["error"]
    assert "fours: failed at" in run.do("status")
    assert "warn  sources: fours: " in run("doctor").out


def test_status_and_doctor_say_which_sources_are_stale(run: Lexgraph, tmp_path: Path) -> None:
    run.do("ingest", write_law(tmp_path / "law"))
    run.do("index")
    assert "ok    sources: 1 source" in run("doctor").out
    age(run, "2020-01-01T00:00:00+00:00")
    assert "stale: law was last loaded" in run.do("status")
    checks = json.loads(run("doctor", "--json").out)["checks"]
    assert [(check["ok"], check["warning"]) for check in checks if check["check"] == "sources"] == [(True, True)]
    patient = Lexgraph.over(run.home, stale_after_days="0")
    assert "stale" not in patient.do("status")


def test_without_a_graph_there_is_nothing_to_update(run: Lexgraph) -> None:
    ended = run("update")
    assert "no source is known yet" in ended.out
    assert ended.code == NotReady.exit_code


def test_two_updates_do_not_run_at_once(run: Lexgraph, tmp_path: Path) -> None:
    run.do("ingest", write_law(tmp_path / "law"))
    with EmbeddedStore(run.home).exclusive("update"):
        ended = run("update")
    assert ended.code == GraphBusy.exit_code


@pytest.mark.parametrize(("options", "first"), [((), "fours: nothing new"), (("--no-update",), "index")])
def test_the_timetable_updates_before_it_indexes(
    run: Lexgraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], first: str
) -> None:
    run.do("ingest", write_repository(tmp_path / "fours", HISTORY))

    def at_once(cron: str, work: Callable[[], object], announce: Callable[[str], object]) -> None:
        work()

    monkeypatch.setattr("gnn.retraining.cron.run_on", at_once)
    monkeypatch.setattr("cli.steps.retrain", lambda home, recipe: 0)
    monkeypatch.setattr("cli.steps.index", lambda home: print("index"))
    assert run.do("schedule", *options).splitlines()[0] == first
