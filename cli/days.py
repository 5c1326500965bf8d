"""Days as the command line takes them: an option's words read the same way by every verb."""

from datetime import date
from typing import Annotated

import typer

from schema.errors import BadQuery

METAVAR = "<date>"


def read_day(words: str | date) -> date:
    """Return the day that an option names.

    Raises:
        BadQuery: it is none.
    """
    try:
        return words if isinstance(words, date) else date.fromisoformat(words)
    except ValueError:
        raise BadQuery(f"not a date: {words!r} (write YYYY-MM-DD)") from None


Start = Annotated[date, typer.Option("--from", parser=read_day, metavar=METAVAR, help="The earlier day (YYYY-MM-DD).")]
End = Annotated[date, typer.Option("--to", parser=read_day, metavar=METAVAR, help="The later day (YYYY-MM-DD).")]
OnDay = Annotated[date | None, typer.Option("--on", parser=read_day, metavar=METAVAR, help="As it was on this day (YYYY-MM-DD).")]
InForceOn = Annotated[
    date | None, typer.Option(parser=read_day, metavar=METAVAR, help="Only articles in force on this day (YYYY-MM-DD).")
]
KnownOn = Annotated[
    date | None, typer.Option(parser=read_day, metavar=METAVAR, help="As the graph had it on this day (YYYY-MM-DD).")
]
