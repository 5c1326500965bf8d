"""Coordinate search: the best of a small grid, one coordinate at a time."""

from collections.abc import Callable, Mapping, Sequence

PASSES = 3
Point = dict[str, float]


def coordinate_search(
    start: Mapping[str, float],
    grid: Mapping[str, Sequence[float]],
    quality: Callable[[Point], float],
    advance: Callable[[int], object] = lambda steps: None,
) -> Point:
    """Return the point that no change of one coordinate improves, or the one reached after `PASSES` over all of them.

    Of points of equal quality the earlier one stays.

    Args:
        start: where the search begins; its coordinates outside the grid stay as they are.
        grid: values to try, by coordinate.
        quality: what is maximised; called once a point.
        advance: called with 1 after each of up to ``PASSES · len(grid)`` coordinates.
    """
    measured: dict[tuple[float, ...], float] = {}

    def of(point: Point) -> float:
        key = tuple(point.values())
        if key not in measured:
            measured[key] = quality(point)
        return measured[key]

    best = dict(start)
    for _ in range(PASSES):
        before = best
        for name, values in grid.items():
            best = max((best | {name: value} for value in (best[name], *values)), key=of)
            advance(1)
        if best == before:
            break
    return best
