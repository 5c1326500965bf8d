"""The graph as the rest of Lexgraph sees it: named statements in, rows out, whatever engine runs them."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar

if TYPE_CHECKING:
    from cypher.engines.neo4j_gds import Gds
    from cypher.engines.neo4j_vectors import VectorStore

Row = dict[str, Any]
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Table:
    """The answer to a free query: column names, rows, and whether rows were left out."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool


class Statements(Protocol):
    """A runner of named statements: a graph, or one transaction on it."""

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Return the rows of a named statement."""
        ...

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        ...


class Graph(Statements, Protocol):
    """A connection to a graph. Safe to share between threads."""

    engine: ClassVar[str]
    """Whose bodies of the statements it runs: ladybug or neo4j."""
    writers: ClassVar[int]
    """How many transactions that write may be under way at once."""
    frozen: ClassVar[bool]
    """True where a reader keeps the release that it opened; a server's graph is one for all, and may change or be away."""

    def described(self) -> str:
        """Return name and version of what keeps the graph."""
        ...

    @property
    def vectors(self) -> "VectorStore | None":
        """The vector indexes beside the graph; None where the engine has none and embeddings are read from files."""
        ...

    @property
    def gds(self) -> "Gds | None":
        """The plugin that computes on the graph where it lies; None where none answers."""
        ...

    def atomically(self, work: Callable[[Statements], _Result]) -> _Result:
        """Run ``work`` in one transaction: all or nothing.

        A server may lose a transaction and have it run again, so ``work`` has no effect but through its statements.
        """
        ...

    def query(self, cypher: str, parameters: Row, max_rows: int) -> Table:
        """Run a free query, for people who explore; user text belongs in ``parameters``."""
        ...

    def close(self) -> None:
        """Give back what the connection holds."""
        ...


CheckLock = Callable[[], object]
"""Raises GraphBusy once the lock has gone to another process."""


class ReadableGraph(Graph, Protocol):
    """A graph that is closed at the end of a block."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class Store(Protocol):
    """The place of a graph, which says who may read and write it."""

    @property
    def home(self) -> Path:
        """The folder of what lies beside the graph: indexes, models, sources, quarantine."""
        ...

    def reading(self, timeout_s: float = 0) -> ReadableGraph:
        """The graph, for reading, each query with a time limit in seconds (0: none).

        Raises:
            NotReady: there is no graph yet.
            GraphTooNew: a newer version of Lexgraph wrote it.
            ServerUnavailable: its server does not answer.
        """
        ...

    def writing(self) -> AbstractContextManager[Graph]:
        """The graph, for one writer at a time; an empty place gets the tables or constraints first.

        Raises:
            GraphBusy: another process is writing.
            StorageFull: the disk is full.
            GraphTooNew: a newer version of Lexgraph wrote it.
        """
        ...

    def exclusive(self, work: str) -> AbstractContextManager[CheckLock]:
        """One process at a time does a kind of work; a dead one holds nothing for long.

        What it gives is called, within the block, before something is done that only the holder may do.

        Raises:
            GraphBusy: another process is running it.
        """
        ...

    def stamp(self) -> object | None:
        """Return what tells one state of the law and of the active model from the next; None without a graph.

        Raises:
            ServerUnavailable, QueryTimeout: its server does not answer.
        """
        ...

    def close(self) -> None:
        """Give back what `stamp` keeps open from one look to the next."""
        ...

    def migrate(self) -> tuple[int, int]:
        """Bring the graph to this program's schema: the version found (0: no graph) and the version now.

        Raises:
            GraphTooNew: a newer version of Lexgraph wrote it.
        """
        ...
