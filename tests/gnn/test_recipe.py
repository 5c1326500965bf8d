"""Recipes: the names of stored models stay valid, and every option that makes another model makes another name."""

from typing import Any

import pytest

from gnn.recipe import Recipe, load_recipe

KEYS = {
    "best": "744845c4af9a",
    "best-encoder": "04651c7a8acc",
    "best-trained": "f12b5cca2833",
    "bm25": "fd22b0ee919d",
    "doct5query": "028b8301b78d",
    "dpr": "93eff813f50e",
    "dsr": "06a6f18d9220",
    "dsr-dapt": "199048e8aa34",
    "dsr-dapt-paper": "7e7777602bf7",
    "dsr-synthetic": "4e68450792d6",
    "dsr-synthetic-paper": "ece26532e422",
    "encoder": "d82a5a8fe312",
    "gatv2": "33fd9f98b6c3",
    "lambdamart": "ed7de3440bfe",
    "section-mean": "0679c5f44b26",
    "static": "adc149771c7d",
    "static-encoder": "ea126b2673f6",
    "static-trained": "7634f7af4e47",
    "trained": "ca196306bfc7",
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
