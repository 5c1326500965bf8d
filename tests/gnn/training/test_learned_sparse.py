"""Weights of words, learnt from questions and written into BM25's own index."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cypher.engines.ladybug import open_graph
from gnn.recipe import load_recipe
from gnn.training.learned_sparse import Asked, WordWeights, _fit, _loss, _Scores, learned_lexical  # pyright: ignore[reportPrivateUsage]
from schema.errors import BadSetting
from schema.filter import Filter
from search.text.bm25 import Bm25Index
from search.text.index import open_text_index
from search.text.options import Bm25Options
from search.text.protocol import EmbeddedLexical
from tests.gnn.conftest import workspace_on

DOCUMENTS = [["pain", "four"], ["four", "moulin"], ["pain", "pain", "sel"], ["eau"]]
GROUP = np.array([0, 0, 1, 1], np.int32)
WORDS = ["pain", "four", "zzz"]


@pytest.fixture
def lexical() -> EmbeddedLexical:
    sections = [[*DOCUMENTS[0], *DOCUMENTS[1]], [*DOCUMENTS[2], *DOCUMENTS[3]]]
    build = (Bm25Index.build(documents, k1=1.2, b=0.75) for documents in (DOCUMENTS, sections))
    return EmbeddedLexical(*build, GROUP, ("fr",))


def test_a_weight_of_one_is_bm25_itself(lexical: EmbeddedLexical) -> None:
    scores = _Scores(lexical.articles, WORDS)
    with torch.no_grad():
        (found,) = scores(WordWeights(scores.features, 3, 1.0), [torch.tensor([0, 1, 1, 2])]).numpy()
    assert found == pytest.approx(lexical.articles.scores(["pain", "four", "four"]))


def test_a_weighted_index_multiplies_what_a_word_adds(lexical: EmbeddedLexical) -> None:
    heavier = lexical.articles.weighted({"pain": 3.0, "unknown": 9.0})
    assert heavier.scores(["pain"]) == pytest.approx(3 * lexical.articles.scores(["pain"]))
    assert heavier.scores(["four"]) == pytest.approx(lexical.articles.scores(["four"]))
    assert lexical.articles.weighted({}).scores(["pain"]) == pytest.approx(lexical.articles.scores(["pain"]))


def test_the_loss_is_that_of_a_softmax_over_all_articles(lexical: EmbeddedLexical) -> None:
    scores = _Scores(lexical.articles, WORDS)
    asked = Asked(torch.tensor([0]), np.array([0, 2]))
    loss = _loss(scores, WordWeights(scores.features, 3, 0.5), [asked], 0.0, torch.Generator())
    given = 0.5 * lexical.articles.scores(["pain"])
    log_p = given - math.log(np.exp(given).sum())
    assert loss.item() == pytest.approx(-(log_p[0] + log_p[2]) / 2, rel=1e-5)


def test_words_that_lead_to_articles_weigh_more_than_words_that_lead_astray(lexical: EmbeddedLexical) -> None:
    scores = _Scores(lexical.articles, WORDS)
    asked = [[Asked(torch.tensor([0, 1]), np.array([2]))]] * 2  # the third document has "pain", and no "four"
    options = load_recipe("learned-sparse").training.model_copy(update={"dropout": 0.0, "learning_rate": 0.1, "patience": 40})
    model = WordWeights(scores.features, 2, options.temperature)
    _fit(model, scores, asked, asked, options)
    pain, four, unasked = model().exp().tolist()
    assert pain > 1 > four
    theirs = (model.of_features.weight[0] @ scores.features[2]).exp().item()
    assert unasked == pytest.approx(theirs), "a word of no training question has the weight that its features give it"
    assert model.learnt == 2 + 2 + 1


def test_only_the_weights_of_single_words_decay(lexical: EmbeddedLexical, monkeypatch: pytest.MonkeyPatch) -> None:
    better = itertools.count()
    monkeypatch.setattr("gnn.training.learned_sparse._quality", lambda *_: float(next(better)))  # the last epoch is kept
    scores = _Scores(lexical.articles, WORDS)
    asked = [[Asked(torch.tensor([0, 1]), np.array([2]))]] * 2
    options = load_recipe("learned-sparse").training.model_copy(update={"dropout": 0.0, "epochs": 10})
    own, shared = [], []
    for decay in (0.0, 10.0):
        model = WordWeights(scores.features, 2, options.temperature)
        _fit(model, scores, asked, asked, options.model_copy(update={"weight_decay": decay}))
        own.append(model.own.detach().abs().sum().item())
        shared.append([model.of_features.weight.detach().abs().sum().item(), model.log_scale.item()])
    assert own[1] < 0.8 * own[0]
    assert shared[1] == pytest.approx(shared[0], rel=0.05)


def test_questions_without_a_word_of_the_law_teach_nothing(asked_home: Path, lexical: EmbeddedLexical) -> None:
    recipe = load_recipe("learned-sparse")
    with open_graph(asked_home) as graph:
        workspace = workspace_on(asked_home, graph)
        foreign = [replace(question, text="xylophone", description="") for question in workspace.questions]
        with pytest.raises(BadSetting, match="no training question has a word of the law"):
            learned_lexical(replace(workspace, questions=foreign), recipe, "random")
    # A batch of such questions is passed over.
    none = Asked(torch.tensor([], dtype=torch.long), np.array([2]))
    told = Asked(torch.tensor([0, 1]), np.array([2]))
    options = recipe.training.model_copy(update={"batch": 1})
    scores = _Scores(lexical.articles, WORDS)
    model = WordWeights(scores.features, 2, options.temperature)
    _fit(model, scores, [[none, told]] * 2, [[told]] * 2, options)
    assert torch.isfinite(model()).all()


def test_the_index_that_serves_keeps_its_weights(asked_home: Path) -> None:
    recipe = load_recipe("learned-sparse")
    with open_graph(asked_home) as graph:
        workspace = workspace_on(asked_home, graph)
        index, weights = learned_lexical(workspace, recipe, "random")
        again, _ = learned_lexical(workspace, recipe, "random")
    assert weights > 3
    query = workspace.questions[0].text
    lists = [each.lexical.lists(query, Filter())["bm25"] for each in (index, again, workspace.index)]
    assert lists[0].tolist() == lists[1].tolist(), "the same questions teach the same weights"
    assert index.lexical is not workspace.index.lexical
    assert (
        lists[2].tolist()
        == open_text_index(asked_home, index.corpus.sha256, Bm25Options()).lexical.lists(query, Filter())["bm25"].tolist()
    )
