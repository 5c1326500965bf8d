"""Citations as GraphQL shows them: their words, and those that name what the graph does not hold."""

import strawberry

from api.graphql.described import graphql_type
from api.graphql.loaders import Reading
from api.graphql.pagination import PageInfo, Window
from cypher.graph import Row
from schema.publishers import outside_url
from search.in_time.cited_in_text import cited_in_text

LETTERS_A_VALUE = 20
"""Letters whose comparison, or whose reading for citations, takes as long as a value of the answer does."""
_OUTSIDE = ("text", "start", "end", "kind", "target", "target_kind")


@graphql_type
class CitingWords:
    """The words of a citation, and where they stand."""

    cursor: str
    text: str = strawberry.field(description="The words that cite.")
    start: int = strawberry.field(description="Where they begin in the text that cites, in code points.")
    end: int = strawberry.field(description="Where they end, exclusive.")


@graphql_type
class CitationEdge(CitingWords):
    """A citation: its words, and where they stand."""

    kind: str = strawberry.field(description="`link`: marked by the publisher; `text`: found in the words.")


@graphql_type
class CitesOutsideEdge(CitationEdge):
    """A citation of what the graph does not hold."""

    target: str = strawberry.field(description="The publisher's identifier of what is cited, a name of its act, or an address.")
    target_kind: str = strawberry.field(description="`article`, `section`, `act` or `page`.")
    url: str | None = strawberry.field(description="Address of what is cited; null where none is certain.")


@graphql_type
class CitesOutsideConnection:
    """Citations of what the graph does not hold, in the order of the text."""

    edges: list[CitesOutsideEdge]
    page_info: PageInfo
    total_count: int


@graphql_type
class CitesInTextEdge(CitingWords):
    """A citation that was read from the text of a wording."""

    target: str = strawberry.field(description="A name of what is cited: its act and its number.")
    ids: list[strawberry.ID] = strawberry.field(
        description="The articles, the section or the act that it names; none where the law that is loaded lacks them."
    )


@graphql_type
class CitesInTextConnection:
    """Citations that were read from the text of a wording, in its order."""

    edges: list[CitesInTextEdge]
    page_info: PageInfo
    total_count: int


def citations_in_text(reading: Reading, wording: tuple[str, str, str], first: int, after: str | None) -> CitesInTextConnection:
    """Return a page of the citations in the text of a wording.

    Args:
        reading: of the request.
        wording: its identifier, that of its article, and its text.
        first: length of the page.
        after: cursor of the page before.
    """
    id, article, text = wording
    window = Window.of(["citesInText", id], first, after, reading.settings.max_page)
    reading.budget.spend(len(text) // LETTERS_A_VALUE)
    page = window.page_of_all(found := cited_in_text(reading.snapshot.retriever.understanding, article, text))
    edges = [
        CitesInTextEdge(
            cursor=cursor,
            text=one.words,
            start=one.start,
            end=one.end,
            target=one.target,
            ids=[strawberry.ID(each) for each in one.ids],
        )
        for cursor, one in page.items
    ]
    return CitesInTextConnection(edges=edges, page_info=page.info, total_count=len(found))


async def outside_citations(reading: Reading, id: str, first: int, after: str | None) -> CitesOutsideConnection:
    """Return a page of the citations of an article that name what the graph does not hold."""
    window = Window.of(["citesOutside", id], first, after, reading.settings.max_page)
    rows = sorted(await reading.cites_outside.load(id), key=lambda row: (row["start"], row["target"]))
    page = window.page_of_all(rows)
    edges = [
        CitesOutsideEdge(cursor=cursor, url=outside_url(row["target"]), **{name: row[name] for name in _OUTSIDE})
        for cursor, row in page.items
    ]
    return CitesOutsideConnection(edges=edges, page_info=page.info, total_count=len(rows))


async def known_citations(reading: Reading, article: str) -> list[Row]:
    """Return the citations of an article that name what this release has, in the order of the text."""
    return [row for row in await reading.cites.load(article) if reading.knows(row["other"])]


async def citations_into(reading: Reading, id: str) -> list[Row]:
    """Return the citations of an article, a section or an act by articles of this release, in reading order."""
    place = reading.snapshot.corpus.article_position
    known = [row for row in await reading.cited_by.load(id) if row["other"] in place]
    return sorted(known, key=lambda row: (place[row["other"]], row["start"]))
