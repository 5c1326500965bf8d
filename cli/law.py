"""Verbs that load the law, look into the graph and write it out."""

from pathlib import Path
from typing import Annotated

import typer

from cli import steps
from cli.output import say, say_json, warn
from cli.workspace import Home
from schema.errors import BadQuery

Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
app = typer.Typer()


@app.command()
def ingest(
    context: typer.Context,
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            help="Files, folders, archives, or addresses of git repositories. Without any, two npm packages are fetched."
        ),
    ] = None,
    format: Annotated[str | None, typer.Option(help="Format of the files, where it is not recognised.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Load a release even if much of the law would disappear.")] = False,
    again: Annotated[bool, typer.Option("--retry", help="Load the files again that have records in quarantine.")] = False,
) -> None:
    """Load law and questions into the graph. Only what changed is written.

    A folder or an archive is a release of a collection, named after it without a version: articles missing from the new
    release are deleted.
    """
    if again and (paths or format or force):
        raise BadQuery("--retry loads the files in quarantine: give no path, --format or --force with it")
    home = Home.of(context)
    raise typer.Exit(steps.retry(home) if again else steps.ingest(home, paths, format, force))


@app.command()
def update(context: typer.Context) -> None:
    """Fetch what is new of every source, load it, index it, embed it.

    Of repositories only new commits are fetched, of npm packages a newer version. A source that fails is told, and does not keep
    the others from being updated.
    """
    home = Home.of(context)
    code = steps.update(home)
    steps.index(home)
    raise typer.Exit(code)


@app.command()
def index(context: typer.Context) -> None:
    """Index the law, and embed articles that are new to the model."""
    steps.index(Home.of(context))


@app.command()
def migrate(context: typer.Context) -> None:
    """Bring the graph to the schema of this version of Lexgraph."""
    before, now = Home.of(context).store.migrate()
    say(f"schema {now}: " + ("nothing changed" if before == now else f"made from schema {before}" if before else "made"))


@app.command()
def cypher(
    context: typer.Context,
    statement: Annotated[str, typer.Argument(help="A Cypher statement that reads.")],
    param: Annotated[list[str] | None, typer.Option(help="A parameter as name=value; the value may be JSON.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object for each row.")] = False,
) -> None:
    """Run a Cypher query that reads the graph."""
    from cli.tables import say_table

    table = steps.query(Home.of(context), statement, param or ())
    for row in table.rows if json_ else ():
        say_json(dict(zip(table.columns, row, strict=True)))
    if not json_:
        say_table("", table.columns, table.rows)
    if table.truncated:
        warn(f"only the first {len(table.rows):,} rows are shown (LEXGRAPH_CYPHER_MAX_ROWS)")


@app.command()
def citations(
    context: typer.Context,
    outside: Annotated[
        bool, typer.Option("--outside", help="List the citations whose target is not in the graph, with the reason.")
    ] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print one JSON object for each line.")] = False,
) -> None:
    """Count the citations in the graph by where they point."""
    from cli.tables import citation_objects, say_citations

    with Home.of(context).graph() as graph:
        for row in citation_objects(graph, outside=outside) if json_ else ():
            say_json(row)
        if not json_:
            say_citations(graph, outside=outside)


@app.command()
def export(
    context: typer.Context,
    file: Annotated[Path | None, typer.Argument(help="File of JSON lines to write; - is standard output.")] = None,
    neo4j_admin: Annotated[
        Path | None, typer.Option(help="Folder for CSV files that `neo4j-admin database import full` loads.")
    ] = None,
    beir: Annotated[Path | None, typer.Option(help="Folder for the law and its questions in BEIR's layout.")] = None,
    transpositions: Annotated[
        Path | None, typer.Option(help="With --beir: CSV table of known transpositions; acts ask then, instead of questions.")
    ] = None,
) -> None:
    """Write the graph to files.

    They are a canonical dump, the files that an empty Neo4j server imports, or a benchmark.
    """
    if file is None and neo4j_admin is None and beir is None:
        raise BadQuery("Name a file to write, or a folder with --neo4j-admin or --beir")
    with Home.of(context).graph() as graph:
        steps.export_beir(graph, beir, transpositions)
        steps.export_csv(graph, neo4j_admin, Home.of(context).progress)
        steps.export_dump(graph, file)


@app.command()
def browser(
    context: typer.Context,
    open_: Annotated[bool, typer.Option("--open", help="Open it in the web browser too.")] = False,
    graph_http: Annotated[str | None, typer.Option(help="HTTP address of Neo4j. [default: the setting graph_http]")] = None,
) -> None:
    """Print the address of Neo4j Browser.

    It asks for the password itself.
    """
    from cypher.explore.browser_link import browser_link, open_link

    settings = Home.of(context).settings
    link = browser_link(settings.model_copy(update={"graph_http": graph_http} if graph_http else {}))
    print(link)
    if open_ and not open_link(link):
        warn("lexgraph: no web browser opens here; paste the address into one")
