"""The trained document tower in NumPy, for articles that came after the training: no torch where law is indexed.

The same function as `gnn.model.two_towers.DocumentTower` in evaluation: a low-rank map over the features and the section mean,
and layers over the subgraph (`gnn.model.graph_layers_numpy`). They are inductive: they need the features of a new node and of its
neighbours, and no parameter of its own.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.model.graph_layers_numpy import layer_output
from search.arrays import Matrix, unit

FOLDER = "document"


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
            out = (out + self._of_graph(unit(base), edges, kinds)).astype(np.float32)
        return unit(out)

    def _of_graph(self, x: Matrix, edges: npt.NDArray[np.int64], kinds: npt.NDArray[np.int64]) -> Matrix:
        p = self.parameters
        h = _gelu(x @ p["attention.enter.weight"].T + p["attention.enter.bias"])
        layer = 0
        while own := self._below(f"attention.layers.{layer}."):
            h = _gelu(layer_output(own, h, edges, kinds, self.heads))
            layer += 1
        return h @ p["attention.leave.weight"].T

    def _below(self, prefix: str) -> dict[str, Matrix]:
        return {name.removeprefix(prefix): value for name, value in self.parameters.items() if name.startswith(prefix)}

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
