"""Negatives of a question by three views of how near they stand, from easy to hard as training goes on.

Santosh et al., "CuSINeS: Curriculum-driven Structure Induced Negative Sampling for Statutory Article Retrieval", LREC-COLING
2024, section 3. *Semantic*: by the score that the model at hand gives. *Structural*: by the shortest path over the tree to a
relevant article. *Sequential*: by the articles between it and a relevant one. The views are fused by reciprocal rank, the
nearest are cut into three buckets, and each third of the epochs draws from these in other shares.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn.options import CurriculumOptions
from search.arrays import Positions, Scores
from search.corpus.corpus import Corpus, Ints

RECIPROCAL = 60
"""Added to ranks before they are turned round (Cormack et al., "Reciprocal Rank Fusion", SIGIR 2009)."""
Ranks = npt.NDArray[np.int32]
_KEPT = 1 << 26
"""Ranks of views which no epoch changes that are kept at most (256 MiB); beyond that they are made anew each time."""


@dataclass(frozen=True, eq=False)
class Places:
    """Places of articles in the law, all that two of the views need.

    Attributes:
        paths: int32[n, depth], numbers of the nodes above each article from its act down, -1 below the last.
        act: int32[n].
    """

    paths: Ints
    act: Ints

    @classmethod
    def of(cls, corpus: Corpus) -> "Places":
        """Read them from a corpus: a section is numbered by its position, an act behind the sections."""
        above: dict[int, list[int]] = {}
        for parent in np.unique(corpus.article_parent).tolist():
            above[parent] = [node if node >= 0 else len(corpus.sections) - 1 - node for node in corpus.ancestors(parent)]
        paths = np.full((len(corpus.articles), max(map(len, above.values()), default=1)), -1, np.int32)
        for article, parent in enumerate(corpus.article_parent.tolist()):
            paths[article, : len(above[parent])] = above[parent]
        return cls(paths, corpus.article_act)

    def structural(self, relevant: Positions) -> Ints:
        """Return int32[n]: edges on the shortest path over the tree to the nearest relevant article; acts hang on one root."""
        depths = (self.paths >= 0).sum(1)
        nearest = np.full(len(self.paths), np.iinfo(np.int32).max, np.int32)
        for article in relevant.tolist():
            own = self.paths[article]
            shared = np.cumprod((self.paths == own) & (own >= 0), axis=1).sum(1)
            # An article hangs one edge below the last node of its path.
            steps = (depths - shared + 1) + (depths[article] - shared + 1)
            np.minimum(nearest, steps, out=nearest, casting="unsafe")
            nearest[article] = 0
        return nearest

    def sequential(self, relevant: Positions) -> Ints:
        """Return int32[n]: articles to read on to the nearest relevant one of the act, or n where the act has none."""
        n = len(self.paths)
        nearest = np.full(n, n, np.int32)
        for article in relevant.tolist():
            away = np.where(self.act == self.act[article], np.abs(np.arange(n) - article), n)
            np.minimum(nearest, away, out=nearest, casting="unsafe")
        return nearest


def ranks_by(distances: npt.NDArray[np.number]) -> Ranks:
    """Return int32[n]: rank of each from 1, the nearest first; those that are as near share the first of their ranks."""
    _, inverse, counts = np.unique(distances, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - counts + 1)[inverse].astype(np.int32)


def fused_order(views: Sequence[Ranks], relevant: Positions) -> Positions:
    """Return the positions of the negatives, the hardest first: by the sum of reciprocal ranks, ties by position."""
    worth = np.sum([1 / (RECIPROCAL + ranks) for ranks in views], axis=0)
    worth[relevant] = -np.inf
    return np.argsort(-worth, kind="stable")[: len(worth) - len(relevant)]


class Curriculum:
    """The negatives of training questions, ordered anew by `refresh`, drawn by `draw`.

    Attributes:
        pools: negatives that those of a question are drawn from, the hardest first.
        random: what `refresh` and `draw` draw from.

    Args:
        places: of the articles.
        relevant: positions of the relevant articles of each question.
        options: of the recipe.
        seed: of what is drawn.
    """

    def __init__(self, places: Places, relevant: Sequence[Positions], options: CurriculumOptions, seed: int) -> None:
        self.places, self.relevant, self.options = places, relevant, options
        self.random = np.random.default_rng(seed)
        self.pools: list[Positions] = []
        self._ranks: dict[tuple[str, int], Ranks] = {}

    def refresh(self, score: Callable[[int], Scores]) -> None:
        """Order the negatives of every question by the model as it is: ``score(i)`` gives float32[n] for question i."""
        self.pools = [self._order(relevant, score, i)[: self.options.pool] for i, relevant in enumerate(self.relevant)]

    def _order(self, relevant: Positions, score: Callable[[int], Scores], question: int) -> Positions:
        changing: Mapping[str, Callable[[], npt.NDArray[np.number]]] = {
            "semantic": lambda: -score(question),
            "random": lambda: self.random.random(len(self.places.act)),
        }
        views = self.options.views
        ranks = [ranks_by(changing[view]()) if view in changing else self._of_the_law(view, question) for view in views]
        return fused_order(ranks, relevant)

    def _of_the_law(self, view: str, question: int) -> Ranks:
        """Return the ranks of a view that depends on the law alone, kept from epoch to epoch where there is room."""
        if (view, question) in self._ranks:
            return self._ranks[view, question]
        distances = self.places.structural if view == "structural" else self.places.sequential
        ranks = ranks_by(distances(self.relevant[question]))
        if 2 * len(self.relevant) * len(ranks) <= _KEPT:
            self._ranks[view, question] = ranks
        return ranks

    def draw(self, questions: Sequence[int], done: float) -> Positions:
        """Return the positions of what is drawn for the questions of one batch, each once.

        Args:
            done: share of the epochs that are over, 0 to 1 exclusive.
        """
        drawn = [self.drawn_for(question, done, self.random) for question in questions]
        return np.unique(np.concatenate([np.zeros(0, np.intp), *drawn]))

    def drawn_for(self, question: int, done: float, draw: np.random.Generator) -> Positions:
        """Return the positions of what is drawn for one question, fewer where its buckets have not as many."""
        easy, medium, hard = self.options.shares[min(int(3 * done), 2)]
        # The hardest come first in a pool.
        buckets = np.array_split(self.pools[question], 3)
        counts = counts_of((hard, medium, easy), self.options.drawn)
        return np.concatenate(
            [draw.choice(bucket, min(count, len(bucket)), replace=False) for bucket, count in zip(buckets, counts, strict=True)]
        )


def counts_of(shares: Sequence[float], whole: int) -> list[int]:
    """Return how many of a whole fall to each share: rounded down, but the largest remainders up, so that none is lost."""
    exact = [share * whole for share in shares]
    counts = [int(one) for one in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: counts[place] - exact[place])
    for place in by_remainder[: round(sum(exact)) - sum(counts)]:
        counts[place] += 1
    return counts
