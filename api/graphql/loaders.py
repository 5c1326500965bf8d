"""Batches of what one request reads of the graph: a longer page does not cost more queries."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TypeVar

from strawberry.dataloader import DataLoader

from api.graphql.degraded import rows_without_graph
from api.snapshot import GRAPH, Snapshot
from cypher.graph import Row
from schema.errors import NotReady, QueryTimeout, ServerUnavailable
from schema.settings import Settings
from search.text.snippets import Snippet

Result = TypeVar("Result")
Grouped = Mapping[str, list[Row]]
_SETTLED_AFTER = 4
"""Turns of the event loop without a new question after which a wave is taken to be complete."""


class GraphWaves:
    """Puts what a request asks of the graph at one time into one query a statement.

    Resolvers on the same level of a query ask within a few turns of the event loop. While one wave of queries
    runs, further questions gather for the next, so that their number depends on the depth of the query alone. Loaders
    without waves are as fast (27 ms for a page with all its neighbours, 15 ms for the contents of an act), but send the
    statements of the next level as the threads of the last one happen to end: in 74 of 100 runs a page of eight hits and
    one of two cost different numbers of statements.
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
                await self._settle()
                wave, self._asked = self._asked, {}
                questions = [(statement, key, list(ids)) for (statement, key), (ids, _) in wave.items()]
                try:
                    answers = await asyncio.to_thread(self._answer, questions)
                except RuntimeError as error:  # no thread can be started
                    answers = [error] * len(questions)
                for (_, future), answer in zip(wave.values(), answers, strict=True):
                    if isinstance(answer, Exception):
                        future.set_exception(answer)
                        future.exception()  # seen, even where whoever asked has gone
                    else:
                        future.set_result(answer)
        finally:
            self._running = None

    async def _settle(self) -> None:
        quiet, size = 0, -1
        while quiet < _SETTLED_AFTER:
            await asyncio.sleep(0)
            now = sum(len(ids) for ids, _ in self._asked.values())
            quiet, size = (quiet + 1, size) if now == size else (0, now)

    def _answer(self, questions: list[tuple[str, str, list[str]]]) -> list[Grouped | Exception]:
        answers: list[Grouped | Exception] = []
        for statement, key, ids in questions:
            try:
                grouped: dict[str, list[Row]] = defaultdict(list)
                with self._snapshot.held() as snapshot:  # the thread outlives a request that is cancelled
                    for row in self._rows(snapshot, statement, ids):
                        grouped[row[key]].append(row)
                answers.append(grouped)
            except Exception as error:
                answers.append(error)
        return answers

    def _rows(self, snapshot: Snapshot, statement: str, ids: list[str]) -> list[Row]:
        try:
            return snapshot.graph.rows(statement, ids=ids)
        except (ServerUnavailable, QueryTimeout) as away:
            try:
                rows = rows_without_graph(snapshot.retriever.index, statement, ids)
            except (ServerUnavailable, QueryTimeout, NotReady) as also:
                raise ServerUnavailable(f"{away}; {also}") from None
            self._lost.add(GRAPH)
            return rows


class Reading:
    """The reading of one request: one snapshot from beginning to end, through loaders that batch and remember.

    Attributes:
        lost: Names of what did not answer ("graph", "text", "vectors"); the answer is made without it.
    """

    def __init__(self, snapshot: Snapshot, settings: Settings) -> None:
        self.snapshot = snapshot
        self.settings = settings
        self.lost: set[str] = set()
        waves = GraphWaves(snapshot, self.lost)

        def every(statement: str, key: str = "id") -> DataLoader[str, list[Row]]:
            async def load(ids: list[str]) -> list[list[Row]]:
                grouped = await waves.rows(statement, ids, key)
                return [grouped.get(id, []) for id in ids]

            return DataLoader(load)

        def single(statement: str) -> DataLoader[str, Row | None]:
            async def load(ids: list[str]) -> list[Row | None]:
                grouped = await waves.rows(statement, ids)
                return [next(iter(grouped.get(id, ())), None) for id in ids]

            return DataLoader(load)

        self.acts = single("acts_by_id")
        self.sections = single("sections_by_id")
        self.articles = single("articles_by_id")
        self.following = single("next_articles")
        self.preceding = single("previous_articles")
        self.contents = every("contents", "parent_id")
        self.cites = every("cites")
        self.cited_by = every("cited_by")
        self.wordings = every("wordings", "article_id")
        self.relations = every("relations_of_acts", "act")
        self.related_by = every("relations_into")

    def highlights(self, query: str) -> DataLoader[str, Snippet | None]:
        """Return a loader of passages as the text index marked them; None where it leaves that to others."""

        async def load(ids: list[str]) -> list[Snippet | None]:
            passages = await self.in_thread(lambda snapshot: snapshot.retriever.highlights(query, ids))
            return [passages.get(id) for id in ids]

        return DataLoader(load)

    async def in_thread(self, work: Callable[[Snapshot], Result]) -> Result:
        """Do work on the snapshot in a worker thread, where it does not hold up other requests."""

        def held() -> Result:
            with self.snapshot.held() as snapshot:
                return work(snapshot)

        return await asyncio.to_thread(held)

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
