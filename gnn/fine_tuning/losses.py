"""Similarities and losses of a bi-encoder (Louis et al., EACL 2023, section 3.1 and table 4)."""

import torch
from torch import Tensor
from torch.nn import functional


def similarities(queries: Tensor, articles: Tensor, kind: str) -> Tensor:
    """Return float32[queries, articles]: inner products (of unit vectors: cosines), or distances with a minus before them."""
    # Divided by a small temperature, what bf16 rounds off a cosine would count.
    with torch.autocast(queries.device.type, enabled=False):
        if kind == "euclidean":
            return -torch.cdist(queries.float(), articles.float(), compute_mode="donot_use_mm_for_euclid_dist")
        return queries.float() @ articles.float().T


def negative_log_likelihood(scores: Tensor, others: Tensor, temperature: float) -> Tensor:
    """Return the mean over pairs of -log of the share that a pair's own article has among it and the pair's negatives.

    Args:
        scores: float32[pairs, articles], the own article of pair i in column i.
        others: bool[pairs, articles], relevant to a question beside its own article: no negatives.
    """
    logits = (scores / temperature).masked_fill(others, float("-inf"))
    return functional.cross_entropy(logits, torch.arange(len(scores), device=scores.device))


def triplet(scores: Tensor, others: Tensor, margin: float) -> Tensor:
    """Return the mean over pairs and their negatives of max(0, margin - score of the own article + score of the negative).

    Args:
        scores, others: as of `negative_log_likelihood`.
    """
    pairs = torch.arange(len(scores), device=scores.device)
    own = scores[pairs, pairs].unsqueeze(-1)
    negative = ~others
    negative[pairs, pairs] = False
    return functional.relu(margin - own + scores)[negative].sum() / negative.sum().clamp(min=1)
