"""Milliseconds that reranking adds to a hybrid query, each query asked with and without it in turn."""

from dataclasses import replace
from functools import partial

import numpy as np

from bench.timing import seconds_of
from gnn.recipe import load_recipe
from gnn.training.cross_fitting import gathering
from gnn.training.lambdamart import Example, fit_trees
from search.ranking.candidates import FEATURES
from search.ranking.reranker import Reranker
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import VectorModel

_RELEVANT = 20
"""Candidates of a query that are called relevant, for trees to be learnt: the time does not depend on which."""
_ROUNDS = 6
"""Times that each query is asked; the first is not counted."""


def added_ms(index: TextIndex, model: VectorModel, queries: tuple[str, ...]) -> float:
    """Return the median milliseconds that as many trees as the recipe `lambdamart` has add to a query."""
    without = Retriever(index, model)
    with_trees = Retriever(index, replace(model, reranker=_made_up(index, model, queries)))
    added: list[float] = []
    for turn in range(_ROUNDS):
        for query in queries:
            before, after = (seconds_of(partial(each.search, query, first=20)) for each in (without, with_trees))
            if turn:
                added.append(1000 * (after - before))
    return float(np.median(added))


def _made_up(index: TextIndex, model: VectorModel, queries: tuple[str, ...]) -> Reranker:
    """Return a reranker that learnt from candidates of which some were drawn as relevant."""
    random, retriever = np.random.default_rng(1), gathering(index, model)
    examples: list[Example] = []
    for number, query in enumerate(queries):
        reranked = retriever.rank(query).reranked
        if reranked is not None:
            drawn = random.choice(reranked.candidates.positions[:200], _RELEVANT, replace=False)
            examples.append(Example(number, "", reranked.candidates, drawn))
    options = load_recipe("lambdamart").rerank
    # So few queries would give trees of two leaves.
    trees = fit_trees(examples, FEATURES, options.model_copy(update={"least_in_leaf": 10}))
    return Reranker(trees, options.share)
