"""Latent semantic analysis: TF-IDF over words and a truncated SVD, fitted with scikit-learn, served with NumPy alone."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gnn.options import EncoderOptions
from schema.errors import BadSetting
from search.arrays import Matrix, embedded_apart, unit
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
        """Return d."""
        return self.projection.shape[1]

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of queries; zero for one that has no word of the vocabulary."""
        return np.stack([self.encode_words(query_tokens(text, self.languages)) for text in texts])

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it, which have no order of words to read."""
        return embedded_apart(self.encode, text, parts)

    def encode_words(self, words: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return float32[d]: the embedding of one analysed text."""
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
        """Open what `save` wrote; the projection stays memory-mapped."""
        names = json.loads((folder / "lsa.json").read_text("utf-8"))
        return cls(
            {word: column for column, word in enumerate(names["words"])},
            np.load(folder / "idf.npy"),
            np.asarray(np.load(folder / "projection.npy", mmap_mode="r")),
            np.load(folder / "mean.npy"),
            tuple(names["languages"]),
        )


def fit_lsa(documents: Sequence[list[str]], languages: tuple[str, ...], options: EncoderOptions) -> tuple[Lsa, Matrix]:
    """Fit the encoder to analysed articles; return it and their embeddings, float32[n, d].

    d is the recipe's, or less where the articles have fewer words.

    Raises:
        BadSetting: there are not two articles, or not two words.
    """
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    vectorizer = TfidfVectorizer(
        analyzer=_as_it_is,  # pyright: ignore[reportArgumentType]  # a callable is documented
        sublinear_tf=True,
        min_df=options.min_df if len(documents) > 1000 else 1,
        max_df=options.max_df if len(documents) > 1000 else 1.0,
        dtype=np.float32,  # pyright: ignore[reportArgumentType]  # any float type is documented
    )
    weights = sparse.csr_matrix(vectorizer.fit_transform(documents))
    found, words = cast(tuple[int, int], weights.shape)
    if min(found, words) < 2:
        raise BadSetting(
            f"encoder 'lsa' needs two articles and two words to tell them apart: the law has {found:,} and {words:,}"
        )
    dimensions = min(options.dimensions, found - 1, words - 1)
    svd = TruncatedSVD(dimensions, n_iter=options.svd_iterations, random_state=0)
    articles = unit(svd.fit_transform(weights).astype(np.float32))
    mean = articles.mean(0)
    lsa = Lsa(
        {word: int(column) for word, column in vectorizer.vocabulary_.items()},
        vectorizer.idf_.astype(np.float32),
        np.ascontiguousarray(np.asarray(svd.components_).T, np.float32),
        mean,
        languages,
    )
    return lsa, unit(articles - mean)


def _as_it_is(words: list[str]) -> list[str]:
    return words
