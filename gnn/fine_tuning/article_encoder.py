"""One vector of the passages of an article: a small transformer over their vectors, then pooling.

Louis et al., "Finding the Law: Enhancing Statutory Article Retrieval via Graph Neural Networks" (G-DSR), EACL 2023, section
3.1: passages of 128 word pieces, learned positions of passages, two layers, max pooling. Here the layers are normalised before
their parts, which begin at zero, so that training starts from the pooled passages: a few hundred questions are too few to learn
layers from nothing.
"""

from typing import cast

import torch
from torch import Tensor, nn

from gnn.options import BiEncoderOptions


class ArticleEncoder(nn.Module):
    """Layers over passages, and pooling.

    Shapes:
        passages: float32[articles, p, hidden]; mask: int64[articles, p], 1 where there is a passage, one at least;
        out: float32[articles, hidden].
    """

    def __init__(self, hidden: int, options: BiEncoderOptions) -> None:
        """Make the layers that the options name."""
        super().__init__()
        self.pooling = options.passage_pooling
        self.layers = nn.ModuleList(_Layer(hidden, options.passage_heads) for _ in range(options.passage_layers))
        self.positions: nn.Parameter | None = None
        if options.passage_layers:
            self.positions = nn.Parameter(torch.randn(options.passages, hidden) * 0.02)
        self.attention = nn.Linear(hidden, 1) if options.passage_pooling == "attention" else None
        if self.attention is not None:
            nn.init.zeros_(self.attention.weight)  # the mean, to begin with

    def forward(self, passages: Tensor, mask: Tensor) -> Tensor:
        """Return ``out``."""
        x, missing = passages, mask == 0
        if self.positions is not None:
            # Positions are seen by attention alone: what has nothing to attend to is left as it is.
            where = self.positions[: passages.shape[1]]
            for layer in self.layers:
                x = cast(Tensor, layer(x, where, missing))
        if self.pooling == "max":
            return x.masked_fill(missing.unsqueeze(-1), float("-inf")).amax(1)
        if self.attention is not None:
            shares = self.attention(x).squeeze(-1).masked_fill(missing, float("-inf")).softmax(-1)
        else:
            shares = mask.to(x.dtype) / mask.sum(1, keepdim=True)
        return (shares.unsqueeze(-1) * x).sum(1)


class _Layer(nn.Module):
    """Attention and a perceptron, each residual and normalised before; their last maps begin at zero."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before_attention, self.before_inner = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.projected = nn.Linear(hidden, 3 * hidden)
        self.attended = nn.Linear(hidden, hidden)
        self.inner, self.outer = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
        for last in (self.attended, self.outer):
            nn.init.zeros_(last.weight)
            nn.init.zeros_(last.bias)

    def forward(self, x: Tensor, positions: Tensor, missing: Tensor) -> Tensor:
        articles, places, hidden = x.shape
        projected = self.projected(self.before_attention(x) + positions)
        q, k, v = projected.view(articles, places, 3, self.heads, hidden // self.heads).permute(2, 0, 3, 1, 4)
        logits = (q @ k.transpose(-1, -2)) * (hidden // self.heads) ** -0.5
        shares = logits.masked_fill(missing[:, None, None, :], float("-inf")).softmax(-1)
        x = x + self.attended((shares @ v).transpose(1, 2).reshape(articles, places, hidden))
        return x + self.outer(nn.functional.gelu(self.inner(self.before_inner(x))))
