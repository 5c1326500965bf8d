"""The wordings that a search ranks beside or instead of the present ones: those of a day, or all."""

from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from search.arrays import Positions, Scores
from search.corpus.corpus import NO_END, NO_START, Corpus, Mask, days_of

_EPOCH = date(1970, 1, 1)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The wordings that answer: some rows of `Corpus.versions`, each for its article, and some present wordings.

    Attributes:
        rows: int[k], of wordings whose text is known.
        articles: int[k], the articles that they are wordings of; on a day, each once.
        own: bool[n], whether the present wording of an article may answer: that it was in force, or is all that is known.
        across_time: whether all answer that there are; of an article, the better one.
    """

    rows: Positions
    articles: Positions
    own: Mask
    across_time: bool

    def ranked(self, present: Scores, others: Scores) -> Scores:
        """Return float32[n]: the scores of articles by the wordings that answer.

        Args:
            present: float32[n], by the present wordings.
            others: float32[k], by the other ones, those of ``rows``.
        """
        scores = present.copy()
        if self.across_time:
            np.maximum.at(scores, self.articles, others)
        else:
            scores[self.articles] = others
        return scores


def chosen(corpus: Corpus, day: date | None) -> Chosen:
    """Return the wordings of a day; without one, all."""
    if day is None:
        rows = np.flatnonzero(corpus.known)
        return Chosen(rows, corpus.versions[rows, 0].astype(np.intp), np.ones(len(corpus.articles), bool), across_time=True)
    rows = _of_day(corpus, day)
    rows = rows[corpus.known[rows]]
    articles = corpus.versions[rows, 0].astype(np.intp)
    own = corpus.in_force_on(day).copy()
    own[articles] = False
    return Chosen(rows, articles, own, across_time=False)


def _of_day(corpus: Corpus, day: date) -> Positions:
    """Return the rows in force on a day, one an article, where the present wording was not (`schema.wordings.in_force_on`)."""
    number = days_of(day, NO_START)
    article, start, end = corpus.versions.T
    rows = np.flatnonzero((start <= number) & (number < end))
    rows = rows[np.lexsort((-rows, start[rows], article[rows]))]  # of an article, the one that began last comes last
    if not len(rows):
        return rows
    last = np.r_[article[rows][1:] != article[rows][:-1], True]
    rows = rows[last]
    own = article[rows]
    present = (corpus.valid_from[own] <= number) & (number < corpus.valid_to[own]) & (corpus.valid_from[own] >= start[rows])
    return rows[~present]


def day_within(corpus: Corpus, row: int) -> date:
    """Return a day on which the wording of a row of `Corpus.versions` was in force."""
    _, start, end = corpus.versions[row].tolist()
    number = start if start != NO_START else end - 1 if end != NO_END else 0
    return _EPOCH + timedelta(days=number)


def best_rows(corpus: Corpus, articles: Positions, ranked: Scores, others: Scores) -> list[int | None]:
    """Return the row of the wording that an article was ranked by, of each article; None where it was the present one.

    Args:
        corpus: the law.
        articles: int[k].
        ranked: float32[n], what `Chosen.ranked` gave across time.
        others: float32[v], what it was given.
    """
    found: list[int | None] = []
    for article in articles.tolist():
        low, high = np.searchsorted(corpus.versions[:, 0], [article, article + 1]).tolist()
        rows = [row for row in range(low, high) if corpus.known[row]]
        best = max(rows, key=lambda row: others[row], default=None)
        found.append(best if best is not None and 0 < others[best] >= ranked[article] else None)
    return found
