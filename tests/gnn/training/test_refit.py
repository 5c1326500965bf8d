"""A recipe that is refit learns from development questions too, for as many epochs as another one chose by them."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gnn.retraining.retrain
import gnn.training.train
from cypher.engines.ladybug import open_graph
from gnn.encoders.features import Features
from gnn.model.subgraph import subgraph_edges
from gnn.model.trained import Choice
from gnn.recipe import Recipe, load_recipe
from gnn.retraining.gate import Verdict
from gnn.retraining.retrain import Outcome, retrain
from gnn.training.fusion_tuning import POOLING, weights_of
from gnn.training.loop import Examples, fit
from gnn.training.scope import unlearnt
from gnn.training.train import Trainer, train
from gnn.versions.active import active_id, model_rows
from gnn.versions.files import choice_of, read_card
from gnn.versions.shared_folder import model_folder
from schema.errors import BadSetting, NotReady
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split, query_text
from tests.gnn.conftest import small_recipe, workspace_on
from tests.support.commands import recipe_file

_REFIT = 'base = "small"\n[training]\nrefit = "small"\n'


@pytest.fixture
def refit(tmp_path: Path) -> Recipe:
    """A recipe that is refit, its chooser beside it."""
    recipe_file(tmp_path, "small", epochs=5)
    path = tmp_path / "refit.toml"
    path.write_text(_REFIT, "utf-8")
    return load_recipe(str(path))


def test_it_ends_after_the_chosen_epoch_with_the_parameters_of_that_epoch(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    recipe = small_recipe(epochs=8, patience=8, learning_rate=0.02)
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    examples = Examples(law[0], features, subgraph_edges(law[0], ()), training, development)
    chosen = fit(recipe, examples)
    assert 0 <= chosen.best < 7, "an epoch in the midst shows more than the last"
    again = fit(recipe, examples, chosen=Choice(chosen.curve, chosen.best))
    np.testing.assert_array_equal(again.articles, chosen.articles)
    np.testing.assert_array_equal(again.bias, chosen.bias)
    assert (again.curve, again.best) == (chosen.curve, chosen.best)
    shorter = fit(recipe, examples, chosen=Choice(chosen.curve, chosen.best - 1 if chosen.best else 1))
    assert not np.array_equal(shorter.articles, chosen.articles)


def test_development_questions_are_learnt_from_and_vote(own_home: Path, refit: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        trainer = Trainer(workspace)
        plain, both = (trainer.version(recipe, "random", recipe.name) for recipe in (refit.chooser, refit))
    parts = [len(of_split(workspace.questions, "random", part)) for part in ("train", "development")]
    assert [len(made.memory.vectors) for made in (plain, both)] == [parts[0], sum(parts)]
    assert (both.trained.curve, both.trained.best) == (plain.trained.curve, plain.trained.best)
    assert not np.array_equal(both.trained.articles, plain.trained.articles)
    assert not (own_home / "models").exists(), "a comparison writes no model"


def test_the_parts_that_a_reranker_learns_from_train_for_the_chosen_epochs(
    own_home: Path, refit: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended: list[Any] = []
    fit = gnn.training.train.fit

    def noted(*given: Any, **options: Any) -> Any:
        ended.append(options.get("chosen"))
        return fit(*given, **options)

    monkeypatch.setattr(gnn.training.train, "fit", noted)
    with open_graph(own_home) as graph:
        trainer = Trainer(workspace_on(own_home, graph))
        for recipe, chooses in ((refit.chooser, True), (refit, False)):
            ended.clear()
            assert trainer.examples(recipe, "random", weights_of(recipe), POOLING)
            assert ended
            # The first training of a refit recipe's parts may be the chooser's own.
            assert all((one is None) == chooses for one in (ended if chooses else ended[1:]))


def test_the_version_of_its_chooser_is_trained_first_and_tells_what_was_chosen(own_home: Path, refit: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        report = train(workspace, refit)
        chooser, own = (workspace.version_id(recipe, "random") for recipe in (refit.chooser, refit))
    assert (report.active, report.trained) == (own, [chooser, own])
    assert choice_of(own_home, own) == choice_of(own_home, chooser)
    # Gone and trained again, it takes what was chosen from the disk, to the same model.
    before = np.load(model_folder(own_home, own) / "articles.npy")
    shutil.rmtree(model_folder(own_home, own))
    with open_graph(own_home) as graph:
        assert train(workspace_on(own_home, graph), refit).trained == [own]
    np.testing.assert_array_equal(np.load(model_folder(own_home, own) / "articles.npy"), before)


def test_the_confidence_is_learnt_from_the_version_that_has_not_seen_the_questions(own_home: Path, refit: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        with pytest.raises(NotReady, match=r"which refit was chosen by, is not there: run `lexgraph train`"):
            unlearnt(workspace, refit, "random")
        train(workspace, refit)
        model = unlearnt(workspace, refit, "random").model
        assert model is not None
        assert read_card(own_home, model.id)["recipe"]["name"] == "small"
        asking = refit.model_copy(update={"sentences": 0.5})
        of_sentences = unlearnt(workspace, asking, "random").model
        assert (model.sentences, of_sentences and of_sentences.sentences) == (0.0, 0.5), "as it serves"


@pytest.mark.slow
def test_the_gate_asks_what_neither_version_has_learnt_from(
    own_home: Path, refit: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def judged_by(old: Any, new: Any, questions: Any, **_: Any) -> Verdict:
        asked.extend(question.query for question in questions)
        return Verdict(True, "as it is", {})

    monkeypatch.setattr(gnn.retraining.retrain, "judge", judged_by)
    with open_graph(own_home) as graph:
        train(workspace_on(own_home, graph), refit.chooser)
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        report = retrain(workspace, refit)
        test = of_split(workspace.questions, "random", "test")
    assert report.outcome is Outcome.FLIPPED
    assert asked == [query_text(question) for question in test]
    with open_graph(own_home) as graph:
        assert active_id(graph) == report.model
        told = {row["recipe"]: json.loads(row["metrics"]) for row in model_rows(graph)}
        assert told["refit"] == told["small"], "what development questions measured before they were learnt from"
    # And back: the active version has learnt from development questions, whatever the new one has.
    asked.clear()
    with open_graph(own_home) as graph:
        retrain(workspace_on(own_home, graph), refit.chooser.model_copy(update={"votes": 3.0}))
    assert asked == [query_text(question) for question in test]
    # Where no others are left, development questions are asked all the same.
    asked.clear()
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        retrain(replace(workspace, questions=[q for q in workspace.questions if q not in test]), refit)
        development = of_split(workspace.questions, "random", "development")
    assert asked == [query_text(question) for question in development]


@pytest.mark.parametrize(
    ("toml", "told"),
    [
        ('tune_fusion = true\n[training]\nrefit = "static"\n', "tune_fusion = true chooses by the development questions"),
        ('[training]\nrefit = "static"\nepochs = 0\n', "only towers that are trained can be refit"),
        ('method = "bm25-tuned"\n[training]\nrefit = "static"\n', "only towers that are trained can be refit"),
    ],
)
def test_what_cannot_be_refit_is_refused(toml: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(toml)
    with pytest.raises(BadSetting, match=rf"odd\.toml: {told}"):
        load_recipe(str(tmp_path / "odd.toml"))


def test_no_training_starts_from_what_has_learnt_from_its_development_questions(own_home: Path, refit: Recipe) -> None:
    (refit.folder / "odd.toml").write_text('base = "small"\n[training]\nstart = "refit"\n', "utf-8")
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match=r"odd: refit has learnt .* chooses by; name small$"):
        Trainer(workspace_on(own_home, graph)).version(load_recipe(str(refit.folder / "odd.toml")), "random", "odd")


def test_a_training_that_starts_from_another_encoder_is_refused(own_home: Path, refit: Recipe) -> None:
    (refit.folder / "odd.toml").write_text('base = "small"\n[encoder]\ndimensions = 3\n[training]\nstart = "small"\n', "utf-8")
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match=r"odd: small, which it starts from, has another encoder"):
        Trainer(workspace_on(own_home, graph)).version(load_recipe(str(refit.folder / "odd.toml")), "random", "odd")


@pytest.mark.parametrize("chooser", ["static-refit", "bm25-tuned", "encoder"])
def test_a_chooser_that_chooses_nothing_is_refused(chooser: str, tmp_path: Path) -> None:
    (tmp_path / "odd.toml").write_text(f'[training]\nrefit = "{chooser}"\n')
    with pytest.raises(BadSetting, match=f"recipe odd: {chooser} chooses no epoch by development questions"):
        _ = load_recipe(str(tmp_path / "odd.toml")).chooser
    (tmp_path / "lost.toml").write_text('[training]\nrefit = "nowhere"\n')
    with pytest.raises(BadSetting, match="no recipe 'nowhere'"):
        _ = load_recipe(str(tmp_path / "lost.toml")).chooser


def test_the_name_of_a_version_follows_its_chooser(own_home: Path, refit: Recipe, tmp_path: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        before = workspace.version_id(refit, "random")
        recipe_file(tmp_path, "small", epochs=4)
        assert workspace.version_id(refit, "random") != before
