"""The table of formats, and what `lexgraph ingest` does with a path: recognise, read, load, link."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from cypher.graph import Graph, Store
from ingest import legi, service_public
from ingest.loader import LoadReport, ReadAct, load_acts, load_questions
from ingest.quarantine import quarantined, write_quarantine
from schema.errors import BadSource, MissingFile
from schema.progress import Progress, silent
from schema.records import Rejected, SourceFile


@dataclass(frozen=True, slots=True)
class ActFormat:
    """A format of law: which files of a folder are of it, and the reader of one file.

    ``version`` is raised when the reader reads a file otherwise than before, so that it is read again.
    """

    name: str
    pattern: str
    version: int
    read: ReadAct
    recognises: Callable[[Path], bool]


def _starts_like_legi(path: Path) -> bool:
    with path.open("rb") as stream:
        return path.suffix == ".json" and b'"LEGITEXT' in stream.read(4096)


ACT_FORMATS = (ActFormat("legi", legi.FILE_PATTERN, 1, legi.read_act, _starts_like_legi),)
QUESTION_FORMATS = (service_public.SOURCE,)


def ingest(store: Store, path: Path, format: str | None = None, *, progress: Progress = silent) -> LoadReport:
    """Load a file or a folder into the graph; its format is recognised unless it is named.

    Raises:
        MissingFile: there is nothing at ``path``.
        BadSource: nothing of a known format is there.
    """
    if not path.exists():
        raise MissingFile(f"{path}: no such file or folder")
    if format == service_public.SOURCE or (format is None and (path / service_public.FOLDERS[0]).is_dir()):
        return _ingest_service_public(store, path, progress)
    for act_format in ACT_FORMATS:
        if format not in (None, act_format.name):
            continue
        files = sorted(path.glob(act_format.pattern)) if path.is_dir() else [path]
        if format is None and not path.is_dir() and not act_format.recognises(path):
            continue
        if files:
            sources = [SourceFile(f"{act_format.name}/{f.name}", f, f"{act_format.name}-{act_format.version}") for f in files]
            keep = partial(_keep_rejected, store.home, act_format.name)
            return load_acts(store, sources, act_format.read, progress=progress, before_release=keep)
    known = ", ".join([f.name for f in ACT_FORMATS] + list(QUESTION_FORMATS))
    raise BadSource(path, "", f"no file of a known format here (formats: {known})")


def _keep_rejected(home: Path, format: str, report: LoadReport) -> None:
    """Quarantine what a load rejected, beside what still waits there from files that it passed over."""
    if report.files:
        waiting = [r for r in quarantined(home).get(format, []) if r.file not in report.files]
        write_quarantine(home, format, [*waiting, *report.rejected])


def _ingest_service_public(store: Store, folder: Path, progress: Progress) -> LoadReport:
    files = service_public.sheet_files(folder)
    rejected: list[Rejected] = []
    sheets = list(service_public.read_sheets(files, rejected, progress))
    with store.reading() as graph:
        articles = {source: row["id"] for row in graph.rows("article_source_ids") for source in row["source_ids"]}
        below = articles_below_sections(graph)
    questions = list(service_public.questions_of(sheets, articles, below))
    report = load_questions(store, service_public.SOURCE, questions)
    report.rejected += rejected
    report.read_files = len(files)
    write_quarantine(store.home, service_public.SOURCE, rejected)
    return report


def articles_below_sections(graph: Graph) -> dict[str, frozenset[str]]:
    """Identifiers of all articles below each section, by every publisher's identifier of the section."""
    parents = {row["id"]: row["parent_id"] for row in graph.rows("corpus_sections")}
    below: dict[str, set[str]] = defaultdict(set)
    for row in graph.rows("corpus_articles"):
        place = row["parent_id"]
        while place in parents:
            below[place].add(row["id"])
            place = parents[place]
    return {source: frozenset(below[row["id"]]) for row in graph.rows("section_source_ids") for source in row["source_ids"]}


def _verbs(report: LoadReport) -> Iterable[tuple[str, Mapping[str, int]]]:
    return (("created", report.created), ("changed", report.changed), ("moved", report.moved), ("removed", report.removed))


def summary(report: LoadReport) -> Iterable[tuple[str, str]]:
    """Rows (what, how many) that tell a person what a load did."""
    for verb, counts in _verbs(report):
        for label, n in counts.items():
            if n:
                yield f"{label.lower()}s {verb}", f"{n:,}"
    if report.unchanged_files:
        yield "files unchanged", f"{report.unchanged_files:,}"
    if report.rejected:
        yield "records rejected", f"{len(report.rejected):,}"
