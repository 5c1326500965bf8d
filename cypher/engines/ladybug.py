"""The embedded engine: a graph in one file, through ``ladybug``, written by releases.

A writer never touches the file that readers have open. It copies the graph, changes the copy, and puts it
in the place of the old one in a single rename: a process killed at any moment leaves the old graph whole,
readers go on with the release that they opened, and a half-written graph is never seen.
"""

import ctypes
import fcntl
import math
import os
import re
import shutil
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import ladybug

from cypher.engines.ladybug_dialect import columns_of, hinted, in_its_words
from cypher.graph import CheckLock, Row, Statements, Table
from cypher.migrations import MIGRATIONS, table_changes, table_of_edge, table_of_node
from cypher.statements import one_by_one, statements
from runtime.deadline import within
from schema.errors import BadQuery, GraphBusy, GraphTooNew, LexgraphError, NotReady, PoolFull, QueryTimeout, StorageFull
from schema.labels import EDGES, NODES, SCHEMA_VERSION, NodeLabel

GRAPH_FILE = "graph.lbug"
_NEXT_FILE = "graph.next.lbug"
_WRITER_SHARE = 4
"""The pool of a writer, in pools of a reader: to bring what was written into the file, the engine holds the texts of up to
131,072 rows of a table several times over."""
_CHECKPOINT_SHARE = 32
"""Part of a writer's pool that is written before the engine brings it into the file: seldom, for it writes whole tables anew."""
_Result = TypeVar("_Result")


class EmbeddedGraph:
    """A graph file, open for reading or (inside `release`) for writing.

    Threads share the database; each has a connection of its own.
    """

    engine: ClassVar[str] = "ladybug"
    writers: ClassVar[int] = 1
    frozen: ClassVar[bool] = True
    vectors = None
    """Embeddings are read from the model's own files."""
    gds = None

    def __init__(
        self, path: Path, *, read_only: bool = True, memory_mb: int = 1024, timeout_s: float = 0, copy_of: Path | None = None
    ) -> None:
        """Open the graph at ``path``.

        Args:
            memory_mb: buffer pool of a reader, in MiB, taken as it is needed; a writer's is four times that.
            timeout_s: time limit of one query in seconds; 0 sets none.
            copy_of: the file that messages name, where ``path`` is a copy of it.

        Raises:
            NotReady: there is no graph yet, or the file is not one.
            StorageFull: the disk is full.
            PoolFull: the buffer pool is too small for the graph.
        """
        if read_only and not path.exists():
            raise NotReady(f"no graph at {path}: run `lexgraph ingest` first")
        self.path = copy_of or path
        self._file = path
        self.changed = False
        self._statements = statements(self.engine)
        self._timeout_ms = int(timeout_s * 1000)
        self._local = threading.local()
        self._connections: list[ladybug.Connection] = []
        pool = (memory_mb << 20) * (1 if read_only else _WRITER_SHARE)
        with _plain_errors():
            try:
                self._database = ladybug.Database(
                    path,
                    read_only=read_only,
                    buffer_pool_size=pool,
                    checkpoint_threshold=pool // _CHECKPOINT_SHARE,
                )
                self._connection()
            except RuntimeError as error:
                if _FULL.search(str(error)) or _POOL_FULL.search(str(error)):
                    raise
                raise NotReady(f"{self.path}: not a graph that can be opened ({_first_line(error)})") from None

    def _connection(self) -> ladybug.Connection:
        connection = getattr(self._local, "connection", None)
        if connection is None:
            connection = ladybug.Connection(self._database)
            self._local.connection = connection
            self._connections.append(connection)
        return connection

    def _run(self, cypher: str, parameters: Row) -> ladybug.QueryResult:
        connection = self._connection()
        if self._timeout_ms:
            connection.set_query_timeout(math.ceil(1000 * within(self._timeout_ms / 1000)))
        with _plain_errors():
            result = connection.execute(cypher, parameters)
        return result[-1] if isinstance(result, list) else result

    def described(self) -> str:
        """Return the engine and its version."""
        return f"embedded, ladybug {version_of('ladybug')}"

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Return the rows of a named statement, as dictionaries."""
        single = one_by_one().get(statement)
        if single is not None:
            ids = dict.fromkeys(parameters.pop("ids"))
            return [row for id in ids for row in self._rows(single, {**parameters, "id": id})]
        return self._rows(self._statements[statement], parameters)

    def _rows(self, cypher: str, parameters: Row) -> list[Row]:
        result = self._run(cypher, parameters)
        columns = result.get_column_names()
        with _plain_errors():
            return [dict(zip(columns, row, strict=True)) for row in result.get_all()]

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        self.changed = True
        self._run(self._statements[statement], parameters)

    def atomically(self, work: Callable[[Statements], _Result]) -> _Result:
        """Run work in one transaction, as every connection sees it."""
        self._run("BEGIN TRANSACTION", {})
        try:
            result = work(self)
        except BaseException:
            with suppress(RuntimeError, LexgraphError):  # a failed statement has rolled back already
                self._run("ROLLBACK", {})
            raise
        self._run("COMMIT", {})
        return result

    def query(self, cypher: str, parameters: Row, max_rows: int) -> Table:
        """Run a free query; at most ``max_rows`` rows, marked as truncated where there are more.

        Raises:
            BadQuery: the statement does not parse, names what is not there, writes, or needs more memory than it may take.
            QueryTimeout: it ran past the time limit.
        """
        try:
            result = self._run(in_its_words(cypher), parameters)
            columns, written = tuple(result.get_column_names()), tuple(columns_of(cypher))
            rows: list[tuple[Any, ...]] = []
            while result.has_next() and len(rows) < max_rows:
                rows.append(tuple(result.get_next()))
            return Table(written if len(written) == len(columns) else columns, rows, truncated=bool(result.has_next()))
        except PoolFull as error:
            raise BadQuery(f"cypher: {error}, or ask for less") from None
        except (RuntimeError, ValueError, TypeError) as error:
            raise BadQuery(f"cypher: {hinted(str(error).strip(), cypher)}") from None

    def make_tables(self) -> None:
        """Make the node and edge tables of `schema.labels`, and the row that names the schema's version."""
        for statement in (*map(table_of_node, NODES), *map(table_of_edge, EDGES)):
            self._run(statement, {})
        self.write("create_graph_row", schema_version=SCHEMA_VERSION)

    def migrate(self) -> None:
        """Bring the tables of an older schema to this program's."""
        version = self.rows("graph_row")[0]["schema_version"]
        newer = [migration for migration in MIGRATIONS if migration.version > version]
        tables = {row["name"] for row in self._rows("CALL show_tables() RETURN *", {})}
        for old, new in (names for migration in newer for names in migration.renamed.items()):
            if old in tables:
                self._run(f"ALTER TABLE {old} RENAME TO {new}", {})
        for table in (*NODES, *EDGES):
            self._run(table_of_node(table) if isinstance(table, NodeLabel) else table_of_edge(table), {})
            columns = {row["name"] for row in self._rows(f"CALL table_info('{table.name}') RETURN *", {})}
            for statement in table_changes(table, columns):
                self._run(statement, {})
        for statement in (statement for migration in newer for statement in migration.embedded):
            self._run(statement, {})
        self.write("set_schema_version", schema_version=SCHEMA_VERSION)

    def check_version(self, *, older_too: bool = False) -> int:
        """Return the version of the schema that the graph was written by.

        Args:
            older_too: whether a graph that must be migrated is let through.

        Raises:
            GraphTooNew: a newer version of Lexgraph wrote it.
            NotReady: the file holds no Lexgraph graph, or one of an older schema.
        """
        try:
            found = self.rows("graph_row")
        except (RuntimeError, BadQuery):
            found = []
        if not found:
            raise NotReady(f"{self.path}: not a Lexgraph graph; move it away and run `lexgraph ingest`")
        version = found[0]["schema_version"]
        if version > SCHEMA_VERSION:
            raise GraphTooNew(
                f"{self.path}: written by a newer Lexgraph (schema {version}, this one knows {SCHEMA_VERSION}): "
                "update Lexgraph, or point LEXGRAPH_HOME at another folder"
            )
        if version < SCHEMA_VERSION and not older_too:
            raise NotReady(
                f"{self.path}: written by an older Lexgraph (schema {version}, this one needs {SCHEMA_VERSION}): "
                "run `lexgraph migrate`"
            )
        return version

    def close(self) -> None:
        """Close every connection and the file."""
        for connection in self._connections:
            connection.close()
        self._connections.clear()
        self._database.close()

    def checkpoint(self) -> None:
        """Bring all that was written into the one file."""
        self._run("CHECKPOINT", {})

    def abandon(self) -> None:
        """Leave a graph that could not be written to its end.

        The engine writes once more when it is closed, and ends the whole process where the disk or the pool refuses that
        too. So its objects are kept alive, and the space of its files is given back by cutting them to nothing.
        """
        for held in (self._database, *self._connections):
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(held))
        for path in self._file.parent.glob(self._file.name + "*"):
            os.truncate(path, 0)

    def __enter__(self) -> "EmbeddedGraph":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_graph(home: Path, *, memory_mb: int = 1024, timeout_s: float = 0) -> EmbeddedGraph:
    """The current release of the graph under ``home``, for reading.

    Raises:
        NotReady: there is none.
        GraphTooNew: a newer version of Lexgraph wrote it.
    """
    graph = EmbeddedGraph(home / GRAPH_FILE, memory_mb=memory_mb, timeout_s=timeout_s)
    try:
        graph.check_version()
    except LexgraphError:
        graph.close()
        raise
    return graph


def release_stamp(home: Path) -> tuple[int, int] | None:
    """Return inode and time of change of the graph, which tell one release from the next; None without a graph."""
    try:
        found = (home / GRAPH_FILE).stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


@contextmanager
def exclusive(home: Path, work: str) -> Generator[None]:
    """One process at a time does a kind of work (graph, index, models) under ``home``; a killed one holds nothing.

    Raises:
        GraphBusy: another process holds the lock.
        StorageFull: the disk is full.
    """
    with _plain_errors():
        home.mkdir(parents=True, exist_ok=True)
        lock = os.open(home / f"{work}.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise GraphBusy(f"{home}: another process is writing to the {work}; try again when it is done") from None
        yield
    finally:
        os.close(lock)


@contextmanager
def release(home: Path, *, memory_mb: int = 1024, migrating: bool = False) -> Generator[EmbeddedGraph]:
    """A graph to write to; what was written becomes the current release when the block ends well.

    Args:
        migrating: whether a graph of an older schema is let through.

    Raises:
        GraphBusy: another process is writing.
        StorageFull: the disk is full; the current release is unharmed.
        PoolFull: the buffer pool is too small for what is written; the current release is unharmed.
        GraphTooNew: a newer version of Lexgraph wrote the graph.
    """
    with exclusive(home, "graph"):
        current, following = home / GRAPH_FILE, home / _NEXT_FILE
        _remove(following)  # what a killed writer left
        with _plain_errors():
            try:
                if current.exists():
                    shutil.copyfile(current, following)
                graph = EmbeddedGraph(following, read_only=False, memory_mb=memory_mb, copy_of=current)
                try:
                    if current.exists():
                        graph.check_version(older_too=migrating)
                    else:
                        graph.make_tables()
                        graph.changed = False  # a graph without law is no release
                    yield graph
                    if graph.changed:
                        graph.checkpoint()
                except (StorageFull, PoolFull):
                    graph.abandon()
                    raise
                except BaseException:
                    graph.close()
                    raise
                graph.close()
                if graph.changed:
                    _sync(following)
                    os.replace(following, current)
                    _sync(home)
            finally:
                _remove(following)


@dataclass(frozen=True, slots=True)
class EmbeddedStore:
    """The graph in a file under ``home``; ``memory_mb`` is its buffer pool, in MiB."""

    home: Path
    memory_mb: int = 1024

    def reading(self, timeout_s: float = 0) -> EmbeddedGraph:
        """Open the current release (`open_graph`)."""
        return open_graph(self.home, memory_mb=self.memory_mb, timeout_s=timeout_s)

    def writing(self) -> AbstractContextManager[EmbeddedGraph]:
        """Open the next release (`release`)."""
        return release(self.home, memory_mb=self.memory_mb)

    @contextmanager
    def exclusive(self, work: str) -> Generator[CheckLock]:
        """Hold a lock on a file of the home (`exclusive`), which nobody can take from a process that lives."""
        with exclusive(self.home, work):
            yield lambda: None

    def stamp(self) -> tuple[int, int] | None:
        """Return what tells one release from the next (`release_stamp`)."""
        return release_stamp(self.home)

    def close(self) -> None:
        """Do nothing: nothing is kept open."""

    def migrate(self) -> tuple[int, int]:
        """Make the tables, or those that an older release lacks."""
        if not (self.home / GRAPH_FILE).exists():
            with release(self.home, memory_mb=self.memory_mb) as graph:
                graph.changed = True
            return 0, SCHEMA_VERSION
        with EmbeddedGraph(self.home / GRAPH_FILE, memory_mb=self.memory_mb) as graph:
            found = graph.check_version(older_too=True)
        if found < SCHEMA_VERSION:
            with release(self.home, memory_mb=self.memory_mb, migrating=True) as graph:
                graph.migrate()
        return found, SCHEMA_VERSION


def _remove(path: Path) -> None:
    for leftover in path.parent.glob(path.name + "*"):
        leftover.unlink()


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


_FULL = re.compile(r"no space left|file too large|disk quota|cannot write to file", re.IGNORECASE)
_POOL_FULL = re.compile(r"buffer pool is full", re.IGNORECASE)
_OF_THE_QUERY = re.compile(r"(?:Parser|Binder|Runtime|Catalog) exception")
"""Errors that repeat a user's own words, which may be any."""
_TIMEOUT = re.compile(r"^Interrupted", re.IGNORECASE)


@contextmanager
def _plain_errors() -> Generator[None]:
    """The engine's and the system's errors that a user can mend, as errors of `schema.errors`."""
    try:
        yield
    except OSError as error:
        if _FULL.search(os.strerror(error.errno or 0)):
            raise StorageFull(f"no space left to write {error.filename or 'the graph'}; nothing was changed") from None
        raise
    except RuntimeError as error:
        of_the_engine = not _OF_THE_QUERY.match(str(error))
        if _FULL.search(str(error)) and of_the_engine:
            raise StorageFull("no space left to write the graph; nothing was changed") from None
        if _POOL_FULL.search(str(error)) and of_the_engine:
            raise PoolFull("the buffer pool of the embedded graph is too small for this: raise LEXGRAPH_MEMORY_MB") from None
        if _TIMEOUT.search(str(error)):
            raise QueryTimeout("the query ran past its time limit (LEXGRAPH_QUERY_TIMEOUT_S)") from None
        raise


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
