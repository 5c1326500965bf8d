"""Neighbourhoods of nodes in place of the whole subgraph: for graphs that do not fit a device.

Features stay on the CPU; what a device is given are the nodes that are asked for and their neighbours, as many layers away as the
tower has (G-DSR: Louis et al., EACL 2023, section 3.2; the sampling: Hamilton et al., "Inductive Representation Learning on Large
Graphs", NeurIPS 2017). PyTorch Geometric's `NeighborLoader` hands them out. Its own samplers are compiled for each release of
torch and stand in no package index, so it is given one here.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

if TYPE_CHECKING:
    from torch_geometric.data import Data
    from torch_geometric.loader import NeighborLoader
    from torch_geometric.sampler import BaseSampler

Ints = npt.NDArray[np.int64]
Seed = int | np.random.Generator
"""A number to begin from, or what has begun already."""
Tower = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""Embeds nodes from features, means of sections, edges and attributes of edges (`gnn.model.two_towers.DocumentTower`)."""
ALL = -1
"""Stands for all neighbours of a node."""
_AT_ONCE = 4096
"""Nodes that are embedded at once where nothing is learnt from them."""


class Neighbourhoods:
    """The nodes of a subgraph, each to be embedded from its neighbours.

    Attributes:
        random: what the neighbours are drawn from.
    """

    def __init__(self, data: "Data", counts: Sequence[int], seed: int, *, degrees: bool = False) -> None:
        """Take a subgraph, which stays on the CPU.

        Args:
            data: x, s: float32[nodes, d], features and means of parent sections; edge_index: int64[2, e]; edge_attr: float32[e,
                kinds].
            counts: neighbours of a node that are drawn for training, layer by layer from the last; `ALL`: all.
            degrees: the layers weigh a neighbour by the number of its own edges (GCN), so that those of the last must be there.
        """
        counts = [*counts, counts[-1]] if degrees else counts
        self.random = np.random.default_rng(seed)
        self._learning = neighbour_loader(data, counts, self.random)
        self._whole = neighbour_loader(data, [ALL] * len(counts), seed)

    def embedded(self, tower: Tower, nodes: Tensor, device: torch.device) -> Tensor:
        """Return float32[nodes, d]: embeddings of different nodes, from neighbours that are drawn anew."""
        return _embedded(self._learning, tower, nodes.cpu(), device)

    def all_embedded(self, tower: Tower, nodes: Tensor, device: torch.device) -> Tensor:
        """Return float32[nodes, d]: embeddings of different nodes, from all neighbours, some nodes at once."""
        return torch.cat([_embedded(self._whole, tower, some, device) for some in nodes.cpu().split(_AT_ONCE)])


def neighbour_loader(data: "Data", counts: Sequence[int], seed: Seed, **options: Any) -> "NeighborLoader":
    """Return PyTorch Geometric's loader over a subgraph, with a sampler that needs no compiled package.

    Args:
        counts: neighbours of a node, layer by layer; `ALL`: all.
        options: of the loader, such as ``input_nodes`` and ``batch_size``.
    """
    from torch_geometric.loader import NeighborLoader

    edges = cast(Tensor, data.edge_index).numpy()
    sampler: Any = neighbour_sampler(edges, cast(int, data.num_nodes), counts, seed)
    return NeighborLoader(data, list(counts), neighbor_sampler=sampler, **options)


def _embedded(loader: "NeighborLoader", tower: Tower, nodes: Tensor, device: torch.device) -> Tensor:
    part: Any = loader(nodes)
    x, s, edge_index, edge_attr = (each.to(device) for each in (part.x, part.s, part.edge_index, part.edge_attr))
    return tower(x, s, edge_index, edge_attr)[: len(nodes)]


def neighbour_sampler(edges: Ints, nodes: int, counts: Sequence[int], seed: Seed) -> "BaseSampler":
    """Return a sampler of PyTorch Geometric that draws the neighbours of nodes without replacement, `Drawing`."""
    from torch_geometric.sampler import BaseSampler, SamplerOutput

    drawing = Drawing(edges, nodes, counts, seed)

    class NeighbourSampler(BaseSampler):
        def sample_from_nodes(self, index: Any, **kwargs: Any) -> Any:
            node, row, column, edge = map(torch.from_numpy, drawing.of(index.node.numpy()))
            return SamplerOutput(node, row, column, edge, metadata=(index.input_id, index.time))

        def sample_from_edges(self, index: Any, neg_sampling: Any = None) -> Any:
            raise NotImplementedError("neighbours are drawn of nodes alone")

    return NeighbourSampler()


class Drawing:
    """Draws the neighbours of nodes, and theirs, layer by layer; the same ones for the same seed and order of calls."""

    def __init__(self, edges: Ints, nodes: int, counts: Sequence[int], seed: Seed) -> None:
        """Order the edges, int64[2, e] (from, to), by the node that they lead to."""
        self._counts, self._draw = counts, np.random.default_rng(seed)
        self._ordered = np.argsort(edges[1], kind="stable")
        self._tails = edges[0][self._ordered]
        self._first = np.concatenate([[0], np.cumsum(np.bincount(edges[1], minlength=nodes))])

    def of(self, seeds: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the nodes, ``seeds`` first; the ends (from, to) of the edges as places among these; and which edges they are.

        Raises:
            ValueError: a seed is named twice.
        """
        if len(np.unique(seeds)) < len(seeds):
            raise ValueError("a node is named twice: each is embedded once")
        place = np.full(len(self._first) - 1, -1, np.int64)
        place[seeds] = np.arange(len(seeds))
        nodes, reached = [seeds], len(seeds)
        found: list[Ints] = [np.zeros((3, 0), np.int64)]
        for count in self._counts:
            owner, edges = self._edges_to(nodes[-1], count)
            tails = self._tails[edges]
            new = np.unique(tails[place[tails] < 0])
            place[new] = np.arange(reached, reached + len(new))
            found.append(np.stack([place[tails], place[nodes[-1][owner]], self._ordered[edges]]))
            nodes.append(new)
            reached += len(new)
        row, column, edge = np.concatenate(found, 1)
        return np.concatenate(nodes), row, column, edge

    def _edges_to(self, nodes: Ints, count: int) -> tuple[Ints, Ints]:
        """Return places in ``nodes`` with edges that lead to them, at most ``count`` each."""
        first, degree = self._first[nodes], np.diff(self._first)[nodes]
        owner = np.repeat(np.arange(len(nodes)), degree)
        within = np.arange(len(owner)) - np.repeat(np.cumsum(degree) - degree, degree)
        edges = first[owner] + within
        if count == ALL:
            return owner, edges
        shuffled = np.lexsort((self._draw.random(len(owner)), owner))[within < count]
        return owner[shuffled], edges[shuffled]
