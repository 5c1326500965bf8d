"""Rerankers that are compared by cross-fitting: the tables of what they add."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from cli.output import say_json
from cli.tables import say_figures
from cli.workspace import Home

if TYPE_CHECKING:
    from gnn.comparison.cross_fitted import CrossFittedTable
    from gnn.recipe import Recipe


def cross_fitted(home: Home, recipes: "Sequence[Recipe]", splits: Sequence[str]) -> "list[CrossFittedTable]":
    """Return what the rerankers of recipes add to the first stage that they share."""
    from gnn.comparison.cross_fitted import cross_fitted_tables

    with home.graph() as graph:
        return list(cross_fitted_tables(home.workspace(graph, recipes[0]), recipes, splits))


def show_cross_fitted(tables: "Sequence[CrossFittedTable]", *, as_json: bool = False) -> None:
    """Print tables, or one JSON list of them."""
    from gnn.comparison.cross_fitted import cross_fitted_title, figures

    if as_json:
        say_json([table.as_json() for table in tables])
        return
    for table in tables:
        names, *rows = figures(table)
        say_figures(cross_fitted_title(table), names, rows)
