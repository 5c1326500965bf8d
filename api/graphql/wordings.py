"""Wordings of an article as GraphQL shows them: each with its days, that of a day, and the difference between two days."""

from collections.abc import Sequence
from datetime import date
from enum import Enum

import strawberry

from api.graphql.arguments import After, First
from api.graphql.citations import LETTERS_A_VALUE, CitesInTextConnection, citations_in_text
from api.graphql.described import graphql_field, graphql_type
from api.graphql.loaders import Reading, gone
from api.graphql.pagination import DEFAULT_PAGE
from cypher.graph import Row
from schema.identifiers import act_of as act_identifier
from schema.publishers import present_id, wording_url
from schema.wordings import Days, TextOfDay
from search.in_time.article_on_day import ArticleOnDay
from search.in_time.as_known import as_known
from search.in_time.difference import difference

strawberry.enum(
    TextOfDay,
    description=(
        "SAME: the present text was in force that day. OTHER: another was, which `wording(on:)` gives. UNKNOWN: that day's text "
        "is not known, its dates at the most. NONE: the article was not in force that day. OUTSIDE: the day lies outside the "
        "days whose law is loaded."
    ),
)


@graphql_type
class Dated:
    """Law with days and a name of the publisher's own."""

    status: str | None = strawberry.field(description="As the publisher gives it, e.g. `VIGUEUR`.")
    valid_from: date | None = strawberry.field(description="First day in force.")
    valid_to: date | None = strawberry.field(description="First day no longer in force; null while no end is known.")
    source_id: str | None = strawberry.field(description="The publisher's own identifier.")


@graphql_type
class Wording(Dated):
    """A wording of an article."""

    id: strawberry.ID
    text: str | None = strawberry.field(description="Null where only the dates are known.")
    instrument: str | None = strawberry.field(description="The act or decision that gave the article this wording.")
    is_present: bool = strawberry.field(description="Whether it is the one that the article has where no day is named.")
    article_id: strawberry.Private[str]

    @graphql_field
    async def url(self, info: strawberry.Info[Reading, None]) -> str | None:
        """Address at the publisher; null where none is certain."""
        act = await info.context.acts.load(act_identifier(self.article_id))
        return None if act is None else wording_url(act, self.source_id)

    @graphql_field
    async def cites(
        self, info: strawberry.Info[Reading, None], first: First = DEFAULT_PAGE, after: After = None
    ) -> CitesInTextConnection:
        """Citations in its text, in their order; none where that is not known."""
        return citations_in_text(info.context, (self.id, self.article_id, self.text or ""), first, after)


@graphql_type
class WordingOfDay:
    """The wording of an article on a day, or why there is none."""

    day: date
    state: TextOfDay
    wording: Wording | None = strawberry.field(
        description="In force that day, without text where only its dates are known; null where none is known to have been."
    )
    before: Wording | None = strawberry.field(description="Where none was in force: the last that had ended.")
    after: Wording | None = strawberry.field(description="Where none was in force: the first that was still to come.")
    known_from: date | None = strawberry.field(description="First day whose law is loaded; null where not every day's is.")
    known_to: date | None = strawberry.field(description="The last such day.")


@strawberry.enum(name="WordChange", description="The fate of words between two wordings.")
class WordChange(Enum):
    """The fate of words between two wordings."""

    SAME = "same"
    DELETED = "deleted"
    INSERTED = "inserted"


@graphql_type
class DifferenceSpan:
    """Words that stayed, went or came."""

    change: WordChange
    text: str
    start: int = strawberry.field(
        description="Where they begin, in code points: in the earlier text, but those that came in the later one."
    )
    end: int = strawberry.field(description="Where they end, exclusive.")


@graphql_type
class Difference:
    """The difference between the wordings of an article on two days, word by word."""

    earlier: WordingOfDay = strawberry.field(name="from", description="On the day `from`.")
    later: WordingOfDay = strawberry.field(name="to", description="On the day `to`.")
    same: bool | None = strawberry.field(description="Whether the text is the same; null where that of a day is not known.")
    spans: list[DifferenceSpan] | None = strawberry.field(
        description="What both texts are made of, in reading order, what went before what came in its place; null where the text "
        "of a day is not known, or none was in force: `state` of `from` and `to` says which."
    )


async def all_wordings(reading: Reading, article: str, known_on: date | None = None) -> list[Wording]:
    """Return all wordings of an article, the present one first, the others by their first days.

    Args:
        reading: the request.
        article: identifier.
        known_on: day on which the graph knew them; None: as it knows them now.

    Raises:
        NotFound: nothing was known of the article on that day.
    """
    own, others = await _rows(reading, article, known_on)
    return [_wording(own, is_present=True), *(_wording(other) for other in others)]


async def _rows(reading: Reading, article: str, known_on: date | None) -> tuple[Row, Sequence[Row]]:
    """Return the row of an article as that of its present wording, and those of the others, as they are known or were."""
    row = await reading.articles.load(article)
    others = await reading.wordings.load(article)
    if row is None:
        raise gone()
    if known_on is not None:
        revisions = [one for id in (article, row["act_id"]) for one in await reading.revisions.load(id)]
        row, others = as_known(row, others, revisions, known_on)
    return row | {"article_id": article, "source_id": present_id(row, others)}, others


def oldest_first(wordings: Sequence[Wording]) -> list[Wording]:
    """Return wordings in the order of their days."""
    return sorted(wordings, key=lambda one: (one.valid_from or date.min, one.valid_to or date.max))


async def wording_of_day(reading: Reading, article: str, day: date, known_on: date | None = None) -> WordingOfDay:
    """Return the wording of an article on a day, or why there is none.

    Args:
        reading: the request.
        article: identifier.
        day: the day that is asked about.
        known_on: day on which the graph knew it; None: as it knows it now.

    Raises:
        NotFound: nothing was known of the article on that day.
    """
    own, others = await _rows(reading, article, known_on)
    act = await reading.acts.load(act_identifier(article))
    known: Days = (None, None) if act is None else (act["known_from"], act["known_to"])
    stood = ArticleOnDay.of(own, others, day, known)

    def shown(row: Row | None) -> Wording | None:
        return None if row is None else _wording(row, is_present=row is own)

    there = stood.wording
    return WordingOfDay(
        day=day,
        state=stood.state,
        wording=shown(there),
        before=shown(stood.before) if there is None else None,
        after=shown(stood.after) if there is None else None,
        known_from=known[0],
        known_to=known[1],
    )


async def difference_between(reading: Reading, article: str, days: tuple[date, date], known_on: date | None = None) -> Difference:
    """Return the difference between the wordings of an article on two days, as they are known or were on a third.

    Raises:
        NotFound: nothing was known of the article on that day.
    """
    earlier, later = [await wording_of_day(reading, article, day, known_on) for day in days]
    before, after = (one.wording.text if one.wording else None for one in (earlier, later))
    if before is None or after is None:
        return Difference(earlier=earlier, later=later, same=None, spans=None)
    reading.budget.spend((len(before) + len(after)) // LETTERS_A_VALUE)
    spans = [
        DifferenceSpan(change=WordChange(span.change), text=span.text, start=span.start, end=span.end)
        for span in difference(before, after)
    ]
    return Difference(earlier=earlier, later=later, same=before == after, spans=spans)


def _wording(row: Row, *, is_present: bool = False) -> Wording:
    return Wording(
        id=row["id"],
        status=row["status"] or None,
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        source_id=row["source_id"] or None,
        text=row["text"] if is_present else row["text"] or None,  # of another, "" says that its text is not known
        instrument=row["instrument"] or None,
        is_present=is_present,
        article_id=row["article_id"],
    )
