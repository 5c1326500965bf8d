"""Retraining: nothing for nothing, a gate before the flip, one job at a time, a record of each run, going back."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

import gnn.retraining.retrain
from cypher.engines.neo4j_vectors import property_of
from cypher.engines.open import open_store
from docker.neo4j_server import Neo4jServer
from gnn.retraining.cron import trigger_of
from gnn.retraining.gate import judge
from gnn.versions.active import served_model
from schema.errors import BadSetting, GraphBusy
from schema.filter import Filter
from search.arrays import Matrix
from search.evaluation import Judged
from search.modes import Mode
from search.retrieval import Retriever
from tests.gnn.conftest import question_sheets
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.disturbance import ROOT, digests
from tests.support.tiny_law import article, bakers, millers, write_law, write_sheets

Home = tuple[Lexgraph, Path]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a first version of the recipe ``small``; not to be written to."""
    folder = tmp_path_factory.mktemp("trained")
    run = Lexgraph.over(folder / "home")
    load_tiny_law(run, folder)
    ended = run("retrain", "--recipe", recipe_file(folder, "small"))
    assert ended.code == 0, ended
    assert "there was no active model" in ended.out
    return run, folder


@pytest.fixture
def own(trained: Home, tmp_path: Path) -> Home:
    """A copy of it, and a folder for sources and recipes."""
    shutil.copytree(trained[0].home, tmp_path / "home")
    recipe_file(tmp_path, "small")
    return Lexgraph.over(tmp_path / "home", gate_metric="MAP"), tmp_path


def retrain(run: Lexgraph, folder: Path, recipe: str = "small") -> tuple[int, str]:
    ended = run("retrain", "--recipe", folder / f"{recipe}.toml")
    assert not ended.err, ended
    return ended.code, ended.out


def versions(run: Lexgraph) -> dict[str, dict[str, Any]]:
    return {version["id"]: version for version in json.loads(run.do("models", "--json"))}


def active(run: Lexgraph) -> str:
    (id,) = (id for id, version in versions(run).items() if version["status"] == "active")
    return id


def records(run: Lexgraph) -> list[dict[str, Any]]:
    with open_store(run.settings).reading() as graph:
        rows = graph.rows("runs")
    for row in rows:
        file = run.home / "runs" / f"{row['id']}.json"
        assert json.loads(file.read_text("utf-8")) == json.loads(row["record"]), "the graph and the disk say the same"
        assert (row["outcome"], row["model"]) == (json.loads(row["record"])["outcome"], json.loads(row["record"])["model"])
    return [json.loads(row["record"]) for row in rows]


def more_questions(run: Lexgraph, folder: Path) -> None:
    sheets = question_sheets()
    sheets["F99999"] = ("Qui livre la farine ?", "Le meunier, au boulanger.", ["LEGIARTI000000000021"])
    run.do("ingest", write_sheets(folder / "more", sheets))


def more_law(run: Lexgraph, folder: Path) -> None:
    root = millers()
    root["children"][0]["children"].append(article(23, "L3", "<p>Le meunier pèse la farine devant le boulanger.</p>"))
    run.do("ingest", write_law(folder / "newer", bakers(), root))
    run.do("index")


def useless(monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    """Any version but ``old`` answers with the reverse of what it learned."""

    def served(home: Path, graph: Any, corpus: Any, id: str, threads: int = 2) -> Any:
        model = served_model(home, graph, corpus, id, threads)
        if id == old:
            return model
        return replace(model, articles=cast(Matrix, -np.asarray(model.articles)), weights={"vector": 1.0}, nearest=None)

    monkeypatch.setattr(gnn.retraining.retrain, "served_model", served)


def test_where_nothing_changed_nothing_is_written(own: Home) -> None:
    run, folder = own
    before = digests(run.home)
    code, told = retrain(run, folder)
    assert code == 10
    assert "neither the law, nor the questions, nor the recipe changed" in told
    assert digests(run.home) == before


def test_new_questions_give_a_new_version_that_serves(own: Home) -> None:
    run, folder = own
    first = active(run)
    more_questions(run, folder)
    code, told = retrain(run, folder)
    assert code == 0, told
    second = active(run)
    assert second != first
    assert versions(run)[first]["status"] == "ready", "the one before stays, to go back to"
    assert retrain(run, folder)[0] == 10


def test_new_law_gives_a_new_version_judged_on_the_same_questions(own: Home) -> None:
    run, folder = own
    first = active(run)
    more_law(run, folder)
    assert active(run) == first, "the old version serves the new law until there is a new one"
    code, told = retrain(run, folder)
    assert code == 0, told
    _, record = records(run)
    assert record["outcome"] == "flipped"
    assert record["gate"]["questions"] == 6
    assert record["gate"]["metric"] == "MAP"
    assert {"old", "new", "p_of_a_loss", "collapsed_acts"} <= record["gate"].keys()


def test_a_worse_version_is_refused_and_the_reason_kept(own: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    run, folder = own
    first = active(run)
    more_questions(run, folder)
    useless(monkeypatch, first)
    code, told = retrain(run, folder)
    assert code == 11, told
    assert active(run) == first
    refused = records(run)[-1]
    assert refused["outcome"] == "kept_old"
    assert "MAP fell from" in refused["reason"]
    assert refused["gate"]["new"] < refused["gate"]["old"]
    assert refused["model"] in versions(run), "it is there, to be looked at"
    monkeypatch.undo()
    made = (run.home / "models" / refused["model"] / "articles.npy").stat().st_mtime_ns
    assert retrain(run, folder)[0] == 0, "judged again, as the settings of the gate may be others"
    assert (run.home / "models" / refused["model"] / "articles.npy").stat().st_mtime_ns == made, "and not trained again"


def test_the_record_of_a_run_says_all(trained: Home) -> None:
    run, _ = trained
    (record,) = records(run)
    assert record["outcome"] == "flipped"
    assert record["seed"] == record["recipe"]["training"]["seed"] == 7
    assert record["recipe"]["training"]["weight_decay"] == 0.01, "defaults too: the recipe is the resolved one"
    assert {"python", "torch", "numpy"} <= record["versions"].keys()
    with open_store(run.settings).reading() as graph:
        law = graph.rows("graph_row")[0]
    assert (record["corpus_sha256"], record["questions_sha256"]) == (law["corpus_sha256"], law["questions_sha256"])
    assert len(record["curve"]) == 3
    assert {"loss", "recall", "average_precision"} <= record["curve"][0].keys()
    assert record["metrics"].keys() == {"development R@100", "development MAP"}
    assert record["device"]
    assert record["seconds"] >= record["training_s"] > 0
    assert record["started"] <= record["ended"]


def test_a_failed_run_is_recorded(own: Home) -> None:
    run, folder = own
    run.do("ingest", write_sheets(folder / "none", {}))
    ended = run("retrain", "--recipe", folder / "small.toml")
    assert ended.code == BadSetting.exit_code
    assert "no train questions" in ended.err
    assert records(run)[-1]["outcome"] == "failed"
    assert "no train questions" in records(run)[-1]["reason"]


# -- the gate ------------------------------------------------------------------------------------------------------


class Scripted:
    """A retriever that puts the relevant articles of given questions first, and those of others last."""

    def __init__(self, found: set[str], acts: Sequence[int]) -> None:
        self.corpus = SimpleNamespace(article_act=np.array(acts), acts=["first", "second"])
        self._found = found

    def scores(self, query: str, mode: Mode, *, filter: Filter = Filter()) -> tuple[Matrix, dict[str, Any]]:
        n = len(self.corpus.article_act)
        scores = np.arange(n, 0, -1).astype(np.float32)
        scores[int(query)] = n + 1 if query in self._found else -1
        return scores, {}


def scripted(found: set[str], acts: Sequence[int]) -> Retriever:
    return cast(Retriever, Scripted(found, acts))


def test_the_gate_lets_what_is_no_worse_pass_and_holds_back_what_is() -> None:
    acts = [0] * 300
    asked = [Judged(str(i), np.array([i])) for i in range(40)]
    everything = {str(i) for i in range(40)}
    assert judge(scripted(everything, acts), scripted(everything, acts), asked).passed
    assert judge(scripted(set(), acts), scripted(everything, acts), asked).passed
    chance = judge(scripted(everything, acts), scripted(everything - {"1", "2"}, acts), asked)
    assert chance.passed, "two questions of forty may be chance"
    worse = judge(scripted(everything, acts), scripted({str(i) for i in range(30)}, acts), asked)
    assert not worse.passed
    assert worse.reason.startswith("R@100 fell from 100.00 to 75.00")


def test_an_act_that_is_lost_holds_a_version_back_whatever_the_mean_says() -> None:
    acts = [0] * 30 + [1] * 270
    asked = [Judged(str(i), np.array([i])) for i in range(36)]
    second = {str(i) for i in range(30, 36)}
    verdict = judge(scripted(second, acts), scripted({str(i) for i in range(30)}, acts), asked)
    assert verdict.figures["new"] > verdict.figures["old"]
    assert not verdict.passed
    assert "collapsed in second: 100.0 to 0.0" in verdict.reason


# -- one at a time -------------------------------------------------------------------------------------------------

HOLD = """
import sys, time
from cypher.engines import neo4j_lease
from cypher.engines.open import open_store
from schema.settings import load_settings
neo4j_lease.LEASE_S = 3.0
with open_store(load_settings()).exclusive("models"):
    print("holding", flush=True)
    time.sleep(600)
"""
KILLED_BEFORE_IT_REGISTERS = """
import os, signal, sys
import gnn.retraining.retrain
from cypher.engines import neo4j_lease
import lexgraph
neo4j_lease.LEASE_S = 3.0
gnn.retraining.retrain.register = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
lexgraph.main(["--quiet", "retrain", "--recipe", sys.argv[1]])
"""


def python(run: Lexgraph, script: str, *arguments: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, **run.environment}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def holder() -> Iterator[list["subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_two_jobs_at_once_are_refused_and_a_killed_one_is_gone_on_with(own: Home, holder: list["subprocess.Popen[str]"]) -> None:
    run, folder = own
    more_questions(run, folder)
    holder.append(python(run, HOLD))
    assert holder[0].stdout
    assert holder[0].stdout.readline() == "holding\n"
    for verb in (["retrain", "--recipe", folder / "small.toml"], ["train"], ["models", "rollback"], ["models", "prune"]):
        ended = run(*verb)
        assert ended.code == GraphBusy.exit_code == 75
        assert "another process is writing to the models" in ended.err
    holder[0].kill()
    holder[0].wait()

    killed = python(run, KILLED_BEFORE_IT_REGISTERS, folder / "small.toml")
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL
    (new,) = {path.name for path in (run.home / "models").iterdir()} - versions(run).keys()
    made = (run.home / "models" / new / "articles.npy").stat().st_mtime_ns
    assert retrain(run, folder)[0] == 0
    assert active(run) == new
    assert (run.home / "models" / new / "articles.npy").stat().st_mtime_ns == made, "what was complete is not made again"


# -- versions ------------------------------------------------------------------------------------------------------


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
