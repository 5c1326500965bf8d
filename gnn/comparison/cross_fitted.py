"""Gains of rerankers over the ranking that they reorder, by cross-fitting over training and test questions.

Some hundred test questions tell little of a gain of a point. Here each fifth of all that are not development questions is asked
of towers and of a reranker that learnt from the other four; development questions choose the epoch of the towers alone.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.comparison.markdown import table_lines, written_by
from gnn.comparison.tables import rounded
from gnn.fine_tuning.tuned import read_by
from gnn.model.subgraph import subgraph_edges
from gnn.recipe import Recipe
from gnn.training.fusion_tuning import POOLING, weights_of
from gnn.training.graph_reranker import fit_graph_reranker
from gnn.training.lambdamart import Example, fit_trees
from gnn.training.train import Trainer, check_questions
from gnn.workspace import Workspace
from schema.errors import BadQuery
from search.arrays import Positions
from search.evaluation import UNRANKED, Measured, Ranks, measures_of, with_intervals
from search.questions import TITLE, WITH_DESCRIPTION, of_split
from search.ranking.candidates import columns
from search.ranking.reranker import Candidates, Reranker

MEASURED = ("R@100", "R@200", "R@500", "MAP", "nDCG@10", "S@5")
_PARTS = ("train", "test")
_PerQuestion = Mapping[str, npt.NDArray[np.float64]]
_BeforeAndAfter = tuple[_PerQuestion, Mapping[str, _PerQuestion]]
_Gains = dict[str, dict[str, Measured]]
"""Of each recipe, what it adds to another ranking, in points, with 95 % intervals."""
_Order = Callable[[Candidates], Positions]
"""Gives the places so far of candidates in their new order."""


@dataclass(frozen=True, slots=True)
class CrossFittedTable:
    """Rerankers over one first stage, on the questions of a split asked in one way.

    Attributes:
        n: questions; seeds: trainings, over which each question's measure is the mean.
        before: measures of the first stage, in percent, with 95 % intervals over questions.
        gains: of each recipe, what it adds, in points, with paired intervals.
        between: of each recipe but the first, what it adds to each one before it.
    """

    questions: str
    split: str
    asked: str
    n: int
    seeds: int
    before: dict[str, Measured]
    gains: _Gains
    between: dict[str, _Gains]

    def as_json(self) -> dict[str, Any]:
        """Return the table as an object, figures rounded to two places."""
        return rounded(asdict(self))


def cross_fitted_tables(
    workspace: Workspace, recipes: Sequence[Recipe], splits: Sequence[str], seeds: int = 1
) -> Iterator[CrossFittedTable]:
    """Yield one table for each split and each way of asking.

    Args:
        seeds: trainings of towers and rerankers; each question's measure is its mean over them.

    Raises:
        BadQuery: a recipe reranks nothing, learns to over another one, or the recipes rerank what different towers find.
        BadSetting: there are no questions to learn from or to choose by.
    """
    for recipe in recipes:
        if recipe.rerank.over:
            raise BadQuery(f"recipe {recipe.name}: its trees learn over {recipe.rerank.over}, not over what its own towers find")
        if not recipe.rerank.rounds and recipe.method != "graph-reranker":
            raise BadQuery(f"recipe {recipe.name} has no reranker of the first candidates; lambdamart has one")
        if _towers(recipe) != _towers(recipes[0]):
            raise BadQuery(f"{recipes[0].name} and {recipe.name} rerank what different towers find: compare them one by one")
    trainer, source = Trainer(workspace), recipes[0].questions
    for split in splits:
        check_questions(recipes[0], workspace.questions, (split,))
        each = [_measured(trainer, [recipe.seeded(n) for recipe in recipes], split) for n in range(seeds)]
        for asked in each[0]:
            before, after = _means([one[asked] for one in each])
            yield CrossFittedTable(source, split, asked, len(before["MAP"]), seeds, _intervals(before), *_gains(before, after))


def _measured(trainer: Trainer, recipes: Sequence[Recipe], split: str) -> dict[str, _BeforeAndAfter]:
    """Return the measures of questions before and after reranking, by how they are asked, of one training of each recipe."""
    workspace, first = trainer.workspace, recipes[0]
    questions = [question for part in _PARTS for question in of_split(workspace.questions, split, part)]
    examples = trainer.examples(first, split, weights_of(first), POOLING, questions, read_by(first))
    after = {recipe.name: _reranked(examples, recipe, workspace) for recipe in recipes}
    measured: dict[str, _BeforeAndAfter] = {}
    for asked in (WITH_DESCRIPTION, TITLE):
        chosen = [n for n, example in enumerate(examples) if example.asked == asked]
        if chosen:
            before = [_ranks(examples[n].candidates.positions, examples[n].relevant) for n in chosen]
            own = {name: measures_of([ranks[n] for n in chosen]) for name, ranks in after.items()}
            measured[asked] = measures_of(before), own
    return measured


def _means(seeds: Sequence[_BeforeAndAfter]) -> _BeforeAndAfter:
    """Return each question's means over seeds, before and after reranking."""

    def mean(each: Sequence[_PerQuestion]) -> _PerQuestion:
        return {measure: np.mean([one[measure] for one in each], axis=0) for measure in MEASURED}

    return mean([before for before, _ in seeds]), {name: mean([after[name] for _, after in seeds]) for name in seeds[0][1]}


def _gains(before: _PerQuestion, after: Mapping[str, _PerQuestion]) -> tuple[_Gains, dict[str, _Gains]]:
    """Return what each adds to the first stage, and each but the first one to those before it."""
    names = list(after)
    between = {
        name: {other: _gained(after[name], after[other]) for other in names[:place]} for place, name in enumerate(names) if place
    }
    return {name: _gained(one, before) for name, one in after.items()}, between


def _intervals(one: _PerQuestion) -> dict[str, Measured]:
    return with_intervals({measure: one[measure] for measure in MEASURED})


def _gained(one: _PerQuestion, over: _PerQuestion) -> dict[str, Measured]:
    """Return what one adds to another, in points, with paired intervals."""
    return _intervals({measure: one[measure] - over[measure] for measure in MEASURED})


def _towers(recipe: Recipe) -> tuple[object, ...]:
    """Return what makes the candidates that a recipe reranks."""
    learnt_from = recipe.more_questions, recipe.votes, recipe.rerank.negatives, recipe.rerank.tuned
    asked = recipe.sentences, recipe.tune_fusion
    return recipe.encoder, recipe.document, recipe.query, recipe.training, recipe.curriculum, *learnt_from, *asked


def _reranked(examples: Sequence[Example], recipe: Recipe, workspace: Workspace) -> list[Ranks]:
    """Return the ranks of the relevant articles of each example, by a reranker that learnt from the other parts."""
    ranks: dict[int, Ranks] = {}
    for fold in sorted({example.fold for example in examples}):
        order = _learnt([example for example in examples if example.fold != fold], recipe, workspace)
        for n, example in enumerate(examples):
            if example.fold == fold:
                ranks[n] = _ranks(example.candidates.positions[order(example.candidates)], example.relevant)
    return [ranks[n] for n in range(len(examples))]


def _learnt(examples: Sequence[Example], recipe: Recipe, workspace: Workspace) -> _Order:
    threads = workspace.threads
    if recipe.method == "graph-reranker":
        edges, options = subgraph_edges(workspace.corpus, recipe.document.edges), recipe.graph_rerank
        seed, progress = recipe.training.seed, workspace.progress
        return fit_graph_reranker(examples, edges, options, seed=seed, threads=threads, progress=progress).order
    trees = fit_trees(examples, columns(tuned=bool(recipe.rerank.tuned)), recipe.rerank, threads=threads)
    reranker = Reranker(trees, recipe.rerank.share)
    return lambda candidates: reranker.order(candidates.rows)


def _ranks(ranked: Positions, relevant: npt.NDArray[np.intp]) -> Ranks:
    """Return the rank of each relevant article; `UNRANKED` of one that is no candidate."""
    place = {position: rank for rank, position in enumerate(ranked.tolist(), 1)}
    return np.array([place.get(position, UNRANKED) for position in relevant.tolist()], np.int64)


def figures(table: CrossFittedTable) -> Iterator[list[str]]:
    """Yield the names of the columns, then the cells of each row: the first stage, what each recipe adds to it, and to others."""
    yield ["recipe", *MEASURED]
    yield ["first stage", *(f"{table.before[name].mean:.1f}" for name in MEASURED)]
    between = ((f"{name} over {other}", gain) for name, over in table.between.items() for other, gain in over.items())
    for name, gain in (*table.gains.items(), *between):
        yield [name, *(f"{gain[n].mean:+.1f} [{gain[n].low:.1f}, {gain[n].high:.1f}]" for n in MEASURED)]


def cross_fitted_title(table: CrossFittedTable) -> str:
    """Return the title of a table."""
    return f"{table.questions}: {table.n:,} training and test questions, {table.split} split, {table.asked}"


def cross_fitted_page(tables: Sequence[CrossFittedTable], about: Sequence[Recipe], command: str) -> str:
    """Return the tables as a page of Markdown."""
    lines = written_by("What rerankers add, cross-fitted", command)
    lines += ["Each fifth of the questions is asked of towers and rerankers that learnt from the other four. The first stage in"]
    lines += [
        "percent; what is added to it, or to another recipe, in points, with a paired 95 % bootstrap interval over questions."
    ]
    if tables[0].seeds > 1:
        lines += [f"All are trained with {tables[0].seeds} seeds: each question's measure is its mean over these."]
    lines += [""]
    for table in tables:
        names, *rows = figures(table)
        lines += [f"## {cross_fitted_title(table)}", "", *table_lines(names, rows), ""]
    lines += [f"- `{recipe.name}`: {' '.join(recipe.description.split())}" for recipe in about]
    return "\n".join(lines) + "\n"
