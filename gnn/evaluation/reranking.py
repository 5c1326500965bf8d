"""Measure what a reranker earns, by cross-fitting: learnt from four fifths of the training questions, asked of the last."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gnn.recipe import Recipe
from gnn.training.distributed import alone
from gnn.training.lambdamart import Example, fit_trees
from gnn.training.train import Trainer
from gnn.versions.files import load_model
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.workspace import Workspace
from schema.errors import NotReady
from search.arrays import Positions
from search.evaluation import UNRANKED, Measured, Ranks, measures_of, with_intervals
from search.questions import TITLE, WITH_DESCRIPTION
from search.ranking.candidates import FEATURES
from search.ranking.reranker import Reranker


@dataclass(frozen=True, slots=True)
class RerankingGain:
    """Measures of the training questions of one split, asked in one way, in percent.

    Attributes:
        before: without the reranker; gain: what it adds, with paired 95 % intervals over questions.
    """

    split: str
    asked: str
    questions: int
    before: dict[str, Measured]
    gain: dict[str, Measured]


def measure_reranking(workspace: Workspace, recipe: Recipe) -> Iterator[RerankingGain]:
    """Yield what reranking adds to a recipe's versions, split by split, of titles and of whole questions.

    No test or development question is looked at, but for the epoch of the models of the parts.

    Raises:
        NotReady: a version has not been trained, or its recipe has no reranker.
    """
    if not recipe.rerank.rounds:
        raise NotReady(f"recipe {recipe.name} has no reranker; lambdamart has one")
    ids = model_ids(recipe, workspace.index.key, workspace.questions)
    trainer = Trainer(workspace, alone())
    for split in recipe.splits:
        model = load_model(workspace.home, ids[RecipeSplit(recipe.name, split)], workspace.corpus, workspace.threads)
        examples = trainer.examples(recipe, split, model.weights, model.pooling)
        after = _reranked(examples, recipe, workspace.threads)
        for asked in (WITH_DESCRIPTION, TITLE):
            chosen = [n for n, example in enumerate(examples) if example.asked == asked]
            before = [_ranks(examples[n].candidates.positions, examples[n].relevant) for n in chosen]
            first, second = measures_of(before), measures_of([after[n] for n in chosen])
            gain = with_intervals({name: second[name] - first[name] for name in first})
            yield RerankingGain(split, asked, len(chosen), with_intervals(first), gain)


def _reranked(examples: Sequence[Example], recipe: Recipe, threads: int) -> list[Ranks]:
    """Return the ranks of the relevant articles of each example, by trees that were learnt from the other parts."""
    ranks: dict[int, Ranks] = {}
    for fold in sorted({example.fold for example in examples}):
        trees = fit_trees([example for example in examples if example.fold != fold], FEATURES, recipe.rerank, threads=threads)
        reranker = Reranker(trees, recipe.rerank.share)
        for n, example in enumerate(examples):
            if example.fold == fold:
                order = reranker.order(example.candidates.rows)
                ranks[n] = _ranks(example.candidates.positions[order], example.relevant)
    return [ranks[n] for n in range(len(examples))]


def _ranks(ranked: Positions, relevant: npt.NDArray[np.intp]) -> Ranks:
    """Return the rank of each relevant article; `UNRANKED` of one that is no candidate."""
    place = {position: rank for rank, position in enumerate(ranked.tolist(), 1)}
    return np.array([place.get(position, UNRANKED) for position in relevant.tolist()], np.int64)
