"""Files and archives that the graph was made from."""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from cypher.graph import Row, Statements, Store
from cypher.origins import origins
from ingest.fetching.repositories import reference_lines
from schema.errors import NotReady
from schema.records import Origin


def file_sha256(path: Path, reader: str) -> str:
    """Return the fingerprint of a file as one reader reads it; a new version of the reader makes it anew.

    Of a folder, which is a repository, it is that of its references.
    """
    digest = hashlib.sha256(reader.encode())
    if path.is_dir():
        for line in reference_lines(path):
            digest.update(line)
        return digest.hexdigest()
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class StoredSources:
    """The files that a graph was made from.

    Attributes:
        rows: by name of the file.
        whole: the last load came to its end.
        law: fingerprint of the law and the questions that the graph holds.
        origins: places that they came from, by name of the collection.
    """

    rows: Mapping[str, Row]
    whole: bool
    law: str = ""
    origins: Mapping[str, Origin] = field(default_factory=dict[str, Origin])

    def fingerprint(self, name: str) -> str:
        """Return the fingerprint of a file as it was read, "" where it must be read again."""
        return self.rows[name]["sha256"] if name in self.rows else ""

    def waits(self, name: str) -> bool:
        """Return whether a file has questions that name what the graph lacks."""
        return bool(self.rows[name]["waits_since"])

    def may_go_on(self, name: str) -> bool:
        """Return whether a file that waits may find now what it waits for: the graph is another than it was read into."""
        return self.rows[name]["waits_since"] != self.law

    def collection_of(self, name: str) -> str:
        """Return the collection of a file: as it was read, else as its name says, which begins with it."""
        stored = self.rows[name]["collection"] if name in self.rows else ""
        return stored or ("/".join(name.split("/")[:2]) if name.count("/") > 1 else "")


def law_fingerprint(graph: Statements, corpus: str) -> str:
    """Return the fingerprint of a graph: of its law, which is ``corpus``, and its questions."""
    return hashlib.sha256(f"{corpus} {graph.rows('graph_row')[0]['questions_sha256']}".encode()).hexdigest()[:16]


def stored_sources(store: Store) -> StoredSources:
    """Return the files that the graph was made from; none where there is no graph."""
    try:
        with store.reading() as graph:
            rows = {row["id"]: row for row in graph.rows("sources")}
            corpus = graph.rows("graph_row")[0]["corpus_sha256"]
            known = {origin.id: origin for origin in origins(graph)}
            return StoredSources(rows, bool(corpus) or not rows, law_fingerprint(graph, corpus), known)
    except NotReady:
        return StoredSources({}, whole=True)


def archive_name(collection: str) -> str:
    """Return the name that the graph knows the archive of a collection by, whatever formats it holds."""
    return f"archive/{collection.rpartition('/')[2]}"


def remember_archive(
    store: Store, collection: str, sha256: str, files: int, *, waiting: bool, also: Callable[[Statements], object]
) -> None:
    """Note the archive that files were read from, so that the same archive need not be unpacked again.

    Args:
        waiting: some of its questions name what the graph lacks.
        also: what is written with it, in the same release.
    """
    row: Row = {"id": archive_name(collection), "collection": "", "reader": "archive", "rank": 0, "sha256": sha256}
    row |= {"records": files, "rejected": 0, "passed_over": []}
    with store.writing() as graph:
        corpus = graph.rows("graph_row")[0]["corpus_sha256"]
        row["waits_since"] = law_fingerprint(graph, corpus) if waiting else ""
        graph.atomically(partial(_write_archive, row=row, also=also))


def _write_archive(graph: Statements, *, row: Row, also: Callable[[Statements], object]) -> None:
    graph.write("delete_sources", ids=[row["id"]])
    graph.write("create_sources", rows=[row])
    also(graph)
