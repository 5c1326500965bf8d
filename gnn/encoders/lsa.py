"""Latent semantic analysis as a query encoder in NumPy: TF-IDF weights and a projection, no library to fit it.

Fitting is in `gnn.lsa_fitting`; what is fitted there is served here, from arrays.
"""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from search.arrays import Matrix, unit
from search.text.analysis import query_tokens


@dataclass(frozen=True, eq=False)
class Lsa:
    """Sublinear TF-IDF, projected to d dimensions, centred on the articles' mean, unit length.

    Attributes:
        column: column of each word, v words.
        idf: float32[v].
        projection: float32[v, d].
        mean: float32[d], mean of the articles before centring.
        languages: languages that a query is analysed in.
    """

    column: dict[str, int]
    idf: npt.NDArray[np.float32]
    projection: Matrix
    mean: npt.NDArray[np.float32]
    languages: tuple[str, ...]

    @property
    def dimensions(self) -> int:
        """d."""
        return self.projection.shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """float32[texts, d]: embeddings of queries; zero for one without a known word."""
        return np.stack([self.encode_words(query_tokens(text, self.languages)) for text in texts])

    def encode_words(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """float32[d]: the embedding of one analysed text."""
        counts = Counter(self.column[word] for word in words if word in self.column)
        if not counts:
            return np.zeros(self.dimensions, np.float32)
        columns = np.fromiter(counts.keys(), np.intp, len(counts))
        weights = 1 + np.log(np.fromiter(counts.values(), np.float32, len(counts)))
        weights *= self.idf[columns]
        weights /= np.linalg.norm(weights)
        projected = weights @ self.projection[columns]
        return unit(unit(projected) - self.mean)

    def save(self, folder: Path) -> None:
        """Write the encoder into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        words = sorted(self.column, key=self.column.__getitem__)
        (folder / "lsa.json").write_text(json.dumps({"words": words, "languages": self.languages}, ensure_ascii=False), "utf-8")
        for name in ("idf", "projection", "mean"):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> "Lsa":
        """Open a saved encoder; the projection stays memory-mapped."""
        names = json.loads((folder / "lsa.json").read_text("utf-8"))
        return cls(
            {word: column for column, word in enumerate(names["words"])},
            np.load(folder / "idf.npy"),
            np.asarray(np.load(folder / "projection.npy", mmap_mode="r")),
            np.load(folder / "mean.npy"),
            tuple(names["languages"]),
        )
