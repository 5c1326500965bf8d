"""Days as the command line takes them: an option's words read the same way by every verb."""

from datetime import date
from typing import Annotated, Any

import typer

from schema.errors import BadQuery


def read_day(words: str) -> date:
    """Return the day that an option names.

    Raises:
        BadQuery: it is none.
    """
    try:
        return date.fromisoformat(words)
    except ValueError:
        raise BadQuery(f"not a date: {words!r} (write YYYY-MM-DD)") from None


def _day(meaning: str, *names: str) -> Any:
    return typer.Option(*names, parser=read_day, metavar="<date>", help=f"{meaning} (YYYY-MM-DD).")


Start = Annotated[date, _day("The earlier day", "--from")]
End = Annotated[date, _day("The later day", "--to")]
OnDay = Annotated[date | None, _day("As it was on this day")]
InForceOn = Annotated[date | None, _day("Only articles in force on this day")]
KnownOn = Annotated[date | None, _day("As the graph had it on this day")]
