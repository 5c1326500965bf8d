"""Files to bytes, text, JSON and XML events, with errors that name the place."""

import gzip
import json
import lzma
import zlib
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO, cast
from xml.etree.ElementTree import Element

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import ParseError, iterparse

from schema.errors import BadSource, MissingFile


def opened(path: Path) -> AbstractContextManager[IO[bytes]]:
    """Open a file for reading, unpacked where its name says that it is compressed."""
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return cast(IO[bytes], gzip.open(path, "rb")) if path.suffix == ".gz" else path.open("rb")


def starts_with(path: Path, count: int = 4096) -> bytes:
    """Return the first bytes of a file's content; none where it cannot be read."""
    try:
        with opened(path) as stream:
            return stream.read(count)
    except (OSError, EOFError, lzma.LZMAError, zlib.error):
        return b""


@contextmanager
def stream_errors(path: Path, place: list[str]) -> Generator[None]:
    """Turn errors of a stream as a whole into errors of the source, with the place that was reached."""
    try:
        yield
    except (FileNotFoundError, IsADirectoryError):
        raise MissingFile(f"{path}: no such file") from None
    except (lzma.LZMAError, EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadSource(path, place[0], f"the compressed file breaks off: {error}") from None


def file_text(path: Path, longest: int | None = None) -> str:
    """Return the text of a UTF-8 file.

    Args:
        longest: bytes of a file that is read.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is longer, or not UTF-8 text; with the place.
    """
    try:
        check_length(path, longest)
        raw = path.read_bytes()
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSource(path, f"line {raw.count(10, 0, error.start) + 1}, byte {error.start}", "not UTF-8 text") from None


def check_length(path: Path, longest: int | None) -> None:
    """Raise BadSource where a file has more bytes than are read."""
    if longest is not None and path.stat().st_size > longest:
        raise BadSource(path, "", f"longer than {longest >> 20} MiB: no file of this format is")


def file_json(path: Path, longest: int | None = None) -> object:
    """Return the JSON value in a UTF-8 file. Raises as `file_text`; BadSource also where it is not JSON."""
    try:
        return json.loads(file_text(path, longest))
    except json.JSONDecodeError as error:
        raise BadSource(path, f"line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}") from None
    except ValueError as error:  # a number of thousands of digits
        raise BadSource(path, "", f"not JSON that can be read: {str(error)[:100]}") from None
    except RecursionError:
        raise BadSource(path, "", "nested too deeply to be read") from None


def xml_events(path: Path, longest: int) -> Iterator[tuple[str, Element]]:
    """Yield the beginnings ("start") and ends ("end") of the elements of an XML file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is longer than ``longest`` bytes, not XML, or declares entities; with the place.
    """
    try:
        check_length(path, longest)
        yield from iterparse(path, events=("start", "end"), forbid_dtd=True)
    except FileNotFoundError:
        raise MissingFile(f"{path}: no such file") from None
    except ParseError as error:
        line, column = error.position
        raise BadSource(path, f"line {line}, column {column}", f"not XML: {error}") from None
    except (DefusedXmlException, ValueError, LookupError) as error:
        raise BadSource(path, "", f"not XML that is read: {error}") from None
