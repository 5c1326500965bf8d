"""Acts, sections and articles as GraphQL shows them, and the connections between them."""

from datetime import date
from enum import Enum
from typing import Annotated

import strawberry

from api.graphql.loaders import Reading
from api.graphql.pagination import DEFAULT_PAGE, PageInfo, Window
from cypher.graph import Row
from schema.errors import NotReady
from schema.labels import UNCITED

Info = strawberry.Info[Reading, None]
First = Annotated[int, strawberry.argument(description="Length of the page, from 1 to the server's limit.")]
After = Annotated[str | None, strawberry.argument(description="`endCursor` of the page before.")]


@strawberry.interface(description="Whatever has an identifier.")
class Node:
    """Whatever has an identifier."""

    id: strawberry.ID = strawberry.field(
        description="Readable and stable: `fr/LEGITEXT000006072050/L1234-9` is an article of the act before the last slash."
    )


@strawberry.interface(description="A part of an act: a section or an article.")
class Provision(Node):
    """A part of an act: a section or an article."""

    number: str = strawberry.field(description="As the publisher writes it.")
    heading: str | None = strawberry.field(description="Null where there is none.")
    status: str | None = strawberry.field(description="As the publisher gives it, e.g. `VIGUEUR`.")
    valid_from: date | None = strawberry.field(description="First day in force.")
    valid_to: date | None = strawberry.field(description="First day no longer in force; null while no end is known.")
    source_id: str | None = strawberry.field(description="The publisher's own identifier.")
    act_id: strawberry.Private[str]
    parent_id: strawberry.Private[str]

    @strawberry.field(description="The act that this is a part of.")
    async def act(self, info: Info) -> "Act":
        """The act that this is a part of."""
        return act_of(await info.context.acts.load(self.act_id))

    @strawberry.field(description="The section or act that this stands in.")
    async def parent(self, info: Info) -> Node:
        """The section or act that this stands in."""
        found = await node_of(info.context, self.parent_id)
        if found is None:
            raise _gone()
        return found

    @strawberry.field(description="The act and the sections above this, from the act down.")
    async def ancestors(self, info: Info) -> list[Node]:
        """The act and the sections above this, from the act down."""
        return await _nodes(info.context, info.context.path(self.parent_id))

    @strawberry.field(description="What else stands in the same section or act, in reading order.")
    async def siblings(self, info: Info) -> list["Provision"]:
        """What else stands in the same section or act, in reading order."""
        rows = await info.context.contents.load(self.parent_id)
        return await _provisions(info.context, [row["id"] for row in rows if row["id"] != self.id])


@strawberry.type(description="What an act or a section contains: an edge.")
class ContentsEdge:
    """What an act or a section contains: an edge."""

    cursor: str
    node: Provision


@strawberry.type(description="What an act or a section contains.")
class ContentsConnection:
    """What an act or a section contains."""

    edges: list[ContentsEdge]
    page_info: PageInfo
    total_count: int


@strawberry.type(description="A citation, seen from the article that cites.")
class CitesEdge:
    """A citation, seen from the article that cites."""

    cursor: str
    node: Node = strawberry.field(description="What is cited: an article, a section or an act.")
    text: str = strawberry.field(description="The words that cite.")
    start: int = strawberry.field(description="Where they begin in the citing article's text, in code points.")
    end: int = strawberry.field(description="Where they end, exclusive.")
    kind: str = strawberry.field(description="`link`: marked by the publisher; `text`: found in the words.")


@strawberry.type(description="What an article cites, in the order of its text.")
class CitesConnection:
    """What an article cites, in the order of its text."""

    edges: list[CitesEdge]
    page_info: PageInfo
    total_count: int


@strawberry.type(description="A citation, seen from what is cited.")
class CitedByEdge:
    """A citation, seen from what is cited."""

    cursor: str
    node: "Article" = strawberry.field(description="The article that cites.")
    text: str = strawberry.field(description="The words that cite.")
    start: int = strawberry.field(description="Where they begin in the citing article's text, in code points.")
    end: int = strawberry.field(description="Where they end, exclusive.")
    kind: str = strawberry.field(description="`link`: marked by the publisher; `text`: found in the words.")


@strawberry.type(description="What cites this, in reading order.")
class CitedByConnection:
    """What cites this, in reading order."""

    edges: list[CitedByEdge]
    page_info: PageInfo
    total_count: int


@strawberry.enum(description="What one act does to another.")
class RelationType(Enum):
    """What one act does to another."""

    TRANSPOSES = "TRANSPOSES"
    AMENDS = "AMENDS"
    REPEALS = "REPEALS"
    CONSOLIDATES = "CONSOLIDATES"
    CITES = "CITES"


@strawberry.type(description="What one act does to another.")
class Relation:
    """What one act does to another."""

    type: RelationType
    act: "Act" = strawberry.field(description="The other act.")
    basis: str = strawberry.field(description="Where it was found: `metadata`, `link`, `title`, `preamble`.")
    evidence: str = strawberry.field(description="In what words.")
    confidence: float = strawberry.field(description="How sure it is, from 0 to 1.")


@strawberry.type(description="A wording of an article.")
class Wording:
    """A wording of an article."""

    id: strawberry.ID
    status: str | None = strawberry.field(description="As the publisher gives it.")
    valid_from: date | None = strawberry.field(description="First day in force.")
    valid_to: date | None = strawberry.field(description="First day no longer in force; null while no end is known.")
    text: str | None = strawberry.field(description="Null where only the dates are known.")
    source_id: str | None = strawberry.field(description="The publisher's own identifier.")


_Types = Annotated[list[RelationType] | None, strawberry.argument(description="Only these; all where it is left out.")]


@strawberry.type(description="A code, a statute, a decree, a directive.")
class Act(Node):
    """A code, a statute, a decree, a directive."""

    title: str
    kind: str
    jurisdiction: str = strawberry.field(description="`fr`, `eu`, …")
    language: str = strawberry.field(description="ISO 639-1.")
    status: str | None = strawberry.field(description="As the publisher gives it.")
    valid_from: date | None = strawberry.field(description="First day in force.")
    valid_to: date | None = strawberry.field(description="First day no longer in force; null while no end is known.")
    eli: str | None = strawberry.field(description="European Legislation Identifier.")
    celex: str | None = strawberry.field(description="Number in EUR-Lex.")
    source_id: str | None = strawberry.field(description="The publisher's own identifier.")
    licence: str | None = strawberry.field(description="Under which the publisher gives it.")
    short_title: str | None = strawberry.field(description="Null where it has none.")
    published: date | None = strawberry.field(description="The date that the act bears.")
    updated: date | None = strawberry.field(description="The date of the consolidation that was read.")
    subjects: list[str] = strawberry.field(description="The publisher's own: fields, departments.")
    preamble: str | None = strawberry.field(description="What stands outside its sections and articles.")

    @strawberry.field(description="What this act does to others that the graph holds.")
    async def relations(self, info: Info, types: _Types = None) -> list[Relation]:
        """What this act does to others that the graph holds."""
        rows = await info.context.relations.load(self.id)
        return await _relations(info.context, [row | {"other": row["target"]} for row in rows], types)

    @strawberry.field(description="What others do to this act: transpose, amend, repeal it.")
    async def related_by(self, info: Info, types: _Types = None) -> list[Relation]:
        """What others do to this act."""
        return await _relations(info.context, await info.context.related_by.load(self.id), types)

    @strawberry.field(description="Articles that cite this act as a whole.")
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this act as a whole."""
        return await _cited_by(info.context, self.id, first, after)

    @strawberry.field(description="What stands directly below the act, in reading order.")
    async def contents(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> ContentsConnection:
        """What stands directly below the act, in reading order."""
        return await _contents(info.context, self.id, first, after)


@strawberry.type(description="A part, book, title, chapter, section …: an inner node of an act.")
class Section(Provision):
    """A part, book, title, chapter, section …: an inner node of an act."""

    level: int = strawberry.field(description="1 directly below the act.")
    text: str | None = strawberry.field(description="What stands under its heading, before anything below it.")

    @strawberry.field(description="What stands directly below the section, in reading order.")
    async def contents(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> ContentsConnection:
        """What stands directly below the section, in reading order."""
        return await _contents(info.context, self.id, first, after)

    @strawberry.field(description="Articles that cite this section as a whole.")
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this section as a whole."""
        return await _cited_by(info.context, self.id, first, after)


@strawberry.type(description="An article: what the law says.")
class Article(Provision):
    """An article: what the law says."""

    text: str = strawberry.field(description="One paragraph a line.")
    language: str = strawberry.field(description="ISO 639-1.")
    authority: float = strawberry.field(
        description="PageRank over citations between articles: 0.15 for an article that nobody cites, more the more it is cited."
    )

    @strawberry.field(description="Its other wordings, earlier and later, by their first days.")
    async def wordings(self, info: Info) -> list[Wording]:
        """Its other wordings, earlier and later, by their first days."""
        return [_wording(row) for row in await info.context.wordings.load(self.id)]

    @strawberry.field(description="The same as `wordings`.", deprecation_reason="Use `wordings`.")
    async def versions(self, info: Info) -> list[Wording]:
        """The same as `wordings`."""
        return [_wording(row) for row in await info.context.wordings.load(self.id)]

    @strawberry.field(description="The wording in force on a day; null where none was.")
    async def wording(
        self, info: Info, on: Annotated[date, strawberry.argument(description="The day, as ISO 8601: `2020-01-31`.")]
    ) -> Wording | None:
        """The wording in force on a day."""
        own = Wording(
            id=self.id,
            status=self.status,
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            text=self.text,
            source_id=self.source_id,
        )
        wordings = [own, *(_wording(row) for row in await info.context.wordings.load(self.id))]
        return next((w for w in wordings if (w.valid_from or date.min) <= on < (w.valid_to or date.max)), None)

    @strawberry.field(description="The article after this in reading order; null at the end of the act.")
    async def next(self, info: Info) -> "Article | None":
        """The article after this in reading order."""
        row = await info.context.following.load(self.id)
        return await _article(info.context, row)

    @strawberry.field(description="The article before this in reading order; null at the beginning of the act.")
    async def previous(self, info: Info) -> "Article | None":
        """The article before this in reading order."""
        row = await info.context.preceding.load(self.id)
        return await _article(info.context, row)

    @strawberry.field(description="What this article cites and the graph holds, in the order of its text.")
    async def cites(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitesConnection:
        """What this article cites and the graph holds, in the order of its text."""
        reading = info.context
        window = Window.of(["cites", self.id], first, after, reading.settings.max_page)
        rows = [row for row in await reading.cites.load(self.id) if reading.knows(row["other"])]
        page = window.page_of_all(rows)
        targets = await _found(reading, [row["other"] for _, row in page.items])
        edges = [
            CitesEdge(cursor=cursor, node=node, text=row["text"], start=row["start"], end=row["end"], kind=row["kind"])
            for (cursor, row), node in zip(page.items, targets, strict=True)
            if node is not None
        ]
        return CitesConnection(edges=edges, page_info=page.info, total_count=len(rows))

    @strawberry.field(description="Articles that cite this one.")
    async def cited_by(self, info: Info, first: First = DEFAULT_PAGE, after: After = None) -> CitedByConnection:
        """Articles that cite this one."""
        return await _cited_by(info.context, self.id, first, after)


def act_of(row: Row | None) -> Act:
    """The act of a row of the graph."""
    row = _there(row)
    return Act(
        id=row["id"],
        title=row["title"],
        kind=row["kind"],
        jurisdiction=row["jurisdiction"],
        language=row["language"],
        status=row["status"] or None,
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        eli=row["eli"] or None,
        celex=row["celex"] or None,
        source_id=row["source_id"] or None,
        licence=row["licence"] or None,
        short_title=row["short_title"] or None,
        published=row["published"],
        updated=row["updated"],
        subjects=row["subjects"] or [],
        preamble=row["preamble"] or None,
    )


def section_of(row: Row | None) -> Section:
    """The section of a row of the graph."""
    row = _there(row)
    return Section(**_provision(row), level=row["level"], text=row["text"] or None)


def article_of(row: Row | None) -> Article:
    """The article of a row of the graph."""
    row = _there(row)
    # A graph that came about before authority was stored has none until its law is loaded again.
    return Article(**_provision(row), text=row["text"], language=row["language"], authority=row["authority"] or UNCITED)


_MADE_OF = {"Act": act_of, "Section": section_of, "Article": article_of}


async def node_of(reading: Reading, id: str) -> Node | None:
    """What an identifier names, or None."""
    return (await _found(reading, [id]))[0]


def _provision(row: Row) -> Row:
    """The properties that sections and articles share."""
    return {
        "id": row["id"],
        "number": row["number"],
        "heading": row["heading"] or None,
        "status": row["status"] or None,
        "valid_from": row["valid_from"],
        "valid_to": row["valid_to"],
        "source_id": row["source_id"] or None,
        "act_id": row["act_id"],
        "parent_id": row["parent_id"],
    }


def _there(row: Row | None) -> Row:
    if row is None:
        raise _gone()
    return row


def _gone() -> NotReady:
    """A server's graph is one for all: what this release knows may have gone from it."""
    return NotReady("the graph no longer holds this: newer law is being loaded; ask again in a moment")


async def _found(reading: Reading, ids: list[str]) -> list[Node | None]:
    """What identifiers name; None for what a server's graph lost, or gained, since this release was opened."""
    # All are asked for before the first is awaited, so that they share a batch.
    loads = [reading.load(id) for id in ids]
    rows = [None if load is None else (_MADE_OF[load[0]], await load[1]) for load in loads]
    return [None if row is None or row[1] is None else row[0](row[1]) for row in rows]


async def _nodes(reading: Reading, ids: list[str]) -> list[Node]:
    return [node for node in await _found(reading, ids) if node is not None]


async def _article(reading: Reading, edge: Row | None) -> Article | None:
    """The article at the other end of an edge, if there is an edge, and the article is of this release."""
    found = None if edge is None else await node_of(reading, edge["other"])
    return found if isinstance(found, Article) else None


async def _provisions(reading: Reading, ids: list[str]) -> list[Provision]:
    return [node for node in await _nodes(reading, ids) if isinstance(node, Provision)]


async def _relations(reading: Reading, rows: list[Row], types: list[RelationType] | None) -> list[Relation]:
    wanted = [row for row in rows if (types is None or RelationType(row["type"]) in types) and reading.knows(row["other"])]
    acts = await _found(reading, [row["other"] for row in wanted])
    return [
        Relation(
            type=RelationType(row["type"]),
            act=act,
            basis=row["basis"],
            evidence=row["evidence"],
            confidence=row["confidence"],
        )
        for row, act in zip(wanted, acts, strict=True)
        if isinstance(act, Act)
    ]


def _wording(row: Row) -> Wording:
    return Wording(
        id=row["id"],
        status=row["status"] or None,
        valid_from=row["valid_from"],
        valid_to=row["valid_to"],
        text=row["text"] or None,
        source_id=row["source_id"] or None,
    )


async def _contents(reading: Reading, id: str, first: int, after: str | None) -> ContentsConnection:
    window = Window.of(["contents", id], first, after, reading.settings.max_page)
    rows = [row for row in await reading.contents.load(id) if reading.knows(row["id"])]
    page = window.page_of_all(rows)
    nodes = await _found(reading, [row["id"] for _, row in page.items])
    edges = [
        ContentsEdge(cursor=cursor, node=node)
        for (cursor, _), node in zip(page.items, nodes, strict=True)
        if isinstance(node, Provision)
    ]
    return ContentsConnection(edges=edges, page_info=page.info, total_count=len(rows))


async def _cited_by(reading: Reading, id: str, first: int, after: str | None) -> CitedByConnection:
    window = Window.of(["citedBy", id], first, after, reading.settings.max_page)
    place = reading.snapshot.corpus.article_position
    known = [row for row in await reading.cited_by.load(id) if row["other"] in place]
    rows = sorted(known, key=lambda row: (place[row["other"]], row["start"]))
    page = window.page_of_all(rows)
    articles = await _found(reading, [row["other"] for _, row in page.items])
    edges = [
        CitedByEdge(cursor=cursor, node=article, text=row["text"], start=row["start"], end=row["end"], kind=row["kind"])
        for (cursor, row), article in zip(page.items, articles, strict=True)
        if isinstance(article, Article)
    ]
    return CitedByConnection(edges=edges, page_info=page.info, total_count=len(rows))
