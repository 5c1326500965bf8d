"""The subgraph as PyTorch Geometric's data."""

import torch
from torch_geometric.data import Data

from gnn.model.subgraph import EDGE_KINDS, SubgraphEdges


def subgraph_data(edges: SubgraphEdges, features: torch.Tensor) -> Data:
    """The subgraph for PyTorch Geometric: x float32[n + m, d], edge_index int64[2, e], edge_attr float32[e, 4]."""
    one_hot = torch.nn.functional.one_hot(torch.from_numpy(edges.kinds), len(EDGE_KINDS)).float()
    return Data(x=features, edge_index=torch.from_numpy(edges.edges), edge_attr=one_hot)
