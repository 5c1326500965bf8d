"""What is kept of a bi-encoder that was trained: all of it, or part of the way there."""

import torch
from torch import nn

from gnn.fine_tuning.tuned import go_part_of_the_way
from gnn.recipe import Recipe, load_recipe


def trained_by_two() -> tuple[nn.Linear, dict[str, torch.Tensor]]:
    """A layer each of whose trained weights has grown by 2, one of which is frozen, and what these were."""
    layer = nn.Linear(3, 2)
    layer.bias.requires_grad_(False)
    begun = {"weight": layer.weight.detach().clone()}
    with torch.no_grad():
        layer.weight += 2
    return layer, begun


def test_half_of_the_way_is_the_mean_of_both_ends_and_what_is_frozen_stays() -> None:
    layer, begun = trained_by_two()
    bias = layer.bias.clone()
    go_part_of_the_way(layer, begun, 0.5)
    torch.testing.assert_close(layer.weight.detach(), begun["weight"] + 1)
    torch.testing.assert_close(layer.bias, bias)


def test_the_whole_way_changes_nothing() -> None:
    layer, begun = trained_by_two()
    before = layer.weight.detach().clone()
    go_part_of_the_way(layer, begun, 1.0)
    torch.testing.assert_close(layer.weight.detach(), before, rtol=0, atol=0)


def test_a_share_counts_in_the_key_where_it_is_used() -> None:
    plain = load_recipe("dpr")
    half = plain.model_copy(update={"bi_encoder": plain.bi_encoder.model_copy(update={"share": 0.5})})
    assert half.key() != plain.key()
    assert Recipe.model_validate({"name": "r"}).bi_encoder.share == 1
