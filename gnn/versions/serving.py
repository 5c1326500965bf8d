"""The care of model versions: list them, make one ready, choose one, go back to the one before, prune."""

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cypher.engines.neo4j_vectors import VectorStore
from cypher.graph import Graph, Store
from gnn.model.inductive import can_extend, extend, law_folder
from gnn.model.wordings import embed_wordings, wordings_file
from gnn.versions.active import active_id, flip, model_rows
from gnn.versions.files import load_model, need_folder, read_card, trained_bound
from gnn.versions.shared_folder import FOLDER, model_folder, remove_shared
from runtime.progress import Progress, silent
from schema.errors import NotFound, NotReady
from search.corpus.corpus import Corpus, CorpusText
from search.vectors.model import VectorModel
from search.vectors.neo4j import filter_rows, for_cosine

Advance = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """A model version.

    Attributes:
        activated: the time when it last began to serve; empty for one that never did.
        bytes: size of its files on this machine.
        indexed: a server has its vectors; None where embeddings are read from files.
    """

    id: str
    status: str
    recipe: str
    encoder: str
    dimensions: int
    created: str
    activated: str
    corpus_sha256: str
    metrics: dict[str, float]
    bytes: int
    indexed: bool | None


def versions(store: Store, graph: Graph) -> list[ModelVersion]:
    """Return all versions, newest first."""
    listed: list[ModelVersion] = []
    for row in model_rows(graph):
        folder = model_folder(store.home, row["id"])
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
        indexed = graph.vectors.online(row["id"]) if graph.vectors else None
        values: dict[str, Any] = {**row, "metrics": json.loads(row["metrics"] or "{}"), "activated": row["activated"] or ""}
        listed.append(ModelVersion(**values, bytes=size, indexed=indexed))
    return listed[::-1]


def is_ready(store: Store, graph: Graph, id: str, corpus_sha256: str) -> bool:
    """Return whether a version has its embeddings of a law: its files here, and on a server its vectors.

    Raises:
        NotReady: the version's files are missing.
    """
    folder = need_folder(store.home, id)
    trained_on = read_card(store.home, id)["corpus_sha256"]
    here = trained_on == corpus_sha256 or law_folder(folder, corpus_sha256).is_dir() or not can_extend(folder)
    here &= wordings_file(folder, corpus_sha256).exists() or not can_extend(folder) or not graph.rows("known_wordings")
    return here and (graph.vectors is None or graph.vectors.hold(id, corpus_sha256))


def make_ready(
    store: Store,
    graph: Graph,
    corpus: Corpus,
    text: CorpusText,
    id: str,
    *,
    threads: int = 2,
    progress: Progress = silent,
) -> int:
    """Make a version fit to serve the law: new law embedded, vectors on the server; return how many were made.

    Embeddings that exist are left alone; those that a server has of another law are written anew, whichever is older.

    Raises:
        NotReady: the version's files are missing.
        GraphBusy: another process is writing vectors.
        StorageFull: the disk is full.
        ServerUnavailable: the server went away; run again, it goes on.
    """
    folder = model_folder(store.home, id)
    with progress("embedding new law", 0) as advance:
        renewed = extend(folder, corpus, text, advance=advance, threads=threads)
        if can_extend(folder):
            options = read_card(store.home, id)["recipe"]["document"]
            embed_wordings(folder, options, corpus, text, advance=advance, threads=threads)
    if graph.vectors is None:
        return len(renewed.articles) + len(renewed.sections)
    model = load_model(store.home, id, corpus, threads)
    with progress("writing vectors", len(corpus.articles) + len(corpus.sections)) as advance:
        bound = trained_bound(store.home, id, model.scale)
        with store.exclusive("vectors"):
            return _publish(graph.vectors, corpus, model, bound, advance)


def _publish(vectors: VectorStore, corpus: Corpus, model: VectorModel, bound: float, advance: Advance) -> int:
    """Write a version's embeddings of the law where the server has others or none, and wait for their indexes."""
    vectors.write_filters(filter_rows(corpus))
    embedded = np.isfinite(model.bias)
    rows = {
        "Article": (corpus.articles, embedded, for_cosine(model.articles, model.bias, model.scale, bound)),
        "Section": (corpus.sections, np.ones(len(corpus.sections), bool), np.asarray(model.sections)),
    }
    written = 0
    for label, (ids, present, matrix) in rows.items():
        wanted = [i for i in vectors.differing(model.id, label, ids, matrix) if present[i]]
        if wanted and not written:
            vectors.note(model.id, "")  # until it is done they are of no one law
        vectors.write(model.id, label, [ids[i] for i in wanted], matrix[wanted], advance=advance)
        vectors.build(model.id, label, matrix.shape[1])
        written += len(wanted)
    vectors.note(model.id, corpus.sha256)
    return written


def need_version(graph: Graph, id: str) -> str:
    """Return an identifier that the graph names a version by.

    Raises:
        NotFound: it names no such one.
    """
    if id not in {row["id"] for row in model_rows(graph)}:
        raise NotFound(f"no model {id}; `lexgraph models` lists them")
    return id


def activate(store: Store, id: str) -> str | None:
    """Make a version the active one, in one transaction, as a person wants it; return the one that was active before.

    `gnn.retraining.retrain.retrain` does not make that one active again.

    Raises:
        NotFound: the graph names no such version.
        NotReady: its files or its vectors are missing (`make_ready` makes the latter).
    """
    with store.writing() as graph:
        need_version(graph, id)
        need_folder(store.home, id)
        if graph.vectors is not None and not graph.vectors.online(id):
            raise NotReady(f"model {id}: its vectors are not on the server: run `lexgraph models activate {id}`")
        before = active_id(graph)
        if before != id:
            graph.atomically(lambda transaction: flip(transaction, id, by_hand=True))
        return before


def one_before(graph: Graph) -> str:
    """Return the version that was active before the present one.

    Raises:
        NotReady: no version was.
    """
    rows = model_rows(graph)
    active = next((row for row in rows if row["status"] == "active"), None)
    earlier = [row for row in rows if row["activated"] and active and row["activated"] < active["activated"]]
    if not earlier:
        raise NotReady("no model version was active before the present one")
    return max(earlier, key=lambda row: row["activated"])["id"]


def prune(store: Store, keep: int, shelf: str = "") -> list[str]:
    """Remove all but ``keep`` versions; return those removed.

    Kept are the active one, those that were active most recently, and the versions trained on the same law beside them,
    for comparison. For one job at a time (``store.exclusive("models")``, which the caller holds).

    Raises:
        LexgraphError: the shelf refuses a removal; versions before it are gone, and a second run goes on.
    """
    with store.writing() as graph:
        rows = model_rows(graph)
        served = sorted((row for row in rows if row["activated"]), key=lambda row: (row["status"] == "active", row["activated"]))
        kept = served[-max(keep, 1) :]
        laws = {row["corpus_sha256"] for row in kept}
        others = {row["id"] for row in served[: -max(keep, 1)]}
        gone = [row["id"] for row in rows if row["id"] in others or row["corpus_sha256"] not in laws]
        if not served:
            return []
        for id in gone:
            remove_shared(shelf, id)  # first: where that fails the graph still names the version, to try again
            if graph.vectors is not None:
                graph.vectors.drop(id)
            graph.write("delete_model", id=id)
            _remove(store.home, id)
        return gone


def _remove(home: Path, id: str) -> None:
    folder = model_folder(home, id)
    if folder.is_dir():
        # Renamed first: killed halfway, what is left does not look like a version.
        gone = folder.rename(home / FOLDER / f".gone-{id}")
        shutil.rmtree(gone, ignore_errors=True)
