"""Verbs that run the service and check it."""

import os
from typing import Annotated

import typer

from cli import steps
from cli.output import say
from cli.workspace import Home, law_of

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
    """Fetch GraphiQL, the editor of queries that `serve` shows in a browser; it works without the internet then."""
    say(f"GraphiQL is in {steps.fetch_editor(Home.of(context).path)}")


@app.command()
def status(context: typer.Context) -> None:
    """Show what the graph, the index and the models hold."""
    from cli.tables import MODEL_COLUMNS, graph_counts, model_table_rows, say_table
    from ingest.loading.quarantine import quarantined
    from search.text.index import index_is_built

    home = Home.of(context)
    with home.graph() as graph:
        say_table("graph", ("what", "how many"), graph_counts(graph))
        built = index_is_built(home.path, law_of(graph), home.bm25, server=home.text_server)
        say(f"law {law_of(graph)[:16]}; text index: {'in step' if built else 'missing, run `lexgraph index`'}")
        say_table("models", MODEL_COLUMNS, model_table_rows(graph))
    for source, records in quarantined(home.path).items():
        say(f"{len(records)} rejected records of {source} in {home.path / 'quarantine'}")


@app.command()
def doctor(context: typer.Context) -> None:
    """Check settings, graph, index and model against each other. The exit code is 1 if a check fails."""
    from cli.tables import say_table
    from schema.settings import origins

    home = Home.of(context)
    say_table("settings", ("option", "value", "from", "what it is"), origins(home.settings))
    results = [steps.passes(name, check) for name, check in steps.checks(home)]
    raise typer.Exit(0 if all(results) else 1)


@app.command()
def demo(context: typer.Context) -> None:
    """Do the whole job on real law: fetch, ingest, index, train, evaluate, serve (SERVE=0 ends before that)."""
    steps.demo(Home.of(context))
    if os.environ.get("SERVE", "1") != "0":
        serve(context)
