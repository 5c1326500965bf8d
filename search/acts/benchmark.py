"""The benchmark of similar acts: known transpositions as labels, folds by directive, measures, tuning on training folds.

Labels are used for measuring and, of the directives of the training folds alone, for choosing weights.
"""

import csv
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from schema.errors import BadQuery, BadSource, MissingFile
from schema.identifiers import act_id
from search.acts.similar import AGE_EDGES, DAYS_A_YEAR, SimilarActs
from search.coordinate_search import coordinate_search
from search.corpus.corpus import NO_START
from search.evaluation import Ranks, ndcg, r_precision, ranks_in_order, recall
from search.ranking.fusion import Scores, standard_scores

Direction = Literal["down", "up"]
"""From a directive down to the acts that transpose it, or from an act up to its directives."""
MEASURES = ("R@20", "R@100", "nDCG@20", "R-precision")
BASES = ("title", "cites")
"""Evidence of a pair: the words of the act's title, or a citation in its metadata."""
FOLDS = 5
_SEED = 20
WEIGHTS = (0.0, 0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5)
WINDOWS = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0)
"""Years that a national act may be younger than the directive; it is never a year older."""
OLDER = 1.0
"""Years: EU acts are dated by the first day of their year, so that an act of the year before is not younger yet."""
_SMOOTHING = 0.5


class Pair(NamedTuple):
    """Positions of a directive and of an act that transposes it."""

    directive: int
    act: int


@dataclass(frozen=True, eq=False)
class Asked:
    """A query with what is relevant to it.

    Attributes:
        relevant: int[r], positions.
        folds: int[r], for each the fold of the pair's directive.
        candidates: positions of all that may answer, ascending.
        lists: float32[lists, candidates], standard scores.
        years: float64[candidates], by how many years the national act of the pair is younger.
    """

    asking: int
    relevant: npt.NDArray[np.intp]
    folds: npt.NDArray[np.intp]
    candidates: npt.NDArray[np.intp]
    lists: npt.NDArray[np.float32]
    years: npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A choice made on training folds: weights of the lists, of the age, its log odds, and the window in years."""

    weights: npt.NDArray[np.float64]
    age: float = 0.0
    ages: tuple[float, ...] = ()
    window: float | None = None


def read_transpositions(path: Path, position: Mapping[str, int], basis: str, country: str = "lu") -> list[Pair]:
    """Return the pairs of one basis whose directive has a text and whose acts are both in ``position``.

    Raises:
        MissingFile: there is no such file.
        BadSource: it lacks a column.
        BadQuery: there is no such basis.
    """
    if basis not in BASES:
        raise BadQuery(f"no such basis: {basis} (there are: {', '.join(BASES)})")
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(stream)
            missing = sorted({"act", "celex", "basis", "directive_text"} - set(rows.fieldnames or ()))
            if missing:
                raise BadSource(path, "line 1", f"no column {', '.join(missing)}")
            named = [
                (act_id("eu", row["celex"]), act_id(country, row["act"]))
                for row in rows
                if row["basis"] == basis and row["directive_text"] == "yes"
            ]
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise BadSource(path, "", "not UTF-8 text") from None
    return [Pair(position[d], position[a]) for d, a in dict.fromkeys(named) if d in position and a in position]


def folds_of(directives: Iterable[int], folds: int = FOLDS) -> dict[int, int]:
    """Return the fold of each directive: all its pairs stand in that one. From a fixed seed."""
    order = sorted(set(directives))
    numbers = np.random.default_rng(_SEED).permutation(len(order)) % folds
    return dict(zip(order, numbers.tolist(), strict=True))


def relevant_of(pairs: Iterable[Pair], direction: Direction) -> dict[int, list[int]]:
    """Return, by the position of the act that asks, those that are relevant to it."""
    relevant_to: defaultdict[int, list[int]] = defaultdict(list)
    for directive, act in pairs:
        asking, relevant = (directive, act) if direction == "down" else (act, directive)
        relevant_to[asking].append(relevant)
    return dict(relevant_to)


def ask(
    similar: SimilarActs,
    pairs: Sequence[Pair],
    direction: Direction,
    jurisdiction: str,
    scores: Callable[[int, str], Scores],
    names: Sequence[str],
) -> list[Asked]:
    """Return every query of a direction with its lists, among the acts of a jurisdiction.

    Args:
        similar: Finder of similar acts.
        pairs: Known pairs.
        direction: Direction of the queries.
        jurisdiction: Jurisdiction of the acts that may answer.
        scores: Function from the position of the act that asks and the name of a list to its scores, float32[a].
        names: Names of the lists.
    """
    fold = folds_of(pair.directive for pair in pairs)
    candidates = np.flatnonzero(np.array(similar.texts.jurisdictions) == jurisdiction)
    days = np.where(similar.texts.published == NO_START, np.nan, similar.texts.published.astype(np.float64))
    asked: list[Asked] = []
    for asking, relevant in relevant_of(pairs, direction).items():
        lists = np.stack([standard_scores(scores(asking, name)[candidates]) for name in names])
        years = (days[candidates] - days[asking]) / DAYS_A_YEAR * (1 if direction == "down" else -1)
        folds = [fold[asking if direction == "down" else directive] for directive in relevant]
        places = np.searchsorted(candidates, relevant)
        asked.append(Asked(asking, places, np.array(folds), candidates, lists, years))
    return asked


def measure(ranks: Ranks) -> dict[str, float]:
    """Return `MEASURES` of one query (Chalkidis et al., section 5.2), from the ranks of all that is relevant; from 0 to 1."""
    ranks = np.sort(ranks)
    return {
        **{f"R@{cut}": recall(ranks, cut) for cut in (20, 100)},
        "nDCG@20": ndcg(ranks, 20),
        "R-precision": r_precision(ranks),
    }


def fused(query: Asked, chosen: Chosen) -> Scores:
    """Return float32[candidates]: the weighted sum of the lists, the age, and the window."""
    used = np.flatnonzero(chosen.weights)
    scores = chosen.weights[used].astype(np.float32) @ query.lists[used]
    if chosen.age:
        scores += np.float32(chosen.age) * _by_age(query.years, chosen.ages)
    if chosen.window is not None:
        scores = np.where((query.years >= -OLDER) & (query.years <= chosen.window), scores, np.float32(-np.inf))
    return scores


def _by_age(years: npt.NDArray[np.float64], ages: Sequence[float]) -> npt.NDArray[np.float32]:
    steps = np.array(ages, np.float32)[np.searchsorted(AGE_EDGES, np.floor(years), "right")]
    return np.where(np.isnan(years), np.float32(0), steps)


def learned_ages(asked: Sequence[Asked], without: int | None) -> tuple[float, ...]:
    """Return log odds, by step of `AGE_EDGES`, of the years of the pairs outside a fold against those of all candidates."""
    steps = len(AGE_EDGES) + 1
    pairs, background = np.full(steps, _SMOOTHING), np.ones(steps)
    for query in asked:
        step = np.searchsorted(AGE_EDGES, np.floor(query.years), "right")
        pairs += np.bincount(step[query.relevant[query.folds != without]], minlength=steps)
        background += np.bincount(step, minlength=steps)
    odds = np.log(pairs / pairs.sum()) - np.log(background / background.sum())
    return tuple(round(float(value), 2) for value in odds)


def quality(asked: Sequence[Asked], chosen: Chosen, without: int | None) -> float:
    """Return the mean of all measures over the training pairs: those whose directive is not in the fold left out.

    An act of several directives asks for those of the training folds. Its others stay in the list like any act that is not
    known to be relevant: to take them out would be to look at their labels.
    """
    values: list[float] = []
    for query in asked:
        relevant = query.relevant[query.folds != without]
        if len(relevant):
            values.append(float(np.mean(list(measure(ranks_in_order(fused(query, chosen), relevant)).values()))))
    return float(np.mean(values)) if values else 0.0


def tune(asked: Sequence[Asked], without: int | None, *, start: Sequence[float], ages: bool = False) -> Chosen:
    """Return weights by coordinate search on the training folds, all but one; None trains on all.

    Args:
        asked: Queries.
        without: Fold that is left out.
        start: Weights to begin with.
        ages: Also give the age a weight, in log odds learned on the same folds.
    """
    odds = learned_ages(asked, without) if ages else ()
    lists = {f"list {number}": weight for number, weight in enumerate(start)}

    def chosen(point: Mapping[str, float]) -> Chosen:
        return Chosen(np.array([point[name] for name in lists]), point["age"], odds)

    def value(point: Mapping[str, float]) -> float:
        return quality(asked, chosen(point), without) if any(point[name] for name in lists) else -1.0

    grid = dict.fromkeys((*lists, "age") if ages else lists, WEIGHTS)
    return chosen(coordinate_search(lists | {"age": 0.0}, grid, value))


def tune_window(asked: Sequence[Asked], without: int | None, chosen: Chosen) -> Chosen:
    """Return the same choice with the window of years that is best on the training folds."""
    windows = [Chosen(chosen.weights, chosen.age, chosen.ages, years) for years in WINDOWS]
    return max(windows, key=lambda option: quality(asked, option, without))


def cross_validated(asked: Sequence[Asked], choose: Callable[[int], Chosen]) -> list[dict[str, float]]:
    """Return the measures of each query; each pair is ranked by what was chosen without the fold of its directive."""
    ranks = [np.zeros(len(query.relevant), np.int64) for query in asked]
    for fold in range(FOLDS):
        chosen = choose(fold)
        for query, own in zip(asked, ranks, strict=True):
            test = query.folds == fold
            if test.any():
                own[test] = ranks_in_order(fused(query, chosen), query.relevant[test])
    return [measure(own) for own in ranks]
