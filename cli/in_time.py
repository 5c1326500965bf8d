"""Verbs for the law in time: the wordings of an article, the difference between two of them, the changes of an act."""

from typing import Annotated

import typer

from cli.days import End, KnownOn, Start
from cli.output import say_json
from cli.workspace import Home

app = typer.Typer()
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Names = Annotated[list[str], typer.Argument(help="A number, a citation, an identifier, or an act's title.")]
InAct = Annotated[str | None, typer.Option(help="The act that has the article: its identifier or title.")]


@app.command()
def history(context: typer.Context, name: Names, act: InAct = None, known_on: KnownOn = None, json_: Json = False) -> None:
    """List the wordings of an article, and its other numbers."""
    from cli.history import history_of, show_history
    from cli.named import named

    with Home.of(context).graph() as graph:
        words = named(graph, Home.of(context).index(graph), " ".join(name), act)
        found = history_of(graph, words, known_on)
    say_json(found) if json_ else show_history(found)


@app.command()
def diff(
    context: typer.Context,
    name: Names,
    start: Start,
    end: End,
    act: InAct = None,
    known_on: KnownOn = None,
    json_: Json = False,
) -> None:
    """Compare the wordings of an article on two days, word by word."""
    from cli.history import difference_of, show_difference
    from cli.named import named

    with Home.of(context).graph() as graph:
        words = named(graph, Home.of(context).index(graph), " ".join(name), act)
        found = difference_of(graph, words, start, end, known_on)
    say_json(found) if json_ else show_difference(found)


@app.command()
def changes(context: typer.Context, name: Names, start: Start, end: End, json_: Json = False) -> None:
    """List what changed in an act between two days.

    Articles are new, reworded, renumbered or repealed.
    """
    from cli.history import changes_of, show_changes
    from cli.named import act_named

    with Home.of(context).graph() as graph:
        found = changes_of(graph, act_named(Home.of(context).index(graph), " ".join(name)), start, end)
    say_json(found) if json_ else show_changes(found)
