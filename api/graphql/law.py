"""Acts, sections and articles as GraphQL shows them, and the connections between them."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from functools import cache

import strawberry

from api.graphql.arguments import After, Day, First, Info, KnownOn, OnDay
from api.graphql.citations import CitationEdge, CitesOutsideConnection, citations_into, known_citations, outside_citations
from api.graphql.described import graphql_field, graphql_interface, graphql_type
from api.graphql.loaders import Reading, awaited, gone
from api.graphql.on_day import act_on_day, present_below, rows_on_day
from api.graphql.pagination import DEFAULT_PAGE, Connection, Edge, PageInfo, Window, connection
from api.graphql.relations import RelationType, RelationTypes, effects_of, effects_on
from api.graphql.wordings import Dated, Wording, WordingOfDay, all_wordings, oldest_first, wording_of_day
from cypher.graph import Row
from schema.labels import UNCITED
from schema.publishers import act_url, article_url, section_url
from search.in_time.act_on_day import ActOnDay, Part


@graphql_interface
class Node:
    """Anything with an identifier: an act, a section, an article."""

    id: strawberry.ID = strawberry.field(
        description="Readable and stable: `fr/LEGITEXT000006072050/L1234-9` is an article of the act before the last slash."
    )

    @graphql_field
    async def url(self, info: Info) -> str | None:
        """Address at the publisher; null where none is certain."""
        return await _url(info.context, self)


@graphql_interface
class Provision(Node, Dated):
    """A part of an act: a section or an article."""

    number: str | None = strawberry.field(description="As the publisher writes it; null while it is not known (`degraded`).")
    heading: str | None = strawberry.field(description="Null where there is none.")
    act_id: strawberry.Private[str]
    parent_id: strawberry.Private[str]

    @graphql_field
    def act(self, info: Info) -> "Act":
        """The act that this is a part of."""
        row = info.context.at_hand("acts_by_id", self.act_id)
        return awaited(_act(info.context, self.act_id)) if row is None else act_of(row)

    @graphql_field
    async def parent(self, info: Info) -> Node:
        """The section or act that this stands in."""
        found = await node_of(info.context, self.parent_id)
        if found is None:
            raise gone()
        return found

    @graphql_field
    async def ancestors(self, info: Info, on: OnDay = None) -> list[Node]:
        """The act and the sections above this, from the act down."""
        if on is not None:
            stood = await act_on_day(info.context, self.act_id, on, self.id)
            above = [stood.parts[id] for id, _ in stood.path_above(self.id)[1:]]
            nodes = [await node_of(info.context, self.act_id), *await _of_day(info.context, stood, above)]
            return [node for node in nodes if node is not None]
        return await _nodes(info.context, info.context.path(self.parent_id))

    @graphql_field
    async def siblings(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> "Connection[Provision]":
        """Neighbours in the same section or act, in reading order."""
        return await _provisions(info.context, ["siblings", self.id], self.parent_id, first, after)


@graphql_type
class CitesEdge(CitationEdge):
    """A citation, seen from the article that cites."""

    node: Node = strawberry.field(description="What is cited: an article, a section or an act.")


@graphql_type
class CitesConnection:
    """Citations of an article, in the order of its text."""

    edges: list[CitesEdge]
    page_info: PageInfo
    total_count: int


@graphql_type
class CitedByEdge(CitationEdge):
    """A citation, seen from what is cited."""

    node: "Article" = strawberry.field(description="The article that cites.")


@graphql_type
class CitedByConnection:
    """Articles that cite this, in reading order."""

    edges: list[CitedByEdge]
    page_info: PageInfo
    total_count: int


@graphql_type
class Relation:
    """An effect of one act on another."""

    type: RelationType
    act: "Act" = strawberry.field(description="The other act.")
    basis: str = strawberry.field(description="Where it was found: `metadata`, `link`, `title`, `preamble`.")
    evidence: str = strawberry.field(description="In what words.")
    confidence: float = strawberry.field(description="How sure it is, from 0 to 1.")


@graphql_type
class Renumbering:
    """A day on which the text of an article went on under another number."""

    node: "Article" = strawberry.field(description="The article that has the other number.")
    on: date
    similarity: float = strawberry.field(description="Of both texts, from 0 to 1.")


@graphql_type
class HistoryConnection:
    """Wordings of an article, oldest first, and its other numbers."""

    edges: list[Edge[Wording]]
    page_info: PageInfo
    total_count: int
    renumbered_from: list[Renumbering] = strawberry.field(description="Whose text became this article's.")
    renumbered_to: list[Renumbering] = strawberry.field(description="To which its text went.")


@graphql_type
class Act(Node, Dated):
    """A code, a statute, a decree, a directive."""

    title: str | None = strawberry.field(description="Null while it is not known (`degraded`).")
    kind: str
    jurisdiction: str = strawberry.field(description="`fr`, `eu`, …")
    language: str | None = strawberry.field(description="ISO 639-1.")
    eli: str | None = strawberry.field(description="European Legislation Identifier.")
    celex: str | None = strawberry.field(description="Number in EUR-Lex.")
    licence: str | None = strawberry.field(description="Under which the publisher gives it.")
    short_title: str | None = strawberry.field(description="Null where it has none.")
    published: date | None = strawberry.field(description="The date that the act bears.")
    updated: date | None = strawberry.field(description="The date of the consolidation that was read.")
    known_from: date | None = strawberry.field(description="First day whose law is loaded; null where not every day's is.")
    known_to: date | None = strawberry.field(description="The last such day.")
    subjects: list[str] = strawberry.field(description="The publisher's own: fields, departments.")
    preamble: str | None = strawberry.field(description="What stands outside its sections and articles.")

    @graphql_field
    async def relations(
        self, info: Info, types: RelationTypes = None, first: First = DEFAULT_PAGE, after: After = None
    ) -> Connection[Relation]:
        """Effects of this act on others that the graph holds."""
        window = Window.of(["relations", self.id, types], first, after, info.context.settings.max_page)
        return await _relations(info.context, window, await effects_of(info.context, self.id, types))

    @graphql_field
    async def related_by(
        self, info: Info, types: RelationTypes = None, first: First = DEFAULT_PAGE, after: After = None
    ) -> Connection[Relation]:
        """Effects of others on this act: they transpose, amend, repeal it."""
        window = Window.of(["relatedBy", self.id, types], first, after, info.context.settings.max_page)
        return await _relations(info.context, window, await effects_on(info.context, self.id, types))

    @graphql_field
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this act as a whole."""
        return await _cited_by(info.context, self.id, first, after)

    @graphql_field
    async def contents(
        self, info: Info, on: OnDay = None, first: First = DEFAULT_PAGE, after: After = None
    ) -> Connection[Provision]:
        """Sections and articles directly below the act, in reading order."""
        return await _contents(info.context, self.id, self.id, on, (first, after))


@graphql_type
class Section(Provision):
    """A part, book, title, chapter, section …: an inner node of an act."""

    level: int = strawberry.field(description="1 directly below the act.")
    text: str | None = strawberry.field(description="What stands under its heading, before anything below it.")

    @graphql_field
    async def contents(
        self, info: Info, on: OnDay = None, first: First = DEFAULT_PAGE, after: After = None
    ) -> Connection[Provision]:
        """Sections and articles directly below the section, in reading order."""
        return await _contents(info.context, self.act_id, self.id, on, (first, after))

    @graphql_field
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this section as a whole."""
        return await _cited_by(info.context, self.id, first, after)


@graphql_type
class Article(Provision):
    """An article: what the law says."""

    text: str | None = strawberry.field(description="One paragraph a line; null while it is not known (`degraded`).")
    language: str | None = strawberry.field(description="ISO 639-1.")
    source_ids: strawberry.Private[list[str] | None]
    authority: float = strawberry.field(
        description="PageRank over citations between articles: 0.15 for an article that nobody cites, more the more it is cited."
    )

    @graphql_field
    async def wordings(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> Connection[Wording]:
        """Its other wordings, earlier and later, by their first days."""
        window = Window.of(["wordings", self.id], first, after, info.context.settings.max_page)
        others = (await all_wordings(info.context, self.id))[1:]
        page = window.page_of_all(others)
        return connection(page, [wording for _, wording in page.items], len(others))

    @graphql_field
    async def wording(self, info: Info, on: Day) -> Wording | None:
        """The wording in force on a day, its text null where only its dates are known; null where none was in force."""
        return (await wording_of_day(info.context, self.id, on)).wording

    @graphql_field
    async def on_day(self, info: Info, day: Day, known_on: KnownOn = None) -> WordingOfDay:
        """The wording in force on a day; where there is none, why, and what was before and after."""
        return await wording_of_day(info.context, self.id, day, known_on)

    @graphql_field
    async def history(
        self, info: Info, known_on: KnownOn = None, first: First = DEFAULT_PAGE, after: After = None
    ) -> HistoryConnection:
        """All its wordings, oldest first, with what gave each, and the numbers that its text had before and has since."""
        reading = info.context
        window = Window.of(["history", self.id, str(known_on or "")], first, after, reading.settings.max_page)
        wordings = oldest_first(await all_wordings(reading, self.id, known_on))
        page = window.page_of_all(wordings)
        return HistoryConnection(
            edges=[Edge(cursor=cursor, node=wording) for cursor, wording in page.items],
            page_info=page.info,
            total_count=len(wordings),
            renumbered_from=await _renumberings(reading, await reading.renumberings_into.load(self.id)),
            renumbered_to=await _renumberings(reading, await reading.renumberings.load(self.id)),
        )

    @graphql_field
    async def next(self, info: Info, on: OnDay = None) -> "Article | None":
        """The article after this in reading order; null at the end of the act."""
        return await _beside(info.context, self, 1, on)

    @graphql_field
    async def previous(self, info: Info, on: OnDay = None) -> "Article | None":
        """The article before this in reading order; null at the beginning of the act."""
        return await _beside(info.context, self, -1, on)

    @graphql_field
    async def cites(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitesConnection:
        """Citations of this article that the graph holds, in the order of its text."""
        reading = info.context
        window = Window.of(["cites", self.id], first, after, reading.settings.max_page)
        rows = await known_citations(reading, self.id)
        page = window.page_of_all(rows)
        targets = await nodes_of(reading, [row["other"] for _, row in page.items])
        edges = [
            CitesEdge(cursor=cursor, node=node, text=row["text"], start=row["start"], end=row["end"], kind=row["kind"])
            for (cursor, row), node in zip(page.items, targets, strict=True)
            if node is not None
        ]
        return CitesConnection(edges=edges, page_info=page.info, total_count=len(rows))

    @graphql_field
    async def cites_outside(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitesOutsideConnection:
        """Citations of this article that name what the graph does not hold, in the order of its text."""
        return await outside_citations(info.context, self.id, first, after)

    @graphql_field
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this one."""
        return await _cited_by(info.context, self.id, first, after)


def act_of(row: Row | None) -> Act:
    """Return the act of a row of the graph."""
    return Act(**_values(Act, row, {}))


async def _act(reading: Reading, id: str) -> Act:
    return act_of(await reading.acts.load(id))


def section_of(row: Row | None) -> Section:
    """Return the section of a row of the graph."""
    return Section(**_values(Section, row, {}))


def article_of(row: Row | None) -> Article:
    """Return the article of a row of the graph."""
    # An empty text is one; a graph that came about before authority was stored has none until its law is loaded again.
    own = {} if row is None else {"text": row["text"], "authority": row["authority"] or UNCITED}
    return Article(**_values(Article, row, own))


def _values(kind: type, row: Row | None, own: Row) -> Row:
    """Return the fields of a type from the properties of a row: an empty text is null, but for what every node has."""
    if row is None:
        raise gone()
    names = _names(kind)
    read = {name: row[name] if name in _NEVER_NULL else row[name] or None for name in names if name in row}
    return read | {name: [] for name in ("subjects",) if name in names and not read[name]} | own


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


async def _url(reading: Reading, node: Node) -> str | None:
    """Return the address of an act, a section or an article at its publisher."""
    if not isinstance(node, Provision):
        return act_url(vars(node))
    act = await reading.acts.load(node.act_id)
    if act is None:
        return None
    if isinstance(node, Article):
        return article_url(act, vars(node), await reading.wordings.load(node.id))
    return section_url(act, node.source_id)


_NEVER_NULL = frozenset({"id", "number", "title", "kind", "level"})
_MADE_OF = {"Act": act_of, "Section": section_of, "Article": article_of}


async def node_of(reading: Reading, id: str) -> Node | None:
    """Return what an identifier names, or None."""
    return (await nodes_of(reading, [id]))[0]


async def nodes_of(reading: Reading, ids: list[str]) -> list[Node | None]:
    """Return what identifiers name; None for what a server's graph lost, or gained, since this release was opened."""
    # All are asked for before the first is awaited, so that they share a batch.
    loads = [reading.load(id) for id in ids]
    rows = [None if load is None else (_MADE_OF[load[0]], await load[1]) for load in loads]
    return [None if row is None or row[1] is None else row[0](row[1]) for row in rows]


async def _nodes(reading: Reading, ids: list[str]) -> list[Node]:
    return [node for node in await nodes_of(reading, ids) if node is not None]


async def _beside(reading: Reading, article: Article, step: int, on: date | None) -> Article | None:
    """Return the article after (1) or before (-1) one, in the present law or on a day."""
    if on is not None:
        stood = await act_on_day(reading, article.act_id, on, article.id)
        part = stood.beside(article.id)[step > 0]
        found = None if part is None else (await _of_day(reading, stood, [part]))[0]
    else:
        id = reading.snapshot.corpus.beside(article.id, step)
        found = None if id is None else await node_of(reading, id)
    return found if isinstance(found, Article) else None


async def _of_day(reading: Reading, stood: ActOnDay, parts: list[Part]) -> list[Provision | None]:
    """Return sections and articles as they stood on a day."""
    rows = await rows_on_day(reading, stood, parts)
    make = {"Section": section_of, "Article": article_of}
    return [None if row is None else make[part.label](row) for part, row in zip(parts, rows, strict=True)]


async def _contents(reading: Reading, act: str, id: str, on: date | None, page: tuple[int, str | None]) -> Connection[Provision]:
    """Return a page, ``first`` and ``after``, of what stands in an act or a section, or stood in it on a day."""
    if on is None:
        return await _provisions(reading, ["contents", id], id, *page)
    window = Window.of(["contents", id, on], *page, reading.settings.max_page)
    stood = await act_on_day(reading, act, on, id)
    parts = stood.below(id)
    shown = window.page_of_all(parts)
    return connection(shown, await _of_day(reading, stood, [part for _, part in shown.items]), len(parts))


async def _relations(reading: Reading, window: Window, rows: Sequence[Row]) -> Connection[Relation]:
    """Return a page of what one act does to another."""
    shown = window.page_of_all(rows)
    acts = await nodes_of(reading, [row["other"] for _, row in shown.items])
    relations = [
        Relation(
            type=RelationType(row["type"]),
            act=act,
            basis=row["basis"],
            evidence=row["evidence"],
            confidence=row["confidence"],
        )
        if isinstance(act, Act)
        else None
        for (_, row), act in zip(shown.items, acts, strict=True)
    ]
    return connection(shown, relations, len(rows))


async def _renumberings(reading: Reading, rows: Sequence[Row]) -> list[Renumbering]:
    articles = await nodes_of(reading, [row["other"] for row in rows])
    return [
        Renumbering(node=article, on=row["on"], similarity=row["similarity"])
        for row, article in zip(rows, articles, strict=True)
        if isinstance(article, Article)
    ]


async def _provisions(reading: Reading, field: list[str], parent: str, first: int, after: str | None) -> Connection[Provision]:
    """Return a page of what stands in a section or act, without the one whose neighbours are asked for."""
    window = Window.of(field, first, after, reading.settings.max_page)
    ids = await present_below(reading, parent, without=field[-1])
    page = window.page_of_all(ids)
    nodes = await nodes_of(reading, [id for _, id in page.items])
    return connection(page, [node if isinstance(node, Provision) else None for node in nodes], len(ids))


async def _cited_by(reading: Reading, id: str, first: int, after: str | None) -> CitedByConnection:
    window = Window.of(["citedBy", id], first, after, reading.settings.max_page)
    rows = await citations_into(reading, id)
    page = window.page_of_all(rows)
    articles = await nodes_of(reading, [row["other"] for _, row in page.items])
    edges = [
        CitedByEdge(cursor=cursor, node=article, text=row["text"], start=row["start"], end=row["end"], kind=row["kind"])
        for (cursor, row), article in zip(page.items, articles, strict=True)
        if isinstance(article, Article)
    ]
    return CitedByConnection(edges=edges, page_info=page.info, total_count=len(rows))
