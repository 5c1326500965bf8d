"""Verbs that run the service and check it."""

import os
from typing import Annotated

import typer

from cli import steps
from cli.output import say, say_json
from cli.workspace import Home

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
app = typer.Typer()


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: the setting host]")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one. [default: the setting port]")
    ] = None,
    processes: Annotated[
        int | None, typer.Option(min=1, max=64, help="Processes that answer. [default: the setting processes]")
    ] = None,
) -> None:
    """Answer GraphQL over HTTP."""
    from cli.serving import serve_home

    serve_home(Home.of(context).settings, {"host": host, "port": port, "processes": processes})


@app.command()
def graphiql(context: typer.Context) -> None:
    """Fetch GraphiQL, the editor of queries in a browser.

    `lexgraph serve` shows it at /graphql; once fetched, it needs no internet.
    """
    say(f"GraphiQL is in {steps.fetch_editor(Home.of(context).path)}")


@app.command()
def status(context: typer.Context, json_: Json = False) -> None:
    """Show what the graph, the index and the models hold."""
    from cli.state import show_state, state_of

    state = state_of(Home.of(context))
    say_json(state) if json_ else show_state(Home.of(context), state)


@app.command()
def doctor(context: typer.Context, json_: Json = False) -> None:
    """Check settings, graph, index and model against each other.

    The exit code is 1 if a check fails.
    """
    from cli.state import examine

    raise typer.Exit(0 if examine(Home.of(context), as_json=json_) else 1)


@app.command()
def demo(context: typer.Context) -> None:
    """Fetch law, ingest, index, train, evaluate and serve it.

    With SERVE=0 in the environment it ends before serving.
    """
    steps.demo(Home.of(context))
    if os.environ.get("SERVE", "1") != "0":
        serve(context)
