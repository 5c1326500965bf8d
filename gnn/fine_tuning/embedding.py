"""Vectors of articles by a bi-encoder in torch, on the device that it is on.

A GPU embeds in minutes what the exported graph, which runs on processors, takes hours for at a published size.
"""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from gnn.encoders.tuned import Pieces
from gnn.fine_tuning.bi_encoder import BiEncoder
from gnn.fine_tuning.padding import end_of_batch

WORD_PIECES = {"cpu": 1 << 12, "cuda": 1 << 16}
"""Word pieces that are read at once, paddings counted, where memory holds them: few where caches are small."""


def pieces_of_articles(model: BiEncoder, texts: Sequence[str]) -> list[list[Pieces]]:
    """Return the passages of each article as the transformer reads them."""
    marks = model.marks
    limit = marks.passage_tokens * marks.passages
    return [marks.article_pieces(pieces) for pieces in model.body.pieces(texts, "", limit)]


@torch.inference_mode()
def embedded(
    model: BiEncoder, articles: Sequence[Sequence[Pieces]], advance: Callable[[int], None] = lambda done: None
) -> Tensor:
    """Return float32[articles, hidden], on the model's device: short articles together, fewer where memory runs out.

    Args:
        articles: passages of each, at least one article.
        advance: is told how many articles more have been embedded.

    Raises:
        torch.OutOfMemoryError: memory does not hold one article.
    """
    lengths = np.array([sum(map(len, own)) for own in articles])
    order = np.argsort(lengths, kind="stable")
    ascending = lengths[order]
    at_once, first = WORD_PIECES[model.device.type], 0
    parts: list[Tensor] = []
    while first < len(order):
        last = end_of_batch(ascending, first, at_once)
        try:
            parts.append(model.articles([articles[i] for i in order[first:last]]).float())
        except torch.OutOfMemoryError:
            if last - first == 1:
                raise
            at_once //= 2
            continue
        advance(last - first)
        first = last
    return torch.cat(parts)[torch.from_numpy(np.argsort(order)).to(parts[0].device)]
