"""A graph that names a model whose files are lost, or were never on this machine: the way back is short, and told."""

import shutil
from pathlib import Path

import pytest

from schema.errors import NotReady
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file


@pytest.mark.slow
@pytest.mark.parametrize("shelved", [False, True])
def test_the_law_is_indexed_all_the_same_and_another_model_is_trained(tmp_path: Path, shelved: bool) -> None:
    run = Lexgraph.over(tmp_path / "home", **({"models": str(tmp_path / "shelf")} if shelved else {}))
    load_tiny_law(run, tmp_path)
    recipe = recipe_file(tmp_path, "small")
    run.do("train", "--recipe", recipe)
    before = run.do("search", "farine", "--json")
    by_words = run.do("search", "farine", "--mode", "bm25", "--json")
    for folder in ("home/models", "home/index", "shelf"):
        shutil.rmtree(tmp_path / folder, ignore_errors=True)

    for _ in range(2):  # the second time the law is indexed already
        indexed = run("index")
        assert indexed.code == NotReady.exit_code
        assert ("is neither under" if shelved else "is missing: run `lexgraph train`") in indexed.err
    assert run("search", "farine").code == NotReady.exit_code
    assert run.do("search", "farine", "--mode", "bm25", "--json") == by_words
    run.do("train", "--recipe", recipe)
    assert run.do("index").strip() == "index: nothing changed"
    assert run.do("search", "farine", "--json") == before
