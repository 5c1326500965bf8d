"""Functions over the features of all articles whose gradients are taken in place of copies: a quarter of a step's time.

Their results and gradients are those that torch derives by itself, but for the order in which floats are added.
"""

from typing import Any, cast

import torch
from torch import Tensor
from torch.autograd import Function

_LEAST = 1e-12
"""Length that shorter rows are divided by, as in `torch.nn.functional.normalize`."""


def unit_length(x: Tensor) -> Tensor:
    """Return float[n, d], the rows of a matrix at the length of one."""
    return cast(Tensor, _UnitLength.apply(x))


def with_share(x: Tensor, other: Tensor, share: Tensor) -> Tensor:
    """Return ``x + share · other``, float[n, d]; the share is a single number, and ``other`` has no gradient."""
    return cast(Tensor, _WithShare.apply(x, other, share))


class _UnitLength(Function):
    """y = x / |x|, so that x's gradient is (g - y·<g, y>) / |x|."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        length = torch.linalg.vector_norm(x, dim=-1, keepdim=True).clamp_min(_LEAST)
        y = x / length
        ctx.save_for_backward(y, length)
        return y

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Tensor:
        (gradient,), (y, length) = grads, ctx.saved_tensors
        along = torch.linalg.vecdot(gradient, y).unsqueeze(-1)
        return torch.addcmul(gradient, y, along, value=-1).div_(length)


class _WithShare(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, other: Tensor, share: Tensor) -> Tensor:
        ctx.save_for_backward(other)
        return torch.add(x, other, alpha=share.item())

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, None, Tensor]:
        (gradient,), (other,) = grads, ctx.saved_tensors
        of_x = gradient if ctx.needs_input_grad[0] else None
        return of_x, None, torch.dot(gradient.flatten(), other.flatten())
