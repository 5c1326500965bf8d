"""The record of a run of retraining, in the graph and under ``home/runs``."""

import json
import os
import traceback
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

from gnn.recipe import Recipe
from gnn.versions.files import Card, development_metrics, read_card, read_run
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from schema.errors import LexgraphError

FOLDER = "runs"


@dataclass(frozen=True, slots=True)
class RunRecord:
    """A run that has begun, for one version of a recipe."""

    workspace: Workspace
    recipe: Recipe
    model: str
    began: datetime

    @contextmanager
    def failures(self) -> Generator[None]:
        """Record an error that ends the block, where that is still possible; it goes on."""
        try:
            yield
        except BaseException as error:
            with suppress(LexgraphError, OSError):  # the error that ended the run is what matters
                self.write("failed", str(error) if isinstance(error, LexgraphError) else traceback.format_exc(limit=-3), {})
            raise

    def write(self, outcome: str, reason: str, figures: dict[str, Any]) -> Path:
        """Write how the run ended; return the file.

        Args:
            figures: of the gate (`gnn.retraining.gate.Verdict`).
        """
        # In the order that they began, also within a second.
        id = f"{self.began:%Y%m%dT%H%M%S%f}-{uuid4().hex[:6]}"
        contents = self._contents(outcome, reason, figures)
        text = json.dumps(contents, ensure_ascii=False, indent=1)
        file = self.workspace.home / FOLDER / f"{id}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_suffix(".part")
        part.write_text(text, "utf-8")
        os.replace(part, file)
        with self.workspace.store.writing() as graph:
            names = ("started", "ended", "outcome", "reason", "model", "corpus_sha256", "questions_sha256")
            values = {name: contents[name] for name in names}
            graph.write("create_run", id=id, recipe=self.recipe.name, device=contents["device"] or "", record=text, **values)
        return file

    def _contents(self, outcome: str, reason: str, figures: dict[str, Any]) -> Card:
        home, ended = self.workspace.home, datetime.now(UTC)
        trained = model_folder(home, self.model).is_dir()
        run: Card = read_run(home, self.model) if trained else {}
        return {
            "outcome": outcome,
            "reason": reason,
            "gate": figures,
            "model": self.model,
            "recipe": self.recipe.model_dump(mode="json"),
            "seed": self.recipe.training.seed,
            "corpus_sha256": self.workspace.corpus.sha256,
            "questions_sha256": self.workspace.graph.rows("graph_row")[0]["questions_sha256"],
            "started": self.began.isoformat(timespec="seconds"),
            "ended": ended.isoformat(timespec="seconds"),
            "seconds": round((ended - self.began).total_seconds(), 3),
            "curve": read_card(home, self.model)["curve"] if trained else [],
            "metrics": development_metrics(home, self.model) if trained else {},
            **{name: run.get(name) for name in ("device", "threads", "versions", "training_s")},
        }
