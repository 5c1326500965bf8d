"""A home with a first version, trained on the tiny law."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.gnn.retraining.own_home import Home
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Home:
    """A home with a first version of the recipe ``small``; not to be written to."""
    folder = tmp_path_factory.mktemp("trained")
    run = Lexgraph.over(folder / "home")
    load_tiny_law(run, folder)
    ended = run("retrain", "--recipe", recipe_file(folder, "small"))
    assert ended.code == 0, ended
    assert "there was no active model" in ended.out
    return run, folder


@pytest.fixture
def own(trained: Home, tmp_path: Path) -> Home:
    """A copy of it, and a folder for sources and recipes."""
    shutil.copytree(trained[0].home, tmp_path / "home")
    recipe_file(tmp_path, "small")
    return Lexgraph.over(tmp_path / "home", gate_metric="MAP"), tmp_path


@pytest.fixture
def holder() -> Iterator[list["subprocess.Popen[str]"]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for process in started:
        process.kill()
        process.communicate()
