"""The loop that trains transformers: AdamW under a linear schedule, in plain PyTorch, going on where it was stopped.

Everything that is drawn is drawn anew for each step, from the seed and the number of the step: no generator has to be kept for a
training to go on as if it had never stopped. What an epoch draws by the model is kept (`Remembering`).
"""

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor, nn

from gnn.device import precision_of
from gnn.distributed import Process, alone
from gnn.fine_tuning.checkpoint import checkpoint_in, keep_checkpoint, write_curve
from gnn.options import FineTuningOptions
from runtime.freed_memory import keep_freed_memory
from runtime.progress import Progress, silent
from schema.errors import BadSetting

_LARGEST_GRADIENT = 1.0
"""Norm that gradients are cut to."""


class Task(Protocol):
    """A model to train, with its examples and a measure of it."""

    @property
    def model(self) -> nn.Module:
        """The model; its parameters with ``requires_grad`` are trained."""
        ...

    @property
    def examples(self) -> int:
        """Number of examples of an epoch."""
        ...

    def begin(self, epoch: int, process: Process, progress: Progress = silent) -> None:
        """Draw what an epoch needs: from its number alone, unless the task is one that is `Remembering`.

        Args:
            progress: shows what takes long of it.
        """
        ...

    def loss(self, examples: Sequence[int], process: Process) -> Tensor:
        """Return float32[]: a process's share of the mean loss over examples by their numbers; those of all add up to it."""
        ...

    def quality(self) -> Mapping[str, float]:
        """Return measures on development questions; the epoch with the greatest sum is kept, or the last where there are none."""
        ...


@runtime_checkable
class Remembering(Protocol):
    """A task whose epochs are drawn by the model too: what was drawn is kept with it, for a training that goes on."""

    def drawn(self) -> dict[str, Tensor]:
        """Return what the epoch at hand has drawn."""
        ...

    def draw_again(self, drawn: Mapping[str, Tensor]) -> None:
        """Take what an epoch had drawn, which `begin` then leaves as it is."""
        ...


@dataclass(frozen=True, slots=True)
class Run:
    """The training of a task.

    Attributes:
        name: of the recipe.
        made_from: stands for all that it is made from; a checkpoint of anything else is refused.
        folder: of its checkpoint and its curve.
        threads: of this machine.
        process: the leader of those that share the training.
    """

    name: str
    made_from: str
    folder: Path
    options: FineTuningOptions
    threads: int = 2
    progress: Progress = silent
    process: Process = field(default_factory=alone)


@dataclass(frozen=True, slots=True)
class TunedEpoch:
    """One epoch: mean loss of its steps, measures on the development questions, seconds from the beginning."""

    loss: float
    quality: Mapping[str, float]
    seconds: float


@dataclass(slots=True)
class _State:
    """The state of a training: what a checkpoint holds beside the model, the optimiser, and what the epoch has drawn."""

    step: int = 0
    batch: int = 0
    accumulation: int = 1
    seconds: float = 0.0
    losses: list[float] = field(default_factory=list[float])
    curve: list[TunedEpoch] = field(default_factory=list[TunedEpoch])
    best: int = -1
    parameters: dict[str, Tensor] = field(default_factory=dict[str, Tensor])


def tune(task: Task, run: Run) -> list[TunedEpoch]:
    """Train a task; its model is left with the parameters of the best epoch. Return the curve.

    A training that was stopped goes on from its last checkpoint, and gives the same parameters on one kind of processor with as
    many threads. Where memory runs out, the batch is halved and twice as many make a step from then on.

    Several processes take the steps that one takes: each reads its share of a batch, and the gradients are added up. What a batch
    learns from itself, as in-batch negatives, it learns from all of it (`Process.gathered`). So the parameters are those of one
    process, but for dropout, whose masks each draws for its own share, and for the order in which floats are added.

    Raises:
        BadSetting: there are no examples, a loss is not a number, the checkpoint is another recipe's, or memory does not hold
            a single example (of several processes, the share of each: the batch that all agreed on is not halved).
        StorageFull: the disk is full; the last checkpoint stays.
    """
    if not task.examples:
        raise BadSetting(f"recipe {run.name}: there are no questions to train on")
    if run.process.size > 1:
        task.model.cpu()
        run.process.from_leader(_Shared(task, replace(run, progress=silent)))
    return _Tuning(task, run).train()


@dataclass(frozen=True, slots=True)
class _Shared:
    """A training as it is given to the processes that share it."""

    task: Task
    run: Run

    def join(self, process: Process) -> None:
        """Do the share of a process that follows."""
        _Tuning(self.task, replace(self.run, process=process)).train()


def trained_parameters(model: nn.Module) -> dict[str, Tensor]:
    """Return the parameters that are trained, by name."""
    return {name: parameter for name, parameter in model.named_parameters() if parameter.requires_grad}


def groups_of_decay(parameters: Iterable[Tensor], options: FineTuningOptions) -> list[dict[str, Any]]:
    """Return parameters as an optimiser takes them: those of one dimension, biases and layer norms, apart where none decays."""
    every = list(parameters)
    if options.decay_all:
        return [{"params": every, "weight_decay": options.weight_decay}]
    decaying, others = [one for one in every if one.ndim > 1], [one for one in every if one.ndim <= 1]
    return [{"params": decaying, "weight_decay": options.weight_decay}, {"params": others, "weight_decay": 0.0}]


def diverged(recipe: str, found: str, rate: float) -> BadSetting:
    """Return the error of a training in which something is not a number any more.

    Args:
        found: what it is, and after which step.
        rate: at which it was learnt.
    """
    return BadSetting(f"recipe {recipe}: {found}: a smaller learning rate than {rate:g} may help")


class _Tuning:
    """One training: the model on its device, the optimiser, and where it stands."""

    def __init__(self, task: Task, run: Run) -> None:
        keep_freed_memory()
        torch.set_num_threads(max(1, run.threads // run.process.neighbours))
        self.task, self.run, self.options = task, run, run.options
        self.process, self.device = run.process, run.process.device
        task.model.to(self.device)
        self.parameters = trained_parameters(task.model)
        options = run.options
        groups = groups_of_decay(self.parameters.values(), options)
        self.optimiser = torch.optim.AdamW(groups, lr=options.learning_rate, eps=options.epsilon)
        self.state = _State(batch=options.batch, accumulation=options.accumulation)
        # A step takes as many examples whatever the memory makes of the batches.
        self.taken = options.batch * options.accumulation
        self.steps = -(-task.examples // self.taken)

    def train(self) -> list[TunedEpoch]:
        state, options = self.state, self.options
        self._go_on()
        state = self.state
        total = options.epochs * self.steps
        began = time.monotonic() - state.seconds
        with self.run.progress(f"fine-tuning {self.run.name}", total) as advance:
            advance(state.step)
            while state.step < total and not self._is_over():
                epoch, first = divmod(state.step, self.steps)
                self.task.model.eval()
                self.task.begin(epoch, self.process, self.run.progress)
                for chosen in self._order(epoch)[first:]:
                    state.losses.append(self._step(chosen))
                    state.step += 1
                    advance(1)
                    if state.step % options.checkpoint_steps == 0 and state.step % self.steps:
                        self._keep(began)
                self._end_epoch(began)
        with torch.no_grad():
            for name, value in state.parameters.items():
                self.parameters[name].copy_(value)
        self.task.model.eval()
        return state.curve

    def _order(self, epoch: int) -> list[list[int]]:
        """Return the examples of each step of an epoch."""
        order = np.random.default_rng((self.options.seed, epoch)).permutation(self.task.examples).tolist()
        return [order[start : start + self.taken] for start in range(0, len(order), self.taken)]

    def _is_over(self) -> bool:
        return bool(self.state.curve) and len(self.state.curve) - 1 - self.state.best >= self.options.patience

    def _step(self, chosen: Sequence[int]) -> float:
        """Take one step on examples; return their mean loss."""
        for group in self.optimiser.param_groups:
            group["lr"] = self.options.learning_rate * self._share_of_rate()
        while True:
            try:
                total = self._gradients(chosen)
                break
            except torch.OutOfMemoryError:
                self._halve()
        if not math.isfinite(total):
            found = f"the loss of step {self.state.step + 1} is {total}"
            raise diverged(self.run.name, found, self.options.learning_rate)
        nn.utils.clip_grad_norm_(self.parameters.values(), _LARGEST_GRADIENT)
        self.optimiser.step()
        return total

    def _gradients(self, chosen: Sequence[int]) -> float:
        """Add up the gradients of the batches of a step; return its mean loss."""
        self.task.model.train()
        self.optimiser.zero_grad(set_to_none=True)
        torch.manual_seed(self.options.seed + self.state.step + (self.process.rank << 32))
        total = torch.zeros((), device=self.device)
        for start in range(0, len(chosen), self.state.batch):
            batch = chosen[start : start + self.state.batch]
            with precision_of(self.options, self.device):
                loss = self.task.loss(batch, self.process).float() * (len(batch) / len(chosen))
            loss.backward()
            total += loss.detach()
        return self.process.add_up(self.task.model, total)

    def _share_of_rate(self) -> float:
        """Return what the learning rate is multiplied by: up in a line at first, then down to nothing."""
        total = self.options.epochs * self.steps
        warm = round(self.options.warmup * total)
        step = self.state.step
        return (step + 1) / warm if step < warm else (total - step) / max(total - warm, 1)

    def _halve(self) -> None:
        state, told = self.state, f"recipe {self.run.name}: the memory of {self.device} does not hold"
        if self.process.size > 1:  # the others wait for what this one cannot do
            less = "a smaller batch takes less"
            raise BadSetting(f"{told} its share of {state.batch} examples: {less}") from None
        if state.batch == 1:
            raise BadSetting(f"{told} one example") from None
        state.batch, state.accumulation = -(-state.batch // 2), 2 * state.accumulation
        self.optimiser.zero_grad(set_to_none=True)
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        with self.run.progress(f"out of memory: batches of {state.batch}, {state.accumulation} to a step", 0):
            pass

    def _end_epoch(self, began: float) -> None:
        state = self.state
        self.task.model.eval()
        quality: Mapping[str, float] = {}
        if self.process.leads:
            with torch.inference_mode(), precision_of(self.options, self.device):
                quality = self.task.quality()
        quality = self.process.from_leader(dict(quality))
        state.curve.append(TunedEpoch(float(np.mean(state.losses)), dict(quality), round(time.monotonic() - began, 1)))
        state.losses = []
        if not quality or state.best < 0 or sum(quality.values()) > sum(state.curve[state.best].quality.values()):
            state.best = len(state.curve) - 1
            state.parameters = {name: value.detach().cpu().clone() for name, value in self.parameters.items()}
        self._keep(began)
        self._write_curve()

    def _keep(self, began: float) -> None:
        """Write a checkpoint, whole or not at all."""
        if not self.process.leads:
            return
        state = self.state
        state.seconds = time.monotonic() - began
        stored = {
            "model": {name: value.detach().cpu() for name, value in self.parameters.items()},
            "optimiser": self.optimiser.state_dict(),
            "state": asdict(state) | {"parameters": state.parameters},
            "drawn": self.task.drawn() if isinstance(self.task, Remembering) else {},
        }
        keep_checkpoint(self.run.folder, self.run.name, self.run.made_from, stored)

    def _go_on(self) -> None:
        """Take up the last checkpoint, where there is one.

        Raises:
            BadSetting: it is of another recipe, or of this one made from something else.
        """
        run, stored = self.run, None
        best: dict[str, Tensor] = {}
        if self.process.leads:
            stored = checkpoint_in(run.folder, run.name, run.made_from, self.parameters)
            best = {} if stored is None else stored["state"].pop("parameters")  # which the others need not hold
        stored = self.process.from_leader(stored)
        if stored is None:
            return
        with torch.no_grad():
            for name, value in self.parameters.items():
                value.copy_(stored["model"][name])
        self.optimiser.load_state_dict(stored["optimiser"])
        if isinstance(self.task, Remembering):
            self.task.draw_again(stored.get("drawn", {}))  # none in those of before
        curve = [TunedEpoch(**epoch) for epoch in stored["state"].pop("curve")]
        self.state = _State(**stored["state"], curve=curve, parameters=best)
        if curve:  # a run may have been killed between its checkpoint and its curve
            self._write_curve()

    def _write_curve(self) -> None:
        if not self.process.leads:
            return
        curve, best, names = self.state.curve, self.state.best, list(self.state.curve[0].quality)
        rows = (  # seconds as they are measured, to a tenth
            (n + 1, epoch.loss, *(epoch.quality[name] for name in names), str(epoch.seconds), "yes" if n == best else "")
            for n, epoch in enumerate(curve)
        )
        write_curve(self.run.folder, ["epoch", "loss", *names, "seconds", "kept"], rows)
