"""Measured rows, kept beside the models: a comparison that was killed goes on, and none is measured twice."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import search
from schema.errors import StorageFull
from search.evaluation import Judged, Ranks

FOLDER = "comparisons"


@dataclass(frozen=True, slots=True)
class Answers:
    """The ranks that one way of one contender gives to the relevant articles of questions, and its median time of a query."""

    ranks: Sequence[Ranks]
    query_ms: float


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender, measured on questions asked in one way or more.

    Attributes:
        answers: by the way of ranking, then by the way of asking.
        gpu: of the machine that trained it and was asked; empty where that has none.
    """

    training_s: float
    parameters: int
    answers: Mapping[str, Mapping[str, Answers]]
    gpu: str = ""


@cache
def ranked_by() -> str:
    """Return a digest of the code that ranks: rows and candidates of another are measured and gathered anew."""
    folder = Path(search.__file__).parent
    sources = sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    digest = hashlib.sha256()
    for path in sources:
        digest.update(f"{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def kept_file(home: Path, id: str, asked: Mapping[str, Sequence[Judged]]) -> Path:
    """Return the file of a contender's measured rows: its version, the questions it was asked, and the search that ranked."""
    made_from = [[way, [[q.query, q.relevant.tolist()] for q in questions]] for way, questions in asked.items()]
    return home / FOLDER / f"{id}-{hashlib.sha256(json.dumps([ranked_by(), made_from]).encode()).hexdigest()[:12]}.json"


def keep(file: Path, measured: Measured) -> None:
    """Write measured rows, whole or not at all.

    Raises:
        StorageFull: the disk is full.
    """
    answers = {
        way: {asked: {"query_ms": one.query_ms, "ranks": [r.tolist() for r in one.ranks]} for asked, one in by_asked.items()}
        for way, by_asked in measured.answers.items()
    }
    part = file.with_suffix(".part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        own = {"training_s": measured.training_s, "parameters": measured.parameters, "gpu": measured.gpu}
        part.write_text(json.dumps({**own, "answers": answers}), "utf-8")
        os.replace(part, file)
    except OSError as error:
        raise StorageFull(f"{file}: {error.strerror}; rows that were measured before stay") from None


def kept(file: Path) -> Measured | None:
    """Return measured rows; None where there are none."""
    try:
        stored: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    answers = {
        way: {
            asked: Answers([np.array(ranks, np.int64) for ranks in one["ranks"]], one["query_ms"])
            for asked, one in by_asked.items()
        }
        for way, by_asked in stored["answers"].items()
    }
    return Measured(stored["training_s"], stored["parameters"], answers, stored.get("gpu", ""))
