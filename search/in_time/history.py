"""The law of every day beside the text index of the present one: wordings as articles, and counts that sections are made of."""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from pathlib import Path

from schema.filter import Filter
from search.arrays import Scores
from search.corpus.corpus import REMEMBERED_DAYS, Corpus, CorpusText
from search.in_time.chosen import chosen
from search.in_time.law_of_day import LawOfDay
from search.text.bm25 import Bm25Index, Statistics
from search.text.counts import Counts
from search.text.options import Bm25Options
from search.text.words import HeadingWords, wording_words

FOLDER = "history"
_WORDINGS, _COUNTS = "wordings", "counts"


def save_history(
    folder: Path, corpus: Corpus, text: CorpusText, analysed: tuple[list[list[str]], list[list[str]]], options: Bm25Options
) -> None:
    """Write what `History` needs into a folder of its own.

    Args:
        folder: is made.
        corpus: the law.
        text: its words.
        analysed: what `search.text.words.tokenised` gives of it.
        options: of BM25.
    """
    words, above = analysed
    headings, others = HeadingWords(corpus, text), wording_words(corpus, text)
    documents = ([*headings.above(node), *own] if own else [] for node, own in zip(corpus.version_parents, others, strict=True))
    like = Statistics.of(words)
    Bm25Index.build(documents, k1=options.k1, b=options.b, like=like).save(folder / _WORDINGS)
    own = [all_words[len(those_above) :] for all_words, those_above in zip(words, above, strict=True)]
    nodes = [*range(len(corpus.sections)), *(-1 - act for act in range(len(corpus.acts)))]
    Counts.of([*own, *others, *map(headings.above, nodes)]).save(folder / _COUNTS)


def open_history(folder: Path, corpus: Corpus, options: Bm25Options) -> "History":
    """Open what `save_history` wrote, memory-mapped."""
    return History(corpus, Bm25Index.load(folder / _WORDINGS), Counts.load(folder / _COUNTS), options)


class History:
    """The law of every day, over one corpus.

    Args:
        corpus: the law.
        wordings: BM25 over the rows of `Corpus.versions`, with the headings above them, as if they were articles.
        counts: as `LawOfDay` has them.
        options: of BM25.
    """

    def __init__(self, corpus: Corpus, wordings: Bm25Index, counts: Counts, options: Bm25Options) -> None:
        self._corpus, self._wordings, self._counts, self._options = corpus, wordings, counts, options
        self._of_day = lru_cache(REMEMBERED_DAYS)(self._made)

    def asked(self, filter: Filter) -> LawOfDay | None:
        """Return the law that a filter asks for; None where that is the present law."""
        if not filter.across_time and filter.in_force_on is None:
            return None
        return self._of_day(filter.in_force_on)

    def _made(self, day: date | None) -> LawOfDay:
        """Return the law of a day; without one, of all days."""
        corpus = self._corpus
        parents = corpus.article_parent if day is None else corpus.parents_on(day)
        return LawOfDay(corpus, chosen(corpus, day), parents, self._counts, self._options)

    def scores(self, tokens: Sequence[str]) -> Scores:
        """Return float32[v]: BM25 of the other wordings for the words of a query, comparable with that of the articles."""
        return self._wordings.scores(tokens)
