"""Headings of sections as what a short query may say in full: "allocations familiales" is the heading of a chapter."""

import json
import re
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from search.arrays import Scores
from search.corpus.corpus import Corpus, CorpusText, Ints
from search.text.analysis import analyzer

PASSED_DOWN = 0.7
"""Share of a heading's score that the articles of a section inside its own have."""
_NUMBERED = re.compile(r"\s*[:\u2013]\s")


@dataclass(frozen=True, eq=False)
class Headings:
    """The words of m headings, without the numbers before their colons, weighted by how rare they are.

    Attributes:
        column: column of each of v words.
        idf: float32[v].
        weights: float32[v, m], the unit vectors of the headings by words.
        count: m.
    """

    column: dict[str, int]
    idf: npt.NDArray[np.float32]
    weights: sparse.csr_array
    count: int

    @classmethod
    def of(cls, corpus: Corpus, text: CorpusText) -> "Headings":
        """Return the headings of a law."""
        languages = _languages(corpus, text)
        words = [
            set(analyzer(language).tokens(_NUMBERED.split(heading, maxsplit=1)[-1]))
            for heading, language in zip(text.headings, languages, strict=True)
        ]
        counts = Counter(word for each in words for word in each)
        column = {word: i for i, word in enumerate(sorted(counts))}
        idf = np.log1p(len(words) / (1 + np.array([counts[word] for word in column], np.float32)))
        places = [(column[word], section) for section, each in enumerate(words) for word in sorted(each)]
        rows, columns = np.array(places, np.int64).reshape(-1, 2).T
        data = idf[rows]
        length = np.sqrt(np.bincount(columns, data**2, len(words)))
        data = data / np.maximum(length[columns], 1e-9)
        weights = sparse.csr_array((data.astype(np.float32), (rows, columns)), shape=(len(column), len(words)))
        return cls(column, idf.astype(np.float32), weights, len(words))

    def scores(self, tokens: Sequence[str]) -> Scores:
        """Return float32[m]: the cosine of the words of a query with each heading."""
        known = sorted({self.column[token] for token in tokens if token in self.column})
        if not known:
            return np.zeros(self.count, np.float32)
        # A word that no heading has is as rare as any: it keeps a long query from being called a short heading.
        unknown = len(set(tokens) - self.column.keys()) * float(np.log1p(self.count)) ** 2
        idf = self.idf[known]
        scores = np.zeros(self.count, np.float32)
        for word, rarity in zip(known, idf, strict=True):  # a few rows: a product of sparse matrices takes ten times as long
            row = slice(self.weights.indptr[word], self.weights.indptr[word + 1])
            scores[self.weights.indices[row]] += rarity * self.weights.data[row]
        scores /= np.float32(np.sqrt(float((idf**2).sum()) + unknown))
        return scores

    def rarity(self, words: Collection[str]) -> float:
        """Return the mean idf of the words of a query in the headings; a word that none has, and no word, is as rare as any."""
        rarest = float(np.log1p(self.count))
        idf = (float(self.idf[self.column[word]]) if word in self.column else rarest for word in words)
        return sum(idf) / len(words) if words else rarest

    def save(self, folder: Path) -> None:
        """Write the headings into a folder."""
        (folder / "heading-words.json").write_text(json.dumps(list(self.column), ensure_ascii=False), encoding="utf-8")
        np.save(folder / "heading-idf.npy", self.idf)
        for name in ("data", "indices", "indptr"):
            np.save(folder / f"heading-{name}.npy", getattr(self.weights, name))
        (folder / "headings").write_text(str(self.count))

    @classmethod
    def load(cls, folder: Path) -> "Headings":
        """Read what `save` wrote."""
        words = json.loads((folder / "heading-words.json").read_text(encoding="utf-8"))
        data, indices, indptr = (np.load(folder / f"heading-{name}.npy") for name in ("data", "indices", "indptr"))
        count = int((folder / "headings").read_text())
        weights = sparse.csr_array((data, indices, indptr), shape=(len(words), count))
        return cls({word: i for i, word in enumerate(words)}, np.load(folder / "heading-idf.npy"), weights, count)


class HeadingScores:
    """The scores of headings handed down to the articles of one corpus."""

    def __init__(self, corpus: Corpus, headings: Headings) -> None:
        self._corpus = corpus
        self._headings = headings

    @cached_property
    def _levels(self) -> list[npt.NDArray[np.intp]]:
        """The sections of each level, from the outermost inwards."""
        parents = self._corpus.section_parent
        levels: list[npt.NDArray[np.intp]] = []
        inside = np.flatnonzero(parents < 0)
        while len(inside):
            levels.append(inside)
            inside = np.flatnonzero((parents >= 0) & np.isin(parents, inside))
        return levels

    def __call__(self, tokens: Sequence[str], article_parent: Ints | None = None) -> Scores:
        """Return float32[n]: how well the words of a query are a heading above each article, from 0 to 1.

        Args:
            tokens: of the query.
            article_parent: int32[n], where the articles stood on another day.
        """
        scores = self._headings.scores(tokens)
        parents = self._corpus.section_parent
        for level in self._levels[1:]:
            scores[level] = np.maximum(scores[level], np.float32(PASSED_DOWN) * scores[parents[level]])
        above = self._corpus.article_parent if article_parent is None else article_parent
        if not len(scores):
            return np.zeros(len(above), np.float32)
        return np.where(above >= 0, scores[np.maximum(above, 0)], np.float32(0))


def _languages(corpus: Corpus, text: CorpusText) -> list[str]:
    languages: list[str] = []
    for parent in corpus.section_parent.tolist():  # parents come before their children
        languages.append(languages[parent] if parent >= 0 else text.languages[-1 - parent])
    return languages
