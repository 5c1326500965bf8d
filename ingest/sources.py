"""The table of formats, and what `lexgraph ingest` does with a path: recognise, read, load, link."""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cypher.engines.ladybug import exclusive
from cypher.graph import Graph, Store
from ingest.citations import annotate
from ingest.fetching.archives import is_archive, unpacked
from ingest.loading.known_sources import StoredSources, archive_name, collection_of, file_sha256, remember_archive, stored_sources
from ingest.loading.load import load_acts
from ingest.loading.quarantine import quarantined, write_quarantine
from ingest.loading.questions import load_questions
from ingest.loading.report import LoadReport
from ingest.loading.spool import ReadFile
from ingest.readers import akoma_ntoso, beir, bsard, coliee, eu_acts, jsonl, legalize, legi, service_public
from runtime.progress import Progress, silent
from schema.errors import BadSource, MissingFile
from schema.records import Rejected, SourceFile


@dataclass(frozen=True, slots=True)
class Format:
    """A format of law: which files are of it, and the reader of one file.

    ``version`` is raised when the reader reads a file otherwise than before, so that it is read again.
    """

    name: str
    pattern: str
    version: int
    read: ReadFile
    recognises: Callable[[Path], bool]

    @property
    def read_whole(self) -> ReadFile:
        """The reader, with what the words of its acts say."""
        return partial(annotate.read_with_references, self.read)

    @property
    def reader(self) -> str:
        """Name and version of all that reads a file of it."""
        return f"{self.name}-{self.version}.{annotate.VERSION}"


FORMATS = (
    # Of two formats that give the same act, the first is the better source.
    Format("legi", legi.FILE_PATTERN, 2, legi.read, legi.recognises),
    Format("legalize", legalize.FILE_PATTERN, 2, legalize.read, legalize.recognises),
    Format("eu-acts", eu_acts.FILE_PATTERN, 2, eu_acts.read, eu_acts.recognises),
    Format("akoma-ntoso", akoma_ntoso.FILE_PATTERN, 1, akoma_ntoso.read, akoma_ntoso.recognises),
    Format("bsard", bsard.FILE_PATTERN, 2, bsard.read, bsard.recognises),
    Format("coliee", coliee.FILE_PATTERN, 1, coliee.read, coliee.recognises),
    Format("jsonl", jsonl.FILE_PATTERN, 2, jsonl.read, jsonl.recognises),
    Format("beir", beir.FILE_PATTERN, 1, beir.read, beir.recognises),
)
QUESTION_FORMATS = (service_public.SOURCE,)
FORMAT_NAMES = (*(f.name for f in FORMATS), *QUESTION_FORMATS)
_UNPACKED = "unpacked-"
_VERSION = re.compile(r"[-_.]v?\d[\w.-]*$")


def ingest(
    store: Store,
    path: Path,
    format: str | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
    report: LoadReport | None = None,
) -> LoadReport:
    """Load a file, a folder or an archive into the graph; formats are recognised unless one is named.

    A folder or an archive is a release of a collection, which is known by its name without a version: what an earlier
    release had and this one has not disappears from the graph. Each format of it is loaded by itself.

    Args:
        report: to be added to; it says what was loaded before an error as well.

    Raises:
        MissingFile: there is nothing at ``path``.
        BadSource: nothing of a known format is there.
        TooMuchGone: more of the law would disappear than is believed (`ingest.loading.load.load_acts`), and ``force`` is not set.
        GraphBusy: another process is writing, or unpacks an archive.
    """
    report = LoadReport() if report is None else report
    if not path.exists():
        raise MissingFile(f"{path}: no such file or folder")
    if format is not None and format not in FORMAT_NAMES:
        raise BadSource(path, "", f"no such format: {format} (formats: {', '.join(FORMAT_NAMES)})")
    if format == service_public.SOURCE or (format is None and (path / service_public.FOLDERS[0]).is_dir()):
        report.include(_ingest_service_public(store, path, progress))
        return report
    found = False
    for collection in _collections(path):
        found |= _ingest_collection(store, collection, format, report, force=force, progress=progress)
    if not found:
        if format is not None and path.is_dir():
            raise BadSource(path, "", f"no file here looks like {format}; name the file itself to have it read as that")
        raise BadSource(path, "", f"no file of a known format here (formats: {', '.join(FORMAT_NAMES)})")
    return report


@dataclass(frozen=True, slots=True)
class _Release:
    """Files that belong together: those of a folder or an archive, or one file alone."""

    name: str
    place: Path
    whole: bool
    archive: bool = False


def _collections(path: Path) -> Iterator[_Release]:
    """A path, and every archive below it."""
    if is_archive(path):
        yield _Release(collection_name(path), path, whole=True, archive=True)
    elif path.is_dir():
        yield _Release(collection_name(path), path, whole=True)
        for inner in sorted(p for p in path.rglob("*") if is_archive(p)):
            yield _Release(collection_name(inner), inner, whole=True, archive=True)
    else:
        yield _Release(collection_name(path.parent), path, whole=False)


def collection_name(path: Path) -> str:
    """What releases of a collection have in common: the name of its folder or archive, without suffixes and a version.

    >>> collection_name(Path("legi-data-2.513.0/data")), collection_name(Path("legalize-lu.tar.xz"))
    ('legi-data', 'legalize-lu')
    """
    path = path.absolute()
    name = path.name.split(".tar")[0].removesuffix(".zip").removesuffix(".tgz")
    if name == "data" and path.parent.name:
        name = path.parent.name
    return _VERSION.sub("", name) or name


def _ingest_collection(
    store: Store, collection: _Release, format: str | None, report: LoadReport, *, force: bool, progress: Progress
) -> bool:
    """Load the files of a collection, format by format; whether there were any."""
    with ExitStack() as held:
        place, sha256 = collection.place, ""
        stored = stored_sources(store)
        if collection.archive:
            sha256 = file_sha256(place, ",".join(f.reader for f in FORMATS))
            known = archive_name(collection.name)
            if stored.whole and stored.fingerprint(known) == sha256 and not (stored.waits(known) and stored.may_go_on(known)):
                report.unchanged_files += int(stored.rows[known]["records"])
                return True
            folder = held.enter_context(_folder_to_unpack(store.home))
            unpacked(place, folder)
            place = folder
        root = place if place.is_dir() else place.parent
        groups, others = _files(place, format, lambda format, path: _name(format, collection, root, path) in stored.rows)
        report.unrecognised += others
        if not groups and not any(is_archive(path) for path in place.rglob("*")):
            return False  # by mistake rather than a release without law
        broken = waiting = 0
        for number, chosen in enumerate(FORMATS):
            files = groups.get(chosen.name, [])
            wanted = collection.whole and format in (None, chosen.name)
            if not files and not (wanted and _was_there(store.home, chosen, collection, stored)):
                continue
            sources = [SourceFile(_name(chosen, collection, root, file), file, chosen.reader, number) for file in files]
            one = load_acts(
                store,
                sources,
                chosen.read_whole,
                collection=f"{chosen.name}/{collection.name}",
                whole=collection.whole,
                force=force,
                progress=progress,
                before_release=partial(_keep_rejected, store.home, chosen.name, collection, {source.name for source in sources}),
            )
            report.include(one)
            broken += one.broken_files
            waiting += one.waiting_files
        if collection.archive and format is None and not broken:
            remember_archive(store, collection.name, sha256, sum(map(len, groups.values())), waiting=waiting > 0)
        return any(groups.values())


@contextmanager
def _folder_to_unpack(home: Path) -> Generator[Path]:
    """A folder for what is in an archive; what killed loads left goes first. One archive at a time is unpacked in a home."""
    with exclusive(home, "archives"):
        for left in home.glob(f"{_UNPACKED}*"):
            shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(dir=home, prefix=_UNPACKED) as folder:
            yield Path(folder)


def _was_there(home: Path, format: Format, collection: _Release, stored: StoredSources) -> bool:
    """Whether an earlier release of a collection had files of a format, if only some that could not be read."""
    name = f"{format.name}/{collection.name}"
    waiting = any(record.source.startswith(f"{name}/") for record in quarantined(home).get(format.name, []))
    return waiting or any(collection_of(id, stored.rows) == name for id in stored.rows)


def _name(format: Format, collection: _Release, root: Path, file: Path) -> str:
    """What the graph knows a file by: files of two collections may have one name."""
    return f"{format.name}/{collection.name}/{file.relative_to(root).as_posix()}"


def _files(place: Path, format: str | None, known: Callable[[Format, Path], bool]) -> tuple[dict[str, list[Path]], list[str]]:
    """The files of each format at a place, in order of their names, and those of none.

    A file that was read before is of the format that it had, whatever has become of it.
    """
    groups: dict[str, list[Path]] = defaultdict(list)
    others: list[str] = []
    if not place.is_dir():
        for chosen in FORMATS:
            if format == chosen.name or (format is None and chosen.recognises(place)):
                return {chosen.name: [place]}, []
        return {}, []
    for path in sorted(place.rglob("*")):
        relative = path.relative_to(place)
        if path.is_dir() or is_archive(path) or any(part.startswith(".") for part in relative.parts):
            continue
        for chosen in FORMATS:
            if format in (None, chosen.name) and (known(chosen, path) or (path.match(chosen.pattern) and _is_of(chosen, path))):
                groups[chosen.name].append(path)
                break
        else:
            others.append(relative.as_posix())
    return groups, others


def _is_of(format: Format, path: Path) -> bool:
    try:
        return format.recognises(path)
    except OSError:
        return False  # a pipe, a device, a file that may not be read


def _keep_rejected(home: Path, format: str, collection: _Release, there: Collection[str], report: LoadReport) -> None:
    """Quarantine what a load rejected, beside what still waits there from files that it passed over.

    Args:
        there: all files of a collection that is loaded whole: records of its others go.
    """
    if collection.archive:  # where a person finds it: what was unpacked goes again
        report.rejected = [replace(record, path=str(collection.place.absolute())) for record in report.rejected]
    before = quarantined(home).get(format, [])
    waiting = [record for record in before if (record.source or record.file) not in report.files]
    if collection.whole:
        own = f"{format}/{collection.name}/"
        waiting = [record for record in waiting if record.source in there or not record.source.startswith(own)]
    if report.rejected or len(waiting) < len(before):
        write_quarantine(home, format, [*waiting, *report.rejected])


def retry(store: Store, *, progress: Progress = silent) -> LoadReport:
    """Read the files again that have records in quarantine: what was mended is loaded, the rest stays there.

    Files that are not where they were are ``missing`` in the report.
    """
    report = LoadReport()
    for format, records in quarantined(store.home).items():
        chosen = next((f for f in FORMATS if f.name == format), None)
        if chosen is None:
            continue
        number = FORMATS.index(chosen)
        places = {(record.path, record.source) for record in records if record.path}
        report.missing += sorted({path for path, _ in places if not Path(path).exists()})
        there = sorted((path, source) for path, source in places if Path(path).exists())
        for archive in sorted({path for path, _ in there if is_archive(Path(path))}):
            ingest(store, Path(archive), format, progress=progress, report=report)
        sources = [SourceFile(source, Path(path), chosen.reader, number) for path, source in there if not is_archive(Path(path))]
        if sources:
            keep = partial(_keep_rejected, store.home, format, _Release("", Path(), whole=False), ())
            report.include(load_acts(store, sources, chosen.read_whole, progress=progress, before_release=keep))
    return report


def _ingest_service_public(store: Store, folder: Path, progress: Progress) -> LoadReport:
    files = service_public.sheet_files(folder)
    rejected: list[Rejected] = []
    sheets = list(service_public.read_sheets(files, rejected, progress))
    with store.reading() as graph:
        articles = {source: row["id"] for row in graph.rows("article_source_ids") for source in row["source_ids"]}
        below = articles_below_sections(graph)
    questions = list(service_public.questions_of(sheets, articles, below))
    report = LoadReport(rejected=rejected)
    report.add(load_questions(store, service_public.SOURCE, questions))
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
    for what, n in (
        ("files unchanged", report.unchanged_files),
        ("files gone", report.gone_files),
        ("acts unchanged", report.unchanged_acts),
        ("files of no known format", len(report.unrecognised)),
        ("acts passed over, as a better source gives them", report.passed_over),
    ):
        if n:
            yield what, f"{n:,}"
    if report.rejected:
        yield "records rejected", f"{len(report.rejected):,}"
