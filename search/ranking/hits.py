"""Hits, and the ranking lists that they are fused from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
import numpy.typing as npt

from schema.errors import LexgraphError
from search.arrays import Positions, Scores
from search.query.understanding import Understood
from search.ranking.fusion import head_of, standard_scores
from search.ranking.reranker import Move, Reranked


@dataclass(frozen=True, slots=True)
class Place:
    """A place in one list: the rank, from 1 among what may answer, and the list's own score."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An article that answers, with its score and its place in each list that it was fused from.

    Attributes:
        day: a day of the wording that answers; None where that is the present one.
        move: by reranking; None where nothing was reranked, or this article was no candidate.
    """

    id: str
    position: int
    score: float
    places: dict[str, Place]
    day: date | None = None
    move: Move | None = None


UNASKED = Understood("")
"""Of hits that no query was asked for."""


class RankingList:
    """One list before fusion.

    Attributes:
        scores: float32[n], of all articles; -inf: filtered out.

    Args:
        head: the highest scores, ascending, where they are known; else `head_of` them.
        comparable: float32[n], the scores as fusion adds them, where they are known; else `standard_scores`.
    """

    def __init__(self, scores: Scores, head: Scores | None = None, comparable: Scores | None = None) -> None:
        self.scores = scores
        self._head, self._comparable = head, comparable

    @cached_property
    def head(self) -> Scores:
        """The highest scores, ascending."""
        return head_of(self.scores) if self._head is None else self._head

    @cached_property
    def standard(self) -> Scores:
        """float32[n]: `standard_scores` of the scores that order the list, whatever sentences add to it in fusion."""
        return standard_scores(self.scores, self.head)

    @property
    def comparable(self) -> Scores:
        """float32[n]: what fusion adds to those of other lists; sentences of a query have a say in it."""
        return self.standard if self._comparable is None else self._comparable

    @property
    def says_something(self) -> bool:
        """True where any article scores above zero: a list of zeros ranks nothing, whatever its order."""
        return len(self.head) > 0 and float(self.head[-1]) > 0

    def places(self, page: npt.NDArray[np.intp]) -> list[Place | None]:
        """Return the place of each article of a page; None below the head of the list."""
        ranks = len(self.head) - np.searchsorted(self.head, self.scores[page], side="right") + 1
        scores = self.scores[page]
        within = (ranks <= len(self.head)) & (scores >= self.head[0]) if len(self.head) else np.zeros(len(page), bool)
        placed = zip(ranks.tolist(), scores.tolist(), within.tolist(), strict=True)
        return [Place(rank, score) if inside else None for rank, score, inside in placed]


def citation_list(named: Sequence[int], n: int) -> RankingList:
    """Return the list of the articles that a query names, in its order; nothing else is in it."""
    scores = np.full(n, -np.inf, np.float32)
    scores[list(named)] = np.arange(len(named), 0, -1)
    return RankingList(scores)


class Hits(list[Hit]):
    """A page of hits, and what could not be asked for it.

    Attributes:
        degraded: "text" where the text index did not answer, "vectors" where vector search did not.
        understood: what the query says before it is searched.
        confidence: probability from 0 to 1 that the law at hand has the answer; None where it is not known: no model that
            learnt it, a server that does not answer, a filter, another mode than hybrid.
        probably_outside: true where the answer is probably not in this law; None where ``confidence`` is.
    """

    def __init__(
        self,
        hits: Iterable[Hit] = (),
        degraded: tuple[str, ...] = (),
        understood: Understood = UNASKED,
        *,
        confidence: float | None = None,
        threshold: float = 0.0,
    ) -> None:
        super().__init__(hits)
        self.degraded = degraded
        self.understood = understood
        self.confidence = confidence
        self.probably_outside = None if confidence is None else confidence < threshold


@dataclass(frozen=True, slots=True)
class Ranking:
    """All articles as one query ranks them.

    Attributes:
        scores: float32[n]; -inf: not an answer.
        lists: what the scores were made from.
        lost: the errors of what did not answer, by name ("text", "vectors").
        understood: what the query says before it is searched.
        evidence: `search.ranking.scope.EVIDENCE`; None where lists are lacking, or a filter cuts them.
        reranked: the first of them, where they were.
    """

    scores: Scores
    lists: Mapping[str, RankingList]
    lost: Mapping[str, LexgraphError] = field(default_factory=dict)
    understood: Understood = UNASKED
    evidence: tuple[float, ...] | None = None
    reranked: Reranked | None = None

    def rearranged(self, order: Positions) -> Scores:
        """Return float32[n]: the scores with the first candidates of reranking in another order.

        Those that the query names stay before them, in its order, and those that stay for a heading behind these.

        Args:
            order: int[c], the places so far of the first c candidates.
        """
        if self.reranked is None:
            return self.scores
        positions = self.reranked.candidates.positions[: len(order)]
        place = {position: n for n, position in enumerate(positions.tolist())}
        named = (place[position] for position in self.understood.named if position in place)
        ahead = [*dict.fromkeys([*named, *np.flatnonzero(self.reranked.stays[: len(order)]).tolist()])]
        result = self.scores.copy()
        result[positions[[*ahead, *order[~np.isin(order, ahead)]]]] = np.sort(self.scores[positions])[::-1]
        return result
