"""A connection to a Neo4j server: Cypher sent over its driver, with retries, time limits and plain errors."""

import json
import logging
import os
import re
import threading
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, LiteralString, TypeVar, cast

import neo4j
from neo4j import Driver, GraphDatabase, ManagedTransaction, Query
from neo4j.time import Date, DateTime

from cypher.engines.neo4j_address import bolt_address
from cypher.engines.neo4j_errors import Server, plain_errors
from cypher.graph import Row
from runtime.background_call import in_background
from runtime.circuit_breaker import Breaker
from runtime.deadline import within
from schema.errors import BadQuery, QueryTimeout

CONNECT_S = 5.0
GRACE_S = 3.0
"""How much longer than its limit a query may take until its server counts as silent: it looks for such every two seconds."""
RETRY_S = 30.0
"""How long a writer's transaction is tried again while its server is away, in seconds."""
Rows = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Names of columns, and the rows below them."""
_Result = TypeVar("_Result")
_PLAIN = frozenset({str, int, float, bool, type(None)})

# What the driver has to say about a server that is away reaches the user once, as an error of Lexgraph's own.
logging.getLogger("neo4j").setLevel(logging.CRITICAL)


def connect(server: Server, *, patient: bool = False) -> Driver:
    """Return a driver whose server has answered.

    Args:
        patient: whether a server that is away is waited for (`RETRY_S`), as a job that is half done does.

    Raises:
        ServerUnavailable: nothing answers at the address.
        BadSetting: the address is none, or user and password are refused.
        NotReady: the server is older than is supported.
    """
    bolt_address(server.address)
    with plain_errors(server):
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
        with plain_errors(server):
            if patient:
                driver.execute_query("RETURN 1", database_=server.database, routing_=neo4j.RoutingControl.READ)
            else:
                with driver.session(database=server.database, default_access_mode=neo4j.READ_ACCESS) as session:
                    session.run("RETURN 1").consume()
    except BaseException:
        driver.close()
        raise
    return driver


class Connection:
    """Sends Cypher to one server. Threads share the driver; each call has a session of its own.

    Args:
        timeout_s: time limit of one read in seconds, kept on this side too where the server does not; 0: none.
        bookmarks: file in which the newest state seen is kept for other processes; None where the server is alone.
        breaker: of reads with a time limit, so that those who wait for answers do not each find out that the server is away.
    """

    def __init__(
        self,
        server: Server,
        driver: Driver,
        *,
        timeout_s: float = 0,
        bookmarks: Path | None = None,
        breaker: Breaker | None = None,
    ) -> None:
        self.server, self.driver = server, driver
        self._timeout_s = timeout_s
        self._breaker = breaker or Breaker()
        self._bookmarks = GraphDatabase.bookmark_manager(
            initial_bookmarks=neo4j.Bookmarks.from_raw_values(_read_bookmarks(bookmarks)),
            bookmarks_consumer=None if bookmarks is None else lambda seen: _write_bookmarks(bookmarks, seen),
        )

    @cached_property
    def version(self) -> tuple[int, int]:
        """Year and month, or major and minor number, of the server."""
        with plain_errors(self.server):
            agent = self.driver.get_server_info().agent
        numbers = re.search(r"/(\d+)\.(\d+)", agent)
        return (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)

    def rows(self, cypher: str, parameters: Row) -> list[Row]:
        """Return the rows of a statement that reads."""
        return as_rows(self.table(cypher, parameters))

    def table(self, cypher: str, parameters: Row, max_rows: int | None = None) -> Rows:
        """Return at most ``max_rows`` rows of a statement that reads."""
        if self._timeout_s:
            return self._limited(cypher, parameters, max_rows)()
        with plain_errors(self.server), self._session(neo4j.READ_ACCESS) as session:
            return session.execute_read(lambda transaction: fetch(transaction, cypher, parameters, max_rows))

    def ask(self, cypher: str, parameters: Row) -> Callable[[], list[Row]]:
        """Send a statement that reads; where there is a time limit the caller goes on while the server works.

        The rows, or whatever went wrong, come when the result is called.
        """
        if not self._timeout_s:
            return lambda: self.rows(cypher, parameters)
        answer = self._limited(cypher, parameters, None)
        return lambda: as_rows(answer())

    def update(self, cypher: str, parameters: Row) -> list[Row]:
        """Run a statement that writes, tried again while the server is away; what it returns."""
        return as_rows(self.transact(lambda transaction: fetch(transaction, cypher, parameters)))

    def update_once(self, cypher: str, parameters: Row) -> list[Row]:
        """As `update`, but a server that is away is not waited for."""
        with plain_errors(self.server), self._session() as session:
            return as_rows(fetch(session, cypher, parameters))

    def transact(self, work: Callable[[ManagedTransaction], _Result]) -> _Result:
        """Run work in one transaction that writes, again where the server loses it on the way."""
        with plain_errors(self.server), self._session() as session:
            return session.execute_write(work)

    def close(self) -> None:
        """Close every connection."""
        self.driver.close()

    def _limited(self, cypher: str, parameters: Row, max_rows: int | None) -> Callable[[], Rows]:
        """Ask within the time limit, kept here too: a server that hangs does not end its own queries.

        A reader with a limit does not try again while the server is away. The answer raises QueryTimeout when it took
        `GRACE_S` longer than the limit, which the server should have kept.
        """
        limit_s = within(self._timeout_s)

        def work() -> Rows:
            with self._breaker.call(), plain_errors(self.server), self._session(neo4j.READ_ACCESS) as session:
                return fetch(session, cypher, parameters, max_rows, limit_s)

        result = in_background("query with a limit", work, limit_s + GRACE_S)

        def answer() -> Rows:
            try:
                return result()
            except TimeoutError:
                error = QueryTimeout(f"{self.server.address}: no answer within the time limit (LEXGRAPH_QUERY_TIMEOUT_S)")
                if limit_s == self._timeout_s:  # a request that came to it late says nothing of the server
                    self._breaker.note(error)
                raise error from None

        return answer

    def _session(self, access: str = neo4j.WRITE_ACCESS) -> neo4j.Session:
        return self.driver.session(
            database=self.server.database, default_access_mode=access, bookmark_manager=self._bookmarks, fetch_size=5000
        )


def as_rows(table: Rows) -> list[Row]:
    """Return rows as dictionaries by column."""
    keys, values = table
    return [dict(zip(keys, row, strict=True)) for row in values]


def fetch(
    runner: ManagedTransaction | neo4j.Session, cypher: str, parameters: Row, max_rows: int | None = None, limit_s: float = 0
) -> Rows:
    """Run a statement in a transaction or a session and return what it gives, in Python's own values."""
    text = cast(LiteralString, cypher)
    query = text if isinstance(runner, ManagedTransaction) else Query(text, timeout=limit_s)
    with _parameters_fit():
        result = runner.run(query, _unprinted(parameters))  # pyright: ignore[reportArgumentType]
    keys = tuple(result.keys())
    records: Iterable[neo4j.Record] = result if max_rows is None else _first(result, max_rows)
    return keys, [tuple(map(_native, record.values())) for record in records]


def run(transaction: ManagedTransaction, cypher: str, parameters: Row) -> None:
    """Run a statement for its effect."""
    with _parameters_fit():
        transaction.run(cast(LiteralString, cypher), _unprinted(parameters)).consume()


class _Unprinted(list[Any]):
    """A list that its driver's log does not spell out: it does so even where nobody keeps the log, in a tenth of a load."""

    def __repr__(self) -> str:
        return f"[{len(self)} items]"


def _unprinted(parameters: Row) -> Row:
    return {name: _Unprinted(value) if isinstance(value, list) else value for name, value in parameters.items()}  # pyright: ignore[reportUnknownArgumentType]


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


def _native(value: Any) -> Any:
    """Return a driver's value as Python's own: dates, and nodes and edges as dictionaries."""
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
        raw = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return []  # without them a reader may see an older state for a moment, no more
    return raw if isinstance(raw, list) else []  # pyright: ignore[reportUnknownVariableType]


def _write_bookmarks(path: Path, seen: neo4j.Bookmarks) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    with suppress(OSError):
        part.write_text(json.dumps(sorted(seen.raw_values)))
        os.replace(part, path)
