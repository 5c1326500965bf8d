"""Commands of this checkout, as its README gives them, in an environment of their own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docker.maven import ServerMissing

ROOT = Path(__file__).parents[2]
HOME = ROOT / "lexgraph-data"
"""The home that the README's commands work in."""


def environment() -> dict[str, str]:
    """The environment without settings of whoever runs the tests, and with the packages that run them."""
    kept = ("LEXGRAPH_SERVERS",)  # where programs that were fetched already lie
    others = {name: value for name, value in os.environ.items() if not name.startswith("LEXGRAPH_") or name in kept}
    # The environment that runs the tests has all that the demo needs: it stands for the one that make would fill.
    return others | {"SERVE": "0", "VENV": sys.prefix}


def bench(name: str, *options: str) -> "subprocess.CompletedProcess[str]":
    """Run a measurement over the checkout's home."""
    return subprocess.run(
        [sys.executable, "-m", "bench", name, "--json", *options],
        cwd=ROOT,
        env=environment() | {"LEXGRAPH_HOME": str(HOME)},
        capture_output=True,
        text=True,
        check=False,
    )


def measured(name: str, *options: str) -> dict[str, float]:
    """The figures that a measurement prints; the test is skipped, or fails in CI, where its server cannot be had."""
    done = bench(name, *options)
    if done.returncode == ServerMissing.exit_code and os.environ.get("CI") != "true":
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures, done.stdout
    assert all(isinstance(value, int | float) for value in figures.values()), figures
    return figures
