"""Choose the weights of the fusion on development questions, by coordinate search over a small grid."""

from collections.abc import Sequence

import numpy as np

from schema.progress import Progress, silent
from search.evaluation import Judged, measure, ranks_of
from search.fusion import standard_scores, weighted
from search.pooling import PoolingWeights, TreePooling
from search.retrieval import Mode, Retriever

START = {"vector": 1.0, "bm25": 0.25, "section": 0.75, "questions": 1.0}
GRID = {
    "bm25": (0.0, 0.1, 0.25, 0.5, 0.75, 1.0),
    "section": (0.25, 0.5, 0.75, 1.0, 1.5),
    "questions": (0.0, 0.5, 1.0, 2.0, 4.0, 8.0),
}
PASSES = 3
_OBJECTIVE = ("R@100", "R@200", "R@500", "MAP")


def tune_weights(
    retriever: Retriever, questions: Sequence[Judged], pooling: PoolingWeights, *, progress: Progress = silent
) -> dict[str, float]:
    """The weights with the best mean of R@100, R@200, R@500 and MAP after pooling; the vector list weighs 1.

    Args:
        retriever: over a model whose weights give every list a share.
    """
    pool = TreePooling(retriever.corpus)
    lists = []
    for question in questions:
        _, raw = retriever.scores(question.query, Mode.HYBRID, pooled=False)
        lists.append({name: r.scores if name == "questions" else standard_scores(r.scores, r.head) for name, r in raw.items()})
    known: dict[tuple[float, ...], float] = {}

    def quality(weights: dict[str, float]) -> float:
        key = tuple(weights.values())
        if key not in known:
            rows = [
                measure(ranks_of(pool(weighted(found, weights), pooling), question.relevant))
                for found, question in zip(lists, questions, strict=True)
            ]
            known[key] = float(np.mean([[row[name] for name in _OBJECTIVE] for row in rows]))
        return known[key]

    best = dict(START)
    with progress("fusion weights", PASSES * len(GRID)) as advance:
        for _ in range(PASSES):
            for name, values in GRID.items():
                best = max((best | {name: value} for value in (best[name], *values)), key=quality)
                advance(1)
    return best
