"""The weights of the fusion and of the pooling: those that were measured to be best, and a search for others.

The weights below were chosen once, over titles and whole training questions of both splits (service-public.fr, the four codes),
each asked of a model that had been trained on four fifths of the others. Chosen so on four fifths and measured on the last,
such weights are better than those that development questions choose for each split, in points with paired 95 % intervals,
R@100, R@500, MAP: by dossier +1.3 [-0.3, 2.7], +2.0 [0.8, 3.4] and +1.2 [0.4, 2.0], on titles +1.4, +2.6 and +2.0; on the
random split +0.3 [-0.4, 1.1], 0.0 [-0.6, 0.7] and -0.6 [-1.4, 0.1], on titles +0.6, +0.2 and +0.2. One choice serves both
splits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from gnn.recipe import Recipe
from runtime.progress import Progress, silent
from search.coordinate_search import PASSES, coordinate_search
from search.evaluation import Judged, measure, ranks_of
from search.modes import Mode
from search.ranking.fusion import Scores, weighted
from search.ranking.tree_pooling import PoolingWeights, TreePooling
from search.retrieval import Retriever

WEIGHTS = {"vector": 1.0, "bm25": 0.25, "section": 0.5, "authority": 0.3}
"""Of the lists that are fused, but for the votes of training questions: a recipe has theirs."""
POOLING = PoolingWeights(section=1.6, stem=0.8, citations=1.0)
"""Of the pools."""
GRID = {
    "bm25": (0.0, 0.1, 0.25, 0.5, 0.75, 1.0),
    "section": (0.25, 0.5, 0.75, 1.0, 1.5),
    "questions": (0.0, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0),
    "authority": (0.0, 0.1, 0.2, 0.3, 0.5),
}
POOLS = {"pool_section": (0.5, 1.0, 1.6), "pool_stem": (0.25, 0.5, 0.8), "pool_citations": (0.0, 0.3, 0.6, 1.0)}
_OBJECTIVE = ("R@100", "R@200", "R@500", "MAP")


@dataclass(frozen=True, slots=True)
class Tuned:
    """Weights of the lists that are fused, and of the pools."""

    weights: dict[str, float]
    pooling: PoolingWeights


def weights_of(recipe: Recipe) -> dict[str, float]:
    """Return the weights of the lists that a recipe fuses."""
    return WEIGHTS | ({"questions": recipe.votes} if recipe.votes else {})


def tune_weights(
    retriever: Retriever, questions: Sequence[Judged], start: Mapping[str, float], *, progress: Progress = silent
) -> Tuned:
    """Return the weights with the best mean of R@100, R@200, R@500 and MAP after pooling; the vector list weighs 1.

    Args:
        retriever: over a model whose weights are those to start from.
        start: `weights_of` its recipe; a list that has none gets none.
    """
    pool = TreePooling(retriever.corpus)
    asked = [(_comparable_lists(retriever, question.query), question.relevant) for question in questions]
    told = [(lists, relevant) for lists, relevant in asked if lists]  # none rank for what only names articles

    def quality(point: Mapping[str, float]) -> float:
        tuned = _split(point)
        rows = [measure(ranks_of(pool(weighted(lists, tuned.weights), tuned.pooling), relevant)) for lists, relevant in told]
        return float(np.mean([[row[name] for name in _OBJECTIVE] for row in rows])) if rows else 0.0

    pools = {f"pool_{name}": value for name, value in asdict(POOLING).items()}
    grid = {name: values for name, values in (GRID | POOLS).items() if name in start or name in pools}
    with progress("fusion weights", PASSES * len(grid)) as advance:
        return _split(coordinate_search({**start, **pools}, grid, quality, advance))


def _comparable_lists(retriever: Retriever, query: str) -> dict[str, Scores]:
    """Return the lists that are fused, as they are served: those that a query names, and what comes behind fusion, left out."""
    _, lists = retriever.scores(query, Mode.HYBRID, pooled=False)
    return {name: one.comparable for name, one in lists.items() if name in GRID or name == "vector"}


def _split(point: Mapping[str, float]) -> Tuned:
    pools = {name.removeprefix("pool_"): value for name, value in point.items() if name.startswith("pool_")}
    return Tuned({name: value for name, value in point.items() if not name.startswith("pool_")}, PoolingWeights(**pools))
