"""Fusing ranked lists: weighted standard scores where weights were tuned, reciprocal rank fusion elsewhere."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]

DEPTH = 1000
"""Length of the head of a list that its mean and spread are taken over."""
RECIPROCAL_RANK_K = 60
"""The constant of Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion", SIGIR 2009, section 2."""


def head_of(scores: Scores, depth: int = DEPTH) -> Scores:
    """The ``depth`` highest finite scores, ascending; fewer where there are fewer."""
    n = len(scores)
    if n <= depth:
        return np.sort(scores[np.isfinite(scores)])
    # Most lists have most articles on one lowest level, and a partition is slow where so many are equal.
    lowest = scores.min()
    above = scores > lowest
    few = np.count_nonzero(above)
    if few >= depth:
        head = np.partition(scores, n - depth)[n - depth :]
        return np.sort(head[np.isfinite(head)])
    head = np.full(depth if np.isfinite(lowest) else few, lowest, scores.dtype)
    head[len(head) - few :] = np.sort(scores[above])
    return head


def standard_scores(scores: Scores, head: Scores | None = None) -> Scores:
    """Scores as distances from the mean of the list's head, in standard deviations.

    What stands below the head takes the lowest score of the head: how far down it is says nothing more.

    Args:
        scores: float32[n]; -inf where a filter leaves an article out (it stays -inf).
        head: `head_of` the scores, where it is known already.
    """
    head = head_of(scores) if head is None else head
    if not len(head):
        return np.full_like(scores, -np.inf)
    spread = float(head.std())
    if spread < 1e-9:
        return np.where(np.isfinite(scores), np.float32(0), np.float32(-np.inf))
    result: Scores = np.maximum(scores, head[0])
    result -= head.mean()
    result *= np.float32(1 / spread)
    result[~np.isfinite(scores)] = -np.inf
    return result


def weighted(lists: Mapping[str, Scores], weights: Mapping[str, float]) -> Scores:
    """The weighted sum of lists that are comparable already; a list without a weight is left out."""
    chosen = [(scores, np.float32(weights[name])) for name, scores in lists.items() if weights.get(name)]
    if not chosen:
        raise ValueError("no list has a weight")
    fused: Scores = np.zeros_like(chosen[0][0])
    for scores, weight in chosen:
        fused += scores * weight
    return fused


def reciprocal_rank(lists: Sequence[Scores], k: int = RECIPROCAL_RANK_K) -> Scores:
    """The sum over lists of 1 / (k + rank), ranks from 1; a list adds nothing to what it has at -inf.

    What every list has at -inf stays there.
    """
    fused = np.zeros(len(lists[0]), np.float32)
    for scores in lists:
        ranks = np.empty(len(scores), np.float32)
        ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
        fused += np.where(np.isfinite(scores), 1 / (k + ranks), np.float32(0))
    fused[fused == 0] = -np.inf
    return fused


def top(scores: Scores, k: int) -> Positions:
    """Positions of the k highest finite scores, best first; ties in order of position."""
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, np.intp)
    if k < len(scores):
        threshold = np.partition(scores, len(scores) - k)[len(scores) - k]
        candidates = np.flatnonzero(scores >= threshold)
    else:
        candidates = np.arange(len(scores))
    candidates = candidates[np.isfinite(scores[candidates])]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]
