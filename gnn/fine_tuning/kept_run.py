"""The folder that a training leaves under the features, with its curve, and nothing of its checkpoints."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gnn.cost import Cost
from gnn.distributed import gpu_name
from gnn.encoders.features import FOLDER
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.loop import TunedEpoch
from gnn.workspace import Workspace
from runtime.atomic_folder import whole_folder
from schema.errors import StorageFull

RUNS = "fine-tuning"
"""Folder of the home where trainings that are under way keep their checkpoints, all of them their curves, and readers the
candidates that they learn from."""
BODY = "body"
_RUN_FILE = "run.json"


def place_of(workspace: Workspace, name: str) -> Path:
    """Return the folder where the training of a name keeps its checkpoint and its curve."""
    return workspace.home / RUNS / name


def kept_folder(workspace: Workspace, name: str) -> Path:
    """Return the folder of what a training of a name made, or will make."""
    return workspace.home / FOLDER / name


def run_of(folder: Path) -> Cost | None:
    """Return what the training took that filled a folder; None where it is not done."""
    file = folder / _RUN_FILE
    if not file.exists():
        return None
    run: dict[str, Any] = json.loads(file.read_text("utf-8"))
    return Cost(run["seconds"], run["parameters"], run.get("gpu", ""))


def keep_run(workspace: Workspace, name: str, curve: Sequence[TunedEpoch], seconds: float, write: Callable[[Path], int]) -> Cost:
    """Write what was trained, whole or not at all; its checkpoints go, its curves stay.

    Args:
        seconds: of the training.
        write: writes it into a folder, and returns the number of its parameters.

    Raises:
        GraphBusy: the lock has gone to another job; nothing was written.
        StorageFull: the disk is full; the last checkpoint stays.
    """
    workspace.check_lock()
    folder, place = kept_folder(workspace, name), place_of(workspace, name)
    try:
        with whole_folder(folder) as part:
            made = Cost(seconds, write(part), gpu_name())
            shutil.copyfile(place / CURVE, part / CURVE)
            (part / _RUN_FILE).write_text(
                json.dumps({**asdict(made), "curve": [asdict(epoch) for epoch in curve]}, indent=1), "utf-8"
            )
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; the last checkpoint stays") from None
    for checkpoint in place.rglob(CHECKPOINT):
        checkpoint.unlink(missing_ok=True)
    return made
