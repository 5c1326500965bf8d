"""Queries of several sentences: lists by words say what the whole query finds, and what each of its sentences does.

One long text ranks by what most of its words are about; an article that answers one sentence in full stands low. Embeddings are
searched by one vector, in which each sentence has its share (`search.ranking.rankers.Query.balanced`). What asking sentences is
worth was measured by cross-fitting (docs/sentences.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from search.ranking.fusion import standard_scores
from search.ranking.hits import RankingList
from search.ranking.rankers import Lists, Query, Ranker


class RankerOfEach(Ranker, Protocol):
    """A ranker that can be asked several queries at once, as that by words can."""

    def ask_each(self, queries: Sequence[Query]) -> Callable[[], list[Lists]]:
        """Begin to rank by each of the queries, which differ in their texts alone."""
        ...


@dataclass(frozen=True, eq=False)
class InSentences:
    """A ranker that is asked each sentence of a query too.

    Attributes:
        weight: of the mean of what the sentences find, beside what the whole query finds, whose places and scores stay.
    """

    ranker: RankerOfEach
    weight: float

    @property
    def needs(self) -> str:
        """Name of what the ranker cannot do without."""
        return self.ranker.needs

    def ask(self, query: Query) -> Callable[[], Lists]:
        """Begin to rank by the query and by its sentences."""
        if not query.parts:
            return self.ranker.ask(query)
        found = self.ranker.ask_each([query, *query.sentences])

        def answer() -> Lists:
            whole, *parts = found()
            return {
                name: self._together(ranked, [part[name] for part in parts if name in part]) for name, ranked in whole.items()
            }

        return answer

    def _together(self, whole: RankingList, parts: list[RankingList]) -> RankingList:
        if not parts:
            return whole
        together = whole.comparable + np.float32(self.weight) * np.mean([part.comparable for part in parts], axis=0)
        return RankingList(whole.scores, whole.head, standard_scores(together))
