"""The subgraph that a graph encoder works on: sections and articles, with typed edges both ways."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch_geometric.data import Data

from search.corpus import Corpus

EDGE_KINDS = ("contains", "contained", "cites", "cited")
"""Kinds of edge, in the order of the one-hot attribute; each second is the first turned round."""


@dataclass(frozen=True, eq=False)
class Subgraph:
    """Nodes are the n articles, then the m sections, of a corpus.

    Attributes:
        edges: int64[2, e], (from, to).
        kinds: int64[e], places in `EDGE_KINDS`.
    """

    articles: int
    sections: int
    edges: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]

    def data(self, features: torch.Tensor) -> Data:
        """The subgraph for PyTorch Geometric: x float32[n + m, d], edge_index int64[2, e], edge_attr float32[e, 4]."""
        one_hot = torch.nn.functional.one_hot(torch.from_numpy(self.kinds), len(EDGE_KINDS)).float()
        return Data(x=features, edge_index=torch.from_numpy(self.edges), edge_attr=one_hot)


def export_subgraph(corpus: Corpus, kinds: tuple[str, ...]) -> Subgraph:
    """The subgraph of a corpus with the kinds of edge named (``contains``, ``cites``), each both ways."""
    n, m = len(corpus.articles), len(corpus.sections)
    edges: list[npt.NDArray[np.int64]] = []
    numbers: list[npt.NDArray[np.int64]] = []

    def add(kind: str, tail: npt.NDArray[np.int64], head: npt.NDArray[np.int64]) -> None:
        forward = EDGE_KINDS.index(kind)
        edges.extend((np.stack([tail, head]), np.stack([head, tail])))
        numbers.extend((np.full(len(tail), forward), np.full(len(tail), forward + 1)))

    if "contains" in kinds:
        for parents, offset in ((corpus.article_parent, 0), (corpus.section_parent, n)):
            children = np.flatnonzero(parents >= 0)
            add("contains", n + parents[children].astype(np.int64), offset + children)
    if "cites" in kinds:
        cites = corpus.cites[corpus.cites[:, 0] != corpus.cites[:, 1]].astype(np.int64)
        add("cites", cites[:, 0], cites[:, 1])
    return Subgraph(n, m, np.concatenate(edges, 1), np.concatenate(numbers))
