"""Every measurement works: on little of what it takes, it prints one JSON object of figures.

Those that measure the demo's home are asked on the worker that has made it (`tests/test_readme.py`); the others wherever there is
time.
"""

from pathlib import Path

import pytest
from typer.main import get_command

from bench.__main__ import app
from tests.support.checkout import measured

QUICK = {
    "api": ["--quick"],
    "corpus": ["--quick"],
    "fine-tuning": ["--quick"],
    "graph-stage": ["--quick"],
    "history": ["--quick", "--sample", "20"],
    "languages": ["--quick"],
    "mutations": ["--count", "20"],
    "neo4j": ["--quick"],
    "scale": ["--quick"],
    "scope": ["--quick"],
}
"""Those that take long get little to do here: what is shown is that they work."""
OVER_THE_DEMO = ("api", "languages", "neo4j", "scope")
"""Those that need law, indexes and a model of the demo."""
IN_THE_README = ("ingest", "search", "serve")
"""Those whose commands the README gives: they run whole, with its other commands."""
MEASUREMENTS = sorted(get_command(app).commands)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]


@pytest.mark.slow
@pytest.mark.real_law
@pytest.mark.parametrize("name", [name for name in MEASUREMENTS if name not in (*OVER_THE_DEMO, *IN_THE_README)])
def test_every_measurement_prints_one_json_object(real_sources: tuple[Path, Path], name: str) -> None:
    assert measured(name, *QUICK.get(name, []))


def test_measurements_that_are_named_exist() -> None:
    assert {*QUICK, *OVER_THE_DEMO, *IN_THE_README} <= set(MEASUREMENTS)
