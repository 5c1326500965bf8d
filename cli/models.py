"""Verbs that train models, compare them and choose the one that serves."""

from pathlib import Path
from typing import Annotated

import typer

from cli import steps
from cli.options_given import options_given, prepare_to_write, refuse_idle
from cli.output import say, say_json
from cli.workspace import Home
from schema.errors import BadQuery

app = typer.Typer()
models_app = typer.Typer(help="List model versions, choose the active one, go back, prune.", invoke_without_command=True)
app.add_typer(models_app, name="models")
RecipeName = Annotated[
    str | None, typer.Option("--recipe", help="Name of a recipe, or a TOML file. [default: the setting recipe]")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def train(context: typer.Context, recipe: RecipeName = None) -> None:
    """Train the model of a recipe, and make it the active one.

    The models that it is compared with are trained too.

    On several processors or machines: `torchrun --nproc-per-node 2 -m lexgraph train`.
    """
    steps.train(Home.of(context), recipe)


@app.command()
def retrain(context: typer.Context, recipe: RecipeName = None) -> None:
    """Train a new model version if the law or the questions changed. It serves if it is no worse.

    Exit codes: 0 the new version serves, 10 nothing changed, 11 the old one was kept, 75 another job is running, 71 a server
    is down.
    """
    raise typer.Exit(steps.retrain(Home.of(context), recipe))


@app.command()
def schedule(
    context: typer.Context,
    cron: Annotated[str, typer.Option(help="Minute, hour, day of month, month, day of week (0 is Sunday); UTC.")] = "0 3 * * 0",
    recipe: RecipeName = None,
    update: Annotated[bool, typer.Option(help="Fetch what is new of the sources first, as `lexgraph update` does.")] = True,
) -> None:
    """Update the law, index it and retrain, on a timetable."""
    steps.schedule(Home.of(context), cron, recipe, updates=update)


@app.command()
def evaluate(  # noqa: PLR0913 (options)
    context: typer.Context,
    questions: Annotated[
        str, typer.Option(help="Source of questions in the graph, or a .jsonl file of {id, text, relevant}.")
    ] = "service-public",
    split: Annotated[str, typer.Option(help="Part of the questions: test, development or train.")] = "test",
    recipe: Annotated[str | None, typer.Option(help="Recipe to compare. [default: that of the active model]")] = None,
    json_: Json = False,
    picture: Annotated[Path | None, typer.Option(help="Draw recall against k and training curves into this file.")] = None,
    per_question: Annotated[
        Path | None, typer.Option(help="Write the ranks of each question's articles into this file, as JSON lines.")
    ] = None,
    benchmark: Annotated[
        str | None, typer.Option(help="eu-lu: compare ways to find the acts that transpose a directive.")
    ] = None,
    transpositions: Annotated[
        Path | None, typer.Option(help="With --benchmark: CSV of known pairs (act, celex, basis, directive_text).")
    ] = None,
    basis: Annotated[str, typer.Option(help="With --benchmark: pairs to use, title or cites.")] = "title",
) -> None:
    """Compare all systems on questions with known answers.

    What was asked is kept, in the folder comparisons of the home: the same
    version is not asked the same again.

    With --benchmark eu-lu, ways to find the acts that transpose a directive.
    """
    from cli.tables import show_act_systems, show_comparison

    _check_options_of_evaluate(context)
    home = Home.of(context)
    if benchmark is None:
        show_comparison(steps.evaluate(home, questions, split, recipe, picture, per_question), as_json=json_)
    else:
        systems = steps.evaluate_acts(home, benchmark, transpositions, basis)
        show_act_systems(f"{benchmark}, {basis} pairs", systems, as_json=json_)


def _check_options_of_evaluate(context: typer.Context) -> None:
    """Refuse options that would do nothing beside others that were given, and files that cannot be written."""
    given = options_given(context)
    refuse_idle(given, {"benchmark": ("questions", "split", "recipe", "picture", "per_question")})
    if "benchmark" not in given and (idle := given.intersection(("transpositions", "basis"))):
        raise BadQuery(f"--{min(idle)} is for --benchmark eu-lu: name that too")
    prepare_to_write(context.params["picture"], context.params["per_question"])


@models_app.callback()
def models(context: typer.Context, json_: Json = False) -> None:
    """List model versions with their metrics, sizes and dates."""
    from cli.tables import VERSION_COLUMNS, say_table, version_objects, version_rows
    from gnn.versions.serving import versions

    if context.invoked_subcommand is not None:
        return
    with Home.of(context).graph() as graph:
        listed = versions(Home.of(context).store, graph)
    say_json(version_objects(listed)) if json_ else say_table("models", VERSION_COLUMNS, version_rows(listed))


@models_app.command()
def activate(context: typer.Context, id: Annotated[str, typer.Argument(help="A version from `lexgraph models`.")]) -> None:
    """Make a version the active one. A running API takes it up within seconds."""
    from gnn.versions.serving import need_version

    steps.activate(Home.of(context), lambda graph: need_version(graph, id))


@models_app.command()
def rollback(context: typer.Context) -> None:
    """Make the version active again that was so before."""
    from gnn.versions.serving import one_before

    steps.activate(Home.of(context), one_before)


@models_app.command()
def prune(
    context: typer.Context,
    keep: Annotated[int, typer.Option(min=1, help="Number of versions to keep, the active one included.")] = 2,
) -> None:
    """Remove old versions: files, vectors, rows in the graph."""
    from gnn.versions.serving import prune as prune_versions

    home = Home.of(context)
    with home.store.exclusive("models"):
        removed = prune_versions(home.store, keep, home.settings.models)
    say(f"removed: {', '.join(removed) or 'none'}")
