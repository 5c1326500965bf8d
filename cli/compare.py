"""The verb that compares recipes, and its step."""

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from cli.options_given import options_given, prepare_to_write, refuse_idle
from cli.output import say_json, warn
from cli.tables import say_figures
from cli.workspace import Home
from schema.errors import BadQuery

if TYPE_CHECKING:
    from gnn.comparison.tables import RecipeTable
    from gnn.recipe import Recipe

app = typer.Typer()


@app.command()
def compare(  # noqa: PLR0913 (options)
    context: typer.Context,
    recipes: Annotated[
        list[str],
        typer.Argument(
            metavar="RECIPE...",
            help="Names of recipes, or TOML files. RECIPE:alone ranks by its own list alone, RECIPE:fused and RECIPE:pooled "
            "without pooling and without reranking.",
        ),
    ],
    questions: Annotated[str, typer.Option(help="Source of questions in the graph.")] = "service-public",
    split: Annotated[str, typer.Option(help="Part of the questions: test, development, train or cross-fitted.")] = "test",
    only: Annotated[str, typer.Option(help="Split of the questions, random or by-dossier; unless given, all.")] = "",
    seeds: Annotated[int, typer.Option(min=1, help="Trainings of each recipe, each with a seed of its own.")] = 1,
    once: Annotated[
        str, typer.Option(metavar="RECIPE,...", help="Recipes, compared or named by those, that are trained with one seed alone.")
    ] = "",
    against: Annotated[str, typer.Option(help="Row that others are held against: first or above.")] = "first",
    encoder: Annotated[
        str, typer.Option(metavar="RECIPE", help="Recipe whose encoder all recipes, but bi-encoders, take in place of their own.")
    ] = "",
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write the tables into this file, as Markdown.")] = None,
    coliee: Annotated[
        Path | None, typer.Option(help="Compare on COLIEE Task 3 instead: folder of the code and of the questions of each year.")
    ] = None,
    test: Annotated[str, typer.Option(help="With --coliee: year to test, as R05; those before it train.")] = "",
    cross_fitted: Annotated[
        bool, typer.Option("--cross-fitted", help="Compare what rerankers add, on training and test questions.")
    ] = False,
) -> None:
    """Compare recipes on questions with known answers.

    Models that are missing are trained first; none is made active. What was measured is kept: a comparison that was
    interrupted goes on.

    With --coliee, sets of articles in answer to the questions of one year: precision, recall and F2.

    With --split cross-fitted, training and test questions: each fifth is asked of models that learnt from the others.

    With --cross-fitted, what the rerankers of recipes add: each fifth of the training and test questions is asked of models
    that learnt from the others; nothing of it is kept but transformers that the questions have taught.
    """
    check_options(context)
    trainings = Trainings(seeds, against, encoder, frozenset(name.strip() for name in once.split(",") if name.strip()))
    if cross_fitted:
        compare_cross_fitted(Home.of(context), recipes, questions, only, seeds, out, as_json=json_)
    elif coliee is None:
        show_recipe_tables(compared(Home.of(context), recipes, questions, split, only, trainings), out, as_json=json_)
    else:
        compare_on_coliee(Home.of(context), recipes, coliee, test, trainings, out, as_json=json_)


_IDLE = {
    "cross_fitted": ("coliee", "test", "split", "once", "against", "encoder"),
    "coliee": ("questions", "split", "only", "once", "against"),
}
"""Options that do nothing beside another."""


def check_options(context: typer.Context) -> None:
    """Refuse options that would do nothing beside others that were given, and a file that cannot be written.

    Raises:
        BadQuery: there are such; the message names both.
    """
    given = options_given(context)
    refuse_idle(given, _IDLE)
    if "once" in given and context.params["seeds"] == 1:
        raise BadQuery("--once does nothing without several --seeds")
    if "test" in given and "coliee" not in given:
        raise BadQuery("--test names a year of COLIEE: name its folder with --coliee, or a part of the questions with --split")
    prepare_to_write(context.params["out"])


class Trainings(NamedTuple):
    """Trainings of each recipe, each with a seed of its own, and the row that their figures are held against.

    Attributes:
        encoder: recipe whose encoder they take in place of their own; empty: none.
        once: recipes, compared or named by those, that are trained with one seed.
    """

    seeds: int
    against: str
    encoder: str = ""
    once: frozenset[str] = frozenset()


def compared(
    home: Home, recipes: Sequence[str], questions: str, part: str, only: str, trainings: Trainings
) -> "list[RecipeTable]":
    """Return the tables of recipes on a source of questions, trained on it too, in all splits or in one only.

    Raises:
        BadQuery: the recipes do not share that split, or any; one is to be trained once that is none of them and that they do
            not name.
    """
    names = list(dict.fromkeys(recipes))

    from gnn.comparison.contenders import entry
    from gnn.comparison.tables import Plan, compare_recipes
    from gnn.distributed import leading

    rows = {name.partition(":")[0] for name in names}

    def load(name: str) -> "Recipe":
        return home.recipe_on(questions, name, trainings.encoder).model_copy(update={"once": trainings.once - rows})

    entries = [entry(name, load, trainings.once) for name in names]
    named = {made.name for one in entries for made in one.recipe.made_from}
    if strangers := sorted(trainings.once - rows - named):
        raise BadQuery(f"--once: {', '.join(strangers)}: not among the recipes that are compared, or that these name")
    splits = _splits([one.recipe for one in entries], only)
    with leading() as process, home.graph() as graph:
        more = {source for one in entries for source in one.recipe.further_sources}
        workspace = replace(home.shared_workspace(graph, questions, more), process=process)
        return list(compare_recipes(workspace, Plan(entries, splits, trainings.seeds, part, trainings.against), questions))


def _splits(recipes: "Sequence[Recipe]", only: str) -> list[str]:
    """Return the splits that recipes have in common, or one only."""
    common = [split for split in recipes[0].splits if all(split in one.splits for one in recipes)]
    splits = [split for split in common if only in ("", split)]
    if not common:
        raise BadQuery(f"{', '.join(one.name for one in recipes)}: these recipes have no split of the questions in common")
    if not splits:
        raise BadQuery(f"no split {only!r} of the questions; there are: {', '.join(common)}")
    return splits


def page_of(tables: "Sequence[RecipeTable]", command: str) -> str:
    """Return tables as Markdown."""
    from gnn.comparison.markdown import page

    return page(tables, command)


def write_page(file: Path | None, page: Callable[[str], str]) -> None:
    """Write a page, which is told the command that asked for it, where a file is named."""
    if file is not None:
        file.write_text(page(shlex.join(["lexgraph", *sys.argv[1:]])), "utf-8")
        warn(f"written: {file}")


def compare_on_coliee(
    home: Home, recipes: Sequence[str], folder: Path, test: str, trainings: Trainings, out: Path | None, *, as_json: bool
) -> None:
    """Print the table of recipes on one year of COLIEE, and write it where a file is named."""
    from cli.coliee import compared_on_coliee, show_coliee

    table = compared_on_coliee(home, recipes, folder, test, trainings.seeds, trainings.encoder)
    show_coliee(table, as_json=as_json)

    from gnn.comparison.coliee import coliee_page

    write_page(out, lambda command: coliee_page(table, command))


def compare_cross_fitted(
    home: Home, recipes: Sequence[str], questions: str, only: str, seeds: int, out: Path | None, *, as_json: bool
) -> None:
    """Print what the rerankers of recipes add by cross-fitting, and write it where a file is named."""
    from cli.cross_fitted import cross_fitted, show_cross_fitted

    named = [home.recipe_on(questions, name) for name in dict.fromkeys(recipes)]
    tables = cross_fitted(home, named, _splits(named, only), seeds)
    show_cross_fitted(tables, as_json=as_json)

    from gnn.comparison.cross_fitted import cross_fitted_page

    write_page(out, lambda command: cross_fitted_page(tables, named, command))


def show_recipe_tables(tables: "Sequence[RecipeTable]", out: Path | None, *, as_json: bool = False) -> None:
    """Print tables of recipes, or one JSON list of them, and write them where a file is named."""
    from gnn.comparison.markdown import cells, columns, title

    if as_json:
        say_json([table.as_json() for table in tables])
    for one in tables if not as_json else ():
        say_figures(title(one), ["recipe", *columns(one)], ([row.name, *cells(row)] for row in one.rows))
    write_page(out, lambda command: page_of(tables, command))
