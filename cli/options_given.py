"""Options as they were given: those that would do nothing beside others, and files that a command will write."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import typer

from schema.errors import BadQuery


def options_given(context: typer.Context) -> set[str]:
    """Return the parameters of a command that were named on its command line."""
    sources = {name: context.get_parameter_source(name) for name in context.params}
    return {name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"}


def refuse_idle(given: set[str], idle: Mapping[str, Sequence[str]]) -> None:
    """Refuse options that would do nothing beside others that were given.

    Args:
        given: names of parameters; idle: those that do nothing beside another.

    Raises:
        BadQuery: there are such; the message names both.
    """
    for option, names in idle.items():
        for name in names if option in given else ():
            if name in given:
                raise BadQuery(f"{_spelt(name)} does nothing with {_spelt(option)}: leave one of them out")


def _spelt(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def prepare_to_write(*files: Path | None) -> None:
    """Make the folders of files that a command will write, before hours are spent on what they are to hold.

    Raises:
        BadQuery: one of them is a folder.
        OSError: its folder cannot be made.
    """
    for file in files:
        if file is not None:
            if file.is_dir():
                raise BadQuery(f"{file} is a folder: name a file to write")
            file.parent.mkdir(parents=True, exist_ok=True)
