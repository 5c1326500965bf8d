"""Every way to find similar acts, side by side on known transpositions (`search.acts.benchmark`)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from runtime.progress import Progress, silent
from schema.errors import NotReady
from search.acts.benchmark import (
    MEASURES,
    Asked,
    Chosen,
    Direction,
    Pair,
    ask,
    cross_validated,
    quality,
    tune,
    tune_window,
)
from search.acts.similar import BM25, COSINES, LongQuery, SimilarActs
from search.ranking.fusion import Scores

PLAIN = "bm25-plain"
LISTS = (*COSINES, BM25)
_WHOLE = {
    f"bm25 {n} {k1} {b} {denoised}": LongQuery(n, denoised, k1, b)
    for n, (k1, b), denoised in product((15, 30, 60, 120), ((1.2, 0.75), (0.9, 0.4), (2.0, 0.9)), (False, True))
}
_VIEWS = {
    f"bm25 {n} {view}-{searched}": LongQuery(n, True, view=view, found=searched)
    for n, (view, searched) in product((15, 30, 60), product(("title", "lead", "whole"), repeat=2))
}
DIRECTIONS: tuple[Direction, ...] = ("down", "up")


@dataclass(frozen=True, slots=True)
class Row:
    """A system with its measures in percent by direction, and the choice of all folds together."""

    name: str
    measures: dict[Direction, dict[str, float]]
    chosen: dict[Direction, str]


def compare_acts(similar: SimilarActs, pairs: Sequence[Pair], *, country: str = "lu", progress: Progress = silent) -> list[Row]:
    """Return the table of all systems, cross-validated by directive.

    Raises:
        NotReady: there are no pairs.
    """
    if not pairs:
        raise NotReady("the graph has no pair of the transpositions: ingest the directives and the acts first")
    down, up = (_Direction(similar, pairs, direction, country, progress) for direction in DIRECTIONS)
    return [
        Row(name, {"down": down.rows[name], "up": up.rows[name]}, {"down": down.chosen[name], "up": up.chosen[name]})
        for name in down.rows
    ]


class _Direction:
    """All systems in one direction."""

    def __init__(
        self, similar: SimilarActs, pairs: Sequence[Pair], direction: Direction, country: str, progress: Progress
    ) -> None:
        self.rows: dict[str, dict[str, float]] = {}
        self.chosen: dict[str, str] = {}
        jurisdiction = country if direction == "down" else "eu"
        queries = {PLAIN: LongQuery(denoised=False)} | _WHOLE | _VIEWS
        self.names = [*LISTS, *queries]

        def scores(asking: int, name: str) -> Scores:
            if name in queries:
                return similar.bm25(asking, queries[name], jurisdiction)
            return similar.scores(asking, name, jurisdiction)

        with progress(f"lists, {direction}", 1) as advance:
            self.asked = ask(similar, pairs, direction, jurisdiction, scores, self.names)
            advance(1)
        with progress(f"systems, {direction}", 1) as advance:
            self._one_of(PLAIN, [PLAIN])
            self._one_of("BM25 tuned (terms, k1, b, denoising)", list(_WHOLE))
            self._one_of("BM25 of the best views", [*_WHOLE, *_VIEWS])
            self._one_of("BM25 of the best views + window", [*_WHOLE, *_VIEWS], window=True)
            for name in COSINES:
                self._one_of(f"cosine: {name}", [name])
            self._one_of("best single cosine", list(COSINES))
            self._ensemble("ensemble", LISTS)
            self._ensemble("ensemble + age", LISTS, ages=True)
            advance(1)

    def _one_of(self, name: str, lists: Sequence[str], *, window: bool = False) -> None:
        """Add the list that is best on the training folds."""
        options = [Chosen(_only(self.names, [(each, 1.0)])) for each in lists]

        def choose(without: int | None) -> Chosen:
            best = max(options, key=lambda option: quality(self.asked, option, without)) if len(options) > 1 else options[0]
            return tune_window(self.asked, without, best) if window else best

        self._add(name, self.asked, choose, self.names)

    def _ensemble(self, name: str, lists: Sequence[str], *, ages: bool = False) -> None:
        columns = [self.names.index(each) for each in lists]
        asked = [
            Asked(q.asking, q.relevant, q.folds, q.candidates, np.ascontiguousarray(q.lists[columns]), q.years)
            for q in self.asked
        ]
        start = [1.0 if each in ("lead-lead", BM25) else 0.0 for each in lists]
        tuned = cache(lambda without: tune(asked, without, start=start, ages=ages))
        self._add(name, asked, tuned, lists)
        if not ages:
            self._add(f"{name} + window", asked, lambda without: tune_window(asked, without, tuned(without)), lists)

    def _add(self, name: str, asked: Sequence[Asked], choose: Callable[[int | None], Chosen], names: Sequence[str]) -> None:
        values = cross_validated(asked, choose)
        self.rows[name] = {m: 100 * float(np.mean([value[m] for value in values])) for m in MEASURES}
        everything = choose(None)
        words = [f"{each} {weight:g}" for each, weight in zip(names, everything.weights, strict=True) if weight]
        if everything.age:
            words.append(f"age {everything.age:g} {list(everything.ages)}")
        if everything.window is not None:
            words.append(f"{everything.window:g} years")
        self.chosen[name] = ", ".join(words)


def _only(names: Sequence[str], chosen: Sequence[tuple[str, float]]) -> npt.NDArray[np.float64]:
    weights = np.zeros(len(names))
    for name, weight in chosen:
        weights[names.index(name)] = weight
    return weights
