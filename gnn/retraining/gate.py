"""The gate before a new model version serves: it must be no worse than the active one on the same questions."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import permutation_test

from search.corpus.corpus import Corpus
from search.evaluation import Judged, measure, ranks_of, recall
from search.modes import Mode
from search.retrieval import Retriever

LEAST_OF_ACT = 5
"""Fewest questions on an act for its recall to count."""
COLLAPSED = 0.5
"""Share of its former recall below which an act counts as lost."""
_RESAMPLES = 9_999
_CUT = 100


@dataclass(frozen=True, slots=True)
class Verdict:
    """Decision on a new version, its reason, and the figures behind it (measures from 0 to 1)."""

    passed: bool
    reason: str
    figures: dict[str, Any]


def judge(
    old: Retriever,
    new: Retriever,
    questions: Sequence[Judged],
    *,
    metric: str = "R@100",
    significance: float = 0.05,
    seed: int = 7,
) -> Verdict:
    """Compare two versions over the law as it is now and return the verdict.

    The new one fails where its mean is lower and Fisher's randomisation test over the paired questions (Smucker et
    al., CIKM 2007) calls that significant, or where an act has lost half of its recall.

    Args:
        metric: one of those of `search.evaluation.measure`.
        significance: probability, one-sided, below which a loss counts.
    """
    before, after = _answers(old, questions), _answers(new, questions)
    a, b = (np.array([row[metric] for row in answers.measures]) for answers in (before, after))
    figures: dict[str, Any] = {"metric": metric, "questions": len(questions), "old": float(a.mean()), "new": float(b.mean())}
    p = _probability(a, b, seed)
    figures["p_of_a_loss"] = p
    lost = _collapsed(old.corpus, before, after)
    figures["collapsed_acts"] = lost
    if b.mean() < a.mean() and p < significance:
        return Verdict(False, f"{metric} fell from {100 * a.mean():.2f} to {100 * b.mean():.2f} (p = {p:.4f})", figures)
    if lost:
        worst = ", ".join(f"{act}: {100 * was:.1f} to {100 * now:.1f}" for act, (was, now) in lost.items())
        return Verdict(False, f"recall at {_CUT} collapsed in {worst}", figures)
    return Verdict(True, f"{metric} {100 * a.mean():.2f} to {100 * b.mean():.2f} (p of a loss {p:.4f})", figures)


@dataclass(frozen=True, slots=True)
class _Answers:
    """By question: its measures, and its recall of each act that it has relevant articles in."""

    measures: list[dict[str, float]]
    acts: list[dict[int, float]]


def _answers(retriever: Retriever, questions: Sequence[Judged]) -> _Answers:
    result = _Answers([], [])
    for question in questions:
        scores = retriever.scores(question.query, Mode.HYBRID)[0]
        result.measures.append(measure(ranks_of(scores, question.relevant)))
        acts = retriever.corpus.article_act[question.relevant]
        own = {act: ranks_of(scores, question.relevant[acts == act]) for act in np.unique(acts).tolist()}
        result.acts.append({act: recall(ranks, _CUT) for act, ranks in own.items()})
    return result


def _probability(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], seed: int) -> float:
    """Return the probability of a mean difference this low if it made no difference which version answered."""
    difference = b - a
    if not np.any(difference):
        return 1.0
    test = permutation_test(
        (difference,),
        lambda x, axis: np.mean(x, axis=axis),  # pyright: ignore[reportUnknownLambdaType]
        permutation_type="samples",
        alternative="less",
        n_resamples=_RESAMPLES,
        rng=np.random.default_rng(seed),
    )
    return float(test.pvalue)


def _collapsed(corpus: Corpus, before: _Answers, after: _Answers) -> dict[str, tuple[float, float]]:
    """Return the acts whose recall fell below half: before and after."""
    by_act: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for was, now in zip(before.acts, after.acts, strict=True):
        for act in was:
            by_act[act].append((was[act], now[act]))
    result: dict[str, tuple[float, float]] = {}
    for act, pairs in by_act.items():
        was, now = (float(np.mean(side)) for side in zip(*pairs, strict=True))
        if len(pairs) >= LEAST_OF_ACT and now < COLLAPSED * was:
            result[corpus.acts[act]] = (was, now)
    return result
