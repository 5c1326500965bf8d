"""The Graph Data Science plugin of a Neo4j server, through the ``graphdatascience`` client: ranks and edges."""

import re
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from uuid import uuid4

import numpy as np
import numpy.typing as npt
from graphdatascience import GraphDataScience
from neo4j.exceptions import Neo4jError

from cypher.page_rank import DAMPING, ITERATIONS, TOLERANCE
from schema.errors import GraphBusy
from schema.labels import UNCITED

Pairs = list[tuple[str, str]]
_BLOCKED = re.compile(r"blocked since|\b(?:heap|free|available|estimated) memory\b|out of memory|OutOfMemory", re.IGNORECASE)


class Gds:
    """Work on projections of the graph, each made for the occasion and dropped after it.

    What the client or the server has to complain of comes as an error of `schema.errors`, in one line.
    """

    def __init__(self, client: GraphDataScience, plain_errors: Callable[[], AbstractContextManager[None]]) -> None:
        """Work through a client.

        Args:
            plain_errors: gives a block that turns errors of the driver, which the client lets through, into the project's own.
        """
        self._client, self._plain_errors = client, plain_errors

    @contextmanager
    def _own_errors(self) -> Generator[None]:
        """Errors as the project's own; GraphBusy where the server has, or believes to have, too little memory."""
        with self._plain_errors():
            try:
                yield
            except Neo4jError as error:
                if not _of_memory(error):
                    raise
                reason = " ".join((error.message or str(error)).split())[:300]
                raise GraphBusy(f"the server has no memory for this: {reason}") from None

    @contextmanager
    def _projection(self, labels: list[str], kinds: list[str]) -> Generator[Any]:
        name = f"lexgraph-{uuid4().hex}"
        # Two citations of the same article are one edge, as in the subgraph that is trained on.
        edges = {kind: {"type": kind, "orientation": "NATURAL", "aggregation": "SINGLE"} for kind in kinds}
        graph, _ = self._client.graph.project.native(graph_name=name, node_projection=labels, relationship_projection=edges)
        try:
            yield graph
        finally:
            self._client.graph.drop(graph)

    def _knows(self, kind: str) -> bool:
        """Return whether the database has ever held an edge of a type: a projection of one that it never held is refused."""
        rows = self._client.run_cypher("CALL db.relationshipTypes() YIELD relationshipType AS kind RETURN kind")
        return kind in rows["kind"].tolist()

    def _identifiers(self, labels: list[str]) -> dict[int, str]:
        """Identifiers of the law by those of the server."""
        found: dict[int, str] = {}
        for label in labels:
            rows = self._client.run_cypher(f"MATCH (n:{label}) RETURN id(n) AS node, n.id AS id")
            found.update(zip(rows["node"].tolist(), rows["id"].tolist(), strict=True))
        return found

    def ranks(self) -> dict[str, float]:
        """PageRank of every article over CITES between articles, as `cypher.page_rank.page_rank` defines it.

        Raises:
            ServerUnavailable, GraphBusy: the server does not answer, or has no memory for it.
        """
        with self._own_errors():
            return self._ranks()

    def _ranks(self) -> dict[str, float]:
        identifiers = self._identifiers(["Article"])
        if not identifiers:
            return {}
        if not self._knows("CITES"):
            return dict.fromkeys(identifiers.values(), UNCITED)
        with self._projection(["Article"], ["CITES"]) as graph:
            rows = self._client.page_rank.stream(
                graph, damping_factor=DAMPING, max_iterations=ITERATIONS, tolerance=TOLERANCE, concurrency=4
            )
        return {
            identifiers[node]: float(score) for node, score in zip(rows["nodeId"].tolist(), rows["score"].tolist(), strict=True)
        }

    def changed_ranks(self, stored: str) -> dict[str, float] | None:
        """PageRank of the articles whose stored one is another, to six places; None where the server has no memory for it.

        Args:
            stored: the property that the ranks are stored in.

        Raises:
            ServerUnavailable: the server does not answer.
        """
        try:
            with self._own_errors():
                return self._changed_ranks(f"coalesce(a.{stored}, 0.0) <> rank")
        except GraphBusy:
            return None

    def _changed_ranks(self, changed: str) -> dict[str, float]:
        found = f"WITH a, round(rank, 6) AS rank WHERE {changed} RETURN a.id AS id, rank"
        if not self._client.run_cypher("MATCH (a:Article)-[:CITES]->(:Article) RETURN 1 LIMIT 1").shape[0]:
            rows = self._client.run_cypher(f"MATCH (a:Article) WITH a, $rank AS rank {found}", {"rank": UNCITED})
        else:
            # One thread: over the four French codes (33,000 edges) it takes half the time of four.
            how = {"dampingFactor": DAMPING, "maxIterations": ITERATIONS, "tolerance": TOLERANCE, "concurrency": 1}
            ranked = "CALL gds.pageRank.stream($graph, $how) YIELD nodeId, score WITH gds.util.asNode(nodeId) AS a, score AS rank"
            with self._projection(["Article"], ["CITES"]) as graph:
                rows = self._client.run_cypher(f"{ranked} {found}", {"graph": graph.name(), "how": how})
        return dict(zip(rows["id"].tolist(), rows["rank"].tolist(), strict=True))

    def edges(self, kind: str, tail: str, head: str) -> Pairs:
        """Pairs of identifiers joined by a kind of edge between two labels, each once, in order.

        Raises:
            ServerUnavailable, GraphBusy: the server does not answer, or has no memory for it.
        """
        with self._own_errors():
            return self._edges(kind, tail, head)

    def _edges(self, kind: str, tail: str, head: str) -> Pairs:
        labels = sorted({tail, head})
        tails, heads = self._identifiers([tail]), self._identifiers([head])
        if not tails or not heads or not self._knows(kind):
            return []
        with self._projection(labels, [kind]) as graph:
            rows = self._client.graph.relationships.stream(graph)
        a: npt.NDArray[np.int64] = rows["sourceNodeId"].to_numpy()
        b: npt.NDArray[np.int64] = rows["targetNodeId"].to_numpy()
        return sorted((tails[x], heads[y]) for x, y in zip(a.tolist(), b.tolist(), strict=True) if x in tails and y in heads)


def _of_memory(error: Neo4jError) -> bool:
    """Return whether a call lacked memory: the plugin says so in words, refusing what it estimates to be too large."""
    code = error.code or ""
    if "MemoryPool" in code or "OutOfMemory" in code:
        return True
    return "ProcedureCallFailed" in code and bool(_BLOCKED.search(str(error)))
