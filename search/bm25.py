"""BM25 over articles and over whole sections, by ``bm25s``; saved deterministically and read memory-mapped."""

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

import bm25s
import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float32]


class Bm25Index:
    """Scores of all documents for the words of a query (Robertson's BM25 with Lucene's idf, as in ``bm25s``)."""

    def __init__(self, index: bm25s.BM25, documents: int) -> None:
        self._index = index
        self.documents = documents

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]], *, k1: float, b: float) -> "Bm25Index":
        """An index of tokenised documents; the same documents give the same bytes, in whatever process."""
        seen: dict[str, int] = {}
        numbered = [array("i", (seen.setdefault(token, len(seen)) for token in document)) for document in documents]
        index = bm25s.BM25(k1=k1, b=b)
        # A last, unused word keeps the index well-formed when every document is empty.
        vocabulary = seen | {"": len(seen)}
        index.index((numbered, vocabulary), create_empty_token=False, show_progress=False)
        return cls(index, len(numbered))

    def scores(self, tokens: Sequence[str]) -> Scores:
        """float32[documents]: scores for the words of a query; zeros where it has none of the index."""
        vocabulary = self._index.vocab_dict
        ids = [vocabulary[token] for token in tokens if token in vocabulary]
        if not ids:
            return np.zeros(self.documents, np.float32)
        return self._index.get_scores_from_ids(ids)

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        self._index.save(str(folder), show_progress=False)
        (folder / "documents").write_text(str(self.documents))

    @classmethod
    def load(cls, folder: Path) -> "Bm25Index":
        """Open a saved index, memory-mapped."""
        index = bm25s.BM25.load(str(folder), mmap=True)
        # Still mapped, but as plain arrays: slicing a memmap for every word costs more than the sums do.
        index.scores.update({name: np.asarray(index.scores[name]) for name in ("data", "indices", "indptr")})
        return cls(index, int((folder / "documents").read_text()))
