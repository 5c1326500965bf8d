"""Versions that retraining has made: listed, chosen, gone back to, pruned, taken to another machine; on a timetable; on Neo4j."""

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cypher.engines.neo4j_vectors import property_of
from cypher.engines.open import open_store
from docker.neo4j_server import Neo4jServer
from gnn.retraining.cron import trigger_of
from schema.errors import BadSetting
from tests.gnn.retraining.own_home import (
    HOLD,
    KILLED_BEFORE_IT_REGISTERS,
    Home,
    active,
    more_law,
    more_questions,
    python,
    records,
    retrain,
    useless,
    versions,
)
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.disturbance import digests


def three_versions(run: Lexgraph, folder: Path) -> list[str]:
    """The first version, and two more that served after it."""
    ids = [active(run)]
    for seed in (8, 9):
        run.do("retrain", "--recipe", recipe_file(folder, f"seed{seed}", seed=seed))
        ids.append(active(run))
    return ids


@pytest.mark.slow
def test_versions_are_listed_chosen_gone_back_to_and_pruned(own: Home) -> None:
    run, folder = own
    a, b, c = three_versions(run, folder)
    assert list(versions(run)) == [c, b, a] or set(versions(run)) == {a, b, c}
    assert versions(run)[a]["bytes"] > 0
    run.do("models", "rollback")
    assert active(run) == b
    assert f"active: {a} (before: {b})" in run.do("models", "activate", a)
    assert active(run) == a
    run.do("models", "activate", c)
    assert run("models", "activate", "no-such").code == 68
    told = run.do("models", "prune", "--keep", "2")
    assert told == f"removed: {b}\n"
    assert versions(run).keys() == {a, c}
    assert {path.name for path in (run.home / "models").iterdir()} == {a, c}
    assert active(run) == c
    assert run.do("models", "prune", "--keep", "2") == "removed: none\n"
    run.do("models", "rollback")
    assert active(run) == a


@pytest.mark.slow
def test_a_version_that_was_replaced_by_hand_does_not_come_back_by_itself(own: Home) -> None:
    run, folder = own
    first = active(run)
    more_questions(run, folder)
    assert retrain(run, folder)[0] == 0
    second = active(run)
    run.do("models", "rollback")
    assert versions(run)[second]["status"] == "replaced"
    before = digests(run.home)
    code, told = retrain(run, folder)
    assert code == 10
    assert "since another version was chosen by hand" in told
    assert active(run) == first
    assert digests(run.home) == before
    run.do("models", "activate", second)
    assert (active(run), versions(run)[first]["status"]) == (second, "replaced")
    run.do("models", "activate", first)
    more_law(run, folder)
    assert retrain(run, folder)[0] == 0, "what is trained on other law is another version"
    assert active(run) not in (first, second)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "memory"])
def test_a_second_machine_takes_the_active_version_from_the_shelf(
    own: Home, kind: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    run, folder = own
    shelf = str(folder / "shelf") if kind == "folder" else f"memory://{folder.name}"
    first = Lexgraph(run.home, {**run.environment, "LEXGRAPH_MODELS": shelf})
    (a, *_, c) = three_versions(first, folder)
    second = Lexgraph.over(folder / "second", models=shelf)
    second.home.mkdir()
    shutil.copy(first.home / "graph.lbug", second.home)
    shutil.copytree(first.home / "index", second.home / "index")
    question = ("search", "le pain et la farine", "--mode", "vector", "--json")
    assert second.do(*question) == first.do(*question)
    assert [path.name for path in (second.home / "models").iterdir()] == [c]
    assert digests(second.home / "models") == {
        name: digest for name, digest in digests(first.home / "models").items() if name.startswith(c)
    }
    assert f"ok    model: {c}" in second.do("doctor")
    shutil.rmtree(second.home / "models")
    more_law(second, folder)
    assert "L3" in second.do("search", "le meunier pèse la farine devant le boulanger", "--mode", "vector", "--first", "3")
    told = second("models", "activate", a)
    assert told.code == 69, "the first version was trained before there was a shelf"
    assert "is neither under" in told.err
    first.do("models", "prune", "--keep", "1")
    left = Lexgraph.over(folder / "third", models=shelf)
    left.home.mkdir()
    shutil.copy(first.home / "graph.lbug", left.home)
    shutil.copytree(first.home / "index", left.home / "index")
    assert left.do(*question) == first.do(*question), "what serves stays on the shelf"


def test_a_timetable_fires_when_cron_would() -> None:
    now = datetime(2026, 1, 1, tzinfo=UTC)

    def times(cron: str, n: int = 3) -> list[str]:
        trigger, last, found = trigger_of(cron), now, []
        for _ in range(n):
            last = trigger.get_next_fire_time(None, last + timedelta(seconds=1))
            found.append(last.strftime("%a %d %H:%M"))
        return found

    assert times("0 3 * * 0") == times("0 3 * * 7") == times("0 3 * * sun") == ["Sun 04 03:00", "Sun 11 03:00", "Sun 18 03:00"]
    assert times("30 2 * * 1-5", 4) == ["Thu 01 02:30", "Fri 02 02:30", "Mon 05 02:30", "Tue 06 02:30"]
    assert times("0 0 * * */3", 3) == ["Sat 03 00:00", "Sun 04 00:00", "Wed 07 00:00"]
    assert times("*/30 * * * *", 2) == ["Thu 01 00:30", "Thu 01 01:00"]
    assert times("0 5 * * 5-1", 4) == ["Fri 02 05:00", "Sat 03 05:00", "Sun 04 05:00", "Mon 05 05:00"]
    # A day of the month or a day of the week, as cron has it; both, where one of them is a star with a step.
    assert times("0 3 15 * 1", 4) == ["Mon 05 03:00", "Mon 12 03:00", "Thu 15 03:00", "Mon 19 03:00"]
    assert times("0 3 5,6 * mon", 4) == ["Mon 05 03:00", "Tue 06 03:00", "Mon 12 03:00", "Mon 19 03:00"]
    assert times("0 3 15 * *", 2) == ["Thu 15 03:00", "Sun 15 03:00"]
    assert times("0 3 */2 * 1", 2) == ["Mon 05 03:00", "Mon 19 03:00"]
    for odd in ("", "0 3 * *", "0 3 x * 1", "0 3 1 * x", "0 25 * * *", "0 3 * * 8", "0 3 * * x", "0 3 * * */0"):
        with pytest.raises(BadSetting, match="not a timetable"):
            trigger_of(odd)


# -- on a server ---------------------------------------------------------------------------------------------------


def test_on_neo4j_all_of_it(
    neo4j_2026: Neo4jServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, holder: list["subprocess.Popen[str]"]
) -> None:
    run = Lexgraph.over(tmp_path / "home", neo4j_2026, gate_metric="MAP")
    load_tiny_law(run, tmp_path)
    recipe_file(tmp_path, "small")
    assert retrain(run, tmp_path)[0] == 0
    first = active(run)
    with open_store(run.settings).reading() as graph:
        before = graph.rows("stamp"), graph.rows("counts")
    assert retrain(run, tmp_path)[0] == 10
    with open_store(run.settings).reading() as graph:
        assert (graph.rows("stamp"), graph.rows("counts")) == before

    more_questions(run, tmp_path)
    useless(monkeypatch, first)
    assert retrain(run, tmp_path)[0] == 11
    assert active(run) == first
    monkeypatch.undo()

    holder.append(python(run, HOLD))
    assert holder[0].stdout
    assert holder[0].stdout.readline() == "holding\n"
    ended = run("retrain", "--recipe", tmp_path / "small.toml")
    assert ended.code == 75
    assert "another process is writing to the models" in ended.err
    holder[0].kill()
    holder[0].wait()
    store = open_store(run.settings)
    # The lock of a dead job ends by itself. The job that follows is killed too, when its version is whole.
    while python(run, KILLED_BEFORE_IT_REGISTERS, tmp_path / "small.toml").wait() == 75:
        pass
    assert active(run) == first
    while run("retrain", "--recipe", tmp_path / "small.toml").code == 75:
        pass
    second = active(run)
    assert second != first
    assert [record["outcome"] for record in records(run)] == ["flipped", "kept_old", "flipped"]

    run.do("retrain", "--recipe", recipe_file(tmp_path, "seed8", seed=8))
    third = active(run)
    assert all(version["indexed"] for version in versions(run).values())
    run.do("models", "rollback")
    assert active(run) == second
    run.do("models", "activate", third)
    assert first in run.do("models", "prune", "--keep", "2")
    with store.reading() as graph:
        assert graph.vectors is not None
        assert graph.vectors.models() == {property_of(second), property_of(third)}
        assert not graph.vectors.written(first, "Article")
        assert graph.vectors.written(second, "Article") == graph.vectors.written(third, "Article") != set()
    assert not (run.home / "models" / first).exists()
