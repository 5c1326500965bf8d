"""Reranking: the first articles of a ranking in the order of trees that learnt it from the training questions (LambdaMART)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import count

import numpy as np
import numpy.typing as npt

from search.arrays import Positions, Scores
from search.ranking.fusion import HEAD
from search.ranking.trees import Rows, Trees

WITHIN = 0.5
"""Share of what was learnt in the order within the head, and below it. The head has words and headings behind it which the trees
do not know; below it they were taught little: by dossier, over training questions each asked of a model that had not seen it, all
that was learnt gave R@200 -1.0 [-2.4, 0.5] there, half of it +0.8 [0.0, 1.8], and in the head S@5 -1.1 and 0.0."""
_REASONS = 3
"""Features that are named as the reasons of a move."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Articles that may be reranked: their positions, best first, and float64[candidates, features]."""

    positions: Positions
    rows: Rows

    def first(self, n: int) -> "Candidates":
        """Return the first ones."""
        return Candidates(self.positions[:n], self.rows[:n])


@dataclass(frozen=True, eq=False)
class Reasons:
    """The features that moved the articles of a page, found when one of these is first asked for: it takes half a millisecond.

    Attributes:
        rows: float64[articles, features], of these alone: a page outlives the candidates of its query.
    """

    trees: Trees
    rows: Rows

    @cached_property
    def of_each(self) -> Sequence[dict[str, float]]:
        """The features that add most to the score of each article or take most from it, and how much, most first."""
        return [self._most(added) for added in self.trees.contributions(self.rows)]

    def _most(self, added: npt.NDArray[np.float64]) -> dict[str, float]:
        most = np.argsort(-np.abs(added), kind="stable")[:_REASONS]
        return {self.trees.features[column]: float(added[column]) for column in most if added[column]}


@dataclass(frozen=True, slots=True)
class Move:
    """The move of an article by reranking.

    Attributes:
        places: up, or down where negative, for the sake of several sections among the first too (`search.ranking.diversity`).
        of_page: why the articles of its page moved.
        number: its own among them, from 0.
    """

    places: int
    of_page: Reasons
    number: int

    @property
    def reasons(self) -> dict[str, float]:
        """The features that add most to its score or take most from it, and how much, most first."""
        return self.of_page.of_each[self.number]


@dataclass(frozen=True, eq=False)
class Reranked:
    """The candidates of one query, reranked.

    Attributes:
        after: int[candidates], the place of each after reranking and what comes behind it, from 0.
        stays: bool[candidates], those that stayed before all others.
    """

    candidates: Candidates
    after: npt.NDArray[np.intp]
    trees: Trees
    stays: npt.NDArray[np.bool_]

    def as_in(self, scores: Scores) -> "Reranked":
        """Return the same candidates at the places that later scores, float32[n], give them."""
        after = np.empty_like(self.after)
        after[np.argsort(-scores[self.candidates.positions], kind="stable")] = np.arange(len(after))
        return replace(self, after=after)

    def moves(self, page: Positions) -> list[Move | None]:
        """Return the move of each article of a page; None of one that was no candidate."""
        before = {position: place for place, position in enumerate(self.candidates.positions.tolist())}
        places = [before.get(position) for position in page.tolist()]
        reasons, number = Reasons(self.trees, self.candidates.rows[[place for place in places if place is not None]]), count()
        return [None if place is None else Move(place - int(self.after[place]), reasons, next(number)) for place in places]


@dataclass(frozen=True, eq=False)
class Reranker:
    """Trees over the features of candidates; what they give is added to a share of the score so far.

    So the first `HEAD` are chosen. Among these, and below them, what the trees give counts less (`WITHIN`).

    Attributes:
        trees: those that were learnt; none of them leaves the order as it is.
        share: weight of the score so far, which is the first feature.
    """

    trees: Trees
    share: float

    def __call__(self, scores: Scores, candidates: Candidates, stays: npt.NDArray[np.bool_]) -> tuple[Scores, Reranked]:
        """Return float32[n], the scores so far in another order of the candidates, and what was done.

        Args:
            scores: float32[n], so far.
            candidates: the highest of them.
            stays: bool[candidates], those that stay before all others.

        Raises:
            LexgraphError: a feature is missing, or no finite number.
        """
        positions, order = candidates.positions, self.order(candidates.rows, stays)
        reordered = scores.copy()
        reordered[positions[order]] = scores[positions]
        after = np.empty(len(order), np.intp)
        after[order] = np.arange(len(order))
        return reordered, Reranked(candidates, after, self.trees, stays)

    def order(self, rows: Rows, stays: npt.NDArray[np.bool_] | None = None) -> Positions:
        """Return the places so far of candidates in their new order.

        Args:
            rows: float64[candidates, features].
            stays: as in a call; unless given, none.

        Raises:
            LexgraphError: a feature is missing, or no finite number.
        """
        return new_order(self.share * rows[:, 0], self.trees(rows), stays)


def new_order(before: Rows, learnt: Rows, stays: npt.NDArray[np.bool_] | None = None) -> Positions:
    """Return the places so far of candidates in their new order: all that was learnt chooses the head, a share of it the rest.

    Args:
        before: floating[candidates], the share of the score so far; learnt: what is added to it.
        stays: bool[candidates], those that stay before all others; unless given, none.
    """
    moves = np.ones(len(before), bool) if stays is None else ~stays
    chosen = np.lexsort((-(before + learnt), moves))
    below = np.ones(len(before), bool)
    below[chosen[:HEAD]] = False
    return np.lexsort((-(before + WITHIN * learnt), moves, below))
