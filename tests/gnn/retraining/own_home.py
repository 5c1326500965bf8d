"""Retraining from the command line, and what a home says of it afterwards."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import gnn.retraining.retrain
from cypher.engines.open import open_store
from gnn.versions.active import served_model
from search.arrays import Matrix
from tests.gnn.conftest import question_sheets
from tests.support.commands import Lexgraph
from tests.support.disturbance import ROOT
from tests.support.tiny_law import article, bakers, millers, write_law, write_sheets

Home = tuple[Lexgraph, Path]


def retrain(run: Lexgraph, folder: Path, recipe: str = "small") -> tuple[int, str]:
    ended = run("retrain", "--recipe", folder / f"{recipe}.toml")
    assert not ended.err, ended
    return ended.code, ended.out


def versions(run: Lexgraph) -> dict[str, dict[str, Any]]:
    return {version["id"]: version for version in json.loads(run.do("models", "--json"))}


def active(run: Lexgraph) -> str:
    (id,) = (id for id, version in versions(run).items() if version["status"] == "active")
    return id


def records(run: Lexgraph) -> list[dict[str, Any]]:
    with open_store(run.settings).reading() as graph:
        rows = graph.rows("runs")
    for row in rows:
        file = run.home / "runs" / f"{row['id']}.json"
        assert json.loads(file.read_text("utf-8")) == json.loads(row["record"]), "the graph and the disk say the same"
        assert (row["outcome"], row["model"]) == (json.loads(row["record"])["outcome"], json.loads(row["record"])["model"])
    return [json.loads(row["record"]) for row in rows]


def more_questions(run: Lexgraph, folder: Path) -> None:
    sheets = question_sheets()
    sheets["F99999"] = ("Qui livre la farine ?", "Le meunier, au boulanger.", ["LEGIARTI000000000021"])
    run.do("ingest", write_sheets(folder / "more", sheets))


def more_law(run: Lexgraph, folder: Path) -> None:
    root = millers()
    root["children"][0]["children"].append(article(23, "L3", "<p>Le meunier pèse la farine devant le boulanger.</p>"))
    run.do("ingest", write_law(folder / "newer", bakers(), root))
    run.do("index")


def useless(monkeypatch: pytest.MonkeyPatch, old: str) -> None:
    """Any version but ``old`` answers with the reverse of what it learned."""

    def served(home: Path, graph: Any, corpus: Any, id: str, threads: int = 2) -> Any:
        model = served_model(home, graph, corpus, id, threads)
        if id == old:
            return model
        return replace(model, articles=cast(Matrix, -np.asarray(model.articles)), weights={"vector": 1.0}, nearest=None)

    monkeypatch.setattr(gnn.retraining.retrain, "served_model", served)


HOLD = """
import sys, time
from cypher.engines import neo4j_lease
from cypher.engines.open import open_store
from schema.settings import load_settings
neo4j_lease.LEASE_S = 3.0
with open_store(load_settings()).exclusive("models"):
    print("holding", flush=True)
    time.sleep(600)
"""
KILLED_BEFORE_IT_REGISTERS = """
import os, signal, sys
import gnn.retraining.retrain
from cypher.engines import neo4j_lease
import lexgraph
neo4j_lease.LEASE_S = 3.0
gnn.retraining.retrain.register = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
lexgraph.main(["--quiet", "retrain", "--recipe", sys.argv[1]])
"""


def python(run: Lexgraph, script: str, *arguments: object) -> "subprocess.Popen[str]":
    environment = {**os.environ, **run.environment}
    command = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
