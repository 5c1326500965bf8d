"""A lock in the graph of a Neo4j server that its holder renews from a thread of its own."""

import os
import secrets
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

from cypher.engines.neo4j_connection import Connection
from cypher.graph import Row, Statements
from cypher.statements import statements
from schema.errors import GraphBusy, LexgraphError

LEASE_S = 60.0
"""How long the lock of a job that no longer renews it holds, in seconds."""
FENCES = 2
"""Transactions of one holder that may be under way at once."""
_STATEMENTS = statements("neo4j")


class Lease:
    """A lock on one kind of work.

    A transaction is committed only under the lock: it looks at it while it holds one of the lock's *fences*, nodes that
    whoever takes the lock passes first. So several transactions of the holder, each at a fence of its own, do not wait for
    each other, and none of them outlives the taking.
    """

    def __init__(self, connection: Connection, work: str) -> None:
        self._connection, self._work = connection, work
        self._holder = f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._done = threading.Event()
        self._lost = False
        self._thread = threading.Thread(target=self._renew, name=f"lease of {work}", daemon=True)

    def take(self) -> None:
        """Take the lock and begin to renew it.

        Raises:
            GraphBusy: another process holds it.
        """
        self._connection.update("CREATE CONSTRAINT lock_id IF NOT EXISTS FOR (n:Lock) REQUIRE n.id IS UNIQUE", {})
        if not self._taken(self._connection.update):
            raise GraphBusy(
                f"{self._connection.server.address}: another process is writing to the {self._work}; try again when it is done "
                f"(the lock of a dead one ends after {LEASE_S:.0f} s)"
            )
        self._connection.update(_STATEMENTS["pass_fences"], {"id": self._work, "fences": FENCES})
        self._thread.start()

    def hold(self, transaction: Statements, fence: int) -> None:
        """Keep the lock until a transaction is committed.

        Raises:
            GraphBusy: it went to another job meanwhile.
        """
        if not transaction.rows("hold_lock", id=self._work, holder=self._holder, fence=fence):
            self._lost = True
        self._raise_if_lost()

    def check(self) -> None:
        """Make sure that the lock is still this job's.

        Raises:
            GraphBusy: it went to another job meanwhile.
        """
        if not self._lost:
            with suppress(LexgraphError):  # a server that is away tells nothing; nor can another job have it
                self._lost = not self._taken(self._connection.update_once)
        self._raise_if_lost()

    def give_back(self) -> None:
        """Release the lock; where the server is away it expires by itself."""
        self._done.set()
        if self._thread.ident is not None:
            self._thread.join()
        with suppress(LexgraphError):
            self._connection.update_once(_STATEMENTS["give_back_lock"], {"id": self._work, "holder": self._holder})

    def _taken(self, run: Callable[[str, Row], list[Row]]) -> bool:
        asked = {"id": self._work, "holder": self._holder, "lease_ms": int(LEASE_S * 1000)}
        return bool(run(_STATEMENTS["take_lock"], asked))

    def _renew(self) -> None:
        while not self._done.wait(LEASE_S / 4):
            try:
                if not self._taken(self._connection.update_once):
                    self._lost = True
                    return
            except LexgraphError:
                continue  # the server is away: the next attempt tells whether the lock is still ours

    def _raise_if_lost(self) -> None:
        if self._lost:
            raise GraphBusy(f"{self._connection.server.address}: the lock of the {self._work} went to another process meanwhile")
