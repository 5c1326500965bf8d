"""The layers of `gnn.model.graph_layers` in NumPy, each from the parameters that PyTorch Geometric gives it."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.arrays import Matrix

_SLOPE = np.float32(0.2)
Ints = npt.NDArray[np.int64]


def layer_output(p: Mapping[str, Matrix], h: Matrix, edges: Ints, kinds: Ints, heads: int) -> Matrix:
    """Return float32[nodes, width]: what one layer makes of its nodes.

    Args:
        p: parameters of the layer by name, which tell its kind.
        h: float32[nodes, width]; edges: int64[2, e], (from, to); kinds: int64[e].
        heads: of attention.
    """
    if "att" in p:
        out = _gatv2(p, h, edges, kinds, heads) + p["bias"]
    elif "att_src" in p:
        out = _gat(p, h, edges, kinds, heads) + p["bias"]
    elif "conv.lin.weight" in p:
        out = _gcn(p, h, edges)
    elif "conv.lin_l.weight" in p:
        out = (
            _heard(edges, len(h), mean=True) @ h @ p["conv.lin_l.weight"].T + p["conv.lin_l.bias"] + h @ p["conv.lin_r.weight"].T
        )
    else:
        heard = _heard(edges, len(h), mean=False) @ h
        out = heard @ p["conv.lin_rel.weight"].T + p["conv.lin_rel.bias"] + h @ p["conv.lin_root.weight"].T
    return np.asarray(out + h @ p["res.weight"].T if "res.weight" in p else out, np.float32)


def _gatv2(p: Mapping[str, Matrix], h: Matrix, edges: Ints, kinds: Ints, heads: int) -> Matrix:
    """Brody et al., "How Attentive are Graph Attention Networks?", ICLR 2022, eq. 7."""
    tail, head = edges
    left = h @ p["lin_l.weight"].T + p["lin_l.bias"]
    right = h @ p["lin_r.weight"].T + p["lin_r.bias"]
    inner = _leaky(np.asarray(right[head] + left[tail] + p["lin_edge.weight"].T[kinds], np.float32))
    logits = np.einsum("ehw,hw->eh", inner.reshape(len(inner), heads, -1), p["att"][0])
    return _attended(left, logits, edges)


def _gat(p: Mapping[str, Matrix], h: Matrix, edges: Ints, kinds: Ints, heads: int) -> Matrix:
    """Veličković et al., "Graph Attention Networks", ICLR 2018, eq. 3, with the kind of the edge."""
    tail, head = edges
    values = h @ p["lin.weight"].T

    def said(rows: Matrix, by: str) -> Matrix:
        return np.einsum("nhw,hw->nh", rows.reshape(len(rows), heads, -1), p[by][0])

    of_kind = said(p["lin_edge.weight"].T, "att_edge")
    logits = _leaky(np.asarray(said(values, "att_src")[tail] + said(values, "att_dst")[head] + of_kind[kinds], np.float32))
    return _attended(values, logits, edges)


def _gcn(p: Mapping[str, Matrix], h: Matrix, edges: Ints) -> Matrix:
    """Kipf and Welling, "Semi-Supervised Classification with Graph Convolutional Networks", ICLR 2017, eq. 2."""
    nodes = len(h)
    own, others = np.arange(nodes), edges[:, edges[0] != edges[1]]  # each node hears itself once
    tail, head = (np.concatenate([ends, own]) for ends in others)
    scale = 1 / np.sqrt(np.bincount(head, minlength=nodes).astype(np.float32))
    heard = sparse.csr_array((scale[tail] * scale[head], (head, tail)), shape=(nodes, nodes))
    return heard @ (h @ p["conv.lin.weight"].T) + p["conv.bias"]


def _heard(edges: Ints, nodes: int, *, mean: bool) -> sparse.csr_array:
    """Return float32[nodes, nodes]: the sum, or the mean, of those whom each node hears."""
    tail, head = edges
    counts = np.bincount(head, minlength=nodes).astype(np.float32)
    share = (1 / counts[head]).astype(np.float32) if mean else np.ones(len(head), np.float32)
    return sparse.csr_array((share, (head, tail)), shape=(nodes, nodes))


def _attended(values: Matrix, logits: Matrix, edges: Ints) -> Matrix:
    """Return float32[nodes, width]: of each head, the values of those whom a node hears, by a softmax over their logits."""
    nodes, (tail, head) = len(values), edges
    width = values.shape[1] // logits.shape[1]
    out = np.empty_like(values)
    for number, said in enumerate(logits.T):
        part = slice(number * width, (number + 1) * width)
        highest = np.full(nodes, -np.inf, np.float32)
        np.maximum.at(highest, head, said)
        weight = np.exp(said - highest[head])
        total = np.bincount(head, weight, nodes).astype(np.float32)
        share = sparse.csr_array((weight / (total[head] + np.float32(1e-16)), (head, tail)), shape=(nodes, nodes))
        out[:, part] = share @ values[:, part]
    return out


def _leaky(x: Matrix) -> Matrix:
    return np.where(x > 0, x, _SLOPE * x)
