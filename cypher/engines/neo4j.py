"""The graph on a Neo4j server: managed transactions with retries, time limits, and errors that say what to do."""

import json
import logging
import os
import re
import secrets
import socket
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ClassVar, LiteralString, TypeVar, cast

import neo4j
from neo4j import Driver, GraphDatabase, ManagedTransaction, Query
from neo4j.exceptions import (
    AuthError,
    ConfigurationError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from neo4j.time import Date, DateTime

from cypher.address import bolt_address
from cypher.engines.neo4j_vectors import VectorStore
from cypher.graph import CheckLock, Row, Statements, Table
from cypher.migrations import MIGRATIONS, constraints, filled_properties
from cypher.statements import statements
from runtime.background_call import Aside
from runtime.circuit_breaker import Breaker
from schema.errors import (
    BadQuery,
    BadSetting,
    GraphBusy,
    GraphTooNew,
    LexgraphError,
    NotReady,
    QueryTimeout,
    ServerUnavailable,
    StorageFull,
)
from schema.labels import SCHEMA_VERSION

if TYPE_CHECKING:
    from cypher.engines.neo4j_gds import Gds

OLDEST = (5, 26)
"""The oldest server that is supported."""
FILTERS_IN_INDEX = (2026, 1)
"""The first server whose vector indexes filter by properties."""
CONNECT_S = 5.0
GRACE_S = 3.0
"""How much longer than its limit a query may take until its server counts as silent: it looks for such every two seconds."""
RETRY_S = 30.0
"""How long a writer's transaction is tried again while its server is away, in seconds."""
WRITERS = 2
"""Transactions of one load at once: each keeps a core of the server busy, and more of them meet at the same nodes."""
LEASE_S = 60.0
"""How long the lock of a job that no longer renews it holds, in seconds."""
_BOOKMARKS = "graph.bookmarks.json"
_Result = TypeVar("_Result")
_Rows = tuple[tuple[str, ...], list[tuple[Any, ...]]]

# What the driver has to say about a server that is away reaches the user once, as an error of Lexgraph's own.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a Neo4j server is and who asks."""

    address: str
    user: str
    password: str = field(repr=False)
    database: str = "neo4j"


def connect(server: Server, *, patient: bool = False) -> Driver:
    """A driver that has been heard.

    Args:
        patient: whether a server that is away is waited for (`RETRY_S`), as a job that is half done does.

    Raises:
        ServerUnavailable: nothing answers at the address.
        BadSetting: the address is none, or user and password are refused.
        NotReady: the server is older than is supported.
    """
    bolt_address(server.address)
    with _plain_errors(server):
        driver = GraphDatabase.driver(
            server.address,
            auth=(server.user, server.password),
            connection_timeout=CONNECT_S,
            connection_acquisition_timeout=CONNECT_S + 1,
            max_transaction_retry_time=RETRY_S,
            liveness_check_timeout=5.0,
            notifications_min_severity="OFF",
            user_agent="lexgraph",
        )
    try:
        with _plain_errors(server):
            if patient:
                driver.execute_query("RETURN 1", database_=server.database, routing_=neo4j.RoutingControl.READ)
            else:
                with driver.session(database=server.database, default_access_mode=neo4j.READ_ACCESS) as session:
                    session.run("RETURN 1").consume()
    except BaseException:
        driver.close()
        raise
    return driver


class _Transaction:
    """The statements of one transaction."""

    def __init__(self, transaction: ManagedTransaction, bodies: dict[str, str]) -> None:
        self._transaction = transaction
        self._bodies = bodies

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of a named statement."""
        keys, values = _fetch(self._transaction, self._bodies[statement], parameters)
        return [dict(zip(keys, row, strict=True)) for row in values]

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        with _parameters_fit():
            self._transaction.run(cast(LiteralString, self._bodies[statement]), _unprinted(parameters)).consume()


class _OfTheWork(Exception):
    """What went wrong in a caller's own work, on its way out of the driver."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Neo4jGraph:
    """A graph on a server. Threads share the driver; each call has a session of its own."""

    engine: ClassVar[str] = "neo4j"
    writers: ClassVar[int] = WRITERS

    def __init__(
        self,
        server: Server,
        driver: Driver,
        *,
        timeout_s: float = 0,
        bookmarks: Path | None = None,
        breaker: Breaker | None = None,
        leases: "Sequence[_Lease]" = (),
    ) -> None:
        """A graph over a driver that it closes in the end.

        Args:
            timeout_s: time limit of one query in seconds, kept on this side too where the server does not; 0: none.
            breaker: of reads with a time limit, so that those who wait for answers do not each find out that the
                server is away.
            leases: locks without which nothing that `atomically` writes is committed.
        """
        self._leases = leases
        self._fences: SimpleQueue[int] = SimpleQueue()
        for fence in range(WRITERS):
            self._fences.put(fence)
        self._breaker = breaker or Breaker()
        self.server = server
        self.changed = False
        self._driver = driver
        self._timeout_s = timeout_s
        self._statements = statements(self.engine)
        self._bookmarks = GraphDatabase.bookmark_manager(
            initial_bookmarks=neo4j.Bookmarks.from_raw_values(_read_bookmarks(bookmarks)),
            bookmarks_consumer=None if bookmarks is None else lambda seen: _write_bookmarks(bookmarks, seen),
        )

    @cached_property
    def version(self) -> tuple[int, int]:
        """Year and month, or major and minor number, of the server."""
        with _plain_errors(self.server):
            agent = self._driver.get_server_info().agent
        found = re.search(r"/(\d+)\.(\d+)", agent)
        return (int(found[1]), int(found[2])) if found else (0, 0)

    def described(self) -> str:
        """The server's version and edition, and those of Graph Data Science where it answers."""
        server = self.run("CALL dbms.components() YIELD name, versions, edition RETURN name, versions, edition", {})
        kernel = next((row for row in server if row["name"] == "Neo4j Kernel"), server[0])
        try:
            plugin = f"Graph Data Science {self.run('RETURN gds.version() AS version', {})[0]['version']}"
        except BadQuery:
            plugin = "no Graph Data Science"
        return f"Neo4j {kernel['versions'][0]} {kernel['edition']}, {plugin}"

    @property
    def vectors(self) -> VectorStore:
        """The vector indexes of the server."""
        return VectorStore(self.run, self.update, self.ask, filters_in_index=self.version >= FILTERS_IN_INDEX)

    @property
    def gds(self) -> "Gds | None":
        """The Graph Data Science plugin over this graph's driver; None where it is not installed."""
        return self._plugin

    @cached_property
    def _plugin(self) -> "Gds | None":
        try:
            self.run("RETURN gds.version() AS version", {})
        except BadQuery:
            return None
        try:  # a heavy client, of the extra `train`; what it computes is computed here as well
            from graphdatascience import GraphDataScience

            from cypher.engines.neo4j_gds import Gds
        except ModuleNotFoundError:
            return None

        with _plain_errors(self.server):
            client = GraphDataScience(self._driver, database=self.server.database)
            client.set_show_progress(False)
            return Gds(client, partial(_plain_errors, self.server))

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of a named statement, as dictionaries."""
        return self.run(self._statements[statement], parameters)

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        self.atomically(lambda transaction: transaction.write(statement, **parameters))

    def run(self, cypher: str, parameters: Row) -> list[Row]:
        """The rows of a statement that reads."""
        keys, values = self._read(cypher, parameters)
        return [dict(zip(keys, row, strict=True)) for row in values]

    def update(self, cypher: str, parameters: Row) -> list[Row]:
        """Run a statement that writes; indexes and constraints too, which no transaction may hold beside data."""
        self.changed = True
        with _plain_errors(self.server), self._session() as session:
            keys, values = session.execute_write(lambda transaction: _fetch(transaction, cypher, parameters))
        return [dict(zip(keys, row, strict=True)) for row in values]

    def update_once(self, cypher: str, parameters: Row) -> list[Row]:
        """As `update`, but a server that is away is not waited for."""
        with _plain_errors(self.server), self._session() as session:
            keys, values = _fetch(session, cypher, parameters)
        return [dict(zip(keys, row, strict=True)) for row in values]

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
            with _plain_errors(self.server), self._session() as session:
                return session.execute_write(fenced)
        except _OfTheWork as carried:
            raise carried.error from carried.error.__cause__
        finally:
            self._fences.put(fence)

    def query(self, cypher: str, parameters: Row, max_rows: int) -> Table:
        """A free query, which the server refuses to let write; at most ``max_rows`` rows.

        Raises:
            BadQuery: the statement does not parse, names what is not there, or writes.
            QueryTimeout: it ran past the time limit.
        """
        columns, rows = self._read(cypher, parameters, max_rows + 1)
        return Table(columns, rows[:max_rows], truncated=len(rows) > max_rows)

    def ask(self, cypher: str, parameters: Row) -> Callable[[], list[Row]]:
        """As `run`, but where there is a time limit the caller goes on while the server works.

        The rows, or whatever went wrong, come when the result is called.
        """
        if not self._timeout_s:
            return lambda: self.run(cypher, parameters)
        answer = self._limited(cypher, parameters, None)

        def rows() -> list[Row]:
            keys, values = answer()
            return [dict(zip(keys, row, strict=True)) for row in values]

        return rows

    def _read(self, cypher: str, parameters: Row, max_rows: int | None = None) -> _Rows:
        if self._timeout_s:
            return self._limited(cypher, parameters, max_rows)()
        with _plain_errors(self.server), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda transaction: _fetch(transaction, cypher, parameters, max_rows))

    def _limited(self, cypher: str, parameters: Row, max_rows: int | None) -> Callable[[], _Rows]:
        """Ask within the time limit, kept here too: a server that hangs does not end its own queries.

        A reader with a limit does not try again while the server is away. The answer raises QueryTimeout when it took
        `GRACE_S` longer than the limit, which the server should have kept.
        """

        def work() -> _Rows:
            with self._breaker.call(), _plain_errors(self.server), self._session(neo4j.READ_ACCESS) as session:
                return _fetch(session, cypher, parameters, max_rows, self._timeout_s)

        asked = Aside("query with a limit", work, self._timeout_s + GRACE_S)

        def answer() -> _Rows:
            try:
                return asked.result()
            except TimeoutError:
                error = QueryTimeout(f"{self.server.address}: no answer within the time limit (LEXGRAPH_QUERY_TIMEOUT_S)")
                self._breaker.note(error)
                raise error from None

        return answer

    def _session(self, access: str = neo4j.WRITE_ACCESS) -> neo4j.Session:
        return self._driver.session(
            database=self.server.database, default_access_mode=access, bookmark_manager=self._bookmarks, fetch_size=5000
        )

    def check_version(self, *, older_too: bool = False, empty_too: bool = False) -> int:
        """The version of the schema on the server, 0 where there is no graph yet.

        Raises:
            GraphTooNew: a newer version of Lexgraph wrote it.
            NotReady: there is no graph, or one of an older schema, or the server is too old.
        """
        if self.version < OLDEST:
            raise NotReady(
                f"{self.server.address}: Neo4j {'.'.join(map(str, self.version))} is too old; "
                f"{OLDEST[0]}.{OLDEST[1]} or later is needed"
            )
        found = self.rows("graph_row")
        version = found[0]["schema_version"] if found else 0
        if version > SCHEMA_VERSION:
            raise GraphTooNew(
                f"{self.server.address}: written by a newer Lexgraph (schema {version}, this one knows {SCHEMA_VERSION}): "
                "update Lexgraph, or point LEXGRAPH_GRAPH at another server"
            )
        if version == 0 and not empty_too:
            if found:  # `cypher.export.neo4j_admin` leaves the version at 0
                raise NotReady(f"{self.server.address}: an imported graph without its constraints: run `lexgraph migrate`")
            raise NotReady(f"no graph on {self.server.address}: run `lexgraph ingest` first")
        if 0 < version < SCHEMA_VERSION and not older_too:
            raise NotReady(
                f"{self.server.address}: written by an older Lexgraph (schema {version}, this one needs {SCHEMA_VERSION}): "
                "run `lexgraph migrate`"
            )
        return version

    def migrate(self, found: int) -> None:
        """Make the constraints and indexes that version ``found`` lacks, bring what is there up to date, and note the version.

        An imported graph counts as one of version 0 that holds law already.
        """
        empty = not self.rows("graph_row")
        newer = [] if empty else [migration for migration in MIGRATIONS if migration.version > found]
        steps = [statement for migration in newer for statement in migration.neo4j]
        self._change_schema([*(step for step in steps if step.startswith("DROP")), *constraints()])
        if not empty:
            for statement in (*(step for step in steps if not step.startswith("DROP")), *filled_properties()):
                self.update(statement, {})
        self.run("CALL db.awaitIndexes(300)", {})
        if empty:
            self.write("create_graph_row", schema_version=SCHEMA_VERSION)
        else:
            self.write("set_schema_version", schema_version=SCHEMA_VERSION)

    def _change_schema(self, group: Sequence[str]) -> None:
        """Change constraints and indexes in one transaction, which may hold no data beside them."""

        def work(transaction: ManagedTransaction) -> None:
            for statement in group:
                _fetch(transaction, statement, {})

        self.changed = True
        with _plain_errors(self.server), self._session() as session:
            session.execute_write(work)

    def close(self) -> None:
        """Close every connection."""
        self._driver.close()

    def __enter__(self) -> "Neo4jGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Neo4jStore:
    """The graph of a server; indexes, models and quarantine lie under ``home``."""

    home: Path
    server: Server
    _breaker: Breaker = field(default_factory=Breaker, repr=False, compare=False)
    _watching: "list[Neo4jGraph]" = field(default_factory=list["Neo4jGraph"], repr=False, compare=False)
    _leases: "list[_Lease]" = field(default_factory=list["_Lease"], repr=False, compare=False)
    _heard: threading.Event = field(default_factory=threading.Event, repr=False, compare=False)

    def _open(self, timeout_s: float = 0, *, writer: bool = False) -> Neo4jGraph:
        # Only a cluster has members that may lag behind each other.
        bookmarks = self.home / _BOOKMARKS if self.server.address.startswith("neo4j") else None
        # A job that is half done waits for its server; one that begins may have the wrong address.
        driver = connect(self.server, patient=writer and self._heard.is_set())
        self._heard.set()
        return Neo4jGraph(
            self.server,
            driver,
            timeout_s=timeout_s,
            bookmarks=bookmarks,
            breaker=self._breaker,
            leases=self._leases if writer else (),
        )

    def reading(self, timeout_s: float = 0) -> Neo4jGraph:
        """The graph for reading; closes its connections with the block."""
        graph = self._open(timeout_s)
        try:
            graph.check_version()
        except BaseException:
            graph.close()
            raise
        return graph

    @contextmanager
    def writing(self) -> Generator[Neo4jGraph]:
        """The graph for one writer at a time; an empty server gets its constraints first.

        What it writes is committed only while this store holds this lock, and those of `exclusive` around it.
        """
        self.home.mkdir(parents=True, exist_ok=True)
        with self.exclusive("graph"), self._open(writer=True) as graph:
            if graph.check_version(empty_too=True) == 0:
                graph.migrate(0)
            yield graph

    @contextmanager
    def exclusive(self, work: str) -> Generator[CheckLock]:
        """A lock in the graph, renewed while the block runs; that of a dead job expires.

        Raises:
            GraphBusy: another job holds it, or took it because this one could not renew it in time.
            NotReady, GraphTooNew: the server is too old, or its graph too new, to be touched.
        """
        with self._open(writer=True) as graph:
            graph.check_version(older_too=True, empty_too=True)
            lease = _Lease(graph, work)
            lease.take()
            self._leases.append(lease)
            try:
                yield lease.check
                lease.check()
            finally:
                self._leases.remove(lease)
                lease.give_back()

    def stamp(self) -> object | None:
        """Fingerprints of the law and of the questions, the active model, and the law that its vectors are of."""
        if not self._watching:  # kept: a look every few seconds is not worth a new connection each time
            self._watching.append(self._open(CONNECT_S))
        return graph_stamp(self._watching[0])

    def close(self) -> None:
        """Close the connection of `stamp`."""
        while self._watching:
            self._watching.pop().close()

    def migrate(self) -> tuple[int, int]:
        """Make constraints and indexes up to this program's schema."""
        with self.exclusive("graph"), self._open(writer=True) as graph:
            found = graph.check_version(older_too=True, empty_too=True)
            if found < SCHEMA_VERSION:
                graph.migrate(found)
            return found, SCHEMA_VERSION


def graph_stamp(graph: Neo4jGraph) -> object | None:
    """What tells one state of a server's law and active model from the next."""
    found = graph.rows("stamp")
    return tuple(found[0].values()) if found else None


class _Lease:
    """A lock in the graph that its holder renews from a thread of its own.

    A transaction is committed only under the lock: it looks at it while it holds one of the lock's *fences*, nodes that
    whoever takes the lock passes first. So several transactions of the holder, each at a fence of its own, do not wait for
    each other, and none of them outlives the taking.
    """

    def __init__(self, graph: Neo4jGraph, work: str) -> None:
        self._graph, self._work = graph, work
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._done = threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._renew, name=f"lease of {work}", daemon=True)

    def take(self) -> None:
        self._graph.update("CREATE CONSTRAINT lock_id IF NOT EXISTS FOR (n:Lock) REQUIRE n.id IS UNIQUE", {})
        if not self._held(self._graph.update):
            raise GraphBusy(
                f"{self._graph.server.address}: another process is writing to the {self._work}; try again when it is done "
                f"(the lock of a dead one ends after {LEASE_S:.0f} s)"
            )
        self._graph.update(statements(self._graph.engine)["pass_fences"], {"id": self._work, "fences": WRITERS})
        self._thread.start()

    def _held(self, run: Callable[[str, Row], list[Row]]) -> bool:
        asked = {"id": self._work, "holder": self._holder, "lease_ms": int(LEASE_S * 1000)}
        return bool(run(statements(self._graph.engine)["take_lock"], asked))

    def _renew(self) -> None:
        while not self._done.wait(LEASE_S / 4):
            try:
                if not self._held(self._graph.update_once):
                    self._lost = True
                    return
            except LexgraphError:
                continue  # the server is away: the next attempt tells whether the lock is still ours

    def hold(self, transaction: _Transaction, fence: int) -> None:
        """Keep the lock until a transaction is committed. Raises: GraphBusy: it has gone to another job meanwhile."""
        if not transaction.rows("hold_lock", id=self._work, holder=self._holder, fence=fence):
            self._lost = True
        self._tell()

    def check(self) -> None:
        """Raises: GraphBusy: the lock has gone to another job meanwhile."""
        if not self._lost:
            with suppress(LexgraphError):  # a server that is away tells nothing; nor can another job have it
                self._lost = not self._held(self._graph.update_once)
        self._tell()

    def _tell(self) -> None:
        if self._lost:
            raise GraphBusy(f"{self._graph.server.address}: the lock of the {self._work} went to another process meanwhile")

    def give_back(self) -> None:
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()
        with suppress(LexgraphError):  # it expires by itself
            asked = {"id": self._work, "holder": self._holder}
            self._graph.update_once(statements(self._graph.engine)["give_back_lock"], asked)


class _Unprinted(list[Any]):
    """A list that its driver's log does not spell out: it does so even where nobody keeps the log, in a tenth of a load."""

    def __repr__(self) -> str:
        return f"[{len(self)} items]"


def _unprinted(parameters: Row) -> Row:
    return {name: _Unprinted(value) if isinstance(value, list) else value for name, value in parameters.items()}  # pyright: ignore[reportUnknownArgumentType]


def _fetch(
    runner: ManagedTransaction | neo4j.Session, cypher: str, parameters: Row, max_rows: int | None = None, limit_s: float = 0
) -> _Rows:
    text = cast(LiteralString, cypher)
    with _parameters_fit():
        result = (
            runner.run(text, _unprinted(parameters))
            if isinstance(runner, ManagedTransaction)
            else runner.run(Query(text, timeout=limit_s), _unprinted(parameters))
        )
    keys = tuple(result.keys())
    found: Iterable[neo4j.Record] = result if max_rows is None else _first(result, max_rows)
    return keys, [tuple(map(_native, record.values())) for record in found]


@contextmanager
def _parameters_fit() -> Generator[None]:
    try:
        yield
    except OverflowError:
        raise BadQuery("cypher: a parameter is an integer beyond 64 bits") from None


def _first(result: neo4j.Result, n: int) -> Iterator[neo4j.Record]:
    for number, record in enumerate(result, 1):
        yield record
        if number >= n:
            return


_PLAIN = frozenset({str, int, float, bool, type(None)})


def _native(value: Any) -> Any:
    """A driver's value as Python's own: dates, and nodes and edges as dictionaries."""
    if type(value) in _PLAIN:  # pyright: ignore[reportUnknownArgumentType]
        return value
    if isinstance(value, Date | DateTime):
        return value.to_native()
    if isinstance(value, list):
        if _PLAIN.issuperset(map(type, cast(list[Any], value))):  # a look at each by itself takes longer than the query
            return cast(list[Any], value)
        return [_native(item) for item in cast(list[Any], value)]
    if isinstance(value, dict):
        return {key: _native(item) for key, item in cast(dict[str, Any], value).items()}
    if isinstance(value, neo4j.graph.Node):
        return {"_label": next(iter(value.labels), ""), **{key: _native(item) for key, item in value.items()}}
    if isinstance(value, neo4j.graph.Relationship):
        return {"_type": value.type, **{key: _native(item) for key, item in value.items()}}
    if isinstance(value, neo4j.graph.Path):
        steps = zip(value.nodes, (*value.relationships, None), strict=True)
        return [_native(part) for pair in steps for part in pair if part is not None]  # an edge without properties is falsy
    return value


def _read_bookmarks(path: Path | None) -> list[str]:
    if path is None or not path.exists():
        return []
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []  # without them a reader may see an older state for a moment, no more
    return found if isinstance(found, list) else []  # pyright: ignore[reportUnknownVariableType]


def _write_bookmarks(path: Path, seen: neo4j.Bookmarks) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    with suppress(OSError):
        part.write_text(json.dumps(sorted(seen.raw_values)))
        os.replace(part, path)


_TIMED_OUT = "TransactionTimedOut"
_NO_SPACE = re.compile(r"no space left|disk.*full|quota", re.IGNORECASE)


@contextmanager
def _plain_errors(server: Server) -> Generator[None]:
    """The driver's and the server's errors as errors of `schema.errors`, each in one line."""
    try:
        yield
    except AuthError:
        raise BadSetting(
            f"{server.address}: user {server.user!r} or the password is refused: "
            "check LEXGRAPH_GRAPH_USER and LEXGRAPH_GRAPH_PASSWORD"
        ) from None
    except ConfigurationError as error:
        raise BadSetting(f"LEXGRAPH_GRAPH={server.address}: {_line(error)}") from None
    except (ServiceUnavailable, SessionExpired, OSError) as error:
        raise ServerUnavailable(f"Neo4j at {server.address} does not answer: {_line(error)}") from None
    except Neo4jError as error:
        raise _of_server(error, server) from None
    except DriverError as error:
        raise ServerUnavailable(f"Neo4j at {server.address}: {_line(error)}") from None
    except ValueError as error:  # an address that is none
        raise BadSetting(f"LEXGRAPH_GRAPH={server.address}: {_line(error)}") from None


def _of_server(error: Neo4jError, server: Server) -> LexgraphError:
    code, message = error.code or "", _line(error)
    if _NO_SPACE.search(str(error)) or ("ReadOnly" in code and "space" in message):
        return StorageFull(f"{server.address}: no space left on the server; what was committed is unharmed")
    if "TransactionLogError" in code:  # it does not say more; and its database takes nothing until it is started again
        return StorageFull(
            f"{server.address}: the server cannot write its log, most likely for want of space: make some, and start it again"
        )
    if "TransactionStartFailed" in code:  # after a panic, as one over a full disk
        return ServerUnavailable(f"{server.address}: the server has failed and must be started again: {message}", answered=True)
    if _TIMED_OUT in code:
        return QueryTimeout(f"{server.address}: the query ran past its time limit (LEXGRAPH_QUERY_TIMEOUT_S)", answered=True)
    if "DatabaseNotFound" in code:
        return BadSetting(f"{server.address}: no database {server.database!r}: check LEXGRAPH_GRAPH_DATABASE")
    if "ProcedureNotFound" in code or "UnknownFunction" in message:
        return BadQuery(f"{server.address}: {message}")
    if "MemoryPoolOutOfMemory" in code or "OutOfMemory" in code:
        return GraphBusy(f"{server.address}: the server has no memory for this: {message}")
    if code.startswith(("Neo.ClientError.Statement", "Neo.ClientError.Procedure")):
        return BadQuery(f"cypher: {message}")
    if code.startswith("Neo.TransientError") or "DatabaseUnavailable" in code:
        return ServerUnavailable(f"{server.address}: {message}", answered=True)
    return LexgraphError(f"{server.address}: {message} ({code})")


def _line(error: BaseException) -> str:
    text = getattr(error, "message", None) or str(error)
    return " ".join(str(text).split())[:300]
