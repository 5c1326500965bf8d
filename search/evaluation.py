"""Retrieval measures, their intervals, and the table that compares systems."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runtime.progress import Progress, silent

Scores = npt.NDArray[np.float32]
Ranks = npt.NDArray[np.int64]
MEASURES = ("R@100", "R@200", "R@500", "MAP", "MRP", "nDCG@10")
CURVE_CUTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BOOTSTRAP_SAMPLES = 2000
_SEED = 20


@dataclass(frozen=True, slots=True)
class Judged:
    """A query with the positions of its relevant articles."""

    query: str
    relevant: npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Measured:
    """One measure over questions, in percent: the mean and its 95 % bootstrap interval."""

    mean: float
    low: float
    high: float


def ranks_of(scores: Scores, relevant: npt.NDArray[np.intp]) -> Ranks:
    """Ranks (from 1, ascending) of the relevant articles when all are sorted by score, ties by position.

    Articles with a score of -inf were not retrieved; they rank behind all others.
    """
    own = scores[relevant][:, None]
    ahead = (scores > own).sum(1) + ((scores == own) & (np.arange(len(scores)) < relevant[:, None])).sum(1)
    ranks = np.sort(ahead + 1)
    missed = int((~np.isfinite(scores[relevant])).sum())
    if missed:
        ranks[len(ranks) - missed :] = np.iinfo(np.int64).max
    return ranks


def measure(ranks: Ranks) -> dict[str, float]:
    """All measures for one question, from the ranks of its relevant articles; between 0 and 1.

    Recall at k, average precision, R-precision, and nDCG@10 with binary gains.
    """
    n = len(ranks)
    found = np.arange(1, n + 1)
    ideal = (1 / np.log2(np.arange(2, min(n, 10) + 2))).sum()
    return {
        "R@100": float((ranks <= 100).mean()),
        "R@200": float((ranks <= 200).mean()),
        "R@500": float((ranks <= 500).mean()),
        "MAP": float((found / ranks).mean()),
        "MRP": float((ranks <= n).mean()),
        "nDCG@10": float((1 / np.log2(ranks[ranks <= 10] + 1.0)).sum() / ideal),
    }


def all_ranks(
    score: Callable[[str], Scores], questions: Sequence[Judged], *, progress: Progress = silent, label: str = "questions"
) -> list[Ranks]:
    """For each question the ranks of its relevant articles (`ranks_of`).

    Args:
        score: the scores of all articles for a query.
    """
    found: list[Ranks] = []
    with progress(label, len(questions)) as advance:
        for question in questions:
            found.append(ranks_of(score(question.query), question.relevant))
            advance(1)
    return found


def measures_of(ranks: Sequence[Ranks]) -> dict[str, npt.NDArray[np.float64]]:
    """Each measure for each question: float64[questions] by name, between 0 and 1."""
    rows = [measure(row) for row in ranks]
    return {name: np.array([row[name] for row in rows]) for name in MEASURES}


def recall_curve(ranks: Sequence[Ranks], cuts: Sequence[int] = CURVE_CUTS) -> list[float]:
    """Mean recall at each cut, in percent."""
    return [100 * float(np.mean([(row <= cut).mean() for row in ranks])) for cut in cuts]


def with_intervals(values: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, Measured]:
    """Means in percent with 95 % percentile bootstrap intervals over questions.

    The same questions are drawn for every measure and every system, from a fixed seed.
    """
    result: dict[str, Measured] = {}
    for name, per_question in values.items():
        n = len(per_question)
        draws = np.random.default_rng(_SEED).integers(0, n, (BOOTSTRAP_SAMPLES, n))
        low, high = np.percentile(per_question[draws].mean(1), [2.5, 97.5])
        result[name] = Measured(100 * float(per_question.mean()), 100 * float(low), 100 * float(high))
    return result
