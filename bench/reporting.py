"""How a measurement is printed: one table for people, one JSON object of the same figures for programs."""

import json
import sys
from collections.abc import Callable, Mapping, Sequence

from rich.console import Console

from cli.tables import rows_table
from schema.errors import BadQuery, LexgraphError


def report(title: str, figures: Mapping[str, float], explained: Mapping[str, str]) -> None:
    """Print figures by name, with what each is; as JSON where the command line says so."""
    if "--json" in sys.argv[1:]:
        print(json.dumps({name: round(value, 4) for name, value in figures.items()}))
        return
    rows: Sequence[tuple[str, float, str]] = [(name, value, explained[name]) for name, value in figures.items()]
    Console(width=120, highlight=False).print(rows_table(title, ("figure", "value", "what it is"), rows))


def option(name: str, default: str) -> str:
    """The value of an option of the command line.

    Raises:
        BadQuery: it has none.
    """
    if name not in sys.argv:
        return default
    try:
        return sys.argv[sys.argv.index(name) + 1]
    except IndexError:
        raise BadQuery(f"{name} needs a value") from None


def run(measure: Callable[[], None]) -> None:
    """Run a measurement; a user's error is one line and an exit code."""
    try:
        measure()
    except LexgraphError as error:
        print(f"bench: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
