"""Make a graph ready for 8 bits, of which channels that stand out would take what the others need.

Weights in 8 bits have a scale for each output, but states one for all: beside a channel that is a hundred times another one, as
there are in transformers, that one is left two or three of the 256 steps. Two ways out change nothing but what rounding loses:

- Xiao et al., "SmoothQuant", ICML 2023, section 4, divide each channel by a factor of its own, and multiply its weights by it.
- Dettmers et al., "LLM.int8()", NeurIPS 2022, section 3, multiply the few channels that stand out in float, beside the others.

The second loses least where one channel stands out thirtyfold or fiftyfold: in a feed-forward layer, between its two products.
Elsewhere the first does, which takes less time.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

_STRENGTH = 0.65
"""Share of what a channel stands out by that goes over into its weights: from 0.5 to 0.85 as much is lost."""
_APART = 32
"""Channels of a feed-forward layer that are multiplied in float: with 8 or 64 as much is lost."""
_LEAST = 1e-5
"""Below it a channel, or a weight, is as good as zero."""
_Array = npt.NDArray[np.float32]
_Inputs = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class _Product:
    """States that a graph multiplies by weights.

    Attributes:
        states: name of them; nodes: all that multiply them.
        weights: float32[channels, outputs] of each node.
    """

    states: str
    nodes: Sequence[onnx.NodeProto]
    weights: Sequence[_Array]

    @property
    def within_feed_forward(self) -> bool:
        """The states are wider than what is made of them."""
        return self.weights[0].shape[0] > self.weights[0].shape[1]


def smooth(model: onnx.ModelProto, examples: Iterable[_Inputs]) -> list[str]:
    """Treat the channels that stand out of all states that a graph multiplies by weights, in place.

    Args:
        model: a graph in float32; products of other numbers stay as they are.
        examples: inputs, by name, as it will have: what stands out is seen there.

    Returns:
        names of the nodes that are to stay in float.
    """
    products = _products(model.graph)
    largest = _largest(model, [product.states for product in products], examples)
    in_float: list[str] = []
    for product, channels in zip(products, largest, strict=True):
        if product.within_feed_forward:
            in_float += _multiply_apart(model.graph, product, np.sort(np.argsort(-channels)[:_APART]))
        else:
            factors = _factors(channels, np.max([np.abs(weights).max(axis=1) for weights in product.weights], axis=0))
            _rescale(model.graph, product, np.reciprocal(factors), factors)
    _drop_unread(model.graph)
    return in_float


def _products(graph: onnx.GraphProto) -> list[_Product]:
    weights = {tensor.name: tensor for tensor in graph.initializer if len(tensor.dims) == 2}
    nodes_of: dict[str, list[onnx.NodeProto]] = {}
    for node in graph.node:
        if node.op_type == "MatMul" and node.input[1] in weights:
            nodes_of.setdefault(node.input[0], []).append(node)
    return [
        _Product(states, nodes, [numpy_helper.to_array(weights[node.input[1]]) for node in nodes])
        for states, nodes in nodes_of.items()
    ]


def _largest(model: onnx.ModelProto, names: Sequence[str], examples: Iterable[_Inputs]) -> list[_Array]:
    """Return float32[channels] for each of the named states: the largest that a channel has in the examples, without its sign."""
    import onnxruntime

    if not names:
        return []
    watched = onnx.ModelProto()
    watched.CopyFrom(model)
    del watched.graph.output[:]
    watched.graph.output.extend(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in names)
    session: Any = onnxruntime.InferenceSession(watched.SerializeToString(), providers=["CPUExecutionProvider"])
    largest: list[_Array] = []
    for inputs in examples:
        own = [np.abs(states).reshape(-1, states.shape[-1]).max(axis=0) for states in session.run(list(names), dict(inputs))]
        largest = [np.maximum(*pair) for pair in zip(largest, own, strict=True)] if largest else own
    return largest


def _factors(channels: _Array, weights: _Array) -> _Array:
    """Return float32[channels], SmoothQuant's equation 4, of the largest of each channel and of its weights."""
    factors = np.maximum(channels, _LEAST) ** _STRENGTH / np.maximum(weights, _LEAST) ** (1 - _STRENGTH)
    return factors.astype(np.float32)


def _rescale(graph: onnx.GraphProto, product: _Product, of_states: _Array, of_weights: _Array) -> None:
    """Multiply states channel by channel, once for all that read them, and their weights."""
    states, scaled, scale = product.states, f"{product.states}/scaled", f"{product.states}/scale"
    graph.initializer.append(numpy_helper.from_array(of_states, scale))
    graph.node.insert(_place(graph, product.nodes[0]), helper.make_node("Mul", [states, scale], [scaled], name=scaled))
    for node, weights in zip(product.nodes, product.weights, strict=True):
        node.input[0], node.input[1] = scaled, f"{node.output[0]}/weights"
        graph.initializer.append(numpy_helper.from_array(weights * of_weights[:, None], node.input[1]))


def _multiply_apart(graph: onnx.GraphProto, product: _Product, channels: npt.NDArray[np.int64]) -> list[str]:
    """Multiply some channels by themselves, and the others, these being zero, as before; return names of what is in float."""
    others = np.ones(len(product.weights[0]), np.float32)
    others[channels] = 0
    _rescale(graph, product, others, others)
    apart, which = f"{product.states}/apart", f"{product.states}/which"
    graph.initializer.append(numpy_helper.from_array(channels, which))
    gather = helper.make_node("Gather", [product.states, which], [apart], name=apart, axis=-1)
    graph.node.insert(_place(graph, product.nodes[0]), gather)
    in_float: list[str] = []
    for node, weights in zip(product.nodes, product.weights, strict=True):
        whole = node.output[0]
        node.output[0], own, kept = f"{whole}/others", f"{whole}/apart", f"{whole}/apart/weights"
        graph.initializer.append(numpy_helper.from_array(weights[channels], kept))
        after = _place(graph, node) + 1
        graph.node.insert(after, helper.make_node("Add", [node.output[0], own], [whole], name=f"{whole}/sum"))
        graph.node.insert(after, helper.make_node("MatMul", [apart, kept], [own], name=own))
        in_float.append(own)
    return in_float


def _place(graph: onnx.GraphProto, node: onnx.NodeProto) -> int:
    return next(place for place, one in enumerate(graph.node) if one.output[0] == node.output[0])


def _drop_unread(graph: onnx.GraphProto) -> None:
    read = {name for node in graph.node for name in node.input}
    kept = [tensor for tensor in graph.initializer if tensor.name in read]
    del graph.initializer[:]
    graph.initializer.extend(kept)
