"""Epochs of towers: a killed training goes on to the same model, and what cannot go on says why."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from torch import Tensor

from cypher.engines.ladybug import open_graph
from gnn.encoders.features import Features
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.kept_run import RUNS
from gnn.model.subgraph import subgraph_edges
from gnn.model.trained import Choice, Trained
from gnn.recipe import Recipe
from gnn.training import epochs
from gnn.training.epochs import Place
from gnn.training.loop import Examples, Means, TowerRun, fit
from gnn.training.train import Trainer
from schema.errors import BadSetting, StorageFull
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import small_recipe, workspace_on

_EPOCHS, _BATCHES = 6, 2
KINDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "averaged": {"training": {"averaging": 0.9, "schedule": "linear"}},
    "neighbours drawn anew": {"document": {"layers": 1, "neighbours": [1]}},
    "question nodes": {"document": {"layers": 1, "question_nodes": True}},
    "curriculum": {"curriculum": {"drawn": 3, "pool": 6}},
    "random negatives": {"curriculum": {"drawn": 3, "pool": 6, "views": ["random"]}},
}


class Killed(Exception):
    """Stands for the end of the process."""


def recipe_of(kind: str) -> Recipe:
    few = {"epochs": _EPOCHS, "patience": _EPOCHS, "batch": 3, "dropout": 0.2, "title_share": 0.5}
    whole = small_recipe(**few).model_dump(exclude={"folder", "reseeded", "once", "borrowed"})
    return Recipe.model_validate(whole | {name: {**whole[name], **options} for name, options in KINDS[kind].items()})


@pytest.fixture
def given(law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]) -> Callable[[Recipe], Examples]:
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    assert len(training) == 3 * _BATCHES
    return lambda recipe: Examples(law[0], features, subgraph_edges(law[0], recipe.document.edges), training, development)


@pytest.fixture
def at_every_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints however little time has gone by."""
    monkeypatch.setattr(epochs, "_BETWEEN", 0.0)


def killed_at(step: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """Let the steps of towers end the process at one; return what counts those that were begun."""
    plain, begun = TowerRun.step, [0]

    def dying(run: TowerRun, *how: Any) -> float:
        begun[0] += 1
        if begun[0] == step:
            raise Killed
        return plain(run, *how)

    monkeypatch.setattr(TowerRun, "step", dying)
    return lambda: begun[0]


def same(one: Trained, other: Trained) -> bool:
    return (
        np.array_equal(one.articles, other.articles)
        and all(np.array_equal(value, other.state[name]) for name, value in one.state.items())
        and (one.curve, one.best, one.scale) == (other.curve, other.best, other.scale)
    )


@pytest.mark.usefixtures("at_every_epoch")
@pytest.mark.parametrize(("kind", "step"), [("plain", 1), ("plain", 4), *((kind, 9) for kind in KINDS)])
def test_a_killed_training_goes_on_to_the_same_model(
    kind: str, step: int, given: Callable[[Recipe], Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, means = recipe_of(kind), Means(threads=1, place=Place(tmp_path, "law"))
    whole = fit(recipe, given(recipe), means=Means(threads=1))
    with monkeypatch.context() as until:
        killed_at(step, until)
        with pytest.raises(Killed):
            fit(recipe, given(recipe), means=means)
    begun = killed_at(-1, monkeypatch)
    assert same(fit(recipe, given(recipe), means=means), whole)
    assert begun() == _EPOCHS * _BATCHES - (step - 1) // _BATCHES * _BATCHES, "epochs that had ended are not run again"


@pytest.mark.usefixtures("at_every_epoch")
def test_a_refit_that_was_killed_goes_on_too(
    given: Callable[[Recipe], Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, means = recipe_of("averaged"), Means(threads=1, place=Place(tmp_path, "law"))
    chosen = Choice(fit(recipe, given(recipe), means=Means(threads=1)).curve, 3)
    whole = fit(recipe, given(recipe), chosen=chosen, means=Means(threads=1))
    with monkeypatch.context() as until:
        killed_at(6, until)
        with pytest.raises(Killed):
            fit(recipe, given(recipe), chosen=chosen, means=means)
    assert same(fit(recipe, given(recipe), chosen=chosen, means=means), whole)


@pytest.mark.usefixtures("at_every_epoch")
def test_what_a_training_leaves_is_its_curve(given: Callable[[Recipe], Examples], tmp_path: Path) -> None:
    recipe = recipe_of("plain")
    trained = fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "law")))
    assert [file.name for file in tmp_path.iterdir()] == [CURVE]
    head, *rows = (tmp_path / CURVE).read_text("utf-8").splitlines()
    assert head == "epoch,loss,R@100,MAP,kept"
    assert [float(row.split(",")[1]) for row in rows] == pytest.approx([epoch.loss for epoch in trained.curve], abs=1e-6)
    assert [row.endswith(",yes") for row in rows].index(True) == trained.best


@pytest.mark.usefixtures("at_every_epoch")
def test_checkpoints_of_something_else_are_refused(
    given: Callable[[Recipe], Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = recipe_of("plain")
    with monkeypatch.context() as until:
        killed_at(4, until)
        with pytest.raises(Killed):
            fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "law")))
    with pytest.raises(BadSetting, match=r"is a checkpoint of this recipe with other options, law or questions, not of small"):
        fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "another law")))
    other = recipe.model_copy(update={"name": "other"})
    with pytest.raises(BadSetting, match=r"is a checkpoint of recipe small, not of other: remove it to begin anew"):
        fit(other, given(other), means=Means(threads=1, place=Place(tmp_path, "law")))
    (tmp_path / CHECKPOINT).write_bytes(b"nothing of the kind")
    with pytest.raises(BadSetting, match=r"checkpoint\.pt is no checkpoint: .*; remove it to begin anew"):
        fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "law")))


@pytest.mark.usefixtures("at_every_epoch")
def test_a_full_disk_is_told(given: Callable[[Recipe], Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(stored: Any, file: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("torch.save", full)
    recipe = recipe_of("plain")
    with pytest.raises(StorageFull, match=r"checkpoint\.pt: .*No space left on device; the last checkpoint stays"):
        fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "law")))


@pytest.mark.usefixtures("at_every_epoch")
def test_a_version_whose_training_was_killed_goes_on(own_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = recipe_of("averaged").model_copy(update={"splits": ("random",), "compare": ()})
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        whole = Trainer(workspace).version(recipe, "random", "whole")
        for left in (own_home / RUNS).glob("towers-*/*"):
            left.unlink()
        with monkeypatch.context() as until:
            killed_at(5, until)
            with pytest.raises(Killed):
                Trainer(workspace).version(recipe, "random", "killed")
        assert len(list((own_home / RUNS).glob(f"towers-*/{CHECKPOINT}"))) == 1
        begun = killed_at(-1, monkeypatch)
        again = Trainer(workspace).version(recipe, "random", "again")
    assert begun() == (_EPOCHS - 2) * _BATCHES
    assert same(again.trained, whole.trained)
    assert [file.name for file in (own_home / RUNS).glob("towers-*/*")] == [CURVE]


def test_most_trainings_end_before_they_write_a_checkpoint(
    given: Callable[[Recipe], Examples], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = list[Tensor]()
    monkeypatch.setattr(epochs, "keep_checkpoint", lambda *of: kept.append(of[-1]))
    recipe = recipe_of("plain")
    fit(recipe, given(recipe), means=Means(threads=1, place=Place(tmp_path, "law")))
    assert not kept
