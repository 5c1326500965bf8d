"""Tests of `gnn.encoders.smoothing`: the same numbers from a graph, and less lost where its weights go into 8 bits."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import pytest
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.onnx import EMBEDDING, opened
from gnn.encoders.onnx_export import export_graph, export_text_graph
from gnn.encoders.smoothing import smooth

_WIDTH, _STANDS_OUT = 32, 3


class _Small(nn.Module):
    """Attention over few states, and a feed-forward layer; a channel stands out in each a hundredfold, as in transformers."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(4)
        self.states = nn.Embedding(50, _WIDTH)
        self.query, self.key, self.value = (nn.Linear(_WIDTH, _WIDTH) for _ in range(3))
        self.wide, self.narrow = nn.Linear(_WIDTH, 4 * _WIDTH), nn.Linear(4 * _WIDTH, _WIDTH)
        with torch.no_grad():
            self.states.weight[:, _STANDS_OUT] *= 100
            for layer in (self.query, self.key, self.value):
                layer.weight[:, _STANDS_OUT] /= 100
            self.wide.weight[_STANDS_OUT] *= 100

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states = self.states(input_ids) * attention_mask.unsqueeze(-1)
        shares = torch.softmax(self.query(states) @ self.key(states).transpose(1, 2), dim=-1)
        return self.narrow(functional.gelu(self.wide(shares @ self.value(states))))


def _inputs(ids: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.int64]]:
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


_EXAMPLES = [_inputs(np.arange(first, first + 5)[None]) for first in range(0, 45, 5)]
_READ = _inputs(np.array([[7, 12, 45, 3, 30], [1, 2, 3, 49, 5]]))


@pytest.fixture
def graph(tmp_path: Path) -> onnx.ModelProto:
    example = torch.ones(2, 5, dtype=torch.long)
    names = "input_ids", "attention_mask"
    axes = {name: {0: "batch", 1: "tokens"} for name in (*names, EMBEDDING)}
    export_graph(_Small().eval(), dict.fromkeys(names, example), axes, tmp_path / "float.onnx")
    return onnx.load(tmp_path / "float.onnx")


def given(graph: onnx.ModelProto, folder: Path, in_float: Sequence[str] | None = None) -> npt.NDArray[np.float32]:
    """Return what a graph makes of `_READ`; with its weights in 8 bits but for those of some nodes, where they are named."""
    file = folder / "given.onnx"
    if in_float is None:
        onnx.save(graph, file)
    else:
        quantize_dynamic(
            graph,
            file,
            weight_type=QuantType.QUInt8,
            per_channel=True,
            op_types_to_quantize=["MatMul"],
            nodes_to_exclude=[*in_float],
        )
    return np.asarray(opened(file, 1).run(None, _READ)[0])


def test_nothing_but_rounding_changes(graph: onnx.ModelProto, tmp_path: Path) -> None:
    exact, rounded = given(graph, tmp_path), given(graph, tmp_path, [])
    in_float = smooth(graph, _EXAMPLES)
    onnx.checker.check_model(graph)
    np.testing.assert_allclose(given(graph, tmp_path), exact, rtol=1e-3, atol=1e-3)
    lost = np.abs(rounded - exact).mean()
    assert lost > 4 * np.abs(given(graph, tmp_path, in_float) - exact).mean()


def test_states_that_three_weights_multiply_are_scaled_once(graph: onnx.ModelProto) -> None:
    of_states = {node.output[0] for node in graph.graph.node if "Transpose" in node.op_type or "Softmax" in node.op_type}
    smooth(graph, _EXAMPLES)
    matmuls = [node for node in graph.graph.node if node.op_type == "MatMul"]
    query, key, value = ([node for node in matmuls if f"/{name}/" in node.name] for name in ("query", "key", "value"))
    assert len({node.input[0] for node in (*query, *key, *value)}) == 1
    assert len(query) == len(key) == len(value) == 1
    products = [node for node in matmuls if of_states.intersection(node.input)]
    assert len(products) == 2, "states by states stay"
    assert not any(name.endswith("/scaled") for node in products for name in node.input)


def test_a_channel_of_a_feed_forward_layer_that_stands_out_is_multiplied_in_float(graph: onnx.ModelProto) -> None:
    before = sum(int(np.prod(tensor.dims)) for tensor in graph.graph.initializer)
    (in_float,) = smooth(graph, _EXAMPLES)
    (node,) = (node for node in graph.graph.node if node.name == in_float)
    arrays = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in graph.graph.initializer}
    (which,) = (array for name, array in arrays.items() if name.endswith("/which"))
    assert _STANDS_OUT in which
    assert arrays[node.input[1]].shape == (len(which), _WIDTH)
    (others,) = (array for array in arrays.values() if array.shape == (4 * _WIDTH, _WIDTH))
    assert not others[which].any()
    assert others.any(axis=1).sum() == 4 * _WIDTH - len(which)
    added = len(which) * (_WIDTH + 1) + (4 + 2) * _WIDTH
    assert sum(int(np.prod(tensor.dims)) for tensor in graph.graph.initializer) == before + added, "old weights go"


def test_a_channel_that_is_always_zero_stays_a_number(graph: onnx.ModelProto, tmp_path: Path) -> None:
    (states,) = (tensor for tensor in graph.graph.initializer if list(tensor.dims) == [50, _WIDTH])
    array = onnx.numpy_helper.to_array(states).copy()
    array[:, 5] = 0
    states.CopyFrom(onnx.numpy_helper.from_array(array, states.name))
    exact = given(graph, tmp_path)
    smooth(graph, _EXAMPLES)
    np.testing.assert_allclose(given(graph, tmp_path), exact, rtol=1e-3, atol=1e-3)


def test_a_graph_without_weights_to_multiply_stays(tmp_path: Path) -> None:
    plain = onnx.helper.make_graph(
        [onnx.helper.make_node("Identity", ["input_ids"], [EMBEDDING])],
        "plain",
        [onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, [None, None])],
        [onnx.helper.make_tensor_value_info(EMBEDDING, onnx.TensorProto.INT64, [None, None])],
    )
    model = onnx.helper.make_model(plain, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    before = model.SerializeToString()
    smooth(model, [{"input_ids": np.zeros((1, 1), np.int64)}])
    assert model.SerializeToString() == before


def test_weights_of_8_bits_have_no_sign(tmp_path: Path) -> None:
    """Else their products with states overflow on processors without VNNI."""
    export_text_graph(_Small().eval(), tmp_path / "model.onnx", [[1, 2, 3]])
    graph = onnx.load(tmp_path / "model.onnx").graph
    type_of = {tensor.name: tensor.data_type for tensor in graph.initializer}
    assert {type_of[node.input[1]] for node in graph.node if node.op_type == "MatMulInteger"} == {onnx.TensorProto.UINT8}
