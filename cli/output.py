"""Standard output and standard error of the commands: lines, tables, JSON, progress."""

import json
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING

from rich.console import Console

from cli.language import translated
from runtime.progress import Advance, Progress, silent

if TYPE_CHECKING:
    from rich.table import Table

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def say(line: str) -> None:
    """Print a line as it is, however long."""
    out.print(line, markup=False, soft_wrap=True)


def warn(line: str) -> None:
    """Print a line to standard error as it is, however long."""
    err.print(line, markup=False, soft_wrap=True)


def complain(error: Exception) -> None:
    """Print an error as the command line shows it."""
    warn(f"lexgraph: {translated(str(error))}")


def say_json(value: object) -> None:
    """Print one line of JSON, in UTF-8 as it is."""
    if isinstance(sys.stdout, TextIOWrapper):  # whatever the locale: it is JSON for programs
        sys.stdout.reconfigure(encoding="utf-8")
    print(json.dumps(value, ensure_ascii=False, default=str))


def show(table: "Table") -> None:
    """Print a table, not folded where no person looks."""
    (out if out.is_terminal else Console(file=sys.stdout, highlight=False, width=max(out.width, 200))).print(table)


def progress_on(console: Console, quiet: bool) -> Progress:
    """Return bars on a terminal, one line for each finished piece of work in a log, nothing when quiet."""
    if quiet:
        return silent
    return _bars(console) if console.is_terminal else _lines(console)


def _bars(console: Console) -> Progress:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    @contextmanager
    def progress(label: str, total: int) -> Generator[Advance]:
        columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bars(*columns, console=console, transient=False) as bars:
            task = bars.add_task(label, total=total or None)
            yield lambda done: bars.advance(task, done)
            bars.update(task, completed=total)

    return progress


def _lines(console: Console) -> Progress:
    @contextmanager
    def progress(label: str, total: int) -> Generator[Advance]:
        began = time.monotonic()
        yield lambda done: None
        console.print(f"{label}: {total:,} in {time.monotonic() - began:.1f} s", highlight=False)

    return progress
