"""The processes of one training, as ``torchrun`` starts them: the first leads, the others follow.

The leader alone opens the graph, holds the lock, writes, evaluates and prints. The others wait for a training, get all that
it is made from, do their share of each step, and end when the leader has no more.
"""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, Protocol, TypeVar, cast

import torch
from torch import Tensor, distributed, nn

from schema.errors import BadSetting

_Value = TypeVar("_Value")
PATIENCE = timedelta(days=2)
"""Longest wait of a process for another: the leader may encode a whole corpus before it needs the others. One that dies is
noticed by ``torchrun``, which ends them all."""


@dataclass(frozen=True, slots=True)
class Process:
    """One of the processes of a training.

    Attributes:
        rank: its number, from 0, which leads; size: number of all processes.
        device: its GPU, or the CPU.
        neighbours: processes on its machine, itself among them.
    """

    rank: int
    size: int
    device: torch.device
    neighbours: int = 1

    @property
    def leads(self) -> bool:
        """True for the process that reads, writes and decides."""
        return self.rank == 0

    def share(self, n: int) -> slice:
        """Return this process's part of the n questions of a batch: shares of equal size, to one."""
        return slice(n * self.rank // self.size, n * (self.rank + 1) // self.size)

    def from_leader(self, value: _Value) -> _Value:
        """Return the leader's value in every process; it must be picklable. Those of the others are ignored."""
        if self.size == 1:
            return value
        box: list[Any] = [value if self.leads else None]
        distributed.broadcast_object_list(box, src=0, device=torch.device("cpu"))
        return box[0]

    def add_up(self, model: nn.Module, loss: Tensor) -> float:
        """Sum the gradients of a model, and the loss, over all processes; return the loss.

        Each has its part of one mean, so that the sum is the gradient of the whole batch.
        """
        if self.size == 1:
            return loss.item()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        parts = [*(gradient.flatten() for gradient in gradients), loss.detach().reshape(1)]
        whole = torch.cat(parts)  # one message, not one a parameter
        distributed.all_reduce(whole)
        for gradient, total in zip(gradients, whole.split([len(part) for part in parts]), strict=False):
            gradient.copy_(total.view_as(gradient))
        return whole[-1].item()

    def gathered(self, own: Tensor, n: int) -> Tensor:
        """Return float32[n, d]: the rows of all processes, each of which has those of its `share` of n.

        A row has the gradient that all processes together give it, where it was made.
        """
        return own if self.size == 1 else cast(Tensor, _Gathered.apply(own, self, n))


class _Gathered(torch.autograd.Function):
    """Rows of all processes; what their losses tell of a row is added up on the way back."""

    @staticmethod
    def forward(ctx: Any, own: Tensor, process: Process, n: int) -> Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx.mine = process.share(n)
        whole = own.new_zeros(n, *own.shape[1:])
        whole[ctx.mine] = own
        distributed.all_reduce(whole)  # of rows that are zero elsewhere: shares may be of two sizes
        return whole

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        whole = gradients[0].clone(memory_format=torch.contiguous_format)
        distributed.all_reduce(whole)
        return whole[ctx.mine], None, None


class Job(Protocol):
    """A training that all processes share: what the leader gives to the others."""

    def join(self, process: Process) -> None:
        """Do the share of one that follows."""
        ...


def follow(process: Process) -> None:
    """Do this process's share of every training that the leader begins, until it has no more."""
    while (job := process.from_leader(cast(Job | None, None))) is not None:
        job.join(process)


def gpu_name() -> str:
    """Return the name of this machine's GPU; empty where it has none."""
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def alone() -> Process:
    """Return the one process of a training that nobody shares."""
    return Process(0, 1, torch.device("cuda" if torch.cuda.is_available() else "cpu"))


@contextmanager
def leading() -> Generator[Process]:
    """Join the processes that ``torchrun`` started, and lead them while the block runs; it is given its own.

    Without ``torchrun`` that is alone. Only the leader goes into the block: the others follow it, and end with it.

    Raises:
        BadSetting: there are more processes on this machine than GPUs.
    """
    process = _joined()
    if not process.leads:
        follow(process)
        _end_follower()
    # Not taken apart when the block fails: the others wait in a step that will not come, and torchrun ends them.
    yield process
    process.from_leader(None)
    if process.size > 1:
        distributed.destroy_process_group()


def _joined() -> Process:
    if "TORCHELASTIC_RUN_ID" not in os.environ or int(os.environ["WORLD_SIZE"]) == 1:
        return alone()
    local, neighbours = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    gpus = torch.cuda.device_count()
    if 0 < gpus < neighbours:
        raise BadSetting(f"torchrun: {neighbours} processes, but only {gpus} GPUs: use --nproc-per-node {gpus}")
    device = torch.device("cuda", local) if gpus else torch.device("cpu")
    if gpus:
        torch.cuda.set_device(device)
    # What is not on a GPU, the inputs and decisions, goes by gloo all the same.
    distributed.init_process_group("cpu:gloo,cuda:nccl" if gpus else "gloo", timeout=PATIENCE)
    return Process(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), device, neighbours)


def _end_follower() -> NoReturn:
    """Leave the other processes and end this one, which followed and has nothing more to say.

    It is not taken apart as others are: now and then a thread of a library aborts it then, and torchrun ends them all.
    """
    distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)
