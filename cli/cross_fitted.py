"""Rerankers that are compared by cross-fitting: the tables of what they add."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from cli.output import say_json
from cli.tables import say_figures
from cli.workspace import Home

if TYPE_CHECKING:
    from gnn.comparison.cross_fitted import CrossFittedTable
    from gnn.recipe import Recipe


def cross_fitted(home: Home, recipes: "Sequence[Recipe]", splits: Sequence[str], seeds: int) -> "list[CrossFittedTable]":
    """Return what the rerankers of recipes add to the first stage that they share, the mean over seeds."""
    from gnn.comparison.cross_fitted import cross_fitted_tables
    from gnn.distributed import leading

    with leading() as process, home.graph() as graph:
        workspace = replace(home.workspace(graph, recipes[0]), process=process)
        return list(cross_fitted_tables(workspace, recipes, splits, seeds))


def show_cross_fitted(tables: "Sequence[CrossFittedTable]", *, as_json: bool = False) -> None:
    """Print tables, or one JSON list of them."""
    from gnn.comparison.cross_fitted import cross_fitted_title, figures

    if as_json:
        say_json([table.as_json() for table in tables])
        return
    for table in tables:
        names, *rows = figures(table)
        say_figures(cross_fitted_title(table), names, rows)
