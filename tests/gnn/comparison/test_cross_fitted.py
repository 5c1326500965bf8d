"""Comparisons by cross-fitting: recipes that share candidates, and how many trainings make a difference to one."""

from pathlib import Path

import pytest

from cypher.engines.ladybug import open_graph
from gnn.comparison.contenders import seeds_of
from gnn.comparison.cross_fitted import cross_fitted_tables
from gnn.options import EncoderOptions
from gnn.recipe import load_recipe
from schema.errors import BadQuery
from tests.gnn.conftest import workspace_on


@pytest.mark.parametrize("other", [{"sentences": 1}, {"tune_fusion": True}, {"votes": 3.0}])
def test_recipes_whose_candidates_differ_are_not_compared_over_those_of_one(asked_home: Path, other: dict[str, object]) -> None:
    recipe = load_recipe("lambdamart")
    differs = recipe.model_copy(update={"name": "other"} | other)
    assert all(getattr(recipe, name) != value for name, value in other.items())
    different = pytest.raises(BadQuery, match="lambdamart and other rerank what different towers find")
    with open_graph(asked_home) as graph, different:
        next(cross_fitted_tables(workspace_on(asked_home, graph), [recipe, differs], ["random"]))


def test_a_trained_encoder_differs_by_its_seed() -> None:
    untrained = load_recipe("encoder")
    assert seeds_of(untrained, 5) == 1
    assert seeds_of(untrained.model_copy(update={"encoder": EncoderOptions(name="tuned", tuned="dpr")}), 5) == 5
