"""Rows of embeddings by identifier."""

import numpy as np

from search.arrays import positions_in, realigned


def test_rows_follow_their_identifiers_and_what_has_none_gets_the_missing_value() -> None:
    rows = np.array([[1, 2], [3, 4]], np.float16)
    assert positions_in(["a", "b"], ["b", "c", "a"]).tolist() == [1, -1, 0]
    aligned = realigned(rows, ["a", "b"], ["b", "c", "a"])
    assert aligned.dtype == np.float32
    assert aligned.tolist() == [[3, 4], [0, 0], [1, 2]]
    assert realigned(np.array([0.5], np.float32), ["a"], ["c", "a"], -np.inf).tolist() == [-np.inf, 0.5]
    assert realigned(rows, ["a", "b"], []).shape == (0, 2)
