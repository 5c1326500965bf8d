"""Verbs that read the law: an article in full, the contents of an act, the labels and properties of the graph."""

from typing import Annotated

import typer

from cli.days import KnownOn, OnDay
from cli.output import say_json
from cli.workspace import Home

app = typer.Typer()
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]


@app.command()
def show(
    context: typer.Context,
    name: Annotated[
        list[str],
        typer.Argument(help="A number (L1234-9), a citation, an identifier (Lexgraph's or the publisher's), or an act's title."),
    ],
    on: OnDay = None,
    known_on: KnownOn = None,
    act: Annotated[str | None, typer.Option(help="The act that has the article: its identifier or title.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Print long lists of citations to their ends.")] = False,
    json_: Json = False,
) -> None:
    """Show an article, a section or an act in full.

    Of an article: place, days, text, what it cites and what cites it.
    """
    from cli.named import named
    from cli.pages import show_page
    from cli.reading import page_of

    with Home.of(context).graph() as graph:
        index = Home.of(context).index(graph)
        found = named(graph, index, " ".join(name), act)
        page = page_of(graph, index, found, on, known_on)
    say_json(page) if json_ else show_page(page, all_lines=all_)


@app.command()
def contents(
    context: typer.Context,
    name: Annotated[list[str] | None, typer.Argument(help="An act or a section. Without any, the acts are listed.")] = None,
    depth: Annotated[int, typer.Option(min=0, help="Levels to go down.")] = 2,
    on: OnDay = None,
    act: Annotated[str | None, typer.Option(help="The act that has it: its identifier or title.")] = None,
    json_: Json = False,
) -> None:
    """List the contents of an act or a section."""
    from cli.contents import acts_of, contents_of, show_acts, show_tree
    from cli.named import named

    home, words = Home.of(context), " ".join(name or ())
    with home.graph() as graph:
        listed = contents_of(graph, named(graph, home.index(graph), words, act), depth, on) if name else acts_of(graph)
    if json_:
        say_json(listed)
    else:
        show_tree(listed) if isinstance(listed, dict) else show_acts(listed)


@app.command()
def schema(json_: Json = False) -> None:
    """Explain the labels, properties and edges of the graph."""
    from cli.labels import described_schema, show_schema

    say_json(described_schema()) if json_ else show_schema(described_schema())
