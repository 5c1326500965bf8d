"""Results and gradients are those that torch derives by itself."""

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn import functional

from gnn.model.dropout import Dropout
from gnn.model.gradients import unit_length, with_share

X, OTHER = (torch.randn(5, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(n)) for n in (1, 2))


def leaf(values: Tensor) -> Tensor:
    return values.clone().requires_grad_()


def test_rows_have_the_length_of_one() -> None:
    x, same = leaf(X), leaf(X)
    y, expected = unit_length(x), functional.normalize(same, dim=-1)
    torch.testing.assert_close(y, expected)
    assert gradcheck(unit_length, (x,))
    (y * OTHER).sum().backward()
    (expected * OTHER).sum().backward()
    torch.testing.assert_close(x.grad, same.grad)


def test_a_row_of_zeros_stays_one_and_has_a_finite_gradient() -> None:
    x = torch.zeros(2, 3, requires_grad=True)
    y = unit_length(x)
    y.sum().backward()
    assert not y.any()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_a_share_of_another_matrix() -> None:
    share, same = leaf(torch.tensor(0.3, dtype=torch.float64)), leaf(torch.tensor(0.3, dtype=torch.float64))
    y, expected = with_share(X, OTHER, share), X + same * OTHER
    torch.testing.assert_close(y, expected)
    (y**2).sum().backward()
    (expected**2).sum().backward()
    torch.testing.assert_close(share.grad, same.grad)
    assert gradcheck(lambda x, share: with_share(x, OTHER, share), (leaf(X), leaf(share.detach())))


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_dropout_sets_its_share_to_zero_and_keeps_the_sum(share: float) -> None:
    torch.manual_seed(4)
    x, dropout = leaf(torch.ones(1001, 501)), Dropout(share)
    y = dropout(x)
    gone = y == 0
    assert gone.float().mean().item() == pytest.approx(share, abs=0.003)
    assert gone.float().mean(0).std().item() < 0.02, "no column of features is spared"
    assert y[~gone].unique().tolist() == pytest.approx([1 / (1 - share)], rel=1e-4)
    y.sum().backward()
    torch.testing.assert_close(x.grad, y.detach())


def test_dropout_follows_the_seed_and_ends_with_the_training() -> None:
    x, dropout = torch.ones(50, 7), Dropout(0.5)
    torch.manual_seed(4)
    first, second = dropout(x), dropout(x)
    torch.manual_seed(4)
    assert torch.equal(dropout(x), first)
    assert not torch.equal(first, second)
    assert dropout.eval()(x) is x
    assert Dropout(0.0)(x) is x
