"""Fusion of ranking lists by weighted standard scores."""

from collections.abc import Mapping

import numpy as np

from search.arrays import Positions, Scores

DEPTH = 1000
"""Length of the head of a list that its mean and spread are taken over."""
HEAD = 100
"""Articles that stand first: which they are is chosen for recall, and then their order for what is read first."""
_SAMPLE, _SPARE = 2048, 16


def kth_highest(scores: Scores, k: int) -> np.float32:
    """Return the k-th highest score, 1 ≤ k ≤ n.

    A partition alone is slow where many scores are equal, as most are in most lists. So a sample says first what is
    surely too low, and the few scores above that are partitioned, or none where the scores at that level reach down to k.
    """
    n = len(scores)
    step = n // _SAMPLE
    if step > 1:
        sample = np.sort(scores[::step])
        guess = sample[max(0, len(sample) - 2 * (k // step) - _SPARE)]
        few = scores[scores > guess]
        if len(few) >= k:
            return np.partition(few, len(few) - k)[len(few) - k]
        if np.count_nonzero(scores == guess) >= k - len(few):
            return guess
    return np.partition(scores, n - k)[n - k]


def head_of(scores: Scores, depth: int = DEPTH) -> Scores:
    """Return the ``depth`` highest finite scores, ascending; fewer where there are fewer."""
    if len(scores) <= depth:
        return np.sort(scores[np.isfinite(scores)])
    lowest = kth_highest(scores, depth)
    above = scores[scores > lowest]
    head = np.full(depth, lowest, scores.dtype)
    head[depth - len(above) :] = np.sort(above)
    return head[np.isfinite(head)]


def standard_scores(scores: Scores, head: Scores | None = None) -> Scores:
    """Return scores as distances from the mean of the list's head, in standard deviations.

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
    """Return the weighted sum of lists that are comparable already; a list without a weight is left out."""
    chosen = [(scores, np.float32(weights[name])) for name, scores in lists.items() if weights.get(name)]
    if not chosen:
        raise ValueError("no list has a weight")
    fused: Scores = np.zeros_like(chosen[0][0])
    for scores, weight in chosen:
        fused += scores * weight
    return fused


def emphasis(comparable: Scores) -> Scores:
    """Return what the head of a list earns beyond its standard scores: the square of what stands above one deviation.

    Standard scores tell the first from the second no better than the hundredth from the hundred-and-first.
    """
    return np.square(np.maximum(comparable - np.float32(1), np.float32(0)))


def reordered(scores: Scores, best: Positions, by: Scores) -> Scores:
    """Return scores whose best articles stand in another order; which articles these are stays as it was.

    Args:
        scores: float32[n].
        best: the articles that are highest by them, best first.
        by: float32[len(best)], higher for what shall come first.

    >>> reordered(np.array([3, 2, 1], np.float32), np.array([0, 1]), np.array([0, 1], np.float32)).tolist()
    [2.0, 3.0, 1.0]
    """
    result = scores.copy()
    result[best[np.argsort(-by, kind="stable")]] = scores[best]
    return result


def top(scores: Scores, k: int) -> Positions:
    """Return the positions of the k highest finite scores, best first; ties in order of position."""
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, np.intp)
    candidates = np.flatnonzero(scores >= kth_highest(scores, k))
    candidates = candidates[np.isfinite(scores[candidates])]
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]
