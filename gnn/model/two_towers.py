"""The two towers: articles and sections, enriched over the tree of the law, and queries.

Articles: ``d = unit(x + w·s + V U (x + w·s) + g·W h)`` with x the encoder's features, s the fixed mean of the parent
section, V U a map of low rank, and h the node states of graph layers (GATv2) over sections and articles. Queries:
``q = unit(y + W₂ gelu(W₁ y))``. The score of an article is ``τ·cos(q, d) + b``, with a learned inverse
temperature τ and a learned bias b of each article.
"""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from gnn.model.dropout import Dropout
from gnn.model.gradients import unit_length, with_share
from gnn.model.graph_layers import graph_layer
from gnn.model.subgraph import attribute_width
from gnn.options import DocumentOptions, QueryOptions


class TreeAttention(nn.Module):
    """Layers over the subgraph, each residual: GATv2 unless the options say otherwise (Louis et al., EACL 2023, section 3.2).

    Shapes:
        x: float32[nodes, d]; edge_index: int64[2, e]; edge_attr: float32[e, kinds]; out: float32[nodes, d].
    """

    def __init__(self, dimensions: int, options: DocumentOptions, dropout: float) -> None:
        """Make the layers that the options name."""
        super().__init__()
        self.enter = nn.Linear(dimensions, options.hidden)
        width = attribute_width(options.edges, options.question_nodes)
        self.layers = nn.ModuleList(
            graph_layer(options.layer, options.hidden, options.heads, width) for _ in range(options.layers)
        )
        self.leave = nn.Linear(options.hidden, dimensions, bias=False)
        nn.init.zeros_(self.leave.weight)  # training starts from the model without attention
        self.dropout = Dropout(dropout)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return ``out``."""
        h = functional.gelu(self.enter(x))
        for layer in self.layers:
            # Computed again on the way back: what a layer holds for every edge is many times what it gives.
            h = functional.gelu(cast(Tensor, checkpoint(layer, self.dropout(h), edge_index, edge_attr, use_reentrant=False)))
        return self.leave(h)


class DocumentTower(nn.Module):
    """Embeddings of articles and sections.

    Shapes:
        x, s: float32[nodes, d] (features; means of parent sections); out: float32[nodes, d], unit length.
    """

    def __init__(self, dimensions: int, options: DocumentOptions, dropout: float) -> None:
        """Make the parts that the options name."""
        super().__init__()
        self.share = nn.Parameter(torch.tensor(options.section_share)) if options.section_mean else None
        self.down = nn.Linear(dimensions, options.rank, bias=False)
        self.up = nn.Linear(options.rank, dimensions, bias=False)
        nn.init.zeros_(self.up.weight)
        self.dropout = Dropout(dropout)
        self.attention = TreeAttention(dimensions, options, dropout) if options.layers else None

    def forward(self, x: Tensor, s: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return ``out``."""
        base = x if self.share is None else with_share(x, s, self.share)
        out = torch.addmm(base, self.down(self.dropout(base)), self.up.weight.T)
        if self.attention is not None:
            out = out + self.attention(unit_length(base), edge_index, edge_attr)
        return unit_length(out)


class QueryTower(nn.Module):
    """Embeddings of queries.

    Shapes:
        y: float32[queries, d]; out: float32[queries, d], unit length.
    """

    def __init__(self, dimensions: int, options: QueryOptions, dropout: float) -> None:
        """Make its two layers; the second starts at zero."""
        super().__init__()
        self.first = nn.Linear(dimensions, options.hidden)
        self.second = nn.Linear(options.hidden, dimensions)
        nn.init.zeros_(self.second.weight)
        nn.init.zeros_(self.second.bias)
        self.dropout = Dropout(dropout)

    def forward(self, y: Tensor) -> Tensor:
        """Return ``out``."""
        inner = functional.gelu(self.first(self.dropout(y)), approximate="tanh")
        return functional.normalize(y + self.second(self.dropout(inner)), dim=-1)


class TwoTowers(nn.Module):
    """Both towers, the temperature and the bias of each article."""

    def __init__(
        self, dimensions: int, articles: int, document: DocumentOptions, query: QueryOptions, dropout: float, temperature: float
    ) -> None:
        """Make both towers; ``temperature`` is the inverse one to begin with."""
        super().__init__()
        self.document = DocumentTower(dimensions, document, dropout)
        self.query = QueryTower(dimensions, query, dropout)
        self.log_scale = nn.Parameter(torch.tensor(temperature).log())
        self.bias = nn.Parameter(torch.zeros(articles))
