"""Records as the rows that statements write, and rows that statements read as records."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from operator import attrgetter
from typing import Any, TypeVar

from cypher.graph import Row
from schema.labels import DIGESTED, PropertyType, properties_of

_Record = TypeVar("_Record")
_MISSING: dict[PropertyType, Any] = {"STRING": "", "STRING[]": ()}
"""What a record has where the graph has nothing."""


@dataclass(frozen=True, slots=True)
class _Form:
    """The fields of a kind of record, and what of a row is in another form."""

    names: tuple[str, ...]
    days: tuple[str, ...]
    lists: tuple[str, ...]
    derived: tuple[str, ...]
    values: Callable[[Any], tuple[Any, ...]]
    missing: dict[str, Any]


@cache
def _form(kind: type) -> _Form:
    properties = properties_of(kind)
    names = tuple(properties)
    return _Form(
        names,
        tuple(name for name in names if properties[name] == "DATE"),
        tuple(name for name in names if properties[name] == "STRING[]"),
        tuple(name for name in ("id", *DIGESTED) if name not in names and hasattr(kind, name)),
        attrgetter(*names),
        {name: _MISSING[properties[name]] for name in names if properties[name] in _MISSING},
    )


def row_of(record: object) -> Row:
    """Return a record as the parameters of the statement that creates it: a day is ISO text, "" where there is none."""
    form = _form(type(record))
    row: Row = dict(zip(form.names, form.values(record), strict=True))
    for name in form.days:
        day = row[name]
        row[name] = day.isoformat() if day else ""
    for name in form.lists:
        row[name] = list(row[name])
    for name in form.derived:
        row[name] = getattr(record, name)
    return row


def record_of(kind: type[_Record], row: Row) -> _Record:
    """Return the record that a row was read from; what the row has besides is left out."""
    form = _form(kind)
    values = {name: row[name] for name in form.names if name in row}
    for name, nothing in form.missing.items():
        if values.get(name) is None:
            values[name] = nothing
    for name in form.lists:
        values[name] = tuple(values[name])
    return kind(**values)
