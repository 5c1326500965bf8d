"""Model versions: written beside each other, each whole or not at all, one of them active. Reads without torch."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from cypher.graph import Graph, Row, Statements, Store
from gnn.versions.files import Card, load_model, stored_dimensions, trained_bound
from gnn.versions.shared_folder import fetch_model
from search.corpus.corpus import Corpus
from search.vectors.model import VectorModel
from search.vectors.neo4j import ServedVectors

if TYPE_CHECKING:  # torch stays out of a process that only serves
    pass


REPLACED = "replaced"
"""Status of a version that served until a person chose another in its place."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What the graph keeps of a version: its card, when it was made (ISO 8601), its measures on development questions."""

    card: Card
    created: str
    metrics: dict[str, float]


def register(store: Store, entries: Sequence[Entry], active: str | None) -> None:
    """Enter model versions into the graph and, where one is named, make it active: all in one transaction."""
    dimensions = {e.card["id"]: stored_dimensions(store.home, e.card["id"]) for e in entries}

    def enter(graph: Statements) -> None:
        there = {row["id"]: row for row in graph.rows("models")}
        for entry in entries:
            card = entry.card
            before = there.get(card["id"], {"status": "ready", "activated": ""})
            graph.write("delete_model", id=card["id"])
            graph.write(
                "create_model",
                id=card["id"],
                created=entry.created,
                recipe=card["recipe"]["name"],
                encoder=card["recipe"]["encoder"]["name"],
                dimensions=dimensions[card["id"]],
                corpus_sha256=card["corpus_sha256"],
                metrics=json.dumps(entry.metrics, sort_keys=True),
                status=before["status"],
                activated=before["activated"] or "",
            )
        if active is not None and there.get(active, {"status": ""})["status"] != "active":
            flip(graph, active)

    with store.writing() as graph:
        graph.atomically(enter)


def flip(transaction: Statements, id: str, *, by_hand: bool = False) -> None:
    """Move the active pointer, within a transaction.

    Args:
        by_hand: whether a person chose the version: then the one before does not come back by itself (`REPLACED`).
    """
    transaction.write("retire_models", status=REPLACED if by_hand else "ready")
    transaction.write("activate_model", id=id, now=datetime.now(UTC).isoformat(timespec="microseconds"))


def model_rows(graph: Graph) -> list[Row]:
    """The model versions that the graph names."""
    return graph.rows("models")


def active_id(graph: Graph) -> str | None:
    """The identifier of the active model version, if there is one."""
    return next((row["id"] for row in model_rows(graph) if row["status"] == "active"), None)


def active_model(home: Path, graph: Graph, corpus: Corpus, threads: int = 2, shelf: str = "") -> VectorModel | None:
    """The active model version, over the positions of a corpus; None where there is none.

    Args:
        shelf: shared place of model files (`gnn.versions.shared_folder`), asked for what is not under ``home``.
    """
    id = active_id(graph)
    if id is None:
        return None
    fetch_model(home, shelf, id)
    return served_model(home, graph, corpus, id, threads)


def served_model(home: Path, graph: Graph, corpus: Corpus, id: str, threads: int = 2) -> VectorModel:
    """A version that asks the server for its nearest articles where the server has its vectors."""
    model = load_model(home, id, corpus, threads)
    if graph.vectors is None or not graph.vectors.online(id):
        return model
    served = ServedVectors(graph.vectors, id, corpus, model.scale, trained_bound(home, id, model.scale))
    return replace(model, nearest=served.ask)
