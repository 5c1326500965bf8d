"""Hits, and the ranking lists they were fused from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from schema.errors import LexgraphError
from search.ranking.fusion import head_of

Scores = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]


class Place(NamedTuple):
    """Where an article stands in one list: its rank, from 1, and its score there."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An article that answers, with its score and its place in each list that it was fused from."""

    id: str
    position: int
    score: float
    places: dict[str, Place]


@dataclass(frozen=True, eq=False)
class RankedList:
    """One list before fusion: scores of all articles (-inf: filtered out), and the highest of them, ascending."""

    scores: Scores
    head: Scores

    @classmethod
    def of(cls, scores: Scores) -> "RankedList":
        return cls(scores, head_of(scores))

    def places(self, page: npt.NDArray[np.intp]) -> list[Place | None]:
        """The place of each article of a page; None below the head of the list."""
        ranks = len(self.head) - np.searchsorted(self.head, self.scores[page], side="right") + 1
        scores = self.scores[page]
        within = (ranks <= len(self.head)) & (scores >= self.head[0]) if len(self.head) else np.zeros(len(page), bool)
        placed = zip(ranks.tolist(), scores.tolist(), within.tolist(), strict=True)
        return [Place(rank, score) if there else None for rank, score, there in placed]


class Hits(list[Hit]):
    """A page of hits, and what could not be asked for it.

    Attributes:
        degraded: "text" where the text index did not answer, "vectors" where vector search did not.
    """

    def __init__(self, hits: Iterable[Hit] = (), degraded: tuple[str, ...] = ()) -> None:
        super().__init__(hits)
        self.degraded = degraded


@dataclass(frozen=True, slots=True)
class Ranking:
    """All articles as one query ranks them.

    Attributes:
        scores: float32[n]; -inf: not an answer.
        lists: what the scores were made from.
        lost: the errors of what did not answer, by name ("text", "vectors").
    """

    scores: Scores
    lists: dict[str, RankedList]
    lost: Mapping[str, LexgraphError] = field(default_factory=dict)
