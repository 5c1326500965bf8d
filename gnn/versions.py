"""Model versions in service: which there are, which one is active, going back to the one before, and pruning."""

import json
import shutil
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from cypher.graph import Graph, Store
from cypher.vectors import VectorStore
from gnn.inductive import extend
from gnn.registry import FOLDER, active_id, flip, load_model, model_folder, model_rows, trained_bound
from schema.errors import NotFound, NotReady
from schema.progress import Progress, silent
from search.corpus import Corpus, CorpusText
from search.retrieval import VectorModel
from search.served_vectors import filter_rows, for_cosine
from search.text_index import TextIndex

_NEVER = ""
Advance = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class ModelVersion:
    """One version: what the graph says of it, the bytes of its files here, and whether a server has its vectors."""

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
    """All versions, newest first; ``indexed`` is None where embeddings are read from files."""
    found: list[ModelVersion] = []
    for row in model_rows(graph):
        folder = model_folder(store.home, row["id"])
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) if folder.is_dir() else 0
        indexed = graph.vectors.online(row["id"]) if graph.vectors else None
        values = {**row, "metrics": json.loads(row["metrics"] or "{}"), "activated": row["activated"] or _NEVER}
        found.append(ModelVersion(**values, bytes=size, indexed=indexed))
    return found[::-1]


def make_ready(
    store: Store,
    graph: Graph,
    index: TextIndex,
    text: CorpusText,
    id: str,
    *,
    words: Sequence[Sequence[str]] | None = None,
    threads: int = 2,
    progress: Progress = silent,
) -> int:
    """Make a version fit to serve the law of an index: new law embedded, vectors on the server; how many were made.

    What is there is left alone.

    Raises:
        NotReady: the version's files are not there.
        StorageFull: the disk is full.
        ServerUnavailable: the server went away; run again, it goes on.
    """
    folder = model_folder(store.home, id)
    with progress("embedding new law", None) as advance:
        renewed = extend(folder, index.corpus, text, words, advance=advance, threads=threads)
    if graph.vectors is None:
        return len(renewed.articles) + len(renewed.sections)
    model = load_model(store.home, id, index, threads)
    with progress("writing vectors", len(index.corpus.articles) + len(index.corpus.sections)) as advance:
        bound = trained_bound(store.home, id, model.scale)
        return _publish(graph.vectors, index.corpus, model, bound, {*renewed.articles, *renewed.sections}, advance)


def _publish(vectors: VectorStore, corpus: Corpus, model: VectorModel, bound: float, renewed: Set[str], advance: Advance) -> int:
    """Write a version's embeddings of the law and wait for their indexes; those of before are left, but for ``renewed``."""
    vectors.write_filters(filter_rows(corpus))
    known = np.isfinite(model.bias)
    rows = {
        "Article": (corpus.articles, known, for_cosine(model.articles, model.bias, model.scale, bound)),
        "Section": (corpus.sections, np.ones(len(corpus.sections), bool), np.asarray(model.sections)),
    }
    written = 0
    for label, (ids, present, matrix) in rows.items():
        there = vectors.written(model.id, label) - renewed
        missing = [i for i, id in enumerate(ids) if present[i] and id not in there]
        vectors.write(model.id, label, [ids[i] for i in missing], matrix[missing], advance=advance)
        vectors.build(model.id, label, matrix.shape[1])
        written += len(missing)
    return written


def activate(store: Store, id: str) -> str | None:
    """Make a version the active one, in one transaction; the one that was active before.

    Raises:
        NotFound: the graph names no such version.
        NotReady: its files or its vectors are not there.
    """
    with store.writing() as graph:
        if id not in {row["id"] for row in model_rows(graph)}:
            raise NotFound(f"no such model: {id} (`lexgraph models` lists them)")
        if not model_folder(store.home, id).is_dir():
            raise NotReady(f"model {id}: {model_folder(store.home, id)} is not there")
        if graph.vectors is not None and not graph.vectors.online(id):
            raise NotReady(f"model {id}: its vectors are not on the server: run `lexgraph models activate` again")
        before = active_id(graph)
        if before != id:
            graph.atomically(lambda transaction: flip(transaction, id))
        return before


def rollback(store: Store) -> tuple[str, str]:
    """Make the version that was active before the present one active again; both, the present one first.

    Raises:
        NotReady: there is none to go back to.
    """
    with store.reading() as graph:
        rows = model_rows(graph)
    active = next((row for row in rows if row["status"] == "active"), None)
    earlier = [row for row in rows if row["activated"] and active and row["activated"] < active["activated"]]
    if active is None or not earlier:
        raise NotReady("no model version was active before the present one")
    chosen = max(earlier, key=lambda row: row["activated"])["id"]
    activate(store, chosen)
    return active["id"], chosen


def prune(store: Store, keep: int) -> list[str]:
    """Remove all but ``keep`` versions; those removed.

    Kept are the active one, those that were active most recently, and what was trained on the same law beside them,
    for comparison.
    """
    with store.exclusive("models"), store.writing() as graph:
        rows = model_rows(graph)
        served = sorted((row for row in rows if row["activated"]), key=lambda row: (row["status"] == "active", row["activated"]))
        kept = served[-max(keep, 1) :]
        laws = {row["corpus_sha256"] for row in kept}
        others = {row["id"] for row in served[: -max(keep, 1)]}
        gone = [row["id"] for row in rows if row["id"] in others or row["corpus_sha256"] not in laws]
        if not served:
            return []
        for id in gone:
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
