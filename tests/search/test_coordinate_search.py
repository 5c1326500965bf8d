"""Coordinate search over a small grid."""

from search.coordinate_search import PASSES, coordinate_search


def test_it_finds_the_best_of_each_coordinate_and_asks_each_point_once() -> None:
    asked: list[tuple[float, ...]] = []
    steps: list[int] = []

    def quality(point: dict[str, float]) -> float:
        asked.append(tuple(point.values()))
        return -((point["a"] - 2) ** 2) - 0.5 * (point["b"] - point["a"]) ** 2

    best = coordinate_search({"fixed": 7, "a": 0, "b": 0}, {"a": (0, 1, 2), "b": (0, 1, 2)}, quality, steps.append)
    assert best == {"fixed": 7, "a": 2, "b": 2}
    assert len(asked) == len(set(asked))
    assert 0 < sum(steps) <= PASSES * 2


def test_of_equal_points_the_first_stays() -> None:
    assert coordinate_search({"a": 1}, {"a": (0, 1, 2)}, lambda point: 0.0) == {"a": 1}
