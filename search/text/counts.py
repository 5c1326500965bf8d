"""Counts of words in documents, by word: what scores are made from when it is known which documents belong together."""

import json
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.arrays import Scores
from search.corpus.corpus import Ints

_CHUNK = 4096
"""Documents that are counted at once: their words take memory until they are counted."""
_PARTS = ("data", "indices", "indptr")


def numbered(documents: Iterable[Sequence[str]]) -> tuple[list[Sequence[int]], dict[str, int]]:
    """Return documents as numbers of words, and these numbers: in the order in which words come first."""
    seen: dict[str, int] = {}
    return [array("i", (seen.setdefault(token, len(seen)) for token in document)) for document in documents], seen


def count_words(documents: Sequence[Sequence[int]], words: int) -> sparse.csc_array:
    """Return int32[documents, words], how often each word stands in each document."""
    chunks = [_counts(documents[i : i + _CHUNK], words) for i in range(0, len(documents), _CHUNK)]
    counts = sparse.csc_array(sparse.vstack(chunks, format="csc"))
    counts.sort_indices()
    return counts


def _counts(documents: Sequence[Sequence[int]], words: int) -> sparse.csr_array:
    lengths = [len(ids) for ids in documents]
    columns = np.fromiter((id for ids in documents for id in ids), np.int32, sum(lengths))
    ends = np.concatenate([[0], np.cumsum(lengths)])
    counts = sparse.csr_array((np.ones(len(columns), np.int32), columns, ends), shape=(len(documents), words))
    counts.sum_duplicates()
    return counts


@dataclass(frozen=True, eq=False)
class Counts:
    """Counts of words in d documents.

    Attributes:
        column: number of each of w words.
        lengths: int32[d], words of each document.
        data, indices, indptr: the counts, float32, and their documents, by word: ``indptr[w]`` begins a word's.
    """

    column: dict[str, int]
    lengths: Ints
    data: Scores
    indices: Ints
    indptr: npt.NDArray[np.int64]

    @classmethod
    def of(cls, documents: Iterable[Sequence[str]]) -> "Counts":
        """Count the words of documents."""
        ids, column = numbered(documents)
        counts = count_words(ids, max(len(column), 1))
        lengths = np.array([len(document) for document in ids], np.int32)
        return cls(
            column, lengths, counts.data.astype(np.float32), counts.indices.astype(np.int32), counts.indptr.astype(np.int64)
        )

    def of_word(self, word: str) -> tuple[Ints, Scores]:
        """Return int32[k], the documents that have a word, and float32[k], how often."""
        number = self.column.get(word)
        held = slice(0, 0) if number is None else slice(self.indptr[number], self.indptr[number + 1])
        return self.indices[held], self.data[held]

    def save(self, folder: Path) -> None:
        """Write the counts into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "words.json").write_text(json.dumps(list(self.column), ensure_ascii=False), encoding="utf-8")
        for name in ("lengths", *_PARTS):
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> "Counts":
        """Open saved counts, memory-mapped."""
        words = json.loads((folder / "words.json").read_text(encoding="utf-8"))
        arrays = (np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r")) for name in ("lengths", *_PARTS))
        return cls({word: number for number, word in enumerate(words)}, *arrays)
