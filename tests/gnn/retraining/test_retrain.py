"""Retraining: nothing for nothing, a gate before the flip, one job at a time, a record of each run, going back."""

import signal
import subprocess
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from cypher.engines.open import open_store
from gnn.retraining.gate import judge
from schema.errors import BadSetting, GraphBusy
from schema.filter import Filter
from search.arrays import Matrix
from search.evaluation import Judged
from search.modes import Mode
from search.retrieval import Retriever
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
from tests.support.disturbance import digests
from tests.support.tiny_law import write_sheets


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
