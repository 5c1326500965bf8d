"""Vector indexes on a Neo4j server: a property and an index for each model version, on articles and on sections.

Versions stand beside each other: one is written, its indexes awaited, and only then is it made the active one.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cypher.batches import batches
from cypher.statements import with_names
from schema.errors import GraphBusy, LexgraphError, NotReady, QueryTimeout, ServerUnavailable, StorageFull

Matrix = npt.NDArray[np.float32]
Rows = list[dict[str, Any]]
Run = Callable[[str, dict[str, Any]], Rows]
Ask = Callable[[str, dict[str, Any]], Callable[[], Rows]]

BATCH = 2000
LEVELS = 10
"""Levels of sections, from the act down, whose identifiers an article carries for the filter of a subtree."""
EXACT_LIMIT = 20_000
"""Articles that pass a filter, up to which a server that cannot filter inside its index scores each of them."""
BUILD_TIMEOUT_S = 3600
LEAST_ASKED = 100
"""Neighbours that an index is asked for at least: how widely it looks around depends on it, and so what it passes over."""
LABELS = ("Article", "Section")
_FILTERS = ("act_id", "act_kind", "jurisdiction", "first_day", "end_day", *(f"above_{level}" for level in range(1, LEVELS + 1)))


@dataclass(frozen=True, slots=True)
class Where:
    """Which articles may be neighbours: of an act, a kind of act, a jurisdiction, below a section, in force on some days.

    Attributes:
        section: the section's identifier and its level, 1 below the act.
        days: one by which they had begun, and one on which they had not ended; days since 1970-01-01.
    """

    act: str | None = None
    kind: str | None = None
    jurisdiction: str | None = None
    section: tuple[str, int] | None = None
    days: tuple[int, int] | None = None

    @property
    def beyond_index(self) -> bool:
        """True where no index can tell: the section lies deeper than the levels that articles carry."""
        return self.section is not None and self.section[1] > LEVELS

    def conditions(self) -> tuple[list[str], dict[str, Any]]:
        """Conditions on ``n`` and their parameters; what a user gives stands in the parameters alone."""
        found: list[str] = []
        parameters: dict[str, Any] = {}
        for name, value in (("act_id", self.act), ("act_kind", self.kind), ("jurisdiction", self.jurisdiction)):
            if value is not None:
                found.append(f"n.{name} = ${name}")
                parameters[name] = value
        if self.section is not None and self.section[1] <= LEVELS:
            found.append(f"n.above_{int(self.section[1])} = $section")
            parameters["section"] = self.section[0]
        elif self.section is not None:  # so deep that few articles are below it
            found.append("EXISTS { MATCH (:Section {id: $section})-[:CONTAINS*1..20]->(n) }")
            parameters["section"] = self.section[0]
        if self.days is not None:
            found += ["n.first_day <= $begun_by", "n.end_day > $not_ended_on"]
            parameters["begun_by"], parameters["not_ended_on"] = self.days
        return found, parameters


@dataclass(frozen=True, eq=False)
class Neighbours:
    """Nodes near a vector, nearest first.

    Attributes:
        ids: of the nodes.
        cosines: float64[ids], of each with the vector.
    """

    ids: list[str]
    cosines: npt.NDArray[np.float64]


def property_of(model: str) -> str:
    """Return the property that holds a model version's embeddings."""
    return "embedding_" + re.sub(r"\W", "_", model, flags=re.ASCII)


def index_of(model: str, label: str) -> str:
    """Return the name of a model version's vector index over a label."""
    return f"{label.lower()}_{property_of(model)}"


def _names(model: str, label: str) -> dict[str, str]:
    """Return the names that statements on a model version's embeddings of a label have."""
    name = property_of(model)
    return {"label": label, "property": name, "digest": f"{name}_digest", "index": index_of(model, label)}


class VectorStore:
    """Writes and asks the vector indexes of one server."""

    def __init__(self, run: Run, update: Run, ask: Ask, *, filters_in_index: bool) -> None:
        """Write and ask through functions that run statements.

        The first reads, the second writes, the third reads while its caller goes on.

        Args:
            filters_in_index: whether the server's indexes filter by properties (2026.01 and later).
        """
        self._run, self._update, self._ask = run, update, ask
        self.filters_in_index = filters_in_index

    def write(
        self,
        model: str,
        label: str,
        ids: Sequence[str],
        embeddings: Matrix,
        *,
        advance: Callable[[int], object] = lambda n: None,
    ) -> None:
        """Write embeddings, float32[ids, d], in batches, over those that are there.

        Killed half-way, it leaves nodes whose embeddings `differing` does not name any more.
        """
        statement = with_names("write_embeddings", **_names(model, label))
        for part in batches(range(len(ids)), BATCH):
            rows = [{"id": ids[i], "embedding": embeddings[i].tolist(), "digest": _digest(embeddings[i])} for i in part]
            self._update(statement, {"rows": rows})
            advance(len(rows))

    def write_filters(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write what articles are filtered by.

        Rows have ``id``, ``act_kind``, ``jurisdiction``, ``first_day`` and ``end_day`` (days since 1970-01-01, the end
        exclusive), and ``above``, the sections above from the act down.

        Only what differs is written: a change of an indexed property has the vector indexed again.
        """
        columns = ", ".join(f".{name}" for name in _FILTERS[1:])
        stored = {row["id"]: row["values"] for row in self._run(with_names("stored_filters", read_filters=columns), {})}
        wanted = ((row["id"], _filter_values(row)) for row in rows)
        different = [{"id": id, "values": values} for id, values in wanted if stored.get(id) != values]
        for batch in batches(different, BATCH):
            self._update(with_names("write_filters"), {"rows": batch})

    def build(self, model: str, label: str, dimensions: int) -> None:
        """Make the index of a label, unless it is there, and wait until it answers.

        Raises:
            NotReady: the server has given up building it.
        """
        filtered = label == "Article" and self.filters_in_index
        statement = "create_filtered_vector_index" if filtered else "create_vector_index"
        filters = ", ".join(f"n.{name}" for name in _FILTERS)
        size = str(int(dimensions))
        self._update(with_names(statement, filters=filters, dimensions=size, **_names(model, label)), {})
        self.wait(model, label)

    def wait(self, model: str, label: str) -> None:
        """Wait until an index holds all that is written.

        Raises:
            NotReady: it is not there, or the server has given up building it.
            ServerUnavailable, QueryTimeout, GraphBusy, StorageFull: of the server, whatever its index does.
        """
        name = index_of(model, label)
        try:
            self._run(with_names("await_index"), {"name": name, "seconds": BUILD_TIMEOUT_S})
        except (ServerUnavailable, QueryTimeout, GraphBusy, StorageFull):
            raise
        except LexgraphError as error:
            raise NotReady(f"vector index {name}: {error}") from None

    def online(self, model: str) -> bool:
        """Return whether both indexes of a model version are there and answer."""
        wanted = [index_of(model, label) for label in LABELS]
        states = self._run(with_names("states_of_vector_indexes"), {"names": wanted})
        return len(states) == len(wanted) and all(row["state"] == "ONLINE" for row in states)

    def written(self, model: str, label: str) -> set[str]:
        """Identifiers of the nodes that have an embedding of a model version."""
        return set(self._digests(model, label))

    def differing(self, model: str, label: str, ids: Sequence[str], embeddings: Matrix) -> list[int]:
        """Positions of the nodes whose embedding on the server is missing, or another than that of float32[ids, d]."""
        stored = self._digests(model, label)
        return [i for i, id in enumerate(ids) if stored.get(id) != _digest(embeddings[i])]

    def _digests(self, model: str, label: str) -> dict[str, str | None]:
        rows = self._run(with_names("stored_digests", **_names(model, label)), {})
        return {row["id"]: row["digest"] for row in rows}

    def note(self, model: str, corpus_sha256: str) -> None:
        """Note of which law a model version's embeddings are; "" while they are being written."""
        self._update(with_names("note_vectors"), {"model": model, "law": corpus_sha256, "n": self._number(model)})

    def hold(self, model: str, corpus_sha256: str) -> bool:
        """Return whether the server has a model version's embeddings of a law, all of them, and their indexes answer.

        Law that was taken away and came back has none, so they are counted.
        """
        rows = self._run(with_names("noted_vectors"), {"model": model})
        noted = rows[0] if rows else {"law": "", "n": 0}
        return noted["law"] == corpus_sha256 and noted["n"] == self._number(model) and self.online(model)

    def _number(self, model: str) -> int:
        counted = (with_names("count_embeddings", **_names(model, label)) for label in LABELS)
        return sum(self._run(statement, {})[0]["n"] for statement in counted)

    def nearest(self, model: str, label: str, vector: npt.NDArray[np.float32], k: int, where: Where = Where()) -> Neighbours:
        """Return the k nodes nearest to a vector among those that pass a filter.

        On a server whose index filters, inside it; elsewhere the nodes that pass are scored one by one where they
        are few, or the index is asked for more until k of them pass: the same nodes, but for what an approximate
        index may miss.
        """
        return self.ask_nearest(model, label, vector, k, where)()

    def ask_nearest(
        self, model: str, label: str, vector: npt.NDArray[np.float32], k: int, where: Where = Where()
    ) -> Callable[[], Neighbours]:
        """Ask the server as `nearest` does, now where one statement does it; the answer comes when it is called for."""
        conditions, parameters = where.conditions()
        parameters |= {"vector": vector.tolist(), "k": int(k)}
        names = {**_names(model, label), "conditions": " AND ".join(conditions)}
        if conditions and (where.beyond_index or not self.filters_in_index):
            return lambda: self._nearest_that_pass(names, parameters)
        asked = max(int(k), LEAST_ASKED)
        if conditions:
            rows = self._ask(with_names("nearest_in_filtered_index", **names), parameters | {"asked": asked})
        else:  # the procedure answers a millisecond or two before the clause does
            rows = self._ask(with_names("nearest", **names), parameters | {"k": asked})
        return lambda: _neighbours(rows(), k)

    def _nearest_that_pass(self, names: dict[str, str], parameters: dict[str, Any]) -> Neighbours:
        k: int = parameters["k"]
        n = self._run(with_names("count_passing", **names), parameters)[0]["n"]
        if n <= EXACT_LIMIT:
            return _neighbours(self._run(with_names("nearest_exactly", **names), parameters))
        wanted = min(k, n)
        asked = 2 * k
        while True:
            rows = self._run(with_names("nearest_that_pass", **names), parameters | {"k": asked})
            if len(rows[0]["ids"]) >= wanted or asked > 64 * n:
                return _neighbours(rows, k)
            asked *= 4

    def drop(self, model: str) -> None:
        """Remove the indexes and embeddings of a model version."""
        for label in LABELS:
            names = _names(model, label)
            self._update(with_names("drop_vector_index", **names), {})
            while self._update(with_names("remove_embeddings", **names), {})[0]["n"]:
                pass
        self._update(with_names("delete_vectors"), {"model": model})

    def models(self) -> set[str]:
        """Properties of all model versions that have an index."""
        rows = self._run(with_names("properties_of_vector_indexes"), {})
        return {row["properties"][0] for row in rows if row["properties"][0].startswith("embedding_")}


def _digest(embedding: Matrix) -> str:
    return hashlib.sha256(np.ascontiguousarray(embedding, np.float32).tobytes()).hexdigest()[:16]


def _filter_values(row: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {
        "act_kind": row["act_kind"],
        "jurisdiction": row["jurisdiction"],
        "first_day": row["first_day"],
        "end_day": row["end_day"],
    }
    above = list(row["above"])[:LEVELS]
    return values | {f"above_{level}": id for level, id in enumerate(above + [None] * (LEVELS - len(above)), 1)}


def _neighbours(rows: Rows, k: int | None = None) -> Neighbours:
    """Return the first k of the lists of one row. A server scores the cosine as (1 + cos) / 2."""
    return Neighbours(rows[0]["ids"][:k], 2 * np.array(rows[0]["scores"][:k], np.float64) - 1)
