"""Similarities and losses of a bi-encoder (Louis et al., EACL 2023, section 3.1 and table 4)."""

import torch
from torch import Tensor
from torch.nn import functional

ALL = slice(None)
"""The pairs of a process that shares them with none."""


def similarities(queries: Tensor, articles: Tensor, kind: str) -> Tensor:
    """Return float32[queries, articles]: inner products (of unit vectors: cosines), or distances with a minus before them."""
    # Divided by a small temperature, what bf16 rounds off a cosine would count.
    with torch.autocast(queries.device.type, enabled=False):
        if kind == "euclidean":
            return -torch.cdist(queries.float(), articles.float(), compute_mode="donot_use_mm_for_euclid_dist")
        return queries.float() @ articles.float().T


def negative_log_likelihood(scores: Tensor, others: Tensor, temperature: float, mine: slice = ALL) -> Tensor:
    """Return the mean over pairs of -log of the share that a pair's own article has among it and the pair's negatives.

    Args:
        scores: float32[mine, articles], the own article of pair i in column i.
        others: bool[pairs, articles], relevant to a question beside its own article: no negatives.
        mine: the pairs that are scored; the sum over them, divided by the number of all, is returned.
    """
    logits = (scores / temperature).masked_fill(others[mine], float("-inf"))
    own = torch.arange(len(others), device=scores.device)[mine]
    return functional.cross_entropy(logits, own, reduction="sum") / len(others)


def triplet(scores: Tensor, others: Tensor, margin: float, mine: slice = ALL) -> Tensor:
    """Return the mean over pairs and their negatives of max(0, margin - score of the own article + score of the negative).

    Args:
        scores, others, mine: as of `negative_log_likelihood`.
    """
    pairs = torch.arange(len(others), device=scores.device)
    negative = ~others
    negative[pairs, pairs] = False
    own = scores[torch.arange(len(scores), device=scores.device), pairs[mine]].unsqueeze(-1)
    return functional.relu(margin - own + scores)[negative[mine]].sum() / negative.sum().clamp(min=1)
