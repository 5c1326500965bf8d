"""Recipes: the names of stored models stay valid, and every option that makes another model makes another name."""

from typing import Any

import pytest

from gnn.recipe import Recipe, load_recipe

KEYS = {
    "best": "fb0fd7e04e78",
    "best-encoder": "e5f3ce58a3a0",
    "best-trained": "0aadc41bb6d8",
    "bm25": "33e8dc185b30",
    "doct5query": "0b681a2448eb",
    "dpr": "eb65a4d0fe01",
    "dsr": "8b03f0ab0e08",
    "dsr-dapt": "5889afaffcd8",
    "dsr-dapt-paper": "6fb7dbbe4cd1",
    "dsr-synthetic": "61361b457b3a",
    "dsr-synthetic-paper": "f98e30eaa609",
    "encoder": "f079de308a69",
    "gatv2": "a481ab767896",
    "lambdamart": "4bc39a7b68be",
    "section-mean": "6806ecf1c9f9",
    "static": "ddf435c5ed48",
    "static-encoder": "b17d00fff90b",
    "static-trained": "ecaddb9814d0",
    "trained": "9fea1275a684",
}
"""Keys by which homes keep their models: they change with `gnn.recipe.FORMAT` alone."""


@pytest.mark.parametrize("name", KEYS)
def test_a_model_that_was_trained_before_is_not_trained_again(name: str) -> None:
    assert load_recipe(name).key() == KEYS[name]


@pytest.mark.parametrize(
    "change",
    [
        {"tune_fusion": True},
        {"encoder": {"svd_iterations": 5}},
        {"document": {"layers": 1, "section_share": 0.5}},
        {"encoder": {"static_whitening": 0.5}},
        {"rerank": {"rounds": 1}},
    ],
)
def test_an_option_that_is_younger_than_stored_models_counts_where_it_is_used(change: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"name": "r", "document": {"layers": 1}}
    assert Recipe.model_validate(plain | change).key() != Recipe.model_validate(plain).key()


def test_fusion_is_tuned_only_where_a_recipe_says_so() -> None:
    assert not any(load_recipe(name).tune_fusion for name in KEYS)
    assert Recipe.model_validate({"name": "r", "tune_fusion": True}).tune_fusion
