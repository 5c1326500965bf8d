"""The law as it stood on a day, in rows as the graph gives those of the present law."""

from collections.abc import Sequence
from datetime import date

from api.graphql.loaders import Reading, gone
from cypher.graph import Row
from schema.errors import BadQuery, NotFound
from schema.wordings import Days, is_outside, stays, value_on
from search.in_time.act_on_day import ActOnDay, Part

ACT_ON_DAY = 10_000
"""Values that take about as long to resolve as reading one act as of one day."""
_OF_WORDING = ("status", "valid_from", "valid_to", "source_id", "instrument")


async def checked_days(reading: Reading, act: str, days: Sequence[date]) -> None:
    """Make sure that an act has the law of days.

    Raises:
        BadQuery: a day lies outside those whose law is loaded; the message has them.
    """
    row = await reading.acts.load(act)
    if row is None:
        raise gone()
    known: Days = (row["known_from"], row["known_to"])
    for day in days:
        if is_outside(day, known):
            raise BadQuery(f"{day} lies outside the law that is loaded: from {known[0]} to {known[1]}")


async def act_on_day(reading: Reading, act: str, day: date, part: str) -> ActOnDay:
    """Return an act as it stood on a day, read once in a request.

    Args:
        reading: of the request.
        act: the act.
        day: the day.
        part: what is asked about, the act itself or a part of it.

    Raises:
        BadQuery: the day lies outside those whose law is loaded.
        NotFound: the part was not there that day.
    """
    await checked_days(reading, act, [day])
    stood = reading.acts_on_days.get((act, day))
    if stood is None:
        reading.budget.spend(ACT_ON_DAY)
        stood = reading.acts_on_days[act, day] = ActOnDay.of(reading.snapshot.graph, act, day)
    if part != act and part not in stood.parts:
        raise NotFound(f"{part} was not there on {day}")
    return stood


async def rows_on_day(reading: Reading, stood: ActOnDay, parts: Sequence[Part]) -> list[Row | None]:
    """Return the rows of sections with their headings of a day, and of articles with their wordings of that day.

    An article that a server's graph has lost since this release was opened has none.
    """
    articles = await reading.articles.load_many([part.id for part in parts if part.label == "Article"])
    kept = {row["id"]: row for row in articles if row is not None}
    rows: list[Row | None] = []
    for part in parts:
        row = section_on_day(part.row, stood.day) if part.label == "Section" else kept.get(part.id)
        if row is not None and part.row["id"] != part.id:  # a wording other than the present one
            wording = {name: part.row[name] for name in _OF_WORDING}
            row = row | wording | {"text": part.row["text"] or None, "source_ids": None}
        rows.append(None if row is None else row | {"parent_id": stood.parent(part.id)})
    return rows


def section_on_day(row: Row, day: date | None) -> Row:
    """Return the row of a section with the heading that it bore on a day, and the days of that heading."""
    kept = row["stays"] or ()
    heading = None if day is None else value_on(day, kept)
    if heading is None or day is None:
        return row
    stay = next(stay for stay in stays(kept) if stay.start <= day and (stay.end is None or day < stay.end))
    return row | {"heading": stay.value, "valid_from": stay.start, "valid_to": stay.end}


async def present_below(reading: Reading, parent: str, *, without: str) -> list[str]:
    """Return the sections and articles of the present law directly in a section or act, in order, but for one."""
    ids = [row["id"] for row in await reading.contents.load(parent) if reading.knows(row["id"]) and row["id"] != without]
    act = await reading.acts.load(reading.path(parent)[0])
    if act is None or not act["known_from"]:
        return ids
    corpus, day = reading.snapshot.corpus, act["updated"]
    sections = [id for id in ids if id not in corpus.article_position]
    rows = {row["id"]: row for row in await reading.sections.load_many(sections) if row is not None}
    there = {id for id, row in rows.items() if not row["stays"] or value_on(day, row["stays"]) is not None}
    return [id for id in ids if (corpus.present[corpus.article_position[id]] if id in corpus.article_position else id in there)]
