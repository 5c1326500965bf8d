"""Regression trees as arrays: the sum of their leaves for many rows at once, and what each feature adds to it.

Rows are scored as QuickScorer does (Lucchese et al., SIGIR 2015, section 3): a node whose test fails rules out the leaves on its
left, and of those that are left over, the leftmost is the row's. All nodes of one feature are passed in one look-up.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from schema.errors import LexgraphError

Rows = npt.NDArray[np.float64]
MOST_LEAVES = 16
"""Leaves of a tree: a bit each."""
ARRAYS = ("feature", "threshold", "left", "right", "value")


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees of one ensemble, which add up.

    Attributes:
        features: names of the columns of a row.
        feature: int32[trees, nodes], column that a node tests; -1 at a leaf, and where a tree has fewer nodes.
        threshold: float64[trees, nodes]; a row goes left where its value is no greater.
        left, right: int32[trees, nodes], the nodes that follow.
        value: float64[trees, nodes], what a leaf adds; of an inner node, the mean over the rows that it was trained on.
    """

    features: tuple[str, ...]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float64]
    left: npt.NDArray[np.int32]
    right: npt.NDArray[np.int32]
    value: npt.NDArray[np.float64]

    def __call__(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return float64[rows]: the sum of the leaves that each row comes to.

        Args:
            rows: float64[rows, features].

        Raises:
            LexgraphError: a value is missing or no finite number; it names the feature.
        """
        check_finite(rows, self.features)
        bits = np.full((len(rows), len(self.value)), np.uint16((1 << MOST_LEAVES) - 1))
        left_over = np.empty_like(bits)  # one for all columns: to ask for so much memory takes longer than to fill it
        for column, (thresholds, masks) in self._masks.items():
            places = np.searchsorted(thresholds, rows[:, column], side="left")
            np.take(masks, places, axis=0, out=left_over, mode="clip")
            bits &= left_over
        place = _LOWEST_BIT[bits] + MOST_LEAVES * np.arange(len(self.value), dtype=np.int32)
        return self._leaves.ravel()[place].sum(1)

    def contributions(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Return float64[rows, features]: what each feature adds, by the steps on the way to a leaf; few rows at a time.

        A step from a node to the next adds the difference of their values to the feature that the node tests.
        """
        added = np.zeros((len(rows), len(self.features)))
        trees = np.broadcast_to(np.arange(len(self.value)), (len(rows), len(self.value)))
        at = np.zeros_like(trees)
        row = np.broadcast_to(np.arange(len(rows))[:, None], at.shape)
        while ((column := self.feature[trees, at]) >= 0).any():
            goes_left = rows[row, column] <= self.threshold[trees, at]
            following = np.where(column < 0, at, np.where(goes_left, self.left[trees, at], self.right[trees, at]))
            np.add.at(added, (row, np.maximum(column, 0)), self.value[trees, following] - self.value[trees, at])
            at = following
        return added

    @cached_property
    def _order(self) -> tuple[list[list[int]], list[dict[int, tuple[int, int]]]]:
        """Of each tree, its leaves from left to right; and of each inner node, the first of the leaves below and right of it."""
        leaves: list[list[int]] = []
        spans: list[dict[int, tuple[int, int]]] = []
        for tree in range(len(self.value)):
            own: list[int] = []
            span: dict[int, tuple[int, int]] = {}
            self._walk(tree, 0, own, span)
            leaves.append(own)
            spans.append(span)
        return leaves, spans

    def _walk(self, tree: int, node: int, leaves: list[int], spans: dict[int, tuple[int, int]]) -> None:
        if self.feature[tree, node] < 0:
            leaves.append(node)
            return
        first = len(leaves)
        self._walk(tree, int(self.left[tree, node]), leaves, spans)
        spans[node] = (first, len(leaves))
        self._walk(tree, int(self.right[tree, node]), leaves, spans)

    @cached_property
    def _leaves(self) -> npt.NDArray[np.float64]:
        """float64[trees, `MOST_LEAVES`]: values of the leaves from left to right."""
        values = np.zeros((len(self.value), MOST_LEAVES))
        for tree, nodes in enumerate(self._order[0]):
            values[tree, : len(nodes)] = self.value[tree, nodes]
        return values

    @cached_property
    def _masks(self) -> Mapping[int, tuple[Rows, npt.NDArray[np.uint16]]]:
        """Of each column, its thresholds in order, and uint16[thresholds + 1, trees]: leaves that are left."""
        tests: dict[int, list[tuple[float, int, int]]] = {}
        for tree, spans in enumerate(self._order[1]):
            for node, (first, end) in spans.items():
                ruled_out = ((1 << end) - 1) ^ ((1 << first) - 1)
                tests.setdefault(int(self.feature[tree, node]), []).append((float(self.threshold[tree, node]), tree, ruled_out))
        tables: dict[int, tuple[Rows, npt.NDArray[np.uint16]]] = {}
        for column, nodes in tests.items():
            nodes.sort()
            masks = np.full((len(nodes) + 1, len(self.value)), np.uint16((1 << MOST_LEAVES) - 1))
            for place, (_, tree, ruled_out) in enumerate(nodes, 1):
                masks[place] = masks[place - 1]
                masks[place, tree] &= np.uint16(~ruled_out & ((1 << MOST_LEAVES) - 1))
            tables[column] = (np.array([threshold for threshold, _, _ in nodes]), masks)
        return tables


def no_trees(features: tuple[str, ...]) -> Trees:
    """Return an ensemble that has learnt nothing."""
    numbers, values = np.zeros((0, 1), np.int32), np.zeros((0, 1))
    return Trees(features, numbers, values, numbers, numbers, values)


def check_finite(rows: Rows, features: tuple[str, ...]) -> None:
    """Refuse rows that lack a feature, or have a value of one that is no finite number.

    Raises:
        LexgraphError: naming the feature.
    """
    if rows.shape[1] != len(features):
        raise LexgraphError(f"the reranker has {len(features)} features and was given {rows.shape[1]}")
    if not np.isfinite(rows).all():
        column = int(np.flatnonzero(~np.isfinite(rows).all(0))[0])
        raise LexgraphError(f"the feature {features[column]!r} of the reranker is not a finite number for every article")


_LOWEST_BIT = np.array([(number & -number).bit_length() - 1 for number in range(1 << MOST_LEAVES)], np.int32).clip(0)
