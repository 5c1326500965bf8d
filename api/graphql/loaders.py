"""Batches of what one request reads of the graph: a longer page does not cost more queries."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from datetime import date
from typing import TypeVar, cast

from strawberry.dataloader import DataLoader

from api.graphql.degraded import rows_without_graph
from api.graphql.limits import Budget
from api.snapshot import GRAPH, Snapshot
from cypher.graph import Row
from schema.errors import NotReady, QueryTimeout, ServerUnavailable
from schema.settings import Settings
from search.in_time.act_on_day import ActOnDay
from search.text.snippets import Snippet

_Value = TypeVar("_Value")
Grouped = Mapping[str, Sequence[Row]]


class GraphWaves:
    """Puts what a request asks of the graph at one time into one query a statement.

    Resolvers on the same level of a query ask in the same turn of the event loop, so that the number of statements depends
    on the depth of the query alone. Every request has a thread and an event loop of its own (`api.workers`): the graph is
    read there and then.
    """

    def __init__(self, snapshot: Snapshot, lost: set[str]) -> None:
        """Read one snapshot; ``lost`` takes the name of what did not answer."""
        self._snapshot = snapshot
        self._lost = lost
        self._asked: dict[tuple[str, str], tuple[dict[str, None], asyncio.Future[Grouped]]] = {}
        self._running: asyncio.Task[None] | None = None

    async def rows(self, statement: str, ids: Iterable[str], key: str = "id") -> Grouped:
        """Return the rows of a named statement over ``$ids``, grouped by the identifier in column ``key``."""
        asked = self._asked.get((statement, key))
        if asked is None:
            asked = self._asked[statement, key] = ({}, asyncio.get_running_loop().create_future())
        asked[0].update(dict.fromkeys(ids))
        if self._running is None:
            self._running = asyncio.create_task(self._run())
        # Shielded: several wait for the same answer, and one that is cancelled must not take it from the others.
        return await asyncio.shield(asked[1])

    async def _run(self) -> None:
        try:
            while self._asked:
                await asyncio.sleep(0)  # resolvers of one level ask in the same turn of the event loop
                wave, self._asked = self._asked, {}
                for (statement, key), (ids, future) in wave.items():
                    try:
                        future.set_result(self._answer(statement, key, list(ids)))
                    except Exception as error:
                        future.set_exception(error)
                        future.exception()  # seen, even where whoever asked has gone
        finally:
            self._running = None

    def _answer(self, statement: str, key: str, ids: list[str]) -> Grouped:
        remembered = self._snapshot.remembered
        found = {id: rows for id in ids if (rows := remembered.get(statement, id)) is not None}
        missing = [id for id in ids if id not in found]
        if not missing:
            return found
        try:
            read = _grouped(self._snapshot.graph.rows(statement, ids=missing), key)
            for id in missing:
                remembered.put(statement, id, read.get(id, ()))
        except (ServerUnavailable, QueryTimeout) as away:
            try:
                read = _grouped(rows_without_graph(self._snapshot.retriever.index, statement, missing), key)
            except (ServerUnavailable, QueryTimeout, NotReady) as also:
                raise ServerUnavailable(f"{away}; {also}") from None
            self._lost.add(GRAPH)
        return {**found, **read}


def _grouped(rows: Iterable[Row], key: str) -> Grouped:
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[key]].append(row)
    return grouped


class Reading:
    """The reading of one request: one snapshot from beginning to end, through loaders that batch and remember.

    Attributes:
        lost: Names of what did not answer ("graph", "text", "vectors"); the answer is made without it.
        budget: Values that the answer may still hold.
        acts_on_days: Acts as they stood on days, by act and day, that were read.
        refused: Whether the query could not be begun.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings, budget: Budget) -> None:
        self.snapshot = snapshot
        self.settings = settings
        self.budget = budget
        self.refused = False
        self.lost: set[str] = set()
        self.acts_on_days: dict[tuple[str, date], ActOnDay] = {}
        waves = GraphWaves(snapshot, self.lost)

        def every(statement: str, key: str = "id") -> DataLoader[str, Sequence[Row]]:
            async def load(ids: list[str]) -> list[Sequence[Row]]:
                grouped = await waves.rows(statement, ids, key)
                return [grouped.get(id, ()) for id in ids]

            return DataLoader(load)

        def single(statement: str) -> DataLoader[str, Row | None]:
            async def load(ids: list[str]) -> list[Row | None]:
                grouped = await waves.rows(statement, ids)
                return [{**grouped[id][0], "parent_id": snapshot.corpus.parent(id)} if grouped.get(id) else None for id in ids]

            return DataLoader(load)

        self.acts = single("acts_by_id")
        self.sections = single("sections_by_id")
        self.articles = single("articles_by_id")
        self.contents = every("contents", "parent_id")
        self.cites = every("cites")
        self.cites_outside = every("outside_citations_from", "article")
        self.cited_by = every("cited_by")
        self.wordings = every("wordings", "article_id")
        self.revisions = every("revisions", "article_id")
        self.renumberings = every("renumberings")
        self.renumberings_into = every("renumberings_into")
        self.relations = every("relations_of_acts", "act")
        self.related_by = every("relations_into")

    def at_hand(self, statement: str, id: str) -> Row | None:
        """Return the one row of an identifier where it need not be waited for; None where it must be loaded."""
        rows = self.snapshot.remembered.get(statement, id)
        return {**rows[0], "parent_id": self.snapshot.corpus.parent(id)} if rows else None

    async def articles_of(self, ids: list[str]) -> list[Row | None]:
        """Return the rows of articles; None for those that a server's graph has lost."""
        rows = [self.at_hand("articles_by_id", id) for id in ids]
        return await self.articles.load_many(ids) if None in rows else rows

    def highlights(self, query: str) -> DataLoader[str, Snippet | None] | None:
        """Return a loader of passages as the text index marked them; None where it leaves that to others."""
        if not self.snapshot.retriever.index.lexical.marks:
            return None

        async def load(ids: list[str]) -> list[Snippet | None]:
            passages = self.snapshot.retriever.highlights(query, ids)
            return [passages.get(id) for id in ids]

        return DataLoader(load)

    def load(self, id: str) -> tuple[str, Awaitable[Row | None]] | None:
        """Return the label of what an identifier names, and its row to wait for; None where it names nothing."""
        corpus = self.snapshot.corpus
        if id in corpus.article_position:
            return "Article", self.articles.load(id)
        if id in corpus.section_position:
            return "Section", self.sections.load(id)
        if id in corpus.act_position:
            return "Act", self.acts.load(id)
        return None

    def knows(self, id: str) -> bool:
        """Return whether an identifier is of this release: a server's graph may hold newer law already."""
        corpus = self.snapshot.corpus
        return id in corpus.article_position or id in corpus.section_position or id in corpus.act_position

    def path(self, parent_id: str) -> list[str]:
        """Return the identifiers from the act down to ``parent_id``, a section or an act, itself included."""
        corpus = self.snapshot.corpus
        position = corpus.section_position.get(parent_id)
        return [parent_id] if position is None else corpus.path_ids(position)


def awaited(value: Awaitable[_Value]) -> _Value:
    """Return what is still to come in the place of what it will be: GraphQL waits for it.

    A resolver that gives at once what is at hand, and only else something to wait for, spares a task: twenty of them on a page
    of ten hits are a quarter of what GraphQL costs.
    """
    return cast(_Value, value)


def gone() -> NotReady:
    """Return the error for what this release knows and the graph does not: a server's graph is one for all."""
    return NotReady("the graph no longer holds this: newer law is being loaded; ask again in a moment")
