"""The encoder of queries as it is served: with parts, begun beside the caller, and through a tower."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from search.vectors.encoding import Encoding


def lengths(texts: Sequence[str]) -> np.ndarray:
    return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


def in_place(text: str, parts: Sequence[str]) -> np.ndarray:
    return lengths([text, *(f"{part} in {text}" for part in parts)])


def begun(text: str, parts: Sequence[str]) -> Callable[[], np.ndarray]:
    return lambda: in_place(text, parts)


def test_parts_are_read_where_they_stand_or_by_themselves() -> None:
    assert Encoding(lengths).embedded("abc", ["a"]).tolist() == [[3, 1], [1, 1]]
    assert Encoding(lengths, in_place).embedded("abc", ["a"]).tolist() == [[3, 1], [8, 1]]
    for encoding in (Encoding(lengths), Encoding(lengths, in_place)):
        assert encoding.embedded("abc", []).tolist() == [[3, 1]]


@pytest.mark.parametrize("encoding", [Encoding(lengths), Encoding(lengths, in_place), Encoding(lengths, in_place, begun)])
def test_a_tower_stands_behind_whatever_embeds(encoding: Encoding) -> None:
    text, parts = "abc", ["a", "bc"]
    tall = encoding.through(lambda rows: 2 * rows)
    assert (tall.encode_in is None, tall.begin_in is None) == (encoding.encode_in is None, encoding.begin_in is None)
    np.testing.assert_array_equal(tall.encode([text]), 2 * encoding.encode([text]))
    np.testing.assert_array_equal(tall.embedded(text, parts), 2 * encoding.embedded(text, parts))
    np.testing.assert_array_equal(tall.begin(text, parts)(), 2 * encoding.embedded(text, parts))
