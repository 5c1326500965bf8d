"""Training and the registry: determinism, learning, whole versions, one active, law that a model has not seen."""

import contextlib
import dataclasses
import multiprocessing
import os
import shutil
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import lexgraph
from cypher.engines.ladybug import EmbeddedStore, open_graph
from cypher.export.dump import canonical_dump
from gnn.encoders.features import Features
from gnn.encoders.joined import JoinedEncoder
from gnn.evaluation.compare import compare, curves
from gnn.evaluation.plot import draw
from gnn.model.subgraph import subgraph_edges
from gnn.recipe import load_recipe
from gnn.training.fusion_tuning import _comparable_lists, tune_weights  # pyright: ignore[reportPrivateUsage]
from gnn.training.loop import Examples, fit
from gnn.training.train import Trainer, train
from gnn.versions.active import active_id, active_model
from gnn.versions.shared_folder import model_folder
from ingest.sources import ingest
from schema.errors import BadSetting, NotReady
from schema.records import Question
from search.arrays import Matrix
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from search.evaluation import Judged
from search.modes import Mode
from search.questions import TITLE, of_split, query_text
from search.retrieval import Retriever
from search.text.index import TextIndex, build_text_index, open_text_index
from search.text.options import Bm25Options
from tests.gnn.conftest import small_recipe, workspace_on
from tests.support.tiny_law import bakers, millers, write_law

ROOT = Path(__file__).parents[3]
_TOML = """
base = "section-mean"
compare = ["encoder"]

[encoder]
dimensions = 6

[document]
layers = 1
hidden = 8
heads = 2

[training]
epochs = 2
batch = 6
"""


def _examples(law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]) -> Examples:
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    return Examples(law[0], features, subgraph_edges(law[0], ("contains", "cites")), training, development)


def test_the_same_inputs_give_the_same_model_bit_by_bit(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    recipe = small_recipe(layers=2)
    first, second = (fit(recipe, _examples(law, features, questions)) for _ in range(2))
    for name in ("articles", "sections", "acts", "bias"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    assert first.curve == second.curve


def test_training_learns_which_articles_answer(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    recipe = small_recipe(epochs=30, patience=30, learning_rate=0.02, dropout=0.0)
    curve = fit(recipe, _examples(law, features, questions)).curve
    assert curve[-1].loss < 0.5 * curve[0].loss
    assert max(epoch.average_precision for epoch in curve) > 0.8


def test_a_softmax_over_drawn_candidates_learns_too(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    recipe = small_recipe(epochs=30, patience=30, learning_rate=0.02, dropout=0.0, full_softmax_limit=1, negatives=4)
    curve = fit(recipe, _examples(law, features, questions)).curve
    assert max(epoch.average_precision for epoch in curve) > 0.8


def test_without_questions_nothing_is_trained(law: tuple[Corpus, CorpusText], features: Features) -> None:
    with pytest.raises(BadSetting, match="no training"):
        fit(small_recipe(), _examples(law, features, []))


def test_law_without_questions_cannot_be_trained_on_and_says_so(own_home: Path, recipe_file: str) -> None:
    shutil.rmtree(own_home)
    ingest(EmbeddedStore(own_home), write_law(own_home / "law"))
    with open_graph(own_home) as graph:
        corpus, text = read_corpus(graph)
        build_text_index(own_home, corpus, text, Bm25Options())
    with pytest.raises(BadSetting, match="no train questions"):
        _train(own_home, recipe_file)


def _train(home: Path, recipe: str) -> str:
    with open_graph(home) as graph:
        return train(workspace_on(home, graph), load_recipe(recipe)).active


@pytest.fixture(scope="module")
def recipe_file(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("recipes")
    for name in ("section-mean", "trained", "encoder"):
        shutil.copy(ROOT / "gnn" / "recipes" / f"{name}.toml", folder)
    (folder / "small.toml").write_text(_TOML)
    return str(folder / "small.toml")


def test_a_second_training_changes_nothing(own_home: Path, recipe_file: str) -> None:
    active = _train(own_home, recipe_file)
    before = {path: path.stat().st_mtime_ns for path in own_home.rglob("*") if path.is_file() and path.name != "graph.lock"}
    assert _train(own_home, recipe_file) == active
    assert before == {
        path: path.stat().st_mtime_ns for path in own_home.rglob("*") if path.is_file() and path.name != "graph.lock"
    }


def test_the_table_has_every_system_and_hybrid_finds_what_is_relevant(own_home: Path, recipe_file: str) -> None:
    _train(own_home, recipe_file)
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        asked = of_split(workspace.questions, "random", "test")
        table = compare(workspace, load_recipe(recipe_file), asked, source="service-public", split="random", part="test")
    assert list(table.systems) == [
        "bm25",
        "bm25-hybrid",
        "encoder",
        "section-mean",
        "hierarchical",
        "hybrid-no-pooling",
        "hybrid",
    ]
    assert table.n == 6
    assert table.systems["hybrid"].measures["R@100"].mean == 100.0
    assert table.as_json()["systems"]["bm25"]["R@100"] <= 100.0
    assert all(result.about.endswith(".") for result in table.systems.values()), "every system is explained"
    rows = list(table.per_question())
    assert [row["id"] for row in rows] == [question.id for question in asked]
    for row, question in zip(rows, asked, strict=True):
        assert list(row["ranks"]) == list(table.systems)
        assert all(tuple(ranks) == question.relevant for ranks in row["ranks"].values())
    found = [rank for row in rows for rank in row["ranks"]["hybrid"].values()]
    assert all(rank is not None and 1 <= rank <= 100 for rank in found)


def test_rows_with_one_encoder_read_a_query_once_and_say_what_a_search_takes(
    own_home: Path, recipe_file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("section-mean", "trained", "encoder", "small"):
        shutil.copy(Path(recipe_file).with_name(f"{name}.toml"), tmp_path)
    # The first two have one encoder, the recipe itself has another.
    (tmp_path / "third.toml").write_text('base = "small"\ncompare = ["encoder", "section-mean"]\n')
    recipe = load_recipe(str(tmp_path / "third.toml"))
    _train(own_home, str(tmp_path / "third.toml"))
    read: list[str] = []
    plain = JoinedEncoder.encode

    def reading(encoder: JoinedEncoder, texts: Sequence[str]) -> Matrix:
        read.extend(texts)
        return plain(encoder, texts)

    monkeypatch.setattr(JoinedEncoder, "encode", reading)
    # A clock by which nothing but reading takes time.
    monkeypatch.setattr("gnn.evaluation.compare.time.perf_counter", lambda: float(len(read)))
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        asked = of_split(workspace.questions, "random", "test")
        table = compare(workspace, recipe, asked, source="service-public", split="random", part="test")
    assert len(read) == 2 * len(set(read)) == 2 * len(asked)
    assert len(table.systems) == 8
    for name, result in table.systems.items():
        assert result.query_ms == (0 if name.startswith("bm25") else 1000), name


def test_what_was_asked_before_is_not_asked_again(own_home: Path, recipe_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    _train(own_home, recipe_file)
    ranked: list[str] = []
    plain = Retriever.scores

    def counted(retriever: Retriever, query: str, *how: Any, **named: Any) -> Any:
        ranked.append(query)
        return plain(retriever, query, *how, **named)

    monkeypatch.setattr(Retriever, "scores", counted)
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        asked = of_split(workspace.questions, "random", "test")
        evaluated = partial(compare, workspace, load_recipe(recipe_file), source="service-public", split="random", part="test")
        first = evaluated(asked)
        assert len(ranked) == len(first.systems) * len(asked)
        again = evaluated(asked)
        assert len(ranked) == len(first.systems) * len(asked)
        assert again.as_json() == first.as_json()
        assert list(again.per_question()) == list(first.per_question())
        evaluated(asked[1:])
        evaluated(asked, asked=TITLE)
        assert len(ranked) == len(first.systems) * (3 * len(asked) - 1), "other questions, or the same asked otherwise, are new"
        before = len(ranked)
        monkeypatch.setattr("gnn.workspace.Workspace.engines", "servers")
        evaluated(asked)
        assert len(ranked) == before + len(first.systems) * len(asked), "servers answer for themselves"


def test_rows_of_recipes_that_share_a_system_are_told_apart(own_home: Path, recipe_file: str, tmp_path: Path) -> None:
    for name in ("section-mean", "trained", "encoder", "small"):
        shutil.copy(Path(recipe_file).with_name(f"{name}.toml"), tmp_path)
    (tmp_path / "other.toml").write_text('base = "small"\ncompare = ["encoder", "small"]\n[training]\nseed = 3\n')
    recipe = str(tmp_path / "other.toml")
    _train(own_home, recipe)
    with open_graph(own_home) as graph:
        workspace, other = workspace_on(own_home, graph), load_recipe(recipe)
        asked = of_split(workspace.questions, "random", "test")
        table = compare(workspace, other, asked, source="service-public", split="random", part="test")
        assert list(table.systems)[2:5] == ["encoder", "small", "other"]
        assert list(curves(workspace, other)) == ["small", "other"]


@pytest.mark.slow
def test_the_picture_has_a_panel_for_each_split_and_the_round_numbers_of_k(
    own_home: Path, recipe_file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from matplotlib.figure import Figure

    _train(own_home, recipe_file)
    with open_graph(own_home) as graph:
        workspace, recipe = workspace_on(own_home, graph), load_recipe(recipe_file)
        asked = of_split(workspace.questions, "random", "test")
        first = compare(workspace, recipe, asked, source="service-public", split="random", part="test")
    saved: list[Figure] = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: saved.append(figure))
    other, title = replace(first, split="by-dossier"), replace(first, asked=TITLE)
    draw({"random": first, "by-dossier": other, "random, title alone": title}, {}, tmp_path / "picture.png")
    (figure,) = saved
    panels = figure.subfigs[0].axes
    assert [panel.get_title().split(", ")[1] for panel in panels[:-1]] == ["random split", "by-dossier split"]
    assert [label.get_text() for label in panels[0].get_xticklabels()] == [
        "1", "2", "5", "10", "20", "50", "100", "200", "500", "1,000",
    ]  # fmt: skip
    lines = panels[0].get_lines()
    assert len(lines) == len(first.systems) == len(panels[0].collections)
    assert len({(line.get_color(), str(line.get_marker())) for line in lines}) == len(lines), "told apart"
    (legend,) = figure.subfigs[1].legends
    assert "bm25: The words of articles (BM25)." in [text.get_text() for text in legend.get_texts()]


def test_law_that_the_model_has_not_seen_is_found_by_the_other_lists(own_home: Path, recipe_file: str) -> None:
    _train(own_home, recipe_file)
    newer = millers()
    from tests.support.tiny_law import article

    newer["children"][0]["children"].append(article(23, "L3", "<p>La meule de granit est rhabillée chaque hiver.</p>"))
    ingest(EmbeddedStore(own_home), write_law(own_home / "newer", bakers(), newer))
    with open_graph(own_home) as graph:
        corpus, text = read_corpus(graph)
        build_text_index(own_home, corpus, text, Bm25Options())
        index = open_text_index(own_home, corpus.sha256, Bm25Options())
        model = active_model(own_home, graph, index.corpus)
    assert model is not None
    position = corpus.article_position["fr/LEGITEXT000000000002/L3"]
    assert np.isneginf(model.bias[position])
    assert np.isfinite(np.delete(model.bias, position)).all()
    hits = Retriever(index, model).search("meule de granit", Mode.HYBRID, first=20)
    (found,) = (hit for hit in hits if hit.position == position)
    assert found.places.keys() & {"bm25", "section"}


def test_a_version_named_in_the_graph_whose_files_are_gone_is_a_clear_error(own_home: Path, recipe_file: str) -> None:
    active = _train(own_home, recipe_file)
    shutil.rmtree(model_folder(own_home, active))
    with open_graph(own_home) as graph:
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
        with pytest.raises(NotReady, match=active):
            active_model(own_home, graph, open_text_index(own_home, sha256, Bm25Options()).corpus)


TRAININGS = multiprocessing.get_context("forkserver")
TRAININGS.set_forkserver_preload(["gnn.training.train", "cli.steps", "lexgraph"])
"""Trainings are forked from a process that has imported what they need: most of what is killed is training, not imports."""


def _start(home: Path, recipe: str) -> BaseProcess:
    process = TRAININGS.Process(target=_run_training, args=(str(home), recipe))
    process.start()
    return process


def _run_training(home: str, recipe: str) -> None:
    os.environ["LEXGRAPH_HOME"] = home
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing):
        lexgraph.main(["--quiet", "train", "--recipe", recipe])


def _end(process: BaseProcess) -> int | None:
    process.join()
    return process.exitcode


@pytest.mark.slow
def test_a_killed_training_leaves_nothing_half_and_ends_like_an_undisturbed_one(
    asked_home: Path, tmp_path: Path, recipe_file: str
) -> None:
    warm = Path(shutil.copytree(asked_home, tmp_path / "warm"))
    assert _end(_start(warm, recipe_file)) == 0
    undisturbed = Path(shutil.copytree(asked_home, tmp_path / "undisturbed"))
    began = time.monotonic()
    assert _end(_start(undisturbed, recipe_file)) == 0
    duration = time.monotonic() - began
    disturbed = Path(shutil.copytree(asked_home, tmp_path / "disturbed"))
    draw = Random(5)
    landed = 0
    for number in range(10):
        process = _start(disturbed, recipe_file)
        time.sleep(duration * (number + draw.random()) / 10)
        if process.is_alive():
            process.kill()
            landed += 1
        process.join()
        with open_graph(disturbed) as graph:  # what is active is whole, at whatever moment
            id = active_id(graph)
            if id is not None:
                sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
                assert active_model(disturbed, graph, open_text_index(disturbed, sha256, Bm25Options()).corpus) is not None
    assert landed >= 5
    assert _end(_start(disturbed, recipe_file)) == 0
    assert _contents(disturbed) == _contents(undisturbed)


def _contents(home: Path) -> tuple[list[str], dict[str, bytes]]:
    """The canonical dump, and every file of every model but the record of its run (times)."""
    with open_graph(home) as graph:
        dump = list(canonical_dump(graph))
    folder = home / "models"
    files = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name != "run.json" and ".part" not in str(path)
    }
    return dump, files


def test_a_recipe_with_an_unknown_option_names_it(tmp_path: Path) -> None:
    path = tmp_path / "odd.toml"
    path.write_text("[training]\nlearning_rat = 1\n")
    with pytest.raises(BadSetting, match=r"odd\.toml.*learning_rat"):
        load_recipe(str(path))
    with pytest.raises(BadSetting, match="there are: "):
        load_recipe("no-such-recipe")


def test_every_recipe_of_the_project_loads() -> None:
    for path in sorted((ROOT / "gnn" / "recipes").glob("*.toml")):
        recipe = load_recipe(path.stem)
        for one in (recipe, *map(recipe.other, recipe.compare)):
            built_on = [other.name for other in one.made_from]
            assert len(built_on) == len(set(built_on)), "each loads, and is named once"


def test_indexes_have_the_corpus_of_the_graph(index: TextIndex, law: tuple[Corpus, CorpusText]) -> None:
    for field in dataclasses.fields(Corpus):
        np.testing.assert_array_equal(getattr(index.corpus, field.name), getattr(law[0], field.name))


def test_weights_are_chosen_by_the_lists_that_are_served(asked_home: Path) -> None:
    asked = "Qui contrôle le moulin ? Le pain est vendu au poids."
    questions = [Judged(asked, np.array([1])), Judged("L9999-9", np.array([0]))]
    with open_graph(asked_home) as graph:
        workspace = workspace_on(asked_home, graph)
        made = Trainer(workspace).version(small_recipe().model_copy(update={"sentences": 0.5}), "random", "")
        retriever = Retriever(workspace.index, made.model())
        lists = _comparable_lists(retriever, asked)
        served = retriever.rank(asked, pooled=False)
        assert lists.keys() == served.lists.keys() - {"heading"}
        np.testing.assert_array_equal(lists["bm25"], served.lists["bm25"].comparable)
        assert not np.array_equal(lists["bm25"], served.lists["bm25"].standard), "its sentences have a say"
        assert not _comparable_lists(retriever, questions[1].query), "no list ranks for what only names an article in vain"
        with_it, without = (tune_weights(retriever, some, made.weights) for some in (questions, questions[:1]))
    assert with_it == without


@pytest.mark.parametrize("tunes", [False, True])
def test_training_questions_vote_unless_a_recipe_says_no(asked_home: Path, tunes: bool) -> None:
    with open_graph(asked_home) as graph:
        workspace = workspace_on(asked_home, graph)
        trainer = Trainer(workspace)
        asked = query_text(of_split(workspace.questions, "random", "train")[0])
        for votes in (8.0, 0.0):
            recipe = small_recipe().model_copy(update={"votes": votes, "tune_fusion": tunes and not votes})
            made = trainer.version(recipe, "random", "")
            lists = Retriever(workspace.index, made.model()).rank(asked).lists
            assert ("questions" in lists) == bool(votes)
            assert made.weights.get("questions", 0.0) == votes
            assert "vector" in lists
