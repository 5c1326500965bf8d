"""Measurements, side by side: ``python -m bench NAME``."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from bench.reporting import report
from cli.output import warn
from schema.errors import LexgraphError

app = typer.Typer(
    help="Measure Lexgraph beside what could do the same.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Quick = Annotated[bool, typer.Option("--quick", help="Take little law, to see that it works.")]
DATA = Path("..", "shared", "data")


@app.command()
def ingest(quick: Quick = False, json_: Json = False) -> None:
    """Ingest the four codes, beside a loop that only parses their JSON."""
    from bench.ingest import measure

    report(measure(quick=quick), as_json=json_)


@app.command()
def history(
    data: Annotated[Path, typer.Option(help="Folder of the archives of law.")] = DATA,
    sample: Annotated[int, typer.Option(min=1, help="States to compare with the git objects.")] = 300,
    quick: Quick = False,
    json_: Json = False,
) -> None:
    """Ingest 16 French codes with their history, again, and with one commit more; search them on other days."""
    from bench.history import measure

    report(measure(data, sample, quick=quick), as_json=json_)


@app.command()
def search(json_: Json = False) -> None:
    """Search the demo's home, beside the bare parts of a hybrid search."""
    from bench.search import measure

    report(measure(), as_json=json_)


@app.command()
def serve(json_: Json = False) -> None:
    """Start `lexgraph serve` on the demo's home, and time its first and its median answer."""
    from bench.serve import measure

    report(measure(), as_json=json_)


@app.command()
def api(
    seconds: Annotated[float, typer.Option(min=1, help="Length of each load, in seconds.")] = 10,
    beside: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Another checkout with its .venv and demo: 32 clients ask both, in turns."),
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each, with --beside.")] = 6,
    quick: Quick = False,
    json_: Json = False,
) -> None:
    """Ask `lexgraph serve` for pages, beside a Python call and a bare handler; then with 32 clients."""
    from bench import api
    from bench import beside as checkouts

    length = 1 if quick else seconds
    figures = checkouts.measure(beside, seconds=length, rounds=rounds) if beside else api.measure(seconds=length)
    report(figures, as_json=json_)


@app.command()
def corpus(
    data: Annotated[Path, typer.Option(help="Folder of the archives of law.")] = DATA, quick: Quick = False, json_: Json = False
) -> None:
    """Ingest, index and search the whole law of a data folder."""
    from bench.corpus import measure

    report(measure(data, quick=quick), as_json=json_)


@app.command()
def citations(
    luxembourg: Annotated[Path | None, typer.Option(help="Folder of the Markdown of legalize-lu, to measure it too.")] = None,
    examples: Annotated[bool, typer.Option("--examples", help="Print what was missed and what was found besides.")] = False,
    json_: Json = False,
) -> None:
    """Find citations in running text, beside the links that the publishers set."""
    from bench.citations import measure

    report(measure(luxembourg, examples=examples), as_json=json_)


@app.command("fine-tuning")
def fine_tuning(quick: Quick = False, json_: Json = False) -> None:
    """Train transformers of the published size with random weights for a few steps: a GPU's work."""
    from bench.fine_tuning import measure

    report(measure(quick=quick), as_json=json_)


@app.command("graph-stage")
def graph_stage(quick: Quick = False, json_: Json = False) -> None:
    """Train GATv2 over a made-up tree of law for an epoch, beside a plain loop over NeighborLoader."""
    from bench.graph_stage import measure

    report(measure(quick=quick), as_json=json_)


@app.command()
def languages(quick: Quick = False, json_: Json = False) -> None:
    """Ask the demo's home in English, in terms of the law and without them, beside the same questions in French."""
    from bench.languages import measure

    report(measure(quick=quick), as_json=json_)


@app.command()
def mutations(
    count: Annotated[int, typer.Option(min=1, help="Broken files for each reader.")] = 200,
    reader: Annotated[str | None, typer.Option(help="One reader alone.")] = None,
    json_: Json = False,
) -> None:
    """Read broken and malicious files with every reader."""
    from bench.mutations import measure

    report(measure(count, reader), as_json=json_)


@app.command()
def neo4j(quick: Quick = False, json_: Json = False) -> None:
    """Load and search on Neo4j, beside the shortest loop and beside neo4j-graphrag."""
    from bench.neo4j import measure

    report(measure(quick=quick), as_json=json_)


@app.command()
def scope(
    picture: Annotated[Path | None, typer.Option(help="Draw the curves into this file.")] = None,
    quick: Quick = False,
    json_: Json = False,
) -> None:
    """Measure on the demo's home how well confidence tells questions that the law answers from others."""
    from bench.scope import measure

    report(measure(picture, quick=quick), as_json=json_)


@app.command()
def scale(
    copies: Annotated[str, typer.Option(help="Copies of the four codes, size by size.")] = "1,7",
    vectors: Annotated[bool, typer.Option(help="Write vectors to Neo4j, which takes longest.")] = True,
    servers: Annotated[bool, typer.Option(help="Measure servers beside the embedded engine.")] = True,
    quick: Quick = False,
    json_: Json = False,
) -> None:
    """Measure bytes and milliseconds of each part at several sizes."""
    from bench.scale import measure

    sizes = [int(size) for size in copies.split(",")]
    report(measure(sizes, quick=quick, vectors=vectors, servers=servers), as_json=json_)


if __name__ == "__main__":
    try:
        app()
    except LexgraphError as error:
        warn(f"bench: {error}")
        sys.exit(error.exit_code)
