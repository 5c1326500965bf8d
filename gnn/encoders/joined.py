"""The encoder of queries, as it is stored with a model and served: encoders side by side, then the query tower."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnn.encoders.lsa import Lsa
from gnn.encoders.muse import MuseEncoder
from gnn.encoders.onnx import OnnxEncoder
from gnn.encoders.static import StaticEncoder
from gnn.encoders.tuned import TunedEncoder
from runtime.background_call import in_background
from search.arrays import BeginIn, Matrix, unit


class QueryEncoder(Protocol):
    """Makes embeddings of queries."""

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]."""
        ...

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it."""
        ...

    @property
    def begin_in(self) -> BeginIn | None:
        """`encode_in`, begun beside the caller; None where it cannot be, or need not."""
        ...


Part = Lsa | StaticEncoder | MuseEncoder | OnnxEncoder | TunedEncoder
_KINDS: Mapping[type[Part], str] = {
    Lsa: "lsa",
    StaticEncoder: "static",
    MuseEncoder: "muse",
    OnnxEncoder: "onnx",
    TunedEncoder: "tuned",
}
_OPEN: Mapping[str, Callable[[Path, int], Part]] = {
    "lsa": lambda folder, threads: Lsa.load(folder),
    "static": lambda folder, threads: StaticEncoder.load(folder),
    "muse": lambda folder, threads: MuseEncoder.load(folder),
    "onnx": OnnxEncoder,
    "tuned": TunedEncoder,
}
"""What opens a stored encoder, by its kind."""
_TRANSFORMERS = (OnnxEncoder, TunedEncoder)
"""Encoders that work outside of the interpreter."""


@dataclass(frozen=True, eq=False)
class JoinedEncoder:
    """Encoders side by side, the whole at unit length.

    Attributes:
        weights: of the parts; empty: all the same.
    """

    parts: tuple[Part, ...]
    weights: tuple[float, ...] = ()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: the parts' embeddings joined; d is the sum of theirs."""
        return joined([part.encode(texts) for part in self.parts], self.weights)

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a text and of parts of it.

        Networks over words in their order read the parts where they stand in it ("late chunking", Günther et al., 2024).
        """
        return joined([_in(encoder, text, parts) for encoder in self.parts], self.weights)

    @property
    def begin_in(self) -> BeginIn | None:
        """`encode_in`, begun beside the caller, where a part is a transformer: NumPy would keep others from the interpreter."""
        return self._begin if any(isinstance(part, _TRANSFORMERS) for part in self.parts) else None

    def _begin(self, text: str, parts: Sequence[str]) -> Callable[[], Matrix]:
        """Begin to read by transformers; the others read when the result is called."""
        begun = {
            number: in_background("embedding", partial(_in, encoder, text, parts))
            for number, encoder in enumerate(self.parts)
            if isinstance(encoder, _TRANSFORMERS)
        }

        def embedded() -> Matrix:
            others = {n: _in(encoder, text, parts) for n, encoder in enumerate(self.parts) if n not in begun}
            return joined([begun[n]() if n in begun else others[n] for n in range(len(self.parts))], self.weights)

        return embedded

    @property
    def multilingual(self) -> MuseEncoder | None:
        """The part that gives a word and its translation nearly the same embedding, where there is one."""
        return next((part for part in self.parts if isinstance(part, MuseEncoder)), None)

    def save(self, folder: Path) -> None:
        """Write every part into a folder of its own."""
        folder.mkdir(parents=True, exist_ok=True)
        kinds = [_KINDS[type(part)] for part in self.parts]
        (folder / "encoder.json").write_text(json.dumps({"parts": kinds, "weights": self.weights}))
        for number, part in enumerate(self.parts):
            part.save(folder / str(number))

    @classmethod
    def load(cls, folder: Path, threads: int = 2) -> "JoinedEncoder":
        """Open what `save` wrote."""
        stored = json.loads((folder / "encoder.json").read_text())
        if isinstance(stored, list):  # of before there were weights
            stored = {"parts": stored, "weights": []}
        parts = (_OPEN[kind](folder / str(number), threads) for number, kind in enumerate(stored["parts"]))
        return cls(tuple(parts), tuple(stored["weights"]))


def _in(encoder: Part, text: str, parts: Sequence[str]) -> Matrix:
    """Return float32[1 + parts, d]: embeddings of a text and of parts of it by one encoder."""
    return encoder.encode_in(text, parts) if parts else encoder.encode([text])


def joined(parts: Sequence[Matrix], weights: Sequence[float] = ()) -> Matrix:
    """Return embeddings side by side, by their weights (none: all the same), scaled so that the whole has unit length."""
    if len(parts) == 1:
        return parts[0]
    if weights:
        parts = [part * np.float32(weight) for part, weight in zip(parts, weights, strict=True)]
    length = float(np.linalg.norm(weights)) if weights else np.sqrt(len(parts))
    return (np.concatenate(parts, axis=1) / length).astype(np.float32)


@dataclass(frozen=True, eq=False)
class TowerWeights:
    """The trained query tower: y + W₂ gelu(W₁ y + b₁) + b₂, at unit length; zero for a query that the encoder has no word of.

    Attributes:
        w1: float32[d, h], b1: float32[h], w2: float32[h, d], b2: float32[d].
    """

    w1: Matrix
    b1: npt.NDArray[np.float32]
    w2: Matrix
    b2: npt.NDArray[np.float32]

    def __call__(self, y: Matrix) -> Matrix:
        """Return float32[queries, d], as the tower in training gives (gelu by its tanh form)."""
        inner = y @ self.w1 + self.b1
        inner *= 0.5 * (1 + np.tanh(np.float32(0.7978845608) * (inner + np.float32(0.044715) * inner**3)))
        encoded = unit((y + inner @ self.w2 + self.b2).astype(np.float32))
        return np.where(y.any(axis=-1, keepdims=True), encoded, np.float32(0))
