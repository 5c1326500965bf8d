"""Variants of a test of which `make check` runs the first few: the others are slow, and run with everything."""

from collections.abc import Iterable, Mapping
from typing import Any

import pytest


def variants(values: Iterable[Any] | Mapping[str, Any], *, quick: int = 1) -> list[Any]:
    """Return parameters of a test, those behind the first few marked as slow.

    Args:
        values: a tuple holds one value for each argument; a mapping has them by their names.
    """
    named = values.items() if isinstance(values, Mapping) else ((None, value) for value in values)
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)), id=id, marks=[pytest.mark.slow] if place >= quick else []
        )
        for place, (id, value) in enumerate(named)
    ]
