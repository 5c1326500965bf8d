"""Answers to questions, kept beside the models: nothing is asked twice of one search, and a run that was killed goes on."""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import citations
import schema
import search
from schema.errors import StorageFull
from search.evaluation import Judged, Ranks

FOLDER = "comparisons"
"""Folder of the home; to remove it is to ask everything anew."""


@dataclass(frozen=True, slots=True)
class Answers:
    """The ranks that one ranking gives to the relevant articles of questions, and its median time of a query."""

    ranks: Sequence[Ranks]
    query_ms: float


ByRanking = Mapping[str, Mapping[str, Answers]]
"""Answers by the name of a ranking, then by the way of asking."""


@cache
def ranked_by() -> str:
    """Return a digest of the code that ranks, and reads what a query names: what was answered by another is asked anew."""
    digest = hashlib.sha256()
    for room in (search, citations, schema):
        folder = Path(str(room.__file__)).parent
        for path in sorted(path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            digest.update(f"{room.__name__}/{path.relative_to(folder).as_posix()}\0".encode() + path.read_bytes())
    return digest.hexdigest()[:12]


def kept_file(home: Path, id: str, asked: Mapping[str, Sequence[Judged]]) -> Path:
    """Return the file of what a version answers: its identifier, the questions it was asked, and the search that ranked."""
    made_from = [[way, [[q.query, q.relevant.tolist()] for q in questions]] for way, questions in asked.items()]
    return home / FOLDER / f"{id}-{hashlib.sha256(json.dumps([ranked_by(), made_from]).encode()).hexdigest()[:12]}.json"


def keep_answers(file: Path, answers: ByRanking, about: Mapping[str, Any]) -> None:
    """Write answers, whole or not at all.

    Args:
        about: what else is known of what answered.

    Raises:
        StorageFull: the disk is full.
    """
    written = {
        ranking: {asked: {"query_ms": one.query_ms, "ranks": [r.tolist() for r in one.ranks]} for asked, one in by_asked.items()}
        for ranking, by_asked in answers.items()
    }
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({**about, "answers": written}), "utf-8")
        os.replace(part, file)
    except OSError as error:
        raise StorageFull(f"{file}: {error.strerror}; what was answered before stays") from None


def kept_answers(file: Path) -> tuple[ByRanking, Mapping[str, Any]]:
    """Return what a file has of answers, and what else it says; of a file that is not there or not whole, nothing."""
    try:
        about: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}, {}
    answers = {
        ranking: {
            asked: Answers([np.array(ranks, np.int64) for ranks in one["ranks"]], one["query_ms"])
            for asked, one in by_asked.items()
        }
        for ranking, by_asked in about.pop("answers").items()
    }
    return answers, about
