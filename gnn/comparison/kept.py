"""Measured rows, kept beside the models: a comparison that was killed goes on, and none is measured twice."""

from dataclasses import dataclass
from pathlib import Path

from gnn.kept_answers import ByRanking, keep_answers, kept_answers


@dataclass(frozen=True, slots=True)
class Measured:
    """One contender, measured on questions asked in one way or more.

    Attributes:
        answers: by the way of ranking, then by the way of asking.
        gpu: of the machine that trained it and was asked; empty where that has none.
        encoder_gpu: that its bi-encoder was trained on, there or before on another machine; empty where that had none.
    """

    training_s: float
    parameters: int
    answers: ByRanking
    gpu: str = ""
    encoder_gpu: str = ""


def keep(file: Path, measured: Measured) -> None:
    """Write measured rows, whole or not at all.

    Raises:
        StorageFull: the disk is full.
    """
    own = {"training_s": measured.training_s, "parameters": measured.parameters}
    own |= {"gpu": measured.gpu, "encoder_gpu": measured.encoder_gpu}
    keep_answers(file, measured.answers, own)


def kept(file: Path) -> Measured | None:
    """Return measured rows; None where there are none."""
    answers, own = kept_answers(file)
    if not own:
        return None
    return Measured(own["training_s"], own["parameters"], answers, own.get("gpu", ""), own.get("encoder_gpu", ""))
