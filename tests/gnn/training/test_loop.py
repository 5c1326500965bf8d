"""The loop of the towers: its loss by hand, and a training that diverges says so and leaves nothing."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from gnn.distributed import alone
from gnn.encoders.features import Features
from gnn.model.subgraph import subgraph_edges
from gnn.model.two_towers import DocumentTower, QueryTower
from gnn.recipe import Recipe
from gnn.training import loop
from gnn.training.loop import Examples, TowerRun, fit
from schema.errors import BadSetting
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import small_recipe

Given = Callable[[Recipe], Examples]
KINDS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "layers": {"document": {"layers": 1}},
    "neighbours": {"document": {"layers": 1, "neighbours": [2]}},
    "question nodes": {"document": {"layers": 1, "question_nodes": True}},
    "curriculum": {"curriculum": {"drawn": 3, "pool": 6}},
    "curriculum, neighbours": {"document": {"layers": 1, "neighbours": [-1]}, "curriculum": {"drawn": 3, "pool": 6}},
}
"""Options by which the loss is taken in another way."""


def recipe_of(kind: str, **training: Any) -> Recipe:
    whole = small_recipe(**training).model_dump(exclude={"folder", "reseeded", "once", "borrowed"})
    return Recipe.model_validate(whole | {name: {**whole[name], **options} for name, options in KINDS[kind].items()})


@pytest.fixture
def given(law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]) -> Given:
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    return lambda recipe: Examples(law[0], features, subgraph_edges(law[0], recipe.document.edges), training, development)


def test_the_loss_is_the_cross_entropy_with_what_is_uniform_over_the_relevant(given: Given) -> None:
    recipe = recipe_of("plain")
    run = TowerRun(loop._inputs(recipe, given(recipe), None, 1), alone())
    logits = torch.tensor([[0.0, np.log(2.0), 0.0], [0.0, 0.0, np.log(6.0)]])
    # The shares of the first question are 1/4, 1/2, 1/4, of the second 1/8, 1/8, 3/4.
    first, second = np.log(2), -(np.log(1 / 8) + np.log(3 / 4)) / 2
    loss = run._uniform_loss(logits, [np.array([1]), np.array([0, 2])], batch=2)
    assert loss.item() == pytest.approx((first + second) / 2)
    part = run._uniform_loss(logits[1:], [np.array([0, 2])], batch=2)
    assert part.item() == pytest.approx(second / 2), "of a batch that two processes share"


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_diverges_names_the_step_and_the_learning_rate(kind: str, given: Given) -> None:
    recipe = recipe_of(kind, learning_rate=1e6)
    with pytest.raises(BadSetting, match=r"recipe small: .*: a smaller learning rate than 1e\+06 may help"):
        fit(recipe, given(recipe))


def test_the_first_loss_that_is_no_number_is_named(given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, taken = TowerRun.step, list[float]()

    def step(run: TowerRun, *how: Any) -> float:
        taken.append(plain(run, *how))
        return taken[-1] if len(taken) < 3 else float("nan")

    monkeypatch.setattr(TowerRun, "step", step)
    recipe = recipe_of("plain", learning_rate=0.25)
    with pytest.raises(BadSetting, match=r"^recipe small: the loss of step 3 is nan: a smaller learning rate than 0\.25 may"):
        fit(recipe, given(recipe))


@pytest.mark.parametrize("refit", [False, True])
def test_parameters_that_the_last_step_spoils_are_not_kept(refit: bool, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = TowerRun.step
    recipe = recipe_of("plain", epochs=1, batch=100)
    chosen = fit(recipe, given(recipe))

    def spoiling(run: TowerRun, *how: Any) -> float:
        loss = plain(run, *how)
        run.model.bias.data[0] = float("nan")
        return loss

    monkeypatch.setattr(TowerRun, "step", spoiling)
    with pytest.raises(BadSetting, match="epoch 1 leaves parameters without bound"):
        fit(recipe, given(recipe), chosen=loop.Choice(chosen.curve, chosen.best) if refit else None)


LESS: Mapping[str, tuple[str, ...]] = {
    "plain": ("training.full_softmax_limit below 10",),
    "layers": (
        "training.full_softmax_limit below 10",
        "document.hidden below 8",
        "document.neighbours, one number for each of 1",
    ),
    "neighbours": ("training.negatives below 10", "document.hidden below 8", r"fewer document.neighbours than \[2\]"),
    "question nodes": ("document.hidden below 8", "training.precision"),
    "curriculum": ("curriculum.drawn below 3",),
    "curriculum, neighbours": ("curriculum.drawn below 3", r"fewer document.neighbours than \[-1\]"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_that_memory_does_not_hold_says_what_to_lower(
    kind: str, given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(DocumentTower, "forward", full)
    recipe = recipe_of(kind)
    said = r"recipe small: the memory of cpu does not hold its training; to take less: training.batch below 3, "
    with pytest.raises(BadSetting, match=said + ".*".join(LESS[kind])) as told:
        fit(recipe, given(recipe))
    assert ("full_softmax_limit" in str(told.value)) == (kind in ("plain", "layers")), "where it is no way, it is not named"


@pytest.mark.parametrize("kind", KINDS)
def test_towers_learn_in_bf16_and_are_kept_in_float32(kind: str, given: Given, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, judged = list[torch.dtype](), list[torch.dtype]()
    plain = QueryTower.forward

    def watched(tower: QueryTower, y: Tensor) -> Tensor:
        (asked if tower.training else judged).append(tower.first(y).dtype)
        return plain(tower, y)

    monkeypatch.setattr(QueryTower, "forward", watched)
    rounded, whole = (recipe_of(kind, precision=precision, learning_rate=0.02, dropout=0.0) for precision in ("bf16", "float32"))
    trained, other = fit(rounded, given(rounded)), fit(whole, given(whole))
    assert set(asked) == {torch.bfloat16, torch.float32}
    assert set(judged) == {torch.float32}
    assert trained.articles.dtype == np.float32
    assert not np.array_equal(trained.articles, other.articles)
    assert trained.curve[0].loss == pytest.approx(other.curve[0].loss, rel=0.02)


def test_the_linear_schedule_falls_from_the_learning_rate_and_gradients_are_cut(
    given: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    rates, norms, plain = list[float](), list[float](), torch.optim.AdamW.step

    def step(optimiser: torch.optim.AdamW, *how: Any) -> Any:
        (group,) = optimiser.param_groups
        rates.append(group["lr"])
        norms.append(float(torch.stack([p.grad.norm() for p in group["params"] if p.grad is not None]).norm()))
        return plain(optimiser, *how)

    monkeypatch.setattr(torch.optim.AdamW, "step", step)
    recipe = recipe_of("plain", schedule="linear", learning_rate=0.5, epochs=2, largest_gradient=0.25)
    fit(recipe, given(recipe))
    assert rates == pytest.approx([0.5, 0.375, 0.25, 0.125])
    assert max(norms) <= 0.2501
