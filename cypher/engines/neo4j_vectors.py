"""Vector indexes on a Neo4j server: a property and an index for each model version, on articles and on sections.

Versions stand beside each other: one is written, its indexes awaited, and only then is it made the active one.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np
import numpy.typing as npt

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
_AS_LISTS = "RETURN collect(id) AS ids, collect(score) AS scores"
"""One row with two lists is read many times faster than a row each."""
_FILTERS = ("act_id", "act_kind", "jurisdiction", "first_day", "end_day", *(f"above_{level}" for level in range(1, LEVELS + 1)))


@dataclass(frozen=True, slots=True)
class Where:
    """Which articles may be neighbours: of an act, a kind of act, a jurisdiction, below a section, in force on a day.

    ``section`` is the section's identifier and its level, 1 below the act.
    """

    act: str | None = None
    kind: str | None = None
    jurisdiction: str | None = None
    section: tuple[str, int] | None = None
    day: date | None = None

    @property
    def beyond_index(self) -> bool:
        """Whether an index cannot tell: the section lies deeper than the levels that articles carry."""
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
        if self.day is not None:
            found += ["n.first_day <= $day", "n.end_day > $day"]
            parameters["day"] = (self.day - date(1970, 1, 1)).days
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
    """The property that holds a model version's embeddings."""
    return "embedding_" + re.sub(r"\W", "_", model, flags=re.ASCII)


def _digest_of(model: str) -> str:
    """The property that holds what tells one embedding of a node from another."""
    return f"{property_of(model)}_digest"


def index_of(model: str, label: str) -> str:
    """The name of a model version's vector index over a label."""
    return f"{label.lower()}_{property_of(model)}"


class VectorStore:
    """Writes and asks the vector indexes of one server."""

    def __init__(self, run: Run, update: Run, ask: Ask, *, filters_in_index: bool) -> None:
        """Indexes through functions that run statements: one that reads, one that writes, one that reads while its caller
        goes on.

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
        statement = (
            f"UNWIND $rows AS row MATCH (n:{label} {{id: row.id}}) SET n.{_digest_of(model)} = row.digest WITH n, row "
            f"CALL db.create.setNodeVectorProperty(n, '{property_of(model)}', row.embedding) RETURN count(*) AS n"
        )
        for start in range(0, len(ids), BATCH):
            part = slice(start, start + BATCH)
            rows = [
                {"id": id, "embedding": row.tolist(), "digest": _digest(row)}
                for id, row in zip(ids[part], embeddings[part], strict=True)
            ]
            self._update(statement, {"rows": rows})
            advance(len(rows))

    def write_filters(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write what articles are filtered by: rows of ``id``, ``act_kind``, ``jurisdiction``, ``first_day`` and
        ``end_day`` (days since 1970-01-01, the end exclusive), and ``above``, the sections above from the act down.

        Only what differs is written: a change of an indexed property has the vector indexed again.
        """
        wanted = {row["id"]: _filter_values(row) for row in rows}
        columns = ", ".join(f"n.{name} AS {name}" for name in _FILTERS[1:])
        stored = self._run(f"MATCH (n:Article) RETURN n.id AS id, {columns}", {})
        there = {row.pop("id"): row for row in stored}
        different = [{"id": id, "values": values} for id, values in wanted.items() if there.get(id) != values]
        for start in range(0, len(different), BATCH):
            self._update(
                "UNWIND $rows AS row MATCH (n:Article {id: row.id}) SET n += row.values",
                {"rows": different[start : start + BATCH]},
            )

    def build(self, model: str, label: str, dimensions: int) -> None:
        """Make the index of a label, unless it is there, and wait until it answers.

        Raises:
            NotReady: the server has given up building it.
        """
        name = property_of(model)
        filters = f" WITH [{', '.join(f'n.{f}' for f in _FILTERS)}]" if label == "Article" and self.filters_in_index else ""
        # Full precision: quantised vectors would rank otherwise than those of the model's files.
        options = (
            f"{{indexConfig: {{`vector.dimensions`: {int(dimensions)}, `vector.similarity_function`: 'cosine', "
            "`vector.quantization.enabled`: false, `vector.hnsw.m`: 24, `vector.hnsw.ef_construction`: 200}}"
        )
        version = "CYPHER 25 " if filters else ""
        self._update(
            f"{version}CREATE VECTOR INDEX {index_of(model, label)} IF NOT EXISTS FOR (n:{label}) ON (n.{name}){filters} "
            f"OPTIONS {options}",
            {},
        )
        self.wait(model, label)

    def wait(self, model: str, label: str) -> None:
        """Wait until an index holds all that is written.

        Raises:
            NotReady: it is not there, or the server has given up building it.
            ServerUnavailable, QueryTimeout, GraphBusy, StorageFull: of the server, whatever its index does.
        """
        name = index_of(model, label)
        try:
            self._run("CALL db.awaitIndex($name, $seconds)", {"name": name, "seconds": BUILD_TIMEOUT_S})
        except (ServerUnavailable, QueryTimeout, GraphBusy, StorageFull):
            raise
        except LexgraphError as error:
            raise NotReady(f"vector index {name}: {error}") from None

    def online(self, model: str) -> bool:
        """Whether both indexes of a model version are there and answer."""
        wanted = [index_of(model, label) for label in LABELS]
        found = self._run("SHOW VECTOR INDEXES YIELD name, state WHERE name IN $names RETURN name, state", {"names": wanted})
        return len(found) == len(wanted) and all(row["state"] == "ONLINE" for row in found)

    def written(self, model: str, label: str) -> set[str]:
        """Identifiers of the nodes that have an embedding of a model version."""
        return set(self._digests(model, label))

    def differing(self, model: str, label: str, ids: Sequence[str], embeddings: Matrix) -> list[int]:
        """Positions of the nodes whose embedding on the server is missing, or another than that of float32[ids, d]."""
        there = self._digests(model, label)
        return [i for i, id in enumerate(ids) if there.get(id) != _digest(embeddings[i])]

    def _digests(self, model: str, label: str) -> dict[str, str | None]:
        name = property_of(model)
        rows = self._run(f"MATCH (n:{label}) WHERE n.{name} IS NOT NULL RETURN n.id AS id, n.{_digest_of(model)} AS digest", {})
        return {row["id"]: row["digest"] for row in rows}

    def note(self, model: str, corpus_sha256: str) -> None:
        """Note of which law a model version's embeddings are; "" while they are being written."""
        self._update(
            "MERGE (v:Vectors {id: $model}) SET v.corpus_sha256 = $law, v.n = $n RETURN v.id",
            {"model": model, "law": corpus_sha256, "n": self._number(model)},
        )

    def hold(self, model: str, corpus_sha256: str) -> bool:
        """Whether the server has a model version's embeddings of a law, all of them, and their indexes answer.

        Law that was taken away and came back has none, so they are counted.
        """
        rows = self._run("MATCH (v:Vectors {id: $model}) RETURN v.corpus_sha256 AS law, v.n AS n", {"model": model})
        noted = rows[0] if rows else {"law": "", "n": 0}
        return noted["law"] == corpus_sha256 and noted["n"] == self._number(model) and self.online(model)

    def _number(self, model: str) -> int:
        name = property_of(model)
        counted = (f"MATCH (n:{label}) WHERE n.{name} IS NOT NULL RETURN count(*) AS n" for label in LABELS)
        return sum(self._run(statement, {})[0]["n"] for statement in counted)

    def nearest(self, model: str, label: str, vector: npt.NDArray[np.float32], k: int, where: Where = Where()) -> Neighbours:
        """The k nodes nearest to a vector among those that pass a filter.

        On a server whose index filters, inside it; elsewhere the nodes that pass are scored one by one where they
        are few, or the index is asked for more until k of them pass: the same nodes, but for what an approximate
        index may miss.
        """
        return self.ask_nearest(model, label, vector, k, where)()

    def ask_nearest(
        self, model: str, label: str, vector: npt.NDArray[np.float32], k: int, where: Where = Where()
    ) -> Callable[[], Neighbours]:
        """As `nearest`; the server is asked now, where one statement does it, and the answer comes when it is called for."""
        conditions, parameters = where.conditions()
        parameters |= {"vector": vector.tolist(), "k": int(k)}
        name = index_of(model, label)
        if conditions and (where.beyond_index or not self.filters_in_index):
            return lambda: self._nearest_that_pass(name, label, property_of(model), conditions, parameters)
        asked = max(int(k), LEAST_ASKED)
        if conditions:
            inside = " AND ".join(conditions)
            rows = self._ask(
                f"CYPHER 25 MATCH (n:{label}) SEARCH n IN (VECTOR INDEX {name} FOR $vector WHERE {inside} LIMIT $asked) "
                f"SCORE AS score WITH n.id AS id, score ORDER BY score DESC, id LIMIT $k {_AS_LISTS}",
                parameters | {"asked": asked},
            )
        else:  # the procedure answers a millisecond or two before the clause does
            rows = self._ask(_through_index(name), parameters | {"k": asked})
        return lambda: _neighbours(rows(), k)

    def _nearest_that_pass(
        self, name: str, label: str, property: str, conditions: list[str], parameters: dict[str, Any]
    ) -> Neighbours:
        k: int = parameters["k"]
        passing = f"MATCH (n:{label}) WHERE {' AND '.join(conditions)} AND n.{property} IS NOT NULL "
        n = self._run(f"{passing} RETURN count(*) AS n", parameters)[0]["n"]
        if n <= EXACT_LIMIT:
            return _neighbours(
                self._run(
                    f"{passing} WITH n.id AS id, vector.similarity.cosine(n.{property}, $vector) AS score "
                    f"ORDER BY score DESC, id LIMIT $k {_AS_LISTS}",
                    parameters,
                )
            )
        wanted = min(k, n)
        asked = 2 * k
        while True:
            rows = self._run(_through_index(name, " AND ".join(conditions)), parameters | {"k": asked})
            if len(rows[0]["ids"]) >= wanted or asked > 64 * n:
                return _neighbours(rows, k)
            asked *= 4

    def drop(self, model: str) -> None:
        """Remove the indexes and embeddings of a model version."""
        for label in LABELS:
            self._update(f"DROP INDEX {index_of(model, label)} IF EXISTS", {})
            name = property_of(model)
            while self._update(
                f"MATCH (n:{label}) WHERE n.{name} IS NOT NULL WITH n LIMIT 10000 REMOVE n.{name}, n.{_digest_of(model)} "
                "RETURN count(*) AS n",
                {},
            )[0]["n"]:
                pass
        self._update("MATCH (v:Vectors {id: $model}) DELETE v", {"model": model})

    def models(self) -> set[str]:
        """Properties of all model versions that have an index."""
        rows = self._run("SHOW VECTOR INDEXES YIELD properties RETURN properties", {})
        return {row["properties"][0] for row in rows if row["properties"][0].startswith("embedding_")}


def _digest(embedding: Matrix) -> str:
    return hashlib.sha256(np.ascontiguousarray(embedding, np.float32).tobytes()).hexdigest()[:16]


def _through_index(name: str, condition: str = "") -> str:
    """The statement that asks an index for $k nodes and keeps those that fulfil a condition."""
    passing = f"WITH n, score WHERE {condition} " if condition else ""
    return (
        f"CALL db.index.vector.queryNodes('{name}', $k, $vector) YIELD node AS n, score {passing}"
        f"WITH n.id AS id, score ORDER BY score DESC, id {_AS_LISTS}"
    )


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
    """The first k of the lists of one row. A server scores the cosine as (1 + cos) / 2."""
    return Neighbours(rows[0]["ids"][:k], 2 * np.array(rows[0]["scores"][:k], np.float64) - 1)
