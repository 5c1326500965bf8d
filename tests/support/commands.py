"""The command line as tests run it, and a small service for them: the tiny law with questions, and recipes for it."""

import contextlib
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import lexgraph
from docker.elasticsearch_server import ElasticsearchServer
from docker.neo4j_server import Neo4jServer
from schema.settings import Settings, load_settings
from tests.gnn.conftest import question_sheets
from tests.support.tiny_law import write_law, write_sheets

_RECIPE = """
system = "gatv2"
splits = ["random"]

[encoder]
name = "lsa"
dimensions = 6

[document]
section_mean = true
rank = 4
layers = 1
hidden = 8
heads = 2

[query]
hidden = 8

[training]
epochs = {epochs}
batch = 3
patience = {epochs}
learning_rate = 0.02
seed = {seed}
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code, and what it said."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Lexgraph:
    """Lexgraph over one home, with the settings of an environment of its own."""

    home: Path
    environment: Mapping[str, str]

    @classmethod
    def over(
        cls, home: Path, neo4j: Neo4jServer | None = None, elasticsearch: ElasticsearchServer | None = None, **others: str
    ) -> "Lexgraph":
        environment = {"LEXGRAPH_HOME": str(home), **{f"LEXGRAPH_{name.upper()}": value for name, value in others.items()}}
        if neo4j is not None:
            environment |= {"LEXGRAPH_GRAPH": neo4j.address, "LEXGRAPH_GRAPH_PASSWORD": neo4j.password}
        if elasticsearch is not None:
            environment |= {"LEXGRAPH_TEXT": elasticsearch.address}
        return cls(home, environment)

    def __call__(self, *arguments: object) -> Ended:
        """Run a command in this process."""
        out, err = io.StringIO(), io.StringIO()
        with patch.dict(os.environ, self.environment), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                lexgraph.main(["--quiet", *map(str, arguments)])
                code = 0
            except SystemExit as ended:
                code = int(ended.code or 0)
        return Ended(code, out.getvalue(), err.getvalue())

    def do(self, *arguments: object) -> str:
        """What a command prints, which must end well."""
        ended = self(*arguments)
        assert ended.code == 0, (arguments, ended)
        return ended.out

    @property
    def settings(self) -> Settings:
        with patch.dict(os.environ, self.environment):
            return load_settings()


def recipe_file(folder: Path, name: str, *, seed: int = 7, epochs: int = 3) -> Path:
    """A recipe small enough to train in a moment."""
    path = folder / f"{name}.toml"
    path.write_text(_RECIPE.format(seed=seed, epochs=epochs), "utf-8")
    return path


def load_tiny_law(run: Lexgraph, folder: Path) -> None:
    """The tiny law, its text index, and questions on it."""
    run.do("ingest", write_law(folder / "law"))
    run.do("ingest", write_sheets(folder / "sheets", question_sheets()))
    run.do("index")
