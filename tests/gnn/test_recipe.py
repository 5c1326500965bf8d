"""Recipes: the names of stored models stay valid, and every option that makes another model makes another name."""

from typing import Any

import pytest

from gnn.recipe import Recipe, load_recipe

KEYS = {
    "best": "09d6eb170f6e",
    "best-encoder": "9075aa2e3ee9",
    "best-section-mean": "3b2a53bfadf6",
    "best-trained": "aa9a1812598d",
    "encoder": "26351ff48ffb",
    "gatv2": "87efed644d00",
    "lambdamart": "284ab042a0f0",
    "section-mean": "3eb633408a93",
    "static": "a8039d131e85",
    "static-encoder": "704cf5cd9f13",
    "static-trained": "20bcdcfc2aa6",
    "trained": "52e27ba25776",
}
"""Keys by which homes keep their models: they change with `gnn.recipe.FORMAT` alone."""


@pytest.mark.parametrize("name", KEYS)
def test_a_model_that_was_trained_before_is_not_trained_again(name: str) -> None:
    assert load_recipe(name).key() == KEYS[name]


@pytest.mark.parametrize(
    "change",
    [
        {"tune_fusion": False},
        {"encoder": {"svd_iterations": 5}},
        {"document": {"layers": 1, "section_share": 0.5}},
        {"encoder": {"static_whitening": 0.5}},
        {"rerank": {"rounds": 1}},
    ],
)
def test_an_option_that_is_younger_than_stored_models_counts_where_it_is_used(change: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"name": "r", "document": {"layers": 1}}
    assert Recipe.model_validate(plain | change).key() != Recipe.model_validate(plain).key()


def test_fusion_is_tuned_where_there_are_layers_unless_the_recipe_says_otherwise() -> None:
    assert [load_recipe(name).tune_fusion for name in ("gatv2", "best", "section-mean", "encoder")] == [True, True, False, False]
    assert Recipe.model_validate({"name": "r", "tune_fusion": True}).tune_fusion
