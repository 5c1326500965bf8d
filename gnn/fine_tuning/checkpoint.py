"""Checkpoints of trainings, written whole or not at all, read with a reason where they are of something else; and curves."""

import csv
import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from schema.errors import BadSetting, StorageFull

CHECKPOINT, CURVE = "checkpoint.pt", "curve.csv"


def keep_checkpoint(folder: Path, name: str, made_from: str, stored: dict[str, Any]) -> None:
    """Write the checkpoint of a training into its folder.

    Args:
        name: of the recipe; made_from: stands for all that it is made from.
        stored: tensors and plain values, the parameters under "model".

    Raises:
        StorageFull: the disk is full; the last checkpoint stays.
    """
    file = folder / CHECKPOINT
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        torch.save({"recipe": name, "made_from": made_from, **stored}, part)
        os.replace(part, file)
    except (OSError, RuntimeError) as error:
        part.unlink(missing_ok=True)
        raise StorageFull(f"{file}: {error}; the last checkpoint stays") from None


def checkpoint_in(folder: Path, name: str, made_from: str, parameters: Collection[str]) -> dict[str, Any] | None:
    """Return what the last checkpoint of a training holds, on the processor; None where there is none.

    Args:
        name, made_from: as of `keep_checkpoint`.
        parameters: names of what it holds of the model.

    Raises:
        BadSetting: it is no checkpoint, of another recipe, or of this one made from something else.
    """
    file = folder / CHECKPOINT
    if not file.exists():
        return None
    try:
        stored: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        recipe, own = stored["recipe"], stored["made_from"] == made_from and stored["model"].keys() == set(parameters)
    except Exception as error:  # torch raises whatever the bytes lead it to
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadSetting(f"{file} is no checkpoint: {reason}; remove it to begin anew") from None
    if recipe != name or not own:
        other = "of this recipe with other options, law or questions" if recipe == name else f"of recipe {recipe}"
        raise BadSetting(f"{file} is a checkpoint {other}, not of {name}: remove it to begin anew")
    return stored


def write_curve(folder: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write the curve of a training as CSV, floats with six places.

    Raises:
        StorageFull: the disk is full.
    """
    file = folder / CURVE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with file.open("w", encoding="utf-8", newline="") as opened:
            writer = csv.writer(opened)
            writer.writerow(columns)
            writer.writerows([f"{cell:.6f}" if isinstance(cell, float) else cell for cell in row] for row in rows)
    except OSError as error:
        raise StorageFull(f"{file}: {error.strerror}; the last checkpoint stays") from None
