"""Retraining on a schedule: train when the law or the questions have changed, and flip when the gate lets it pass."""

import json
import os
import traceback
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import uuid4

from cypher.graph import CheckLock, Graph, Store
from gnn.recipe import Recipe
from gnn.retraining.gate import judge
from gnn.training.distributed import Ranks
from gnn.training.train import development_metrics, serving_version, train_version
from gnn.versions.active import REPLACED, Entry, active_id, model_rows, register, served_model
from gnn.versions.files import Card, read_card, read_run
from gnn.versions.serving import make_ready
from gnn.versions.shared_folder import fetch_model, model_folder, share_model
from runtime.progress import Progress, silent
from schema.errors import LexgraphError
from schema.records import Question
from search.corpus.corpus import CorpusText
from search.questions import judged, of_split
from search.retrieval import Retriever
from search.text.index import TextIndex

FOLDER = "runs"
_NOTHING_NEW = "neither the law, nor the questions, nor the recipe changed"


class Outcome(Enum):
    """How a run ended; the value is the exit code of `lexgraph retrain`."""

    FLIPPED = 0
    UNCHANGED = 10
    KEPT_OLD = 11


@dataclass(frozen=True, slots=True)
class Gate:
    """What the new version is held to: a measure of `search.evaluation`, and the significance of a loss in it."""

    metric: str = "R@100"
    significance: float = 0.05
    part: str = "development"


@dataclass(frozen=True, slots=True)
class RunReport:
    """What a run did: how it ended, why, the version that it trained, and where its record lies (None: nothing was done)."""

    outcome: Outcome
    reason: str
    model: str
    record: Path | None


def retrain(
    store: Store,
    graph: Graph,
    index: TextIndex,
    text: CorpusText,
    questions: list[Question],
    recipe: Recipe,
    gate: Gate = Gate(),
    *,
    shelf: str = "",
    threads: int = 2,
    ranks: Ranks | None = None,
    check_lock: CheckLock = lambda: None,
    progress: Progress = silent,
) -> RunReport:
    """Train the recipe's version for the law and the questions as they are, unless it is the active one already, or was
    and a person chose another in its place.

    The new version is written beside the old; both answer the same questions over the same law; the pointer is flipped
    only where `gnn.retraining.gate.judge` lets the new one pass. Each run that finds something to do leaves a record in
    the graph and under ``home/runs``.

    For one job at a time (``store.exclusive("models")``, which the caller holds).

    Args:
        ranks, check_lock: as `gnn.training.train.train_recipe` has them.

    Raises:
        GraphBusy: the lock has gone to another job; no version was flipped.
        BadSetting: there are no questions to train on.
        StorageFull, ServerUnavailable: the run is recorded as failed, where that is still possible.
    """
    began = datetime.now(UTC)
    id = serving_version(recipe, index.key, questions)
    active = active_id(graph)
    run = _Record(store, graph, began, recipe, id, index.corpus.sha256)
    if active == id:
        # Not even a record: what is written is a new release, which every API would open.
        return RunReport(Outcome.UNCHANGED, _NOTHING_NEW, id, None)
    if any(row["id"] == id and row["status"] == REPLACED for row in model_rows(graph)):
        return RunReport(Outcome.UNCHANGED, f"{_NOTHING_NEW} since another version was chosen by hand", id, None)
    try:
        train_version(
            store,
            graph,
            index,
            text,
            questions,
            recipe,
            id,
            threads=threads,
            ranks=ranks,
            check_lock=check_lock,
            progress=progress,
        )
        share_model(store.home, shelf, id)
        make_ready(store, graph, index.corpus, text, id, threads=threads, progress=progress)
        register(
            store,
            [Entry(read_card(store.home, id), read_run(store.home, id)["created"], development_metrics(store.home, id))],
            None,
        )
        figures: dict[str, Any] = {}
        reason = "there was no active model"
        if active is not None:
            asked = judged(index.corpus, of_split(questions, recipe.splits[0], gate.part))
            fetch_model(store.home, shelf, active)
            make_ready(store, graph, index.corpus, text, active, threads=threads, progress=progress)
            old, new = (
                Retriever(index, served_model(store.home, graph, index.corpus, version, threads), max_query_characters=1 << 20)
                for version in (active, id)
            )
            verdict = judge(old, new, asked, metric=gate.metric, significance=gate.significance, seed=recipe.training.seed)
            figures, reason = verdict.figures, verdict.reason
            if not verdict.passed:
                return run.close(Outcome.KEPT_OLD, reason, figures)
        check_lock()
        register(store, [], id)
        return run.close(Outcome.FLIPPED, reason, figures)
    except LexgraphError as error:
        run.fail(str(error))
        raise
    except BaseException:
        run.fail(traceback.format_exc(limit=-3))
        raise


@dataclass(frozen=True, slots=True)
class _Record:
    """What a run leaves behind."""

    store: Store
    graph: Graph
    began: datetime
    recipe: Recipe
    model: str
    corpus_sha256: str

    def close(self, outcome: Outcome, reason: str, figures: dict[str, Any]) -> RunReport:
        path = self._write(outcome.name.lower(), reason, figures)
        return RunReport(outcome, reason, self.model, path)

    def fail(self, reason: str) -> None:
        try:
            self._write("failed", reason, {})
        except (LexgraphError, OSError):
            return  # the error that ended the run is what matters

    def _write(self, outcome: str, reason: str, figures: dict[str, Any]) -> Path:
        ended = datetime.now(UTC)
        folder = model_folder(self.store.home, self.model)
        trained = folder.is_dir()
        card: Card = read_card(self.store.home, self.model) if trained else {}
        made: Card = read_run(self.store.home, self.model) if trained else {}
        record = {
            "outcome": outcome,
            "reason": reason,
            "gate": figures,
            "model": self.model,
            "recipe": self.recipe.model_dump(mode="json"),
            "seed": self.recipe.training.seed,
            "corpus_sha256": self.corpus_sha256,
            "questions_sha256": self.graph.rows("graph_row")[0]["questions_sha256"],
            "started": self.began.isoformat(timespec="seconds"),
            "ended": ended.isoformat(timespec="seconds"),
            "seconds": round((ended - self.began).total_seconds(), 1),
            "curve": card.get("curve", []),
            "metrics": development_metrics(self.store.home, self.model) if trained else {},
            **{name: made.get(name) for name in ("device", "threads", "versions", "training_s")},
        }
        id = f"{self.began:%Y%m%dT%H%M%S}-{uuid4().hex[:6]}"
        place = self.store.home / FOLDER / f"{id}.json"
        place.parent.mkdir(parents=True, exist_ok=True)
        part = place.with_suffix(".part")
        text = json.dumps(record, ensure_ascii=False, indent=1)
        part.write_text(text, "utf-8")
        os.replace(part, place)
        with self.store.writing() as graph:
            graph.write(
                "create_run",
                id=id,
                started=record["started"],
                ended=record["ended"],
                outcome=outcome,
                reason=reason,
                recipe=self.recipe.name,
                model=self.model,
                corpus_sha256=self.corpus_sha256,
                questions_sha256=record["questions_sha256"],
                device=record["device"] or "",
                record=text,
            )
        return place
