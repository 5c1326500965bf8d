"""LambdaMART (Burges, "From RankNet to LambdaRank to LambdaMART", 2010) by LightGBM: trees that rerank the first articles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.options import RerankOptions
from schema.errors import MissingExtra
from search.ranking.reranker import Candidates
from search.ranking.trees import MOST_LEAVES, Rows, Trees, check_finite, no_trees


@dataclass(frozen=True, eq=False)
class Example:
    """A question that was asked of a model which had not been trained on it.

    Attributes:
        fold: the part of the questions that the model was not trained on.
        asked: by title or as a whole.
        relevant: positions of the articles that answer it.
        query: its words, as it was asked.
    """

    fold: int
    asked: str
    candidates: Candidates
    relevant: npt.NDArray[np.intp]
    query: str = ""


def fit_trees(examples: Sequence[Example], features: tuple[str, ...], options: RerankOptions, *, threads: int = 2) -> Trees:
    """Learn trees from the first candidates of questions; the same examples give the same trees.

    Raises:
        MissingExtra: LightGBM is not installed.
        LexgraphError: a feature is missing or no finite number.
    """
    try:
        import lightgbm
    except ImportError:
        raise MissingExtra("the reranker is learnt with LightGBM: pip install 'lexgraph[train]'") from None
    parts = [_learnt_from(example, options.depth) for example in examples]
    parts = [(rows, labels) for rows, labels in parts if labels.any()]
    if not parts:
        return no_trees(features)
    rows = np.concatenate([rows for rows, _ in parts])
    check_finite(rows, features)
    data = lightgbm.Dataset(
        rows,
        np.concatenate([labels for _, labels in parts]),
        group=[len(labels) for _, labels in parts],
        init_score=options.share * rows[:, 0],
        free_raw_data=True,
    )
    booster = lightgbm.train(_parameters(options, threads), data, num_boost_round=options.rounds)
    return as_arrays(booster.dump_model(), features)


def _learnt_from(example: Example, depth: int) -> tuple[Rows, npt.NDArray[np.int32]]:
    positions = example.candidates.positions[:depth]
    return example.candidates.rows[:depth], np.isin(positions, example.relevant).astype(np.int32)


def _parameters(options: RerankOptions, threads: int) -> dict[str, Any]:
    return {
        "objective": "lambdarank",
        "lambdarank_truncation_level": options.truncation,
        "learning_rate": options.learning_rate,
        "num_leaves": min(options.leaves, MOST_LEAVES),
        "min_data_in_leaf": options.least_in_leaf,
        "feature_fraction": options.feature_share,
        "bagging_fraction": options.row_share,
        "bagging_freq": 1,
        "lambda_l2": options.l2,
        "max_bin": 63,
        "seed": options.seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": threads,
        "verbosity": -1,
    }


def as_arrays(dumped: Mapping[str, Any], features: tuple[str, ...]) -> Trees:
    """Return the trees of a model as LightGBM describes it, as arrays."""
    flat: list[list[tuple[int, float, int, int, float]]] = []
    for tree in dumped["tree_info"]:
        nodes: list[tuple[int, float, int, int, float]] = []
        _flatten(tree["tree_structure"], nodes)
        flat.append(nodes)
    shape = (len(flat), max(map(len, flat), default=1))
    feature, left, right = (np.full(shape, fill, np.int32) for fill in (-1, 0, 0))
    threshold, value = np.zeros(shape), np.zeros(shape)
    for tree, nodes in enumerate(flat):
        for column, values in zip((feature, threshold, left, right, value), zip(*nodes, strict=True), strict=True):
            column[tree, : len(nodes)] = values
    return Trees(features, feature, threshold, left, right, value)


def _flatten(structure: Mapping[str, Any], nodes: list[tuple[int, float, int, int, float]]) -> int:
    """Append a node and all below it; return its number."""
    number = len(nodes)
    if "leaf_value" in structure:
        nodes.append((-1, 0.0, 0, 0, float(structure["leaf_value"])))
        return number
    nodes.append((-1, 0.0, 0, 0, 0.0))
    left, right = (_flatten(structure[side], nodes) for side in ("left_child", "right_child"))
    feature, threshold, value = structure["split_feature"], structure["threshold"], structure["internal_value"]
    nodes[number] = (int(feature), float(threshold), left, right, float(value))
    return number
