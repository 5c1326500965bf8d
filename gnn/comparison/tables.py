"""Any recipes on the same questions: means and deviations over seeds, paired intervals, and what each costs."""

import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.comparison.contenders import Contender, Entry, Score, contender, seeds_of
from gnn.comparison.kept import Measured, keep, kept
from gnn.comparison.trials import Asked, Trial, trials
from gnn.cost import Cost
from gnn.distributed import gpu_name
from gnn.kept_answers import Answers, kept_file
from gnn.recipe import Recipe
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from runtime.progress import Progress
from schema.errors import BadQuery
from search.evaluation import MEASURES, Judged, all_ranks, measures_of, with_intervals
from search.evaluation import Measured as Interval

GAINS = ("R@100", "MAP")
"""Measures whose differences between rows have intervals."""
AGAINST = ("first", "above")
_PerQuestion = Mapping[str, npt.NDArray[np.float64]]


@dataclass(frozen=True, slots=True)
class Row:
    """One recipe of a table, over its seeds.

    Attributes:
        means, deviations: of the measures over seeds, in percent; the deviation is None of one seed.
        gains: differences from the row that it is held against, in points, with paired 95 % intervals over questions (each
            question's measure is its mean over seeds); empty for the first row.
        training_s: mean seconds of a training; query_ms: median milliseconds of a query.
        gpus: of the machines that measured, none where they had none; encoder_gpus: of those that trained its bi-encoders.
        once: recipes that it is made from which were trained with one seed, where it was with several.
    """

    name: str
    about: str
    seeds: int
    means: Mapping[str, float]
    deviations: Mapping[str, float | None]
    gains: Mapping[str, Interval]
    training_s: float
    parameters: int
    query_ms: float
    gpus: tuple[str, ...] = ()
    encoder_gpus: tuple[str, ...] = ()
    once: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecipeTable:
    """Recipes on the questions of one part of one split, asked in one way.

    Attributes:
        against: the row that gains are over: the first, or the one above.
    """

    questions: str
    split: str
    part: str
    asked: str
    n: int
    against: str
    rows: Sequence[Row]

    def as_json(self) -> dict[str, Any]:
        """Return the table as an object, figures rounded to two places."""
        return rounded(asdict(self))


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows and questions of a comparison.

    Attributes:
        entries: the rows, in their order.
        splits: of the questions; part: of the questions, or `gnn.comparison.trials.CROSS_FITTED`.
        seeds: trainings of each recipe.
        against: one of `AGAINST`.
    """

    entries: Sequence[Entry]
    splits: Sequence[str]
    seeds: int = 1
    part: str = "test"
    against: str = "first"


def compare_recipes(workspace: Workspace, plan: Plan, source: str) -> Iterator[RecipeTable]:
    """Yield one table for each split and each way of asking; what is not measured yet is trained and measured first.

    Of a recipe that learns nothing from a seed, one seed is measured. Versions on disk are used as they are; none is written,
    entered into the graph or made active. Measured rows are kept under ``home/comparisons``.

    Raises:
        BadQuery: there is no such part of the questions, or no such row to hold others against.
        BadSetting: a recipe has no questions to train on.
        NotReady: there are no questions to ask.
        StorageFull: the disk is full; rows that were measured before stay.
    """
    if plan.against not in AGAINST:
        raise BadQuery(f"no row {plan.against!r} to hold others against; there are: {', '.join(AGAINST)}")
    for split in plan.splits:
        tried = trials(workspace, split, plan.part, source)
        for one in plan.entries:
            for trial in tried:
                trial.trainer(one.recipe)  # what no recipe could learn from is told before any is trained
        runs: dict[str, list[Measured]] = {}
        for one in plan.entries:
            if one.recipe.key() not in runs:
                wanted = sorted({other.measured_way for other in plan.entries if other.recipe.key() == one.recipe.key()})
                seeds = range(seeds_of(one.recipe, 1 if one.once else plan.seeds))
                runs[one.recipe.key()] = [_tried(tried, one.recipe.seeded(n), split, wanted) for n in seeds]
        for way in tried[0].asked:
            asked = sum(len(trial.asked[way]) for trial in tried)
            yield RecipeTable(source, split, plan.part, way, asked, plan.against, list(_rows(plan, runs, way)))


def _tried(tried: Sequence[Trial], recipe: Recipe, split: str, ways: Collection[str]) -> Measured:
    """Return a recipe of one seed, measured in all trials, as if all their questions were asked of one model."""
    each = [_run(trial.trainer(recipe), recipe, split, ways, trial.asked) for trial in tried]
    answers = {way: {asked: _side_by_side(one.answers[way][asked] for one in each) for asked in tried[0].asked} for way in ways}
    costs = {way: _mean_cost([one.costs[way] for one in each]) for way in ways}
    return Measured(answers, costs, {way: max(one.gpus[way] for one in each) for way in ways})


def _mean_cost(each: Sequence[Cost]) -> Cost:
    return Cost(float(np.mean([one.seconds for one in each])), each[0].parameters, max(one.gpu for one in each))


def _side_by_side(answers: Iterable[Answers]) -> Answers:
    each = list(answers)
    return Answers([ranks for one in each for ranks in one.ranks], float(np.median([one.query_ms for one in each])))


def _run(trainer: Trainer, recipe: Recipe, split: str, ways: Collection[str], asked: Asked) -> Measured:
    """Return a recipe of one seed by some ways of ranking, measured now where it was not before."""
    workspace = trainer.workspace
    file = kept_file(workspace.home, f"{workspace.version_id(recipe, split)}-{workspace.engines}", asked)
    before = kept(file) or Measured({}, {}, {})
    missing = [way for way in ways if way not in before.answers]
    if not missing:
        return before
    one = contender(trainer, recipe, split, missing)
    measured = before.with_more(measure_contender(one, missing, asked, f"{recipe.name}, {split}", workspace.progress))
    keep(file, measured)
    return measured


def measure_contender(contender: Contender, ways: Collection[str], asked: Asked, label: str, progress: Progress) -> Measured:
    """Return what some ways of ranking by a contender answer."""
    answers: dict[str, dict[str, Answers]] = {}
    for way in ways:
        answers[way] = {
            name: _answers(contender.ways[way], queries, f"{label}, {way}", progress) for name, queries in asked.items()
        }
    return Measured(answers, {way: contender.cost_of(way) for way in ways}, {way: gpu_name() for way in ways})


def _answers(score: Score, queries: Sequence[Judged], label: str, progress: Progress) -> Answers:
    times: list[float] = []

    def timed(query: str) -> npt.NDArray[np.float32]:
        began = time.perf_counter()
        scores = score(query)
        times.append(time.perf_counter() - began)
        return scores

    ranks = all_ranks(timed, queries, progress=progress, label=label)
    return Answers(ranks, 1000 * float(np.median(times)))


def _rows(plan: Plan, runs: Mapping[str, Sequence[Measured]], asked: str) -> Iterator[Row]:
    held: _PerQuestion | None = None
    for one in plan.entries:
        measured = runs[one.recipe.key()]
        way = one.measured_way
        answers, costs = [run.answers[way][asked] for run in measured], [run.costs[way] for run in measured]
        gpus = {run.gpus[way] for run in measured}
        by_seed = [measures_of(answer.ranks) for answer in answers]
        per_question = {name: np.mean([seed[name] for seed in by_seed], axis=0) for name in MEASURES}
        of_seeds = {name: [100 * float(seed[name].mean()) for seed in by_seed] for name in MEASURES}
        yield Row(
            name=one.name,
            about=" ".join(one.recipe.description.split()),
            seeds=len(measured),
            means={name: float(np.mean(values)) for name, values in of_seeds.items()},
            deviations={n: float(np.std(values, ddof=1)) if len(values) > 1 else None for n, values in of_seeds.items()},
            gains={} if held is None else with_intervals({name: per_question[name] - held[name] for name in GAINS}),
            training_s=float(np.mean([cost.seconds for cost in costs])),
            parameters=costs[0].parameters,
            query_ms=float(np.median([answer.query_ms for answer in answers])),
            gpus=tuple(sorted(gpus - {""})),
            encoder_gpus=tuple(sorted({cost.gpu for cost in costs} - {"", *gpus})),
            once=tuple(other.name for other in one.recipe.made_from if other.name in one.recipe.once and len(measured) > 1),
        )
        if held is None or plan.against == "above":
            held = per_question


def rounded(value: Any) -> Any:
    """Return an object of figures with these rounded to two places."""
    if isinstance(value, float):
        return round(value, 2)
    if isinstance(value, dict):
        return {name: rounded(inner) for name, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list | tuple) else value
