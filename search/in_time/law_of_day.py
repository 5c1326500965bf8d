"""The law of a day as searches need it: the wordings in force, where they stood, and the words of whole sections."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from search.arrays import Scores
from search.corpus.corpus import Corpus, Ints
from search.in_time.chosen import Chosen
from search.ranking.tree_pooling import TreePooling
from search.text.bm25 import kept_length
from search.text.counts import Counts
from search.text.options import HEADING_WEIGHT, Bm25Options


@dataclass(frozen=True, eq=False)
class LawOfDay:
    """The law of a day, or of all days, over the positions of one corpus.

    Attributes:
        parents: int32[n], the node that each article stood in, as `Corpus.article_parent` has it.
        counts: words of the n articles, of the rows of `Corpus.versions`, and of the headings of every section and every act
            with those above it, in this order; without headings in the first two.
        options: k1 and b of the documents of sections.
    """

    corpus: Corpus
    chosen: Chosen
    parents: Ints
    counts: Counts
    options: Bm25Options

    @cached_property
    def group(self) -> npt.NDArray[np.intp]:
        """int[n]: the parent of each article as a number from 0: sections, then acts."""
        return np.where(self.parents >= 0, self.parents, len(self.corpus.sections) - 1 - self.parents).astype(np.intp)

    @cached_property
    def pooling(self) -> TreePooling:
        """Pooling over the tree of that day."""
        return TreePooling(self.corpus, self.group)

    @cached_property
    def _document_groups(self) -> npt.NDArray[np.intp]:
        """int[documents]: the group that each document of the counts is a part of; one too many for those of other days."""
        corpus, nowhere = self.corpus, self._groups - 1
        articles = np.where(self.chosen.own, self.group, nowhere)
        wordings = np.full(len(corpus.versions), nowhere, np.intp)
        wordings[self.chosen.rows] = self.group[self.chosen.articles]
        filled = np.zeros(nowhere + 1, bool)
        filled[articles] = filled[wordings] = True
        headings = np.where(filled[:-1], np.arange(nowhere), nowhere)
        return np.concatenate([articles, wordings, headings])

    @cached_property
    def _weights(self) -> Scores:
        """float32[documents]: how often each document stands in that of its section."""
        weights = np.ones(len(self._document_groups), np.float32)
        weights[-(self._groups - 1) :] = HEADING_WEIGHT
        return weights

    @cached_property
    def _lengths(self) -> npt.NDArray[np.int64]:
        """int64[groups]: words of each section; none in one that held nothing that day."""
        return np.bincount(self._document_groups, self.counts.lengths * self._weights, self._groups)[:-1].astype(np.int64)

    @cached_property
    def _filled(self) -> int:
        """Number of sections with words."""
        return int(np.count_nonzero(self._lengths))

    @cached_property
    def _norm(self) -> Scores:
        """float32[groups]: the part of BM25's denominator that depends on length."""
        k1, b = self.options.section_k1, self.options.section_b
        mean = self._lengths.sum() / max(self._filled, 1)
        return (k1 * (1 - b + b * kept_length(self._lengths) / max(mean, 1e-9))).astype(np.float32)

    @property
    def _groups(self) -> int:
        """Number of sections and acts, and one for what stands in none of them."""
        return len(self.corpus.sections) + len(self.corpus.acts) + 1

    def section_scores(self, tokens: Sequence[str]) -> Scores:
        """Return float32[n]: BM25 of the whole section that each article stood in, as `search.text.bm25` scores it."""
        total = np.zeros(self._groups - 1, np.float32)
        for token, times in Counter(tokens).items():
            documents, counts = self.counts.of_word(token)
            groups = self._document_groups[documents]
            held = np.bincount(groups, counts * self._weights[documents], self._groups)[:-1].astype(np.float32)
            frequency = np.count_nonzero(held)
            idf = np.log1p((self._filled - frequency + 0.5) / (frequency + 0.5))
            total += np.float32(times * idf) * held / (held + self._norm)
        return total[self.group]
