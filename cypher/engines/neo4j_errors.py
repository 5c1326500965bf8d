"""Errors of Neo4j's driver and server as errors of `schema.errors`, each in one line that says what to do."""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from neo4j.exceptions import AuthError, ConfigurationError, DriverError, Neo4jError, ServiceUnavailable, SessionExpired

from schema.errors import BadQuery, BadSetting, GraphBusy, LexgraphError, QueryTimeout, ServerUnavailable, StorageFull

_TIMED_OUT = "TransactionTimedOut"
_NO_SPACE = re.compile(r"no space left|disk.*full|quota", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Server:
    """Address of a Neo4j server, and who asks."""

    address: str
    user: str
    password: str = field(repr=False)
    database: str = "neo4j"


@contextmanager
def plain_errors(server: Server) -> Generator[None]:
    """Turn what the driver raises within the block into errors of `schema.errors`."""
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
