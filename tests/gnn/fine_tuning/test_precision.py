"""What saves memory and time in a training: states that are computed again give the same gradients, bf16 nearly the same loss."""

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from gnn.distributed import alone
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.body import Body, load_body
from gnn.fine_tuning.loop import Run, tune
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe
from tests.gnn.fine_tuning.test_two_encoders import task_over


def without_dropout(body: Body) -> Body:
    for part in body.model.modules():
        if isinstance(part, nn.Dropout):
            part.p = 0.0
    return body


@pytest.mark.parametrize(("shared", "frozen"), [(True, 0), (False, 0), (False, 1)])
def test_states_that_are_computed_again_give_the_same_gradients(small_body: Path, shared: bool, frozen: int) -> None:
    def gradients(checkpointing: bool) -> tuple[dict[str, Tensor], int]:
        tuning = {"checkpointing": checkpointing, "frozen": frozen}
        recipe = bi_encoder_recipe(small_body, tuning=tuning, shared=shared, temperature=0.1)
        torch.manual_seed(5)
        model = BiEncoder(prepared(load_body(str(small_body)), recipe.fine_tuning), recipe.bi_encoder).train()
        read: list[int] = []
        for body in {model.body, model.article_body}:  # of a whole layer, hooks stand outside of what is computed again
            body.model.encoder.layer[-1].attention.register_forward_pre_hook(lambda *called: read.append(1))  # pyright: ignore
        task = task_over(model, recipe)
        task.begin(0, alone())
        torch.manual_seed(6)  # of dropout, which must fall on the same states when they are computed again
        task.loss([0, 1, 2], alone()).backward()
        learnt = {name: each.grad for name, each in model.named_parameters() if each.grad is not None}
        return learnt, len(read)

    (plain, once), (again, more) = gradients(False), gradients(True)
    assert (once, more) == (2, 4), "questions and articles, each computed twice"
    assert plain.keys() == again.keys()
    assert max(float(gradient.abs().max()) for gradient in plain.values()) > 0
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-5, atol=1e-7)


def test_a_step_in_bf16_has_nearly_the_loss_of_one_in_float32(small_body: Path, tmp_path: Path) -> None:
    losses: list[list[float]] = []
    for precision in ("float32", "bf16"):
        tuning = {"epochs": 2, "batch": 3, "learning_rate": 1e-3, "precision": precision}
        recipe = bi_encoder_recipe(small_body, tuning=tuning, shared=False, temperature=0.1)
        torch.manual_seed(5)
        model = BiEncoder(without_dropout(load_body(str(small_body))), recipe.bi_encoder)
        run = Run("two", "", tmp_path / precision, recipe.fine_tuning, threads=1)
        losses.append([epoch.loss for epoch in tune(task_over(model, recipe), run)])
    exact, rounded = losses
    assert rounded == pytest.approx(exact, rel=0.05)
    assert rounded != exact
    assert exact[1] < exact[0], "the second is of what a step has moved"
