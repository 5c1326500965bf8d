"""Layers over the subgraph of the law: attention (GATv2, GAT), and what attention is held against (GCN, GraphSAGE, k-GNN).

Louis et al., "Finding the Law", EACL 2023, section 4.3, compare these; `gnn.model.graph_layers_numpy` computes the same without
torch, for law that came after the training.
"""

import warnings
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.model.subgraph import EDGE_KINDS, SubgraphEdges
from gnn.options import LayerKind

if TYPE_CHECKING:
    from torch_geometric.data import Data


def subgraph_data(edges: SubgraphEdges, features: Tensor, width: int = len(EDGE_KINDS)) -> "Data":
    """Return the subgraph for PyTorch Geometric: x float32[n + m, d], edge_index int64[2, e], edge_attr float32[e, width]."""
    _quietly_imported()
    from torch_geometric.data import Data

    one_hot = functional.one_hot(torch.from_numpy(edges.kinds), width).float()
    return Data(x=features, edge_index=torch.from_numpy(edges.edges), edge_attr=one_hot)


def graph_layer(kind: LayerKind, width: int, heads: int, kinds: int, *, add_self_loops: bool = False) -> nn.Module:
    """Return a residual layer that is as wide as what it is given, over edges of so many kinds.

    Attention sees the kind of an edge; GCN (Kipf and Welling, ICLR 2017), GraphSAGE with the mean (Hamilton et al., NeurIPS 2017)
    and k-GNN (Morris et al., AAAI 2019) know that there is one.

    Args:
        heads: of attention; they share the width.
        add_self_loops: let a node attend to itself.
    """
    _quietly_imported()
    from torch_geometric.nn import GATConv, GATv2Conv, GCNConv, GraphConv, SAGEConv

    if kind in ("gatv2", "gat"):
        attention = GATv2Conv if kind == "gatv2" else GATConv
        return attention(width, width // heads, heads, edge_dim=kinds, add_self_loops=add_self_loops, residual=True)
    if kind == "gcn":
        return _Blind(GCNConv(width, width), nn.Linear(width, width, bias=False))
    return _Blind(SAGEConv(width, width) if kind == "graphsage" else GraphConv(width, width))  # a node's own weights are in these


class _Blind(nn.Module):
    """A layer that does not see the kinds of edges.

    Shapes:
        h: float32[nodes, width]; edge_index: int64[2, e]; edge_attr: not looked at; out: float32[nodes, width].
    """

    def __init__(self, conv: nn.Module, res: nn.Module | None = None) -> None:
        super().__init__()
        self.conv, self.res = conv, res

    def forward(self, h: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        """Return ``out``."""
        out = self.conv(h, edge_index)
        return out if self.res is None else out + self.res(h)


def _quietly_imported() -> None:
    """Import PyTorch Geometric without its warnings. It takes seconds, and recipes without a graph layer do without it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit", FutureWarning)  # of its own use of what torch has deprecated
        import torch_geometric.nn  # pyright: ignore[reportUnusedImport]  # noqa: F401
