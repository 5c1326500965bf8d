"""The trained document tower in NumPy, for articles that came after the training: no torch where law is indexed.

The same function as `gnn.model.two_towers.DocumentTower` in evaluation: a low-rank map over the features and the section mean,
and GATv2 layers over the subgraph (Brody et al., "How Attentive are Graph Attention Networks?", ICLR 2022, eq. 7).
Attention is inductive: it needs the features of a new node and of its neighbours, and no parameter of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.arrays import Matrix, unit

FOLDER = "document"
_SLOPE = 0.2


@dataclass(frozen=True, eq=False)
class DocumentWeights:
    """Parameters by name, as `gnn.model.two_towers.DocumentTower` names them, and the number of attention heads."""

    parameters: Mapping[str, Matrix]
    heads: int

    def __call__(self, x: Matrix, s: Matrix, edges: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64]) -> Matrix:
        """Return float32[nodes, d], unit length.

        Args:
            x: float32[nodes, d], features; s: float32[nodes, d], means of parent sections.
            edges: int64[2, e], (from, to); kinds: int64[e], places in `EDGE_KINDS`.
        """
        p = self.parameters
        base: Matrix = (x + p["share"] * s).astype(np.float32) if "share" in p else x
        out: Matrix = np.asarray(base + (base @ p["down.weight"].T) @ p["up.weight"].T, np.float32)
        if "attention.enter.weight" in p:
            out = (out + self._attention(unit(base), edges, kinds)).astype(np.float32)
        return unit(out)

    def _attention(self, x: Matrix, edges: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64]) -> Matrix:
        p = self.parameters
        h = _gelu(x @ p["attention.enter.weight"].T + p["attention.enter.bias"])
        layer = 0
        while f"attention.layers.{layer}.att" in p:
            h = _gelu(self._layer(f"attention.layers.{layer}.", h, edges, kinds))
            layer += 1
        return h @ p["attention.leave.weight"].T

    def _layer(self, name: str, h: Matrix, edges: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64]) -> Matrix:
        p = self.parameters
        nodes, (tail, head) = len(h), edges
        left = h @ p[name + "lin_l.weight"].T + p[name + "lin_l.bias"]
        right = h @ p[name + "lin_r.weight"].T + p[name + "lin_r.bias"]
        inner = right[head] + left[tail] + p[name + "lin_edge.weight"].T[kinds]
        inner = np.where(inner > 0, inner, np.float32(_SLOPE) * inner)
        width = left.shape[1] // self.heads
        out = np.empty_like(left)
        for number in range(self.heads):
            part = slice(number * width, (number + 1) * width)
            logits = inner[:, part] @ p[name + "att"].reshape(self.heads, width)[number]
            highest = np.full(nodes, -np.inf, np.float32)
            np.maximum.at(highest, head, logits)
            weight = np.exp(logits - highest[head])
            total = np.bincount(head, weight, nodes).astype(np.float32)
            share = sparse.csr_array((weight / (total[head] + np.float32(1e-16)), (head, tail)), shape=(nodes, nodes))
            out[:, part] = share @ left[:, part]
        return np.asarray(out + h @ p[name + "res.weight"].T + p[name + "bias"], np.float32)

    def save(self, folder: Path) -> None:
        """Write every parameter into a folder, the same bytes for the same weights."""
        (folder / FOLDER).mkdir()
        for name, value in self.parameters.items():
            np.save(folder / FOLDER / f"{name}.npy", value)

    @classmethod
    def load(cls, folder: Path, heads: int) -> "DocumentWeights":
        """Open what `save` wrote."""
        files = (folder / FOLDER).glob("*.npy")
        return cls({path.name.removesuffix(".npy"): np.load(path) for path in files}, heads)


def _gelu(x: Matrix) -> Matrix:
    from scipy.special import erf  # a tenth of a second, which a search has no use for

    return (0.5 * x * (1 + erf(x / np.sqrt(2)))).astype(np.float32)
