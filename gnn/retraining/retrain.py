"""Retraining: a new version where the law or the questions have changed, which serves if the gate lets it pass."""

from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path

from cypher.graph import Graph
from gnn.recipe import Recipe
from gnn.retraining.gate import Verdict, judge
from gnn.retraining.record import RunRecord
from gnn.training.train import train_serving_version
from gnn.versions.active import REPLACED, active_id, model_rows, register, served_model
from gnn.versions.files import recipe_of
from gnn.versions.shared_folder import fetch_model, share_model
from gnn.workspace import Workspace
from search.questions import judged, of_split
from search.retrieval import Retriever

_UNSEEN = "test"
"""Part of the questions that the gate asks where either version has learnt from those of development: no version has seen it."""
_NOTHING_NEW = "neither the law, nor the questions, nor the recipe changed"


class Outcome(Enum):
    """The end of a run; the value is the exit code of `lexgraph retrain`."""

    FLIPPED = 0
    UNCHANGED = 10
    KEPT_OLD = 11


@dataclass(frozen=True, slots=True)
class Gate:
    """Condition for a new version: a measure of `search.evaluation`, and the significance of a loss in it."""

    metric: str = "R@100"
    significance: float = 0.05
    part: str = "development"


@dataclass(frozen=True, slots=True)
class RunReport:
    """The outcome of a run, its reason, the version in question, and the file of its record (None: nothing was done)."""

    outcome: Outcome
    reason: str
    model: str
    record: Path | None


def retrain(workspace: Workspace, recipe: Recipe, gate: Gate = Gate()) -> RunReport:
    """Train the recipe's version for the law and the questions as they are, and let it serve where it is no worse.

    Nothing is done where it is the active one already, or was and a person chose another in its place. The new version is
    written beside the old; both answer the same questions over the same law; the pointer is flipped only where
    `gnn.retraining.gate.judge` lets the new one pass. Each run that finds something to do leaves a record in the graph and
    under ``home/runs``.

    For one job at a time (``store.exclusive("models")``, which the caller holds).

    Raises:
        GraphBusy: the lock has gone to another job; no version was flipped.
        BadSetting: there are no questions to train on.
        StorageFull, ServerUnavailable: the run is recorded as failed, where that is still possible.
    """
    began = datetime.now(UTC)
    id = workspace.version_id(recipe, recipe.splits[0])
    active = active_id(workspace.graph)
    unchanged = _reason_to_rest(workspace.graph, id, active)
    if unchanged:
        # Not even a record: what is written is a new release, which every API would open.
        return RunReport(Outcome.UNCHANGED, unchanged, id, None)
    record = RunRecord(workspace, recipe, id, began)
    with record.failures():
        trained = train_serving_version(workspace, recipe)
        share_model(workspace.home, workspace.shelf, id)
        workspace.make_ready(id)
        register(workspace.store, trained, None)
        verdict = _compared(workspace, recipe, gate, active, id)
        if verdict.passed:
            workspace.check_lock()
            register(workspace.store, [], id)
        outcome = Outcome.FLIPPED if verdict.passed else Outcome.KEPT_OLD
        file = record.write(outcome.name.lower(), verdict.reason, verdict.figures)
    return RunReport(outcome, verdict.reason, id, file)


def _reason_to_rest(graph: Graph, id: str, active: str | None) -> str:
    """Return why a version need not be trained; empty where it must be."""
    if active == id:
        return _NOTHING_NEW
    if any(row["id"] == id and row["status"] == REPLACED for row in model_rows(graph)):
        return f"{_NOTHING_NEW} since another version was chosen by hand"
    return ""


def _compared(workspace: Workspace, recipe: Recipe, gate: Gate, active: str | None, id: str) -> Verdict:
    """Return the gate's verdict on a version that is ready, against the active one."""
    if active is None:
        return Verdict(True, "there was no active model", {})
    fetch_model(workspace.home, workspace.shelf, active)
    workspace.make_ready(active)
    old, new = (
        Retriever(
            workspace.index,
            served_model(workspace.home, workspace.graph, workspace.corpus, version, workspace.threads),
        )
        for version in (active, id)
    )
    refit = recipe.training.refit or recipe_of(workspace.home, active).training.refit
    asked = of_split(workspace.questions, recipe.splits[0], _UNSEEN if refit else gate.part)
    # Without such questions, those of development still show a collapse, if not a small loss.
    asked = asked or of_split(workspace.questions, recipe.splits[0], gate.part)
    questions = judged(workspace.corpus, asked)
    return judge(old, new, questions, metric=gate.metric, significance=gate.significance, seed=recipe.training.seed)
