"""The epochs of a training of towers: their schedule, the best of them, and what is kept for a training to go on."""

import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import LambdaLR, LRScheduler, OneCycleLR
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from gnn.distributed import Process
from gnn.fine_tuning.checkpoint import CHECKPOINT, checkpoint_in, keep_checkpoint, write_curve
from gnn.fine_tuning.loop import diverged
from gnn.model.trained import Epoch
from gnn.model.two_towers import TwoTowers
from gnn.options import TrainingOptions
from gnn.recipe import Recipe
from runtime.progress import Progress

Judge = Callable[[TwoTowers], tuple[float, float]]
"""R@100 and MAP of a model on the development questions, 0 to 1."""
_BETWEEN = 20.0
"""Seconds between two checkpoints, at least: most epochs take less than one."""


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of a training's checkpoint and curve, and what stands for all that it is made from."""

    folder: Path
    made_from: str


class Steps(Protocol):
    """The steps that an epoch is made of: a model, its questions, and what it draws from.

    Attributes:
        last: epoch to end after, from 0; None: by the judge.
    """

    recipe: Recipe
    process: Process
    model: TwoTowers
    questions: int
    draw: torch.Generator
    last: int | None

    def refresh(self) -> None:
        """Order what is drawn in an epoch by the model as it is."""
        ...

    def step(self, batch: Tensor, optimiser: torch.optim.Optimizer, done: float) -> float:
        """Take one step on questions by their numbers, ``done`` being the share of the epochs before; return their loss."""
        ...

    def random_state(self) -> dict[str, Any]:
        """Return where everything stands that is drawn from."""
        ...

    def draw_on(self, state: Mapping[str, Any]) -> None:
        """Draw on from such a state."""
        ...


@dataclass(slots=True)
class Best:
    """The curve so far, and the parameters of its best epoch."""

    curve: list[Epoch] = field(default_factory=list[Epoch])
    epoch: int = -1
    state: Mapping[str, Tensor] = field(default_factory=dict[str, Tensor])
    score: float = -1.0

    def add(self, epoch: Epoch, model: TwoTowers) -> None:
        """Add an epoch; the parameters of a better one than all before are kept."""
        self.curve.append(epoch)
        if epoch.recall + epoch.average_precision > self.score:
            self.epoch, self.score = len(self.curve) - 1, epoch.recall + epoch.average_precision
            self.keep(model)

    def keep(self, model: TwoTowers) -> None:
        """Keep the parameters as they are."""
        self.state = {name: value.detach().clone() for name, value in model.state_dict().items()}


class Epochs:
    """One training: the optimiser, its schedule, the average of the parameters, and where it stands."""

    def __init__(self, run: Steps, place: Place | None = None) -> None:
        """Take the steps; with a place, which a leader alone has, a training that was stopped goes on."""
        options = run.recipe.training
        self.run, self.place, self.options = run, place, options
        self.batches = -(-run.questions // options.batch)
        self.optimiser = torch.optim.AdamW(
            run.model.parameters(), options.learning_rate, eps=options.epsilon, weight_decay=options.weight_decay
        )
        self.schedule = _schedule(self.optimiser, options, options.epochs * self.batches)
        # Few questions make noisy steps: the average of the parameters along the way answers better than the last ones.
        self.averaged = AveragedModel(run.model, multi_avg_fn=get_ema_multi_avg_fn(options.averaging), use_buffers=True)
        self.best, self.begun, self.ended = Best(), 0, False
        self.seconds, self._since, self._kept_at = 0.0, time.monotonic(), time.monotonic()

    @property
    def kept(self) -> TwoTowers:
        """The model whose parameters are kept: the average."""
        return cast(TwoTowers, self.averaged.module)

    def train(self, judge: Judge | None, progress: Progress) -> Best:
        """Run the epochs; without a judge, which a leader that chooses has, what is returned has no curve.

        Raises:
            BadSetting: a loss or a parameter is not a number, or the checkpoint at its place is of something else.
            StorageFull: the disk is full; the last checkpoint stays.
        """
        run, options = self.run, self.options
        self._go_on()
        # The schedule is that of all epochs: the one to end after was chosen along it.
        epochs = options.epochs if run.last is None else run.last + 1
        with progress(f"training {run.recipe.name}", epochs * self.batches) as advance:
            advance(self.begun * self.batches)
            while self.begun < epochs and not self.ended:
                loss = self._epoch(advance)
                if judge is not None:
                    self.best.add(Epoch(loss, *judge(self.kept)), self.kept)
                    self.ended = self.begun - self.best.epoch >= options.patience
                self.ended = run.process.from_leader(self.ended)
                self.begun += 1
                self._keep()
        if run.last is not None:
            self.best.keep(self.kept)
        self._tell()
        return self.best

    def _epoch(self, advance: Callable[[int], None]) -> float:
        """Take the steps of an epoch; return their mean loss."""
        run, epoch, rate = self.run, self.begun, self.options.learning_rate
        run.refresh()
        run.model.train()
        losses: list[float] = []
        for batch in torch.randperm(run.questions, generator=run.draw).chunk(self.batches):
            losses.append(run.step(batch, self.optimiser, epoch / self.options.epochs))
            if not math.isfinite(losses[-1]):
                found = f"the loss of step {epoch * self.batches + len(losses)} is {losses[-1]}"
                raise diverged(run.recipe.name, found, rate)
            self.schedule.step()
            self.averaged.update_parameters(run.model)
            advance(1)
        if not _is_finite(self.kept):  # no loss tells of the last step
            raise diverged(run.recipe.name, f"epoch {epoch + 1} leaves parameters without bound", rate)
        return float(np.mean(losses))

    def _keep(self) -> None:
        """Write a checkpoint, unless there has just been one."""
        if self.place is None or time.monotonic() - self._kept_at < _BETWEEN:
            return
        stored = {
            "model": _on_processor(self.run.model.state_dict()),
            "averaged": _on_processor(self.averaged.state_dict()),
            "optimiser": self.optimiser.state_dict(),
            "schedule": self.schedule.state_dict(),
            "best": {
                "curve": [asdict(epoch) for epoch in self.best.curve],
                "epoch": self.best.epoch,
                "score": self.best.score,
                "state": _on_processor(self.best.state),
            },
            "random": self.run.random_state(),
            "begun": self.begun,
            "ended": self.ended,
            "seconds": self._seconds_so_far(),
        }
        keep_checkpoint(self.place.folder, self.run.recipe.name, self.place.made_from, stored)
        self._kept_at = time.monotonic()

    def _go_on(self) -> None:
        """Take up the last checkpoint, where there is one."""
        run, place, stored = self.run, self.place, None
        if place is not None:
            stored = checkpoint_in(place.folder, run.recipe.name, place.made_from, run.model.state_dict())
        stored = run.process.from_leader(stored)
        if stored is None:
            return
        run.model.load_state_dict(stored["model"])
        self.averaged.load_state_dict(stored["averaged"])
        self.optimiser.load_state_dict(stored["optimiser"])
        self.schedule.load_state_dict(stored["schedule"])
        best: dict[str, Any] = stored["best"]
        self.best = Best([Epoch(**epoch) for epoch in best["curve"]], best["epoch"], best["state"], best["score"])
        run.draw_on(stored["random"])
        self.begun, self.ended, self.seconds = stored["begun"], stored["ended"], stored["seconds"]

    def _tell(self) -> None:
        """Leave the curve in place of the checkpoint."""
        if self.place is None:
            return
        if self.best.curve:
            rows = (
                (number + 1, epoch.loss, epoch.recall, epoch.average_precision, "yes" if number == self.best.epoch else "")
                for number, epoch in enumerate(self.best.curve)
            )
            write_curve(self.place.folder, ["epoch", "loss", "R@100", "MAP", "kept"], rows)
        (self.place.folder / CHECKPOINT).unlink(missing_ok=True)

    def _seconds_so_far(self) -> float:
        return self.seconds + time.monotonic() - self._since


def _on_processor(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name: value.detach().cpu() for name, value in state.items()}


def _schedule(optimiser: torch.optim.Optimizer, options: TrainingOptions, steps: int) -> LRScheduler:
    if options.schedule == "linear":
        return LambdaLR(optimiser, lambda step: 1 - step / steps)
    return OneCycleLR(optimiser, options.learning_rate, total_steps=steps)


def _is_finite(model: TwoTowers) -> bool:
    """Return whether the parameters are numbers, and the temperature that one of them is the logarithm of."""
    values = [*model.parameters(), model.log_scale.exp()]
    return bool(torch.stack([torch.isfinite(value).all() for value in values]).all())
