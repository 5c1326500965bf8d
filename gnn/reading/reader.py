"""The reranker that serves the tables: what a reader says of the first articles, added to the score so far."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from gnn.reading.first_stage import Found, found_in, standard
from search.arrays import Scores
from search.evaluation import UNRANKED, Ranks, average_precision, ndcg
from search.ranking.hits import Ranking

SHARES = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
"""Weights of what a reader says beside the score so far, of which development questions choose; 0 leaves the order as it is."""


class Reader(Protocol):
    """A network that was trained to read."""

    @property
    def parameters(self) -> int:
        """Number of parameters that were learnt."""
        ...

    def scores(self, found: Found) -> npt.NDArray[np.float32]:
        """Return float32[c]: what it says of each article of a query."""
        ...


@dataclass(frozen=True, eq=False)
class ReadingReranker:
    """Puts the first articles of a ranking into another order; below them it stays.

    Attributes:
        depth: number of these; share: weight of what the reader says.
        seconds: of the training of the reader, before it was stopped too, and of the choice of the share.
    """

    reader: Reader
    depth: int
    share: float
    seconds: float = 0.0

    def learnt(self, found: Found) -> npt.NDArray[np.float64]:
        """Return float64[c]: standard scores so far, and the share of those of the reader.

        Raises:
            LexgraphError: a score is not a finite number.
        """
        return found.before + self.share * standard(self.reader.scores(found))

    def reordered(self, query: str, ranking: Ranking) -> Scores:
        """Return float32[n]: the scores of a ranking in another order of its first articles (`Ranking.rearranged`).

        Raises:
            LexgraphError: a feature or a score is not a finite number.
        """
        if ranking.reranked is None or not self.share or not len(ranking.reranked.candidates.positions):
            return ranking.scores
        found = found_in(query, ranking.reranked.candidates, np.zeros(0, np.intp)).first(self.depth)
        return ranking.rearranged(np.argsort(-self.learnt(found), kind="stable"))


def chosen_share(reader: Reader, development: Sequence[Found], depth: int) -> float:
    """Return the share with the highest sum of MAP and nDCG@10 on development questions, the smallest of equal ones."""
    if not development:
        return 0.0
    said = [(found, found.first(depth), standard(reader.scores(found.first(depth)))) for found in development]
    quality = [np.mean([_quality(found, first.before + share * read) for found, first, read in said]) for share in SHARES]
    return SHARES[int(np.argmax(np.round(quality, 9)))]


def _quality(found: Found, learnt: npt.NDArray[np.float64]) -> float:
    ranks = ranks_among(found, learnt)
    return average_precision(ranks) + ndcg(ranks, 10)


def ranks_among(found: Found, learnt: npt.NDArray[np.float64]) -> Ranks:
    """Return the ranks of the relevant articles, ascending, when the first ones stand in another order.

    Those that are not among the candidates rank behind everything.

    Args:
        found: with all its candidates; learnt: float64[c], new scores of the first c.
    """
    ranked = np.concatenate([found.positions[: len(learnt)][np.argsort(-learnt, kind="stable")], found.positions[len(learnt) :]])
    place = {position: rank for rank, position in enumerate(ranked.tolist(), 1)}
    return np.sort(np.array([place.get(position, UNRANKED) for position in found.relevant.tolist()], np.int64))
