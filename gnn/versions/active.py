"""The version that serves: the pointer in the graph, and the model that it points to. Reads without torch."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from cypher.graph import Graph, Row, Statements, Store
from gnn.encoders.joined import QueryEncoder
from gnn.recipe import Recipe
from gnn.versions.files import development_metrics, dimensions_of, load_model, read_card, read_run, recipe_of, trained_bound
from gnn.versions.shared_folder import fetch_model
from search.corpus.corpus import Corpus
from search.vectors.model import VectorModel
from search.vectors.neo4j import ServedVectors

REPLACED = "replaced"
"""Status of a version that served until a person chose another in its place."""


def register(store: Store, ids: Sequence[str], active: str | None) -> None:
    """Enter model versions into the graph and, where one is named, make it active: all in one transaction."""
    described = [_described(store.home, id) for id in ids]

    def enter(graph: Statements) -> None:
        rows = {row["id"]: row for row in graph.rows("models")}
        for values in described:
            before = rows.get(values["id"], {"status": "ready", "activated": ""})
            graph.write("delete_model", id=values["id"])
            graph.write("create_model", **values, status=before["status"], activated=before["activated"] or "")
        if active is not None and rows.get(active, {"status": ""})["status"] != "active":
            flip(graph, active)

    with store.writing() as graph:
        graph.atomically(enter)


def _described(home: Path, id: str) -> Row:
    """Return what the graph keeps of a version."""
    card = read_card(home, id)
    return {
        "id": id,
        "created": read_run(home, id)["created"],
        "recipe": card["recipe"]["name"],
        "encoder": card["recipe"]["encoder"]["name"],
        "dimensions": dimensions_of(home, id),
        "corpus_sha256": card["corpus_sha256"],
        "metrics": json.dumps(development_metrics(home, id), sort_keys=True),
    }


def flip(transaction: Statements, id: str, *, by_hand: bool = False) -> None:
    """Move the active pointer, within a transaction.

    Args:
        by_hand: a person chose the version: the one before does not come back by itself (`REPLACED`).
    """
    transaction.write("retire_models", status=REPLACED if by_hand else "ready")
    transaction.write("activate_model", id=id, now=datetime.now(UTC).isoformat(timespec="microseconds"))


def model_rows(graph: Graph) -> list[Row]:
    """Return the model versions that the graph names, oldest first."""
    return graph.rows("models")


def active_id(graph: Graph) -> str | None:
    """Return the identifier of the active model version, None where there is none."""
    return next((row["id"] for row in model_rows(graph) if row["status"] == "active"), None)


def active_recipe(home: Path, graph: Graph, shelf: str = "") -> Recipe | None:
    """Return the recipe that the active version was trained by, whatever its file says by now; None without one.

    Args:
        shelf: as `active_model` has it.
    """
    id = active_id(graph)
    if id is None:
        return None
    fetch_model(home, shelf, id)
    return recipe_of(home, id)


def active_model(home: Path, graph: Graph, corpus: Corpus, threads: int = 2, shelf: str = "") -> VectorModel | None:
    """Return the active model version, over the positions of a corpus; None where there is none.

    Args:
        shelf: shared place of model files (`gnn.versions.shared_folder`), for a version that is not under ``home``.
    """
    id = active_id(graph)
    if id is None:
        return None
    fetch_model(home, shelf, id)
    return served_model(home, graph, corpus, id, threads)


def served_model(
    home: Path, graph: Graph, corpus: Corpus, id: str, threads: int = 2, encoder: QueryEncoder | None = None
) -> VectorModel:
    """Return a version that asks the server for its nearest articles where the server has its vectors.

    Args:
        encoder: as `load_model` takes it.
    """
    model = load_model(home, id, corpus, threads, encoder)
    if graph.vectors is None or not graph.vectors.online(id):
        return model
    served = ServedVectors(graph.vectors, id, corpus, model.scale, trained_bound(home, id, model.scale))
    return replace(model, nearest=served.ask)
