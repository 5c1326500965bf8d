"""Lexgraph's command line: the verbs of `cli` in one program."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from cli import compare, find, in_time, law, models, read, service
from cli.output import complain, err, progress_on, warn
from cli.workspace import Home
from schema.errors import LexgraphError

app = typer.Typer(
    help="Statute law as a graph that answers legal questions.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help needs no rich.markdown, which takes long to import
)
for room in (law, models, compare, find, read, in_time, service):
    app.add_typer(room.app)


def _say_version(wanted: bool) -> None:
    if wanted:
        from schema import VERSION

        print(f"lexgraph {VERSION}")
        raise typer.Exit


@app.callback()
def start(
    context: typer.Context,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and exit.", callback=_say_version, is_eager=True)
    ] = False,
) -> None:
    """Statute law as a graph that answers legal questions."""
    # Before any library of numbers is imported. Threads that wait for each other in a loop take a core from those that work;
    # torch asks for large pages, which come and go with less work, where it is told to.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
    # bm25s tries JAX where it is installed, which would take most of a GPU's memory for itself.
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from schema.settings import load_settings

    context.obj = Home(load_settings(), progress_on(err, quiet))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line; a user's error is one line on standard error and an exit code."""
    try:
        app(arguments)
    except LexgraphError as error:
        complain(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # the reader has gone; Python would complain of it at exit
        sys.exit(141)
    except OSError as error:
        warn(f"lexgraph: {error.filename or ''}: {error.strerror or error}")
        sys.exit(74)


if __name__ == "__main__":
    main()
