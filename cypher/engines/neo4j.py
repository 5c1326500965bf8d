"""The graph on a Neo4j server: named statements in managed transactions, under locks that other processes see."""

import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from neo4j import ManagedTransaction
from neo4j.exceptions import DriverError, Neo4jError

from cypher.engines.neo4j_connection import CONNECT_S, Connection, as_rows, connect, fetch, run
from cypher.engines.neo4j_errors import Server, plain_errors
from cypher.engines.neo4j_lease import FENCES, Lease
from cypher.engines.neo4j_vectors import VectorStore
from cypher.graph import CheckLock, Row, Statements, Table
from cypher.migrations import MIGRATIONS, constraints, filled_properties
from cypher.statements import statements
from runtime.circuit_breaker import Breaker
from schema.errors import BadQuery, GraphTooNew, LexgraphError, NotReady
from schema.labels import SCHEMA_VERSION

if TYPE_CHECKING:
    from cypher.engines.neo4j_gds import Gds

OLDEST = (5, 26)
"""The oldest server that is supported."""
FILTERS_IN_INDEX = (2026, 1)
"""The first server whose vector indexes filter by properties."""
_BOOKMARKS = "graph.bookmarks.json"
_Result = TypeVar("_Result")


class _Transaction:
    """The statements of one transaction."""

    def __init__(self, transaction: ManagedTransaction, bodies: dict[str, str]) -> None:
        self._transaction = transaction
        self._bodies = bodies

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Return the rows of a named statement."""
        return as_rows(fetch(self._transaction, self._bodies[statement], parameters))

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        run(self._transaction, self._bodies[statement], parameters)


class _OfTheWork(Exception):
    """An error in a caller's own work, on its way out of the driver."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Neo4jGraph:
    """A graph on a server, over a connection that it closes in the end.

    Args:
        leases: locks without which nothing that `atomically` writes is committed.
    """

    engine: ClassVar[str] = "neo4j"
    writers: ClassVar[int] = FENCES
    frozen: ClassVar[bool] = False

    def __init__(self, connection: Connection, leases: Sequence[Lease] = ()) -> None:
        self.connection = connection
        self.changed = False
        self._leases = leases
        self._fences: SimpleQueue[int] = SimpleQueue()
        for fence in range(FENCES):
            self._fences.put(fence)
        self._statements = statements(self.engine)

    def described(self) -> str:
        """Return the server's version and edition, and those of Graph Data Science where it answers."""
        server = self.rows("server_components")
        kernel = next((row for row in server if row["name"] == "Neo4j Kernel"), server[0])
        try:
            plugin = f"Graph Data Science {self.rows('gds_version')[0]['version']}"
        except BadQuery:
            plugin = "no Graph Data Science"
        return f"Neo4j {kernel['versions'][0]} {kernel['edition']}, {plugin}"

    @property
    def vectors(self) -> VectorStore:
        """The vector indexes of the server."""
        connection = self.connection
        return VectorStore(connection.rows, self._update, connection.ask, filters_in_index=connection.version >= FILTERS_IN_INDEX)

    @property
    def gds(self) -> "Gds | None":
        """The Graph Data Science plugin over this graph's driver; None where it is not installed."""
        return self._plugin

    @cached_property
    def _plugin(self) -> "Gds | None":
        try:
            self.rows("gds_version")
        except BadQuery:
            return None
        try:  # a heavy client, of the extra `train`; what it computes is computed here as well
            from graphdatascience import GraphDataScience

            from cypher.engines.neo4j_gds import Gds
        except ModuleNotFoundError:
            return None

        server = self.connection.server
        with plain_errors(server):
            client = GraphDataScience(self.connection.driver, database=server.database)
            client.set_show_progress(False)
            return Gds(client, partial(plain_errors, server))

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Return the rows of a named statement, as dictionaries."""
        return self.connection.rows(self._statements[statement], parameters)

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        self.atomically(lambda transaction: transaction.write(statement, **parameters))

    def atomically(self, work: Callable[[Statements], _Result]) -> _Result:
        """Run ``work`` in one managed transaction; it is run again when the server loses it on the way.

        Raises:
            GraphBusy: a lock that this writer holds went to another process; nothing of the transaction was committed.
        """
        self.changed = True

        def fenced(managed: ManagedTransaction) -> _Result:
            transaction = _Transaction(managed, self._statements)
            try:
                result = work(transaction)
            except (Neo4jError, DriverError, LexgraphError):
                raise
            except Exception as error:  # no error of the server, though it passes through its driver
                raise _OfTheWork(error) from error
            for lease in self._leases:  # last: whoever takes them from here on waits for the commit
                lease.hold(transaction, fence)
            return result

        fence = self._fences.get()
        try:
            return self.connection.transact(fenced)
        except _OfTheWork as carried:
            raise carried.error from carried.error.__cause__
        finally:
            self._fences.put(fence)

    def query(self, cypher: str, parameters: Row, max_rows: int) -> Table:
        """Run a free query, which the server refuses to let write; at most ``max_rows`` rows.

        Raises:
            BadQuery: the statement does not parse, names what is not there, or writes.
            QueryTimeout: it ran past the time limit.
        """
        columns, rows = self.connection.table(cypher, parameters, max_rows + 1)
        return Table(columns, rows[:max_rows], truncated=len(rows) > max_rows)

    def check_version(self, *, older_too: bool = False, empty_too: bool = False) -> int:
        """Return the version of the schema on the server, 0 where there is no graph yet.

        Raises:
            GraphTooNew: a newer version of Lexgraph wrote it.
            NotReady: there is no graph, or one of an older schema, or the server is too old.
        """
        address, version = self.connection.server.address, self.connection.version
        if version < OLDEST:
            raise NotReady(
                f"{address}: Neo4j {'.'.join(map(str, version))} is too old; {OLDEST[0]}.{OLDEST[1]} or later is needed"
            )
        stored = self.rows("graph_row")
        schema = stored[0]["schema_version"] if stored else 0
        if schema > SCHEMA_VERSION:
            raise GraphTooNew(
                f"{address}: written by a newer Lexgraph (schema {schema}, this one knows {SCHEMA_VERSION}): "
                "update Lexgraph, or point LEXGRAPH_GRAPH at another server"
            )
        if schema == 0 and not empty_too:
            if stored:  # `cypher.export.neo4j_admin` leaves the version at 0
                raise NotReady(f"{address}: an imported graph without its constraints: run `lexgraph migrate`")
            raise NotReady(f"no graph on {address}: run `lexgraph ingest` first")
        if 0 < schema < SCHEMA_VERSION and not older_too:
            raise NotReady(
                f"{address}: written by an older Lexgraph (schema {schema}, this one needs {SCHEMA_VERSION}): "
                "run `lexgraph migrate`"
            )
        return schema

    def migrate(self, version: int) -> None:
        """Bring constraints, indexes and properties from a version of the schema to this program's, and note it.

        An imported graph counts as one of version 0 that holds law already.
        """
        empty = not self.rows("graph_row")
        newer = [] if empty else [migration for migration in MIGRATIONS if migration.version > version]
        steps = [statement for migration in newer for statement in migration.neo4j]
        # Constraints and indexes stand in a transaction of their own: none may hold data beside them.
        of_schema = [*(step for step in steps if step.startswith("DROP")), *constraints()]
        self.connection.transact(lambda transaction: [run(transaction, statement, {}) for statement in of_schema])
        if not empty:
            for statement in (step for step in steps if not step.startswith("DROP")):
                self._update(statement, {})
            for statement in filled_properties():
                while self._update(statement, {})[0]["filled"]:
                    continue
        self.rows("await_indexes")
        name = "create_graph_row" if empty else "set_schema_version"
        self.write(name, schema_version=SCHEMA_VERSION)

    def close(self) -> None:
        """Close every connection."""
        self.connection.close()

    def _update(self, cypher: str, parameters: Row) -> list[Row]:
        self.changed = True
        return self.connection.update(cypher, parameters)

    def __enter__(self) -> "Neo4jGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class _Held:
    """State that a store keeps from one call to the next."""

    breaker: Breaker = field(default_factory=Breaker)
    leases: list[Lease] = field(default_factory=list[Lease])
    watching: list[Neo4jGraph] = field(default_factory=list[Neo4jGraph])
    answered: threading.Event = field(default_factory=threading.Event)


@dataclass(frozen=True, slots=True)
class Neo4jStore:
    """The graph of a server; indexes, models and quarantine lie under ``home``."""

    home: Path
    server: Server
    _held: _Held = field(default_factory=_Held, repr=False, compare=False)

    def _open(self, timeout_s: float = 0, *, writer: bool = False) -> Neo4jGraph:
        # Only a cluster has members that may lag behind each other.
        bookmarks = self.home / _BOOKMARKS if self.server.address.startswith("neo4j") else None
        # A job that is half done waits for its server; one that begins may have the wrong address.
        driver = connect(self.server, patient=writer and self._held.answered.is_set())
        self._held.answered.set()
        connection = Connection(self.server, driver, timeout_s=timeout_s, bookmarks=bookmarks, breaker=self._held.breaker)
        return Neo4jGraph(connection, self._held.leases if writer else ())

    def reading(self, timeout_s: float = 0) -> Neo4jGraph:
        """Return the graph for reading; it closes its connections with the block."""
        graph = self._open(timeout_s)
        try:
            graph.check_version()
        except BaseException:
            graph.close()
            raise
        return graph

    @contextmanager
    def writing(self) -> Generator[Neo4jGraph]:
        """Open the graph for one writer at a time; an empty server gets its constraints first.

        What it writes is committed only while this store holds this lock, and those of `exclusive` around it.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        with self.exclusive("graph"), self._open(writer=True) as graph:
            if graph.check_version(empty_too=True) == 0:
                graph.migrate(0)
            yield graph

    @contextmanager
    def exclusive(self, work: str) -> Generator[CheckLock]:
        """Hold a lock in the graph, renewed while the block runs; that of a dead job expires.

        Raises:
            GraphBusy: another job holds it, or took it because this one could not renew it in time.
            NotReady, GraphTooNew: the server is too old, or its graph too new, to be touched.
        """
        with self._open(writer=True) as graph:
            graph.check_version(older_too=True, empty_too=True)
            lease = Lease(graph.connection, work)
            lease.take()
            self._held.leases.append(lease)
            try:
                yield lease.check
                lease.check()
            finally:
                self._held.leases.remove(lease)
                lease.give_back()

    def stamp(self) -> object | None:
        """Return fingerprints of the law and of the questions, the active model, and the law that its vectors are of."""
        watching = self._held.watching
        if not watching:  # kept: a look every few seconds is not worth a new connection each time
            watching.append(self._open(CONNECT_S))
        return graph_stamp(watching[0])

    def close(self) -> None:
        """Close the connection of `stamp`."""
        while self._held.watching:
            self._held.watching.pop().close()

    def migrate(self) -> tuple[int, int]:
        """Make constraints and indexes up to this program's schema."""
        with self.exclusive("graph"), self._open(writer=True) as graph:
            version = graph.check_version(older_too=True, empty_too=True)
            if version < SCHEMA_VERSION:
                graph.migrate(version)
            return version, SCHEMA_VERSION


def graph_stamp(graph: Neo4jGraph) -> object | None:
    """Return what tells one state of a server's law and active model from the next."""
    stamps = graph.rows("stamp")
    return tuple(stamps[0].values()) if stamps else None
