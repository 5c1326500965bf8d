"""Word-piece vectors: a text is the weighted mean of the vectors of its pieces; served with NumPy alone.

The vectors are a transformer's own, distilled once (`gnn.encoders.distil`): each piece goes through it alone. The idea is that
of model2vec (Tulkens and van Dongen, "Model2Vec: Fast State-of-the-Art Static Embeddings", 2024). Words of several pieces may
have vectors beside those of their pieces: what a transformer makes of a whole word is more than the mean of its parts.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gnn.encoders.unigram import Unigram
from search.arrays import Matrix, embedded_apart, unit
from search.text.vocabulary import words_of

_AT_ONCE = 4096
"""Texts whose pieces are counted at once."""


class Units:
    """Splits texts into what has a vector: v pieces, and behind them w whole words.

    A word that is a unit counts beside its pieces.
    """

    def __init__(self, pieces: Unigram, words: Sequence[str] = ()) -> None:
        self.pieces = pieces
        self._place = {word: place for place, word in enumerate(words, len(pieces.pieces))}

    def __len__(self) -> int:
        return len(self.pieces.pieces) + len(self._place)

    def of_text(self, text: str) -> list[int]:
        """Return the places of the pieces of a text, in its order, then those of its words."""
        words = [self._place[word] for word in words_of([text]).elements() if word in self._place] if self._place else []
        return [*self.pieces.of_text(text), *words]

    def counts(self, texts: Sequence[str]) -> sparse.csr_array:
        """Return float32[texts, v + w]: how often each text has each unit."""
        rows = [self.of_text(text) for text in texts]
        ends = np.cumsum([0, *map(len, rows)])
        columns = np.concatenate([np.zeros(0, np.int32), *(np.array(row, np.int32) for row in rows)])
        shape = (len(rows), len(self))
        counts = sparse.csr_array((np.ones(len(columns), np.float32), columns, ends.astype(np.int32)), shape=shape)
        counts.sum_duplicates()
        return counts


@dataclass(frozen=True, eq=False)
class StaticEncoder:
    """Means of the units' vectors, weighted by (1 + log of the count) · idf, centred on the articles' mean, unit length.

    Attributes:
        pieces: splits a text into v pieces.
        vectors: float32[v + w, d]: of the pieces, then of the words.
        weights: float32[v + w], idf over the articles; that of units that most articles have is smaller still.
        mean: float32[d], mean of the articles before centring.
        words: w whole words, in lower case.
    """

    pieces: Unigram
    vectors: Matrix
    weights: npt.NDArray[np.float32]
    mean: npt.NDArray[np.float32]
    words: Sequence[str] = ()

    @cached_property
    def units(self) -> Units:
        """Pieces and words, which have the vectors."""
        return Units(self.pieces, self.words)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings; zero for a text of which no piece is in the vocabulary."""
        raw = weighted_means(self.units, self.vectors, self.weights, texts)
        return unit(np.where(raw.any(axis=1, keepdims=True), raw - self.mean, np.float32(0)))

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it, which have no order of words to read."""
        return embedded_apart(self.encode, text, parts)

    encode_passages = encode
    """An article is encoded as a query is."""

    def save(self, folder: Path) -> None:
        """Write the encoder into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        vocabulary = {"pieces": self.pieces.pieces, "scores": self.pieces.scores, "words": list(self.words)}
        (folder / "static.json").write_text(json.dumps(vocabulary, ensure_ascii=False), "utf-8")
        for name in ("vectors", "weights", "mean"):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> "StaticEncoder":
        """Open what `save` wrote; the vectors stay memory-mapped."""
        vocabulary = json.loads((folder / "static.json").read_text("utf-8"))
        return cls(
            Unigram(vocabulary["pieces"], vocabulary["scores"]),
            np.asarray(np.load(folder / "vectors.npy", mmap_mode="r")),
            np.load(folder / "weights.npy"),
            np.load(folder / "mean.npy"),
            vocabulary.get("words", ()),
        )


def weighted_means(units: Units, vectors: Matrix, weights: npt.NDArray[np.float32], texts: Sequence[str]) -> Matrix:
    """Return float32[texts, d]: the weighted mean of the vectors of the units of each text; zero where it has none."""
    blocks = (texts[start : start + _AT_ONCE] for start in range(0, len(texts), _AT_ONCE))
    return np.concatenate([means(weighted(units.counts(block), weights), vectors) for block in blocks])


def weighted(counts: sparse.csr_array, weights: npt.NDArray[np.float32]) -> sparse.csr_array:
    """Return float32[texts, v + w]: (1 + log of the count) · weight of each unit of each text, from the counts."""
    shares = ((1 + np.log(counts.data)) * weights[counts.indices]).astype(np.float32)
    return sparse.csr_array((shares, counts.indices, counts.indptr), shape=counts.shape)


def means(shares: sparse.csr_array, vectors: Matrix) -> Matrix:
    """Return float32[texts, d]: the mean of the vectors by the shares of the units of each text; zero where it has none."""
    total = np.asarray(shares.sum(axis=1)).reshape(-1, 1)
    return np.asarray(shares @ vectors / np.maximum(total, 1e-9), np.float32)
