"""Printing of a measurement: one table for people, one JSON object of the same figures for programs."""

from collections.abc import Mapping
from dataclasses import dataclass

from cli.output import say_json, show
from cli.tables import rows_table


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures by name, with what each is."""

    title: str
    values: Mapping[str, float]
    explained: Mapping[str, str]


def report(figures: Figures, *, as_json: bool) -> None:
    """Print figures as a table, or as one JSON object."""
    if as_json:
        say_json({name: round(value, 4) for name, value in figures.values.items()})
        return
    rows = [(name, value, figures.explained.get(name, "")) for name, value in figures.values.items()]
    show(rows_table(figures.title, ("figure", "value", "what it is"), rows))
