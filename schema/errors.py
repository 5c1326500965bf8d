"""One tree of errors; each class carries the exit code of the command line and the HTTP status of the API.

Exit codes follow ``sysexits.h`` where it has a fitting one, so that shells and schedulers can tell
"mend the input" (65, 66) from "a server is down" (71), "another job is running" (75) and "free some space" (74).
"""

from datetime import date
from pathlib import Path


class LexgraphError(Exception):
    """Base of every error that a user can cause or mend; its message is shown without a stack trace."""

    exit_code = 1
    http_status = 500


class BadSource(LexgraphError):
    """A source file that cannot be read as what it claims to be.

    ``place`` is a line and column, or a JSON path; the message names the file, the place and the reason.
    """

    exit_code = 65
    http_status = 400

    def __init__(self, file: Path | str, place: str, reason: str) -> None:
        self.file, self.place, self.reason = Path(file), place, reason
        super().__init__(f"{file}: {place}: {reason}" if place else f"{file}: {reason}")


class RecordsRejected(LexgraphError):
    """A load that went through, less some records, which lie in a quarantine file."""

    exit_code = 3
    http_status = 400


class TooMuchGone(LexgraphError):
    """A release that would drop more of the law than is believed; nothing was changed."""

    exit_code = 76
    http_status = 409


class MissingFile(LexgraphError):
    """A file or folder that was named and is not there."""

    exit_code = 66
    http_status = 404


class BadQuery(LexgraphError):
    """A query, a filter or a page that cannot be answered: empty, too long, a date that is none."""

    exit_code = 64
    http_status = 400


class FetchFailed(LexgraphError):
    """A source on another machine that could not be fetched; the message holds the last words of the program that tried."""

    exit_code = 69
    http_status = 502


class NotFound(LexgraphError):
    """An identifier that names nothing in the graph."""

    exit_code = 68
    http_status = 404


class NotOnRecord(NotFound):
    """An article of which the graph had nothing on the day that is asked about, or does not know what it had.

    Attributes:
        number: of the article.
        day: the day that is asked about.
        since: day from which on it is known what was on record of the article's act; None where that is not known at all.
    """

    def __init__(self, number: str, day: date, since: date | None) -> None:
        """Make the message."""
        self.number, self.day, self.since = number, day, since
        known = f"what was on record of its act is known from {since} on" if since and day < since else "it was not on record"
        super().__init__(f"article {number} as it was known on {day}: {known}")


class NotReady(LexgraphError):
    """A graph, an index or a model that must be made first; the message says by which command."""

    exit_code = 69
    http_status = 503


class _OfServer(LexgraphError):
    """A failure of a server, this time.

    Attributes:
        answered: whether the server said so itself; False where it is silent, which `runtime.circuit_breaker` spares others.
    """

    def __init__(self, message: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.answered = answered


class ServerUnavailable(_OfServer):
    """A server of the graph or of the text index that does not answer, or cannot do what is asked; it may later."""

    exit_code = 71
    http_status = 503


class QueryTimeout(_OfServer):
    """A query, of the graph or of the text index, that outran its time limit."""

    exit_code = 71
    http_status = 504


class Busy(LexgraphError):
    """A service that has more requests than it can answer; a little later it may."""

    exit_code = 75
    http_status = 503


class TooLarge(LexgraphError):
    """A request, or the answer that it asks for, is larger than the service gives."""

    exit_code = 64
    http_status = 413


class GraphBusy(LexgraphError):
    """Another process does the same work, or took it over from this one when its lock had run out.

    What this one was about to write is not written; what it had committed before stays.
    """

    exit_code = 75
    http_status = 503


class StorageFull(LexgraphError):
    """The disk refused a write; what was there before is unharmed."""

    exit_code = 74
    http_status = 507


class GraphTooNew(LexgraphError):
    """The graph was written by a newer version of Lexgraph than this one."""

    exit_code = 78
    http_status = 500


class BadSetting(LexgraphError):
    """A setting, a recipe or an option with a value that does not fit."""

    exit_code = 78
    http_status = 500


class PoolFull(BadSetting):
    """The embedded graph was given too little memory for what was asked; nothing was changed."""


class MissingExtra(LexgraphError):
    """An optional dependency that this work needs; the message names the extra to install."""

    exit_code = 69
    http_status = 501
