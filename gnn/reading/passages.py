"""The words of the law and of queries, as readers take them."""

from functools import lru_cache

from gnn.encoders.passages import passage
from gnn.options import ReadingOptions
from gnn.reading.query_reduction import QueryReduction
from search.corpus.corpus import Corpus, CorpusText

_KEPT = 4096
"""Passages that are kept at hand."""


class ReadableLaw:
    """Articles below their headings, and queries no longer than they may be."""

    def __init__(self, corpus: Corpus, text: CorpusText, options: ReadingOptions) -> None:
        self.corpus, self.text = corpus, text
        self.reduced = QueryReduction(text.texts, options.longest_query, options.terms)
        self.passage = lru_cache(_KEPT)(self._passage)

    def _passage(self, position: int) -> str:
        return passage(self.corpus, self.text, position)

    def words(self) -> list[str]:
        """Return the different words of all passages, sorted."""
        positions = range(len(self.corpus.articles))
        return sorted({word for position in positions for word in self._passage(position).split()})
