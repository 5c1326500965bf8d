"""Changes of an act between two days as GraphQL shows them."""

from datetime import date
from enum import Enum

import strawberry

from api.graphql.described import graphql_type
from api.graphql.law import Article, nodes_of
from api.graphql.loaders import Reading
from api.graphql.on_day import ACT_ON_DAY, checked_days
from api.graphql.pagination import PageInfo, Window
from schema.errors import BadQuery
from search.in_time.changes import changes_between


@strawberry.enum(
    description="NEW: was not there. REPEALED: is no longer there. REWORDED: says something else. RENUMBERED: its text went on "
    "under another number."
)
class ChangeKind(Enum):
    """Kind of a change of an article."""

    NEW = "new"
    REPEALED = "repealed"
    REWORDED = "reworded"
    RENUMBERED = "renumbered"


@graphql_type
class ChangeEdge:
    """A change of an article."""

    cursor: str
    kind: ChangeKind
    node: Article = strawberry.field(description="The article that changed.")
    renumbered_to: Article | None = strawberry.field(description="The article that its text went to; null where it went nowhere.")


@graphql_type
class ChangeConnection:
    """Changes of an act between two days, in the reading order of the later one, repeals last."""

    edges: list[ChangeEdge]
    page_info: PageInfo
    total_count: int


async def changes_of(reading: Reading, name: str, days: tuple[date, date], first: int, after: str | None) -> ChangeConnection:
    """Return a page of what changed in an act, named by identifier, title or abbreviation, from one day to another.

    Raises:
        BadQuery: the later day is named first, or a day lies outside those whose law is loaded.
        NotFound: there is no such act.
    """
    start, end = days
    window = Window.of(["changes", name, start, end], first, after, reading.settings.max_page)
    if end < start:
        raise BadQuery(f"{start} comes after {end}: name the earlier day first")
    act = reading.snapshot.retriever.understanding.names.resolve(name)
    await checked_days(reading, act, days)
    reading.budget.spend(2 * ACT_ON_DAY)
    found = [change for change in changes_between(reading.snapshot.graph, act, start, end) if reading.knows(change.id)]
    page = window.page_of_all(found)
    named = [id for _, change in page.items for id in (change.id, change.renumbered_to)]
    nodes = dict(zip(named, await nodes_of(reading, named), strict=True))
    edges = [
        ChangeEdge(
            cursor=cursor, kind=ChangeKind(change.kind), node=node, renumbered_to=went if isinstance(went, Article) else None
        )
        for cursor, change in page.items
        for node, went in [(nodes[change.id], nodes[change.renumbered_to])]
        if isinstance(node, Article)
    ]
    return ChangeConnection(edges=edges, page_info=page.info, total_count=len(found))
