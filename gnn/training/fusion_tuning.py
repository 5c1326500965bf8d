"""Choose the weights of the fusion and of the pooling on development questions, by coordinate search over small grids."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from runtime.progress import Progress, silent
from search.evaluation import Judged, measure, ranks_of
from search.ranking.fusion import Scores, standard_scores, weighted
from search.ranking.tree_pooling import PoolingWeights, TreePooling
from search.retrieval import Mode, Retriever

START = {"vector": 1.0, "bm25": 0.25, "section": 0.75, "questions": 1.0, "authority": 0.1}
GRID = {
    "bm25": (0.0, 0.1, 0.25, 0.5, 0.75, 1.0),
    "section": (0.25, 0.5, 0.75, 1.0, 1.5),
    "questions": (0.0, 0.5, 1.0, 2.0, 4.0, 8.0),
    "authority": (0.0, 0.05, 0.1, 0.2),
}
POOLS = {"pool_section": (0.5, 1.0, 1.6), "pool_stem": (0.25, 0.5, 0.8), "pool_citations": (0.0, 0.15, 0.3, 0.6)}
PASSES = 3
_COMPARABLE = ("questions", "authority")
_OBJECTIVE = ("R@100", "R@200", "R@500", "MAP")


@dataclass(frozen=True, slots=True)
class Tuned:
    """Weights of the lists that are fused, and of the pools."""

    weights: dict[str, float]
    pooling: PoolingWeights


def tune_weights(retriever: Retriever, questions: Sequence[Judged], *, progress: Progress = silent) -> Tuned:
    """The weights with the best mean of R@100, R@200, R@500 and MAP after pooling; the vector list weighs 1.

    Args:
        retriever: over a model whose weights give every list a share.
    """
    pool = TreePooling(retriever.corpus)
    lists: list[dict[str, Scores]] = []
    for question in questions:
        _, raw = retriever.scores(question.query, Mode.HYBRID, pooled=False)
        comparable = {
            name: standard_scores(r.scores, r.head) for name, r in raw.items() if name not in ("questions", "authority")
        }
        lists.append({name: comparable.get(name, r.scores) for name, r in raw.items()})
    known: dict[tuple[float, ...], float] = {}

    def quality(chosen: dict[str, float]) -> float:
        key = tuple(chosen.values())
        if key not in known:
            tuned = _split(chosen)
            rows = [
                measure(ranks_of(pool(weighted(found, tuned.weights), tuned.pooling), question.relevant))
                for found, question in zip(lists, questions, strict=True)
            ]
            known[key] = float(np.mean([[row[name] for name in _OBJECTIVE] for row in rows]))
        return known[key]

    pools = {f"pool_{name}": value for name, value in asdict(PoolingWeights()).items()}
    best = START | {"authority": 0.0} | pools
    grid = GRID | POOLS
    with progress("fusion weights", PASSES * len(grid)) as advance:
        for _ in range(PASSES):
            for name, values in grid.items():
                best = max((best | {name: value} for value in (best[name], *values)), key=quality)
                advance(1)
    return _split(best)


def _split(chosen: dict[str, float]) -> Tuned:
    pools = {name.removeprefix("pool_"): value for name, value in chosen.items() if name.startswith("pool_")}
    return Tuned({name: value for name, value in chosen.items() if not name.startswith("pool_")}, PoolingWeights(**pools))
