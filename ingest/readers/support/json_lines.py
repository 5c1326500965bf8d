"""JSON lines and CSV, plain or compressed, record by record: memory does not grow with the file."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, TextIO, TypeVar, cast

from ingest.readers.support.decode import opened, starts_with, stream_errors
from ingest.readers.support.errors import Identifiers, Unreadable
from schema.errors import BadSource
from schema.records import ActTree, Rejected

LONGEST_LINE = 16 << 20
"""Bytes of a line that is read; the longest real act has 2 MB."""
_SHOWN = 1000
_NAME = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.){0,200}")\s*:\s*')

Json = dict[str, Any]
_Record = TypeVar("_Record")
_Row = TypeVar("_Row")


def first_object(path: Path) -> Json:
    """Return names and values that the first line of JSON in a file begins with; a value that is cut off is None."""
    text = starts_with(path).decode("utf-8-sig", "ignore").lstrip()
    values: Json = {}
    at = 1
    while text.startswith("{") and (name := _NAME.match(text, at)):
        try:
            values[json.loads(name[1])] = None
            values[json.loads(name[1])], at = json.JSONDecoder().raw_decode(text, name.end())
        except (ValueError, RecursionError):
            break
    return values


def json_lines(path: Path) -> Iterator[tuple[str, Json] | Rejected]:
    """Yield the objects of a file of JSON lines, each with the place of its line; a line that is none is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    place = ["line 1"]
    number = 0
    with stream_errors(path, place), opened(path) as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            place[0] = f"line {number}"
            if len(line) > LONGEST_LINE:
                raise BadSource(path, place[0], f"longer than {LONGEST_LINE >> 20} MiB: no record is")
            if not line.strip():
                continue
            try:
                row = json_object(line)
            except Unreadable as error:
                yield error.rejected(path.name, line[:_SHOWN].decode("utf-8", "replace"), place[0])
                continue
            yield place[0], row


def parsed(
    rows: Iterable[tuple[str, _Row] | Rejected], file: str, parse: Callable[[str, _Row], _Record]
) -> Iterator[_Record | Rejected]:
    """Yield what a function makes of the place and the content of each row; a row that it cannot read is rejected.

    Args:
        parse: raises Unreadable.
    """
    for item in rows:
        if isinstance(item, Rejected):
            yield item
            continue
        place, row = item
        try:
            record = parse(place, row)
        except Unreadable as error:
            yield error.rejected(file, row, place)
            continue
        yield record


def trees_of_lines(path: Path, tree_of: Callable[[Json], ActTree], identifier: str) -> Iterator[ActTree | Rejected]:
    """Return the acts of a file of JSON lines, one a line; a line that is none, or repeats an identifier, is rejected.

    Args:
        tree_of: the act in an object; raises Unreadable.
        identifier: the field that identifies an act.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    taken = Identifiers()

    def new_tree(line: str, row: Json) -> ActTree:
        tree = tree_of(row)
        taken.take(tree.act.id, line, f"$.{identifier}", tree.act.source_id)
        return tree

    return parsed(json_lines(path), path.name, new_tree)


def json_object(line: bytes) -> Json:
    """Return the JSON object in a line.

    Raises:
        Unreadable: there is none.
    """
    try:
        value: object = json.loads(line.rstrip().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start}", "not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"column {error.colno}", f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable("$", f"not JSON that can be read: {str(error)[:100]}") from None
    if not isinstance(value, dict):
        raise Unreadable("$", "not an object")
    return cast(Json, value)


def csv_rows(path: Path, wanted: frozenset[str], *, delimiter: str = ",") -> Iterator[tuple[str, dict[str, str]] | Rejected]:
    """Yield the rows of a CSV file by the names of its first line, each with the place of its line; between tabs none quotes.

    A row with more or fewer fields than there are names is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: not UTF-8 text, not CSV, or a column of ``wanted`` is missing.
    """
    place = ["line 1"]
    csv.field_size_limit(LONGEST_LINE)
    with stream_errors(path, place), opened(path) as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL
        # Strict: a quote that is never closed would swallow the rows behind it.
        reader = csv.DictReader(bounded_lines(text, path), delimiter=delimiter, quoting=quoting, strict=True)
        try:
            missing = wanted - set(reader.fieldnames or ())
            if missing:
                raise BadSource(path, "line 1", f"columns are missing: {', '.join(sorted(missing))}")
            for row in reader:
                place[0] = f"line {reader.line_num}"
                cells = cast(dict[str | None, str | list[str] | None], row)  # None: fields without a name, names without a field
                if None in cells or None in cells.values():
                    reason = f"{'more' if None in cells else 'fewer'} fields than the first line names"
                    yield Rejected(path.name, place[0], reason, {str(name): value for name, value in cells.items()})
                else:
                    yield place[0], row
        except UnicodeDecodeError as error:
            raise BadSource(path, f"after line {reader.line_num}, byte {error.start}", "not UTF-8 text") from None
        except csv.Error as error:
            raise BadSource(path, f"line {reader.line_num}", f"not CSV: {error}") from None


def bounded_lines(text: TextIO, path: Path) -> Iterator[str]:
    """Yield the lines of a text.

    Raises:
        BadSource: a line is longer than any record.
    """
    number = 0
    while line := text.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE:
            raise BadSource(path, f"line {number}", f"longer than {LONGEST_LINE >> 20} Mi characters: no record is")
        yield line


def text_of(row: Json, place: str, name: str) -> str:
    """Return a text of an object; "" where there is none.

    Raises:
        Unreadable: it is something else, or no UTF-8 can hold it.
    """
    value = row.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Unreadable(f"{place}.{name}", f"not text: {value!r:.60}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise Unreadable(f"{place}.{name}", "holds half a character (a lone surrogate)") from None
    return value


def list_of(row: Json, place: str, name: str) -> list[Any]:
    """Return a list of an object; an empty one where there is none.

    Raises:
        Unreadable: it is something else.
    """
    value = row.get(name) or []
    if not isinstance(value, list):
        raise Unreadable(f"{place}.{name}", "not a list")
    return cast(list[Any], value)


def iso_date(value: object, place: str) -> date | None:
    """Return the day that a value begins with in ISO 8601; None where it is None or "".

    Raises:
        Unreadable: it is something else.
    """
    if value in (None, ""):
        return None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        raise Unreadable(place, f"not a date: {value!r:.60}") from None
