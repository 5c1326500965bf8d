"""Measured rows, kept beside the models: a comparison that was killed goes on, and none is measured twice."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from gnn.cost import Cost
from gnn.kept_answers import ByRanking, keep_answers, kept_answers


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender, measured on questions asked in one way or more.

    Attributes:
        answers: by the way of ranking, then by the way of asking.
        costs: of the training for each way of ranking; its GPU is that of the bi-encoder, trained there or before elsewhere.
        gpus: of the machine that was asked, by the way of ranking; empty where it has none.
    """

    answers: ByRanking
    costs: Mapping[str, Cost]
    gpus: Mapping[str, str]

    def with_more(self, other: "Measured") -> "Measured":
        """Return this with the ways of ranking that another has measured."""
        return Measured({**self.answers, **other.answers}, {**self.costs, **other.costs}, {**self.gpus, **other.gpus})


def keep(file: Path, measured: Measured) -> None:
    """Write measured rows, whole or not at all.

    Raises:
        StorageFull: the disk is full.
    """
    costs = {way: asdict(cost) for way, cost in measured.costs.items()}
    keep_answers(file, measured.answers, {"costs": costs, "gpus": measured.gpus})


def kept(file: Path) -> Measured | None:
    """Return measured rows; None where there are none."""
    answers, own = kept_answers(file)
    if not own:
        return None
    return Measured(answers, {way: Cost(**cost) for way, cost in own["costs"].items()}, own["gpus"])
