"""Acts in the portions of one transaction each, and several transactions under way at once where the engine can.

A server's transaction costs more per row the larger it is, and one transaction keeps one of its cores at work. So a large
act that the graph lacks goes in portions: the act and its sections first, then its articles, side by side. Each portion
leaves a graph that `ingest.loading.difference` can go on from: no article without its parent, no wording without its article.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import pairwise
from typing import TypeVar

from cypher.graph import Row
from ingest.loading.difference import Difference, StoredActs, difference
from ingest.loading.spool import ReadAct
from schema.records import ActTree, Article, Wording

CHUNK_ARTICLES = 2000
"""Articles that are written in one transaction, or one act where the graph knows it and it has more."""
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Chunk:
    """Acts that are dealt with together: all of them new, or all of them ``stored`` in the graph already."""

    acts: list[ReadAct]
    stored: bool

    @property
    def stored_ids(self) -> list[str]:
        """Identifiers of those that the graph has."""
        return [act.id for act in self.acts] if self.stored else []

    def trees(self) -> list[ActTree]:
        """The acts themselves."""
        return [act.tree() for act in self.acts]


@dataclass(frozen=True, slots=True)
class Portion:
    """The part of a chunk that one transaction writes.

    Attributes:
        trees: the acts that it begins: none but in a chunk's first portion.
        changes: what it writes; None where they depend on what the graph knows of its acts.
        begun: done once the chunk's first portion is written, which the others stand on.
    """

    chunk: Chunk
    trees: Sequence[ActTree]
    changes: Difference | None
    begun: Future[None] = field(default_factory=Future[None])


def chunks(acts: Iterable[ReadAct], stored: Container[str]) -> Iterator[Chunk]:
    """Yield acts, whole, with about as many articles together."""
    held: dict[bool, list[ReadAct]] = {False: [], True: []}
    articles = {False: 0, True: 0}
    for act in acts:
        kind = act.id in stored
        held[kind].append(act)
        articles[kind] += len(act.articles) + 1
        if articles[kind] >= CHUNK_ARTICLES:
            yield Chunk(held[kind], kind)
            held[kind], articles[kind] = [], 0
    for kind, rest in held.items():
        if rest:
            yield Chunk(rest, kind)


def portions(chunk: Chunk) -> Iterator[Portion]:
    """Yield the portions of a chunk: acts that the graph knows change in one."""
    trees = chunk.trees()
    if chunk.stored:
        yield Portion(chunk, trees, changes=None)
        return
    now = datetime.now(UTC)
    large = [tree for tree in trees if _is_large(tree)]
    begun = [replace(tree, articles=(), wordings=()) if _is_large(tree) else tree for tree in trees]
    first = Portion(chunk, trees, changes=difference(StoredActs(), begun, now))
    yield first
    for tree in large:
        for changes in _of_articles(tree, now):
            yield Portion(chunk, (), changes, first.begun)


def _is_large(tree: ActTree) -> bool:
    return len(tree.articles) > CHUNK_ARTICLES


def _of_articles(tree: ActTree, now: datetime) -> Iterator[Difference]:
    """Yield the articles of an act whose sections are written, in portions."""
    written = StoredActs(acts={tree.act.id: tree.act})
    wordings: dict[str, list[Wording]] = defaultdict(list)
    for wording in tree.wordings:
        wordings[wording.article_id].append(wording)
    for start in range(0, len(tree.articles), CHUNK_ARTICLES):
        articles: tuple[Article, ...] = tree.articles[start : start + CHUNK_ARTICLES]
        kept = tuple(wording for article in articles for wording in wordings.get(article.id, ()))
        yield difference(written, [replace(tree, sections=(), articles=articles, wordings=kept)], now)


def joints(acts: Iterable[ReadAct]) -> list[Row]:
    """Return the edges of reading order from one portion of a new act to the next: rows of ``create_next``."""
    rows: list[Row] = []
    for act in acts:
        portion = {id: n // CHUNK_ARTICLES for n, id in enumerate(act.articles)}
        present = [id for id in act.articles if id not in act.absent]
        rows += ({"article": a, "following": b} for a, b in pairwise(present) if portion[a] != portion[b])
    return rows


def each_written(items: Iterable[_Item], write: Callable[[_Item], _Result], writers: int = 1) -> Iterator[tuple[_Item, _Result]]:
    """Yield items with what writing them gave, in their order: while some are written, outside of Python, the next are made.

    Args:
        writers: how many are written at once. Where one fails, what was not begun is not written.
    """
    ahead = 1 if writers == 1 else 3 * writers  # for one writer the next is made in time
    with ThreadPoolExecutor(writers) as pool:
        under_way: deque[tuple[_Item, Future[_Result]]] = deque()
        try:
            for item in items:
                while len(under_way) >= ahead or (under_way and under_way[0][1].done()):
                    written, future = under_way.popleft()
                    yield written, future.result()
                under_way.append((item, pool.submit(write, item)))
            while under_way:
                written, future = under_way.popleft()
                yield written, future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
