"""The command line over a small law with days, in English and in French."""

from pathlib import Path

import pytest

from tests.support.commands import Lexgraph
from tests.support.dated_law import write_dated_law


@pytest.fixture(scope="session")
def dated_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The dated law, indexed; not to be written to."""
    home = tmp_path_factory.mktemp("dated")
    run = Lexgraph.over(home)
    run.do("ingest", write_dated_law(home / "law"))
    run.do("index")
    return home


@pytest.fixture
def ask(dated_home: Path) -> Lexgraph:
    """Lexgraph in English."""
    return Lexgraph(dated_home, {"LEXGRAPH_HOME": str(dated_home), "LC_ALL": "C.UTF-8"})


@pytest.fixture
def ask_in_french(dated_home: Path) -> Lexgraph:
    """Lexgraph in French."""
    return Lexgraph(dated_home, {"LEXGRAPH_HOME": str(dated_home), "LC_ALL": "fr_FR.UTF-8"})
