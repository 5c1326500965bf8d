"""Retrieval measures and their intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from runtime.progress import Progress, silent
from search.arrays import Scores

Ranks = npt.NDArray[np.int64]
MEASURES = ("R@100", "R@200", "R@500", "MAP", "MRP", "nDCG@10", "MRR@10", "S@5")
CURVE_CUTS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
BOOTSTRAP_SAMPLES = 2000
UNRANKED = np.iinfo(np.int64).max
"""Rank of what was not retrieved: behind everything."""
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


def ranks_in_order(scores: Scores, relevant: npt.NDArray[np.intp]) -> Ranks:
    """Return the ranks (from 1) of the relevant positions, in their order, when all are sorted by score, ties by position.

    What has a score of -inf was not retrieved; it ranks behind everything.
    """
    own = scores[relevant][:, None]
    ahead = (scores > own).sum(1) + ((scores == own) & (np.arange(len(scores)) < relevant[:, None])).sum(1)
    return np.where(np.isfinite(scores[relevant]), ahead + 1, UNRANKED)


def ranks_of(scores: Scores, relevant: npt.NDArray[np.intp]) -> Ranks:
    """Return `ranks_in_order`, ascending: what the measures are computed from."""
    return np.sort(ranks_in_order(scores, relevant))


def recall(ranks: Ranks, cut: int) -> float:
    """Return the share of the relevant that stands among the first ``cut``."""
    return float((ranks <= cut).mean())


def average_precision(ranks: Ranks) -> float:
    """Return the mean of the precisions at the ranks of the relevant, which ascend."""
    return float((np.arange(1, len(ranks) + 1) / ranks).mean())


def r_precision(ranks: Ranks) -> float:
    """Return the precision at the number of the relevant."""
    return recall(ranks, len(ranks))


def ndcg(ranks: Ranks, cut: int) -> float:
    """Return the normalised discounted cumulative gain of the first ``cut``, with binary gains."""
    ideal = (1 / np.log2(np.arange(2, min(len(ranks), cut) + 2))).sum()
    return float((1 / np.log2(ranks[ranks <= cut] + 1.0)).sum() / ideal)


def reciprocal_rank(ranks: Ranks, cut: int) -> float:
    """Return one over the rank of the first relevant, 0 where that is not among the first ``cut``."""
    return float(1 / ranks[0]) if ranks[0] <= cut else 0.0


def success(ranks: Ranks, cut: int) -> float:
    """Return 1 where a relevant one is among the first ``cut``, else 0."""
    return float(ranks[0] <= cut)


def measure(ranks: Ranks) -> dict[str, float]:
    """Return `MEASURES` of one question, from the ranks of its relevant articles (`ranks_of`); between 0 and 1."""
    return {
        **{f"R@{cut}": recall(ranks, cut) for cut in (100, 200, 500)},
        "MAP": average_precision(ranks),
        "MRP": r_precision(ranks),
        "nDCG@10": ndcg(ranks, 10),
        "MRR@10": reciprocal_rank(ranks, 10),
        "S@5": success(ranks, 5),
    }


def all_ranks(
    score: Callable[[str], Scores], questions: Sequence[Judged], *, progress: Progress = silent, label: str = "questions"
) -> list[Ranks]:
    """Return for each question the ranks of its relevant articles, in their order, by the scores of all articles for it."""
    ranks: list[Ranks] = []
    with progress(label, len(questions)) as advance:
        for question in questions:
            ranks.append(ranks_in_order(score(question.query), question.relevant))
            advance(1)
    return ranks


def measures_of(ranks: Sequence[Ranks]) -> dict[str, npt.NDArray[np.float64]]:
    """Return each measure of each question: float64[questions] by name, between 0 and 1."""
    rows = [measure(np.sort(row)) for row in ranks]
    return {name: np.array([row[name] for row in rows]) for name in MEASURES}


def recall_curve(ranks: Sequence[Ranks], cuts: Sequence[int] = CURVE_CUTS) -> list[Measured]:
    """Return the recall at each cut, in percent, with its interval."""
    rows = {str(cut): np.array([recall(row, cut) for row in ranks]) for cut in cuts}
    return list(with_intervals(rows).values())


def with_intervals(values: Mapping[str, npt.NDArray[np.float64]]) -> dict[str, Measured]:
    """Return means in percent with 95 % percentile bootstrap intervals over questions.

    The same questions are drawn for every measure and every system, from a fixed seed.
    """
    result: dict[str, Measured] = {}
    for name, per_question in values.items():
        n = len(per_question)
        draws = np.random.default_rng(_SEED).integers(0, n, (BOOTSTRAP_SAMPLES, n))
        low, high = np.percentile(per_question[draws].mean(1), [2.5, 97.5])
        result[name] = Measured(100 * float(per_question.mean()), 100 * float(low), 100 * float(high))
    return result


def f_measure(precision: float, recall: float, beta: float = 2) -> float:
    """Return the weighted harmonic mean of precision and recall: with ``beta`` 2, recall counts for twice as much as precision.

    >>> round(f_measure(0.5, 1.0), 3), f_measure(0.0, 0.0)
    (0.833, 0.0)
    """
    both = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / both if both else 0.0
