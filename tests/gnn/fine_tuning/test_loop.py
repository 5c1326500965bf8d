"""The loop: a killed run goes on to the same parameters, and what cannot go on says why."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed, nn
from torch.nn import functional

from gnn.distributed import Process
from gnn.fine_tuning.article_encoder import ArticleEncoder
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.loop import Run, groups_of_decay, trained_parameters, tune
from gnn.options import BiEncoderOptions, FineTuningOptions
from runtime.progress import Progress, silent
from schema.errors import BadSetting


class Killed(Exception):
    """Stands for the end of the process."""


class Lines:
    """Fits y = 3x₀ - 2x₁ by a layer with dropout; dies at a step, or says that memory is full above a batch."""

    def __init__(self, *, dies_at: int = -1, holds: int = 1000, examples: int = 20, bad: float = 0.0) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.2), nn.Tanh(), nn.Linear(8, 1))
        draw = torch.Generator().manual_seed(1)
        self.x = torch.randn(examples, 2, generator=draw)
        self.y = self.x @ torch.tensor([[3.0], [-2.0]]) + bad
        self.dies_at, self.holds, self.calls, self.batches = dies_at, holds, 0, list[int]()

    @property
    def examples(self) -> int:
        return len(self.x)

    def begin(self, epoch: int, process: Process, progress: Progress = silent) -> None:
        self.noise = torch.randn(len(self.x), 1, generator=torch.Generator().manual_seed(epoch))

    def loss(self, examples: Sequence[int], process: Process) -> Tensor:
        self.calls += 1
        if self.calls == self.dies_at:
            raise Killed
        if len(examples) > self.holds:
            raise torch.OutOfMemoryError
        self.batches.append(len(examples))
        chosen = list(examples)
        return functional.mse_loss(self.model(self.x[chosen]), self.y[chosen] + 0.1 * self.noise[chosen])

    def quality(self) -> Mapping[str, float]:
        return {"MAP": -float(functional.mse_loss(self.model(self.x), self.y))}


def run_in(folder: Path, *, name: str = "lines", made_from: str = "law", **options: Any) -> Run:
    wanted = {"epochs": 4, "batch": 3, "learning_rate": 0.05, "checkpoint_steps": 2, "precision": "float32", **options}
    return Run(name, made_from, folder, FineTuningOptions.model_validate(wanted), threads=1)


def parameters(task: Lines) -> list[list[float]]:
    return [value.detach().flatten().tolist() for value in task.model.parameters()]


@pytest.mark.parametrize("dies_at", [2, 6, 8, 13])
@pytest.mark.parametrize("decay_all", [True, False])
def test_a_killed_run_goes_on_to_the_same_parameters(tmp_path: Path, dies_at: int, decay_all: bool) -> None:
    whole, killed, resumed = Lines(), Lines(dies_at=dies_at), Lines()
    curve = tune(whole, run_in(tmp_path / "whole", decay_all=decay_all))
    with pytest.raises(Killed):
        tune(killed, run_in(tmp_path / "killed", decay_all=decay_all))
    gone_on = tune(resumed, run_in(tmp_path / "killed", decay_all=decay_all))
    assert parameters(resumed) == parameters(whole)
    assert resumed.calls < whole.calls or dies_at == 2  # nothing had been kept before the second step
    assert [(epoch.loss, epoch.quality) for epoch in gone_on] == [(epoch.loss, epoch.quality) for epoch in curve]


def decayed(*, all_of_them: bool) -> dict[str, float]:
    """The decay of each parameter of a body with a head of layers, by name."""
    torch.manual_seed(0)
    options = BiEncoderOptions(passages=2, passage_heads=2, passage_pooling="attention")  # pyright: ignore[reportCallIssue]
    named = trained_parameters(ArticleEncoder(8, options))
    groups = groups_of_decay(named.values(), FineTuningOptions(weight_decay=0.1, decay_all=all_of_them))  # pyright: ignore
    assert sum(len(group["params"]) for group in groups) == len(named)
    of = {id(value): group["weight_decay"] for group in groups for value in group["params"]}
    return {name: of[id(value)] for name, value in named.items()}


def test_biases_and_norms_are_left_out_of_the_decay_where_the_recipe_says_so() -> None:
    assert set(decayed(all_of_them=True).values()) == {0.1}
    found = decayed(all_of_them=False)
    left_out = {name for name, decay in found.items() if decay == 0}
    assert left_out == {name for name in found if name.endswith(".bias") or ".before_" in name}
    assert {"positions", "attention.weight", "layers.1.projected.weight"} <= {name for name in found if found[name] == 0.1}


def test_what_is_left_out_of_the_decay_stays_where_there_is_no_gradient(tmp_path: Path) -> None:
    task, begun = Lines(), Lines()
    task.loss = lambda examples, process: 0.0 * sum(value.sum() for value in task.model.parameters())  # pyright: ignore
    tune(task, run_in(tmp_path, epochs=1, weight_decay=0.5, decay_all=False))
    for one, other in zip(task.model.parameters(), begun.model.parameters(), strict=True):
        assert torch.equal(one, other) == (one.ndim == 1)


def test_a_run_that_is_over_is_not_run_again(tmp_path: Path) -> None:
    first, again = Lines(), Lines()
    curve = tune(first, run_in(tmp_path))
    assert tune(again, run_in(tmp_path)) == curve
    assert again.calls == 0
    assert parameters(again) == parameters(first)
    rows = (tmp_path / CURVE).read_text("utf-8").splitlines()
    assert rows[0] == "epoch,loss,MAP,seconds,kept"
    assert len(rows) == 5
    # Killed before it had written its curve, it writes that when it is asked again.
    (tmp_path / CURVE).unlink()
    tune(Lines(), run_in(tmp_path))
    assert (tmp_path / CURVE).read_text("utf-8").splitlines() == rows


def test_batches_of_a_step_give_the_gradients_of_one(tmp_path: Path) -> None:
    whole, parts = Lines(), Lines()
    for task in (whole, parts):
        task.model[1] = nn.Identity()
    tune(whole, run_in(tmp_path / "one", batch=4))
    tune(parts, run_in(tmp_path / "two", batch=2, accumulation=2))
    for one, other in zip(parameters(whole), parameters(parts), strict=True):
        assert one == pytest.approx(other, abs=1e-5)


def test_out_of_memory_halves_the_batch_and_says_so(tmp_path: Path) -> None:
    said: list[str] = []

    @contextmanager
    def telling(label: str, total: int):
        said.append(label)
        yield lambda done: None

    task = Lines(holds=2)
    run = run_in(tmp_path, batch=7)
    tune(task, Run(run.name, run.made_from, run.folder, run.options, progress=telling))
    assert max(task.batches) == 2
    assert "out of memory: batches of 4, 2 to a step" in said
    assert "out of memory: batches of 2, 4 to a step" in said


def test_several_processes_end_where_the_memory_of_one_is_full(tmp_path: Path) -> None:
    distributed.init_process_group("gloo", store=distributed.HashStore(), rank=0, world_size=1)
    try:
        run = replace(run_in(tmp_path), process=Process(0, 2, torch.device("cpu")))
        with pytest.raises(BadSetting, match=r"does not hold its share of 3 examples: a smaller batch takes less"):
            tune(Lines(holds=1), run)
    finally:
        distributed.destroy_process_group()


def test_memory_that_holds_no_example_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="does not hold one example"):
        tune(Lines(holds=0), run_in(tmp_path))


def test_a_loss_that_is_no_number_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"recipe lines: the loss of step 1 is nan"):
        tune(Lines(bad=float("nan")), run_in(tmp_path))


def test_no_questions_are_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="recipe lines: there are no questions to train on"):
        tune(Lines(examples=0), run_in(tmp_path))


@pytest.mark.parametrize(("name", "made_from", "said"), [("dpr", "law", "of recipe lines"), ("lines", "other", "other options")])
def test_a_checkpoint_of_another_training_is_refused(tmp_path: Path, name: str, made_from: str, said: str) -> None:
    tune(Lines(), run_in(tmp_path))
    with pytest.raises(BadSetting, match=said):
        tune(Lines(), run_in(tmp_path, name=name, made_from=made_from))


def test_a_file_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    (tmp_path / CHECKPOINT).write_bytes(b"nothing of the kind")
    with pytest.raises(BadSetting, match="is no checkpoint"):
        tune(Lines(), run_in(tmp_path))


def test_training_stops_once_it_gets_no_better(tmp_path: Path) -> None:
    task = Lines()
    task.quality = lambda: {"MAP": -len(list(tmp_path.glob(CHECKPOINT)))}  # pyright: ignore[reportAttributeAccessIssue]
    assert len(tune(task, run_in(tmp_path, epochs=9, patience=2, checkpoint_steps=100))) == 3
