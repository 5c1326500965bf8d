"""BM25 over articles and over whole sections, by ``bm25s``; saved deterministically and read memory-mapped."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bm25s
import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.arrays import Scores
from search.text.counts import count_words, numbered

Lengths = npt.NDArray[np.int64]

_EXACT_LENGTHS = 24
"""Lengths below this have a byte of their own (``SmallFloat.NUM_FREE_VALUES``)."""
_SIGNIFICANT_BITS = 4


def kept_length(lengths: Lengths) -> Lengths:
    """Return int64[n]: lengths of documents as Lucene remembers them, in one byte each (``SmallFloat.intToByte4``).

    >>> kept_length(np.array([0, 23, 39, 41, 300])).tolist()
    [0, 23, 39, 40, 280]
    """
    above = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # frexp gives the number of bits: exact, as lengths are far below 2 ** 53.
    dropped = np.maximum(np.frexp(above.astype(np.float64))[1] - _SIGNIFICANT_BITS, 0)
    return np.where(lengths < _EXACT_LENGTHS, lengths, _EXACT_LENGTHS + ((above >> dropped) << dropped))


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts over the documents of an index, by which those of another can be scored alike.

    Attributes:
        documents: number of those that have a word.
        mean: words of one.
        frequency: number of documents that each word stands in.
    """

    documents: int
    mean: float
    frequency: Mapping[str, int]

    @classmethod
    def of(cls, documents: Iterable[Sequence[str]]) -> "Statistics":
        """Count."""
        frequency: Counter[str] = Counter()
        counted = words = 0
        for document in documents:
            frequency.update(set(document))
            counted += bool(document)
            words += len(document)
        return cls(counted, words / max(counted, 1), frequency)


class _LuceneBM25(bm25s.BM25):
    """``bm25s`` with the scores that Lucene gives, so that a list does not depend on which index made it.

    Lucene rounds the length of each document, but not their mean, and counts only documents that have a word.

    Attributes:
        like: Statistics of other documents to score by, and the words in the order of their numbers.
    """

    like: tuple[Statistics, Sequence[str]] | None = None

    def build_index_from_ids(
        self,
        unique_token_ids: Sequence[int],
        corpus_token_ids: Sequence[Sequence[int]],
        show_progress: bool = True,
        leave_progress: bool = False,
    ) -> dict[str, Any]:
        """Return the matrix of scores, by words (the way that ``bm25s`` has for other weights)."""
        self.nonoccurrence_array = None  # no weight of Lucene's has one
        lengths = np.array([len(ids) for ids in corpus_token_ids], np.int64)
        counts = count_words(corpus_token_ids, len(unique_token_ids))
        held = np.diff(counts.indptr)
        documents, frequency = int((lengths > 0).sum()), held
        mean = lengths.sum() / max(documents, 1)
        if self.like is not None:
            others, words = self.like
            documents, mean = others.documents, others.mean
            frequency = np.array([others.frequency.get(word, 0) for word in words], np.int64)
        idf = np.log1p((documents - frequency + 0.5) / (frequency + 0.5))
        norm = self.k1 * (1 - self.b + self.b * kept_length(lengths) / max(mean, 1e-9))
        data: Scores = counts.data.astype(np.float32)
        data /= data + norm.astype(np.float32)[counts.indices]
        data *= np.repeat(idf.astype(np.float32), held)
        indices, indptr = counts.indices.astype(np.int32), counts.indptr.astype(np.int64)
        return {"data": data, "indices": indices, "indptr": indptr, "num_docs": len(lengths)}


class Bm25Index:
    """Scores of all documents for the words of a query (Robertson's BM25 as Lucene computes it)."""

    def __init__(self, index: bm25s.BM25, documents: int) -> None:
        self._index = index
        self.documents = documents

    @classmethod
    def build(cls, documents: Iterable[Sequence[str]], *, k1: float, b: float, like: Statistics | None = None) -> "Bm25Index":
        """Build an index of tokenised documents; the same documents give the same bytes, in whatever process.

        Args:
            documents: words of each.
            k1: saturation of counts.
            b: weight of lengths.
            like: statistics of the documents that these are ranked among, where they are others.
        """
        ids, seen = numbered(documents)
        index = _LuceneBM25(k1=k1, b=b)
        # A last, unused word keeps the index well-formed when every document is empty.
        vocabulary = seen | {"": len(seen)}
        if like is not None:
            index.like = (like, list(vocabulary))
        index.index((ids, vocabulary), create_empty_token=False, show_progress=False)
        return cls(index, len(ids))

    def scores(self, tokens: Sequence[str]) -> Scores:
        """Return float32[documents]: scores for the words of a query; zeros where it has none of the index."""
        vocabulary = self._index.vocab_dict
        ids = [vocabulary[token] for token in tokens if token in vocabulary]
        if not ids:
            return np.zeros(self.documents, np.float32)
        return self._index.get_scores_from_ids(ids)

    @property
    def words(self) -> Mapping[str, int]:
        """The words of the index, with their numbers."""
        return self._index.vocab_dict

    def rows(self, words: Sequence[str]) -> sparse.csr_array:
        """Return float32[words, documents]: what each word adds to the score of each document; nothing for one it lacks."""
        numbers = [self.words.get(word, self.words[""]) for word in words]
        data, indices, indptr = self._scores()
        return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, self.documents))[numbers]

    def weighted(self, weights: Mapping[str, float]) -> "Bm25Index":
        """Return an index whose words have other weights, as factors; a word without one keeps that it has."""
        data, _, indptr = self._scores()
        factors = np.ones(len(indptr) - 1, np.float32)
        for word, weight in weights.items():
            if word in self.words:
                factors[self.words[word]] = weight
        other = copy(self._index)
        other.scores = {**self._index.scores, "data": data * np.repeat(factors, np.diff(indptr))}
        return Bm25Index(other, self.documents)

    def _scores(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        """Return what each word adds to documents, these, and where those of each word begin."""
        data, indices, indptr = (np.asarray(self._index.scores[name]) for name in ("data", "indices", "indptr"))
        return data, indices, indptr

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
