"""Training by several processes: the model of one process, written once, and an end to all when one fails."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from cypher.engines.ladybug import open_graph
from gnn.distributed import Process
from gnn.versions.active import active_id, active_model
from gnn.versions.files import read_card, read_run
from gnn.versions.shared_folder import model_folder
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import query_text
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.gnn.fine_tuning.small_body import write_bi_encoder, write_small_body
from tests.support.commands import Lexgraph

ROOT = Path(__file__).parents[2]
RECIPE = """
base = "trained"
compare = []
splits = ["random"]

[encoder]
dimensions = 6

[document]
section_mean = true
rank = 4
layers = 1
hidden = 8
heads = 2

[training]
epochs = 3
batch = 5
full_softmax_limit = {limit}
negatives = 6
"""


def two(home: Path, *arguments: object) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"LEXGRAPH_HOME": str(home), "LEXGRAPH_THREADS": "2", "PYTHONPATH": str(ROOT)}
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    command = [*torchrun, "-m", "lexgraph", "--quiet", *map(str, arguments)]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("limit", [60_000, 1], ids=["all articles", "drawn candidates"])
@pytest.mark.slow
def test_two_processes_make_the_model_of_one_and_write_it_once(own_home: Path, tmp_path: Path, limit: int) -> None:
    recipe = tmp_path / "small.toml"
    recipe.write_text(RECIPE.format(limit=limit))
    other = Path(shutil.copytree(own_home, tmp_path / "other"))
    told = Lexgraph.over(own_home, threads="2").do("train", "--recipe", recipe)
    shared = two(other, "train", "--recipe", recipe)
    assert shared.returncode == 0, shared.stderr
    assert shared.stdout == told, "the leader alone prints, and as ever"
    with open_graph(own_home) as graph, open_graph(other) as same:
        id = active_id(graph)
        assert id is not None
        assert active_id(same) == id
        assert len(same.rows("models")) == 1
        index = open_text_index(other, same.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
        assert active_model(other, same, index.corpus) is not None
    assert read_run(other, id)["processes"] == 2
    for name in ("articles", "sections", "acts", "bias", "w1", "w2"):
        one, both = (np.load(model_folder(home, id) / f"{name}.npy") for home in (own_home, other))
        np.testing.assert_allclose(both, one, rtol=0, atol=1e-4, err_msg=name)
    losses = [[epoch["loss"] for epoch in read_card(home, id)["curve"]] for home in (own_home, other)]
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-4)


@pytest.mark.slow
def test_two_processes_compare_a_bi_encoder_that_both_have_trained(
    own_home: Path, tmp_path: Path, law: tuple[Corpus, CorpusText], questions: list[Question]
) -> None:
    body = write_small_body(tmp_path / "body", [*law[1].texts, *map(query_text, questions)])
    config = json.loads((body / "config.json").read_text("utf-8"))
    config |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}  # each draws for its own share
    (body / "config.json").write_text(json.dumps(config), "utf-8")
    recipe = write_bi_encoder(tmp_path, "small", body)
    recipe.write_text(recipe.read_text("utf-8").replace("[bi_encoder]", "[curriculum]\ndrawn = 1\npool = 3\n[bi_encoder]"))
    other = Path(shutil.copytree(own_home, tmp_path / "other"))
    Lexgraph.over(own_home, threads="2").do("compare", f"{recipe}:alone", "--only", "random", "--json")
    shared = two(other, "compare", f"{recipe}:alone", "--only", "random", "--json")
    assert shared.returncode == 0, shared.stderr
    assert json.loads(shared.stdout)[0]["rows"][0]["name"] == f"{recipe}:alone", "the leader alone prints"
    losses = []
    for home in (own_home, other):
        (run,) = (home / "features").glob("tuned-small-random-*/run.json")
        losses.append([epoch["loss"] for epoch in json.loads(run.read_text("utf-8"))["curve"]])
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)


@pytest.mark.slow
def test_where_the_leader_fails_all_end(own_home: Path, tmp_path: Path) -> None:
    recipe = tmp_path / "small.toml"
    recipe.write_text(RECIPE.format(limit=1))
    for path in (own_home / "index").iterdir():
        path.rename(path.with_name("elsewhere"))
    told = two(own_home, "train", "--recipe", recipe)
    assert told.returncode != 0
    assert "lexgraph: the text index does not hold the law" in told.stderr


def test_shares_make_up_the_whole_batch() -> None:
    for n in (0, 1, 2, 7):
        for size in (1, 2, 3):
            shares = [list(range(n))[Process(rank, size, torch.device("cpu")).share(n)] for rank in range(size)]
            assert [question for share in shares for question in share] == list(range(n))
            assert max(map(len, shares)) - min(map(len, shares)) <= 1
