"""JSON lines and CSV, plain or compressed, record by record: memory does not grow with the file."""

import csv
import gzip
import io
import json
import lzma
import re
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, Any, TextIO, TypeVar, cast

from schema.errors import BadSource, MissingFile
from schema.records import ActTree, Rejected

LONGEST_LINE = 16 << 20
"""Bytes of a line that is read; the longest real act has 2 MB."""
_SHOWN = 1000
_NAME = re.compile(r'\s*,?\s*("(?:[^"\\]|\\.){0,200}")\s*:\s*')

Json = dict[str, Any]
_Record = TypeVar("_Record")


class Unreadable(Exception):
    """A record that cannot be read: (place in it, reason)."""


def opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    """A file for reading, unpacked where its name says that it is compressed."""
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def starts_with(path: Path, count: int = 4096) -> bytes:
    """The first bytes of a file's content; none where it cannot be read."""
    try:
        with opened(path) as stream:
            return stream.read(count)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""


def first_object(path: Path) -> Json:
    """Names and values that the first line of JSON in a file begins with; a value that is cut off is None."""
    text = starts_with(path).decode("utf-8-sig", "ignore").lstrip()
    found: Json = {}
    at = 1
    while text.startswith("{") and (name := _NAME.match(text, at)):
        try:
            found[json.loads(name[1])] = None
            found[json.loads(name[1])], at = json.JSONDecoder().raw_decode(text, name.end())
        except (ValueError, RecursionError):
            break
    return found


@contextmanager
def _whole(path: Path, place: list[str]) -> Generator[None]:
    """Errors of the file as a whole, with the place that was reached."""
    try:
        yield
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadSource(path, place[0], f"the compressed file breaks off: {error}") from None


def json_lines(path: Path) -> Iterator[tuple[str, Json] | Rejected]:
    """The objects of a file of JSON lines, each with the place of its line; a line that is none is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    place = ["line 1"]
    number = 0
    with _whole(path, place), opened(path) as stream:
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            place[0] = f"line {number}"
            if len(line) > LONGEST_LINE:
                raise BadSource(path, place[0], f"longer than {LONGEST_LINE >> 20} MiB: no record is")
            if not line.strip():
                continue
            try:
                found = json_object(line)
            except Unreadable as error:
                where, reason = error.args
                yield Rejected(path.name, f"{place[0]}, {where}", reason, line[:_SHOWN].decode("utf-8", "replace"))
                continue
            yield place[0], found


def parsed_lines(path: Path, parse: Callable[[str, Json], _Record]) -> Iterator[_Record | Rejected]:
    """What a function makes of the place and the object of each line; a line that it cannot read is rejected.

    Args:
        parse: raises Unreadable.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    for found in json_lines(path):
        if isinstance(found, Rejected):
            yield found
            continue
        place, row = found
        try:
            record = parse(place, row)
        except Unreadable as error:
            where, reason = error.args
            yield Rejected(path.name, f"{place}, {where}", reason, row)
            continue
        yield record


def trees_of_lines(path: Path, tree_of: Callable[[Json], ActTree], identifier: str) -> Iterator[ActTree | Rejected]:
    """The acts of a file of JSON lines, one a line; a line that is none, or repeats an identifier, is rejected.

    Args:
        tree_of: the act in an object; raises Unreadable.
        identifier: the field that identifies an act.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    seen: dict[str, str] = {}

    def new_tree(place: str, row: Json) -> ActTree:
        tree = tree_of(row)
        if tree.act.id in seen:
            raise Unreadable(f"$.{identifier}", f"repeated identifier: {tree.act.source_id} is on {seen[tree.act.id]}")
        seen[tree.act.id] = place
        return tree

    return parsed_lines(path, new_tree)


def json_object(line: bytes) -> Json:
    """The JSON object in a line.

    Raises:
        Unreadable: there is none.
    """
    try:
        found: object = json.loads(line.rstrip().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start}", "not UTF-8 text") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"column {error.colno}", f"not JSON: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable("$", f"not JSON that can be read: {str(error)[:100]}") from None
    if not isinstance(found, dict):
        raise Unreadable("$", "not an object")
    return cast(Json, found)


def csv_rows(path: Path, wanted: frozenset[str], *, delimiter: str = ",") -> Iterator[tuple[str, dict[str, str]] | Rejected]:
    """The rows of a CSV file by the names of its first line, each with the place of its line; between tabs none quotes.

    A row with more or fewer fields than there are names is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: not UTF-8 text, not CSV, or a column of ``wanted`` is missing.
    """
    place = ["line 1"]
    csv.field_size_limit(LONGEST_LINE)
    with _whole(path, place), opened(path) as stream, io.TextIOWrapper(stream, "utf-8-sig", newline="") as text:
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
    """The lines of a text.

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
    """A text of an object; "" where there is none.

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
