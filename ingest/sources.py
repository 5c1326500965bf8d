"""The table of formats, and the load of one path: its files are recognised, read and loaded, format by format."""

import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Collection, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from cypher.graph import Store
from ingest.citations import annotate
from ingest.fetching.archives import is_archive, unpacked
from ingest.fetching.repositories import is_repository, write_histories
from ingest.loading.known_sources import StoredSources, archive_name, file_sha256, remember_archive, stored_sources
from ingest.loading.load import LoadOptions, load_acts
from ingest.loading.origins import known_origins, note_failure, origin_at, remember_origin, write_loaded
from ingest.loading.quarantine import quarantined, write_quarantine
from ingest.loading.report import LoadReport
from ingest.loading.spool import ReadFile
from ingest.question_sources import QUESTION_FORMATS, QuestionFormat, load_question_source, question_source_at
from ingest.readers import akoma_ntoso, beir, bsard, coliee, eu_acts, jsonl, law_as_git, legalize, legi
from ingest.readers.history import checkpoint
from runtime.counted import counted
from runtime.progress import Progress, silent
from schema.errors import BadSource, LexgraphError, MissingFile, TooMuchGone
from schema.records import Origin, SourceFile


@dataclass(frozen=True, slots=True)
class Format:
    """A format of law: the pattern of its files' names, and the reader of one file.

    ``version`` is raised when the reader reads a file otherwise than before, so that it is read again. ``size`` gives the bytes
    to read for a file, where they are not its own.
    """

    name: str
    pattern: str
    version: int
    read: ReadFile
    recognises: Callable[[Path], bool]
    size: Callable[[Path], int] | None = None

    @property
    def read_whole(self) -> ReadFile:
        """The reader, with the citations and relations that the words of its acts make."""
        return partial(annotate.read_with_references, self.read)

    @property
    def reader(self) -> str:
        """Name and version of all that reads a file of it."""
        return f"{self.name}-{self.version}.{annotate.VERSION}"


FORMATS = (
    # Of two formats that give the same act, the first is the better source.
    Format("legi", legi.FILE_PATTERN, 2, legi.read, legi.recognises),
    Format(law_as_git.NAME, law_as_git.FILE_PATTERN, checkpoint.VERSION, law_as_git.read, law_as_git.recognises, law_as_git.size),
    Format("legalize", legalize.FILE_PATTERN, 3, legalize.read, legalize.recognises),
    Format("eu-acts", eu_acts.FILE_PATTERN, 2, eu_acts.read, eu_acts.recognises),
    Format("akoma-ntoso", akoma_ntoso.FILE_PATTERN, 1, akoma_ntoso.read, akoma_ntoso.recognises),
    Format("bsard", bsard.FILE_PATTERN, 2, bsard.read, bsard.recognises),
    Format("coliee", coliee.FILE_PATTERN, 2, coliee.read, coliee.recognises),
    Format("jsonl", jsonl.FILE_PATTERN, 2, jsonl.read, jsonl.recognises),
    Format("beir", beir.FILE_PATTERN, 1, beir.read, beir.recognises),
)
FORMAT_NAMES = tuple(f.name for f in (*FORMATS, *QUESTION_FORMATS))
_UNPACKED = "unpacked-"
_CHECKPOINTS = "histories"
_VERSION = re.compile(r"[-_.]v?\d[\w.-]*$")


def ingest(
    store: Store,
    path: Path,
    format: str | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
    report: LoadReport | None = None,
    origin: Origin | None = None,
) -> LoadReport:
    """Load a file, a folder or an archive into the graph; formats are recognised unless one is named.

    A folder or an archive is a release of a collection, which is known by its name without a version: what an earlier
    release had and this one has not disappears from the graph. Each format of it is loaded by itself.

    Args:
        report: to be added to; it says what was loaded before an error as well.
        origin: where it was fetched from; None: it is its own origin.

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
    job = _Job(store, format, force, progress, report, origin)
    if not is_archive(path):
        # Where the format is named, its reader says what is missing.
        named = next(((asked, path) for asked in QUESTION_FORMATS if asked.name == format), None)
        if found := question_source_at(path, format) or named:
            _ingest_questions(job, *found, path)
            return report
    loaded = [_ingest_collection(job, collection) for collection in _collections(path, format)]
    if not any(loaded) and path.is_dir() and is_repository(path):  # its working tree may hold other law
        loaded = [_ingest_collection(job, _Collection(collection_name(path), path, whole=True))]
    if not any(loaded):
        if format is not None and path.is_dir():
            raise BadSource(path, "", f"no file here looks like {format}; name the file itself to have it read as that")
        raise BadSource(path, "", f"no file of a known format here (formats: {', '.join(FORMAT_NAMES)})")
    return report


@dataclass(frozen=True, slots=True)
class _Collection:
    """Files that belong together: those of a folder or an archive, or one file alone."""

    name: str
    place: Path
    whole: bool
    archive: bool = False

    def unpack(self, folder: Path, home: Path) -> None:
        """Put the files that it holds into a folder: of a repository, the histories of its acts. Raises as both do."""
        if is_repository(self.place):
            write_histories(self.place, folder, home / _CHECKPOINTS)
        else:
            unpacked(self.place, folder)


@dataclass(frozen=True, slots=True)
class _Job:
    """A call of `ingest`, whose report grows collection by collection."""

    store: Store
    format: str | None
    force: bool
    progress: Progress
    report: LoadReport
    origin: Origin | None

    def origin_of(self, name: str, place: Path, stored: Origin | None, broken: int = 0) -> Origin:
        """Return the origin of a collection, with what is wrong where some of its files are broken."""
        origin = replace(self.origin, id=name) if self.origin else origin_at(self.store.home, name, place, stored)
        return replace(origin, error=f"{counted(broken, 'file')} cannot be read") if broken else origin


def _is_packed(path: Path) -> bool:
    """True of a file that must be unpacked: an archive, or a bundle with a history."""
    return is_archive(path) or (path.suffix == ".bundle" and is_repository(path))


def _collections(path: Path, format: str | None) -> Iterator[_Collection]:
    """A path, and every archive below it."""
    if is_archive(path) or (is_repository(path) and format in (None, law_as_git.NAME)):
        yield _Collection(collection_name(path), path, whole=True, archive=True)
    elif path.is_dir():
        yield _Collection(collection_name(path), path, whole=True)
        for inner in sorted(p for p in path.rglob("*") if _is_packed(p)):
            yield _Collection(collection_name(inner), inner, whole=True, archive=True)
    else:
        yield _Collection(collection_name(path.parent), path, whole=False)


def collection_name(path: Path) -> str:
    """Return what releases of a collection have in common: the name of its folder or archive, without suffixes and a version.

    >>> collection_name(Path("legi-data-2.513.0/data")), collection_name(Path("legalize-lu.tar.xz"))
    ('legi-data', 'legalize-lu')
    """
    path = path.absolute()
    name = path.name.split(".tar")[0]
    for suffix in (".zip", ".tgz", ".bundle", ".git"):
        name = name.removesuffix(suffix)
    if not name:
        return collection_name(path.parent)  # of its .git folder
    if name == "data" and path.parent.name:
        name = path.parent.name
    return _VERSION.sub("", name) or name


def _ingest_collection(job: _Job, collection: _Collection) -> bool:
    """Load the files of a collection, and note how that went; whether there are any."""
    try:
        return _ingest_files(job, collection)
    except (BadSource, TooMuchGone) as error:
        note_failure(job.store, collection.name, str(error))
        raise


def _ingest_files(job: _Job, collection: _Collection) -> bool:
    stored, store, place = stored_sources(job.store), job.store, collection.place
    known = stored.origins.get(collection.name)
    if not collection.archive:
        found, done = _load_formats(job, collection, place, stored)
        if done:
            origin = job.origin_of(collection.name, place, known, done.broken_files)
            remember_origin(store, origin, place, known, changed=done.read_files + done.gone_files > 0)
        return found > 0
    sha256 = file_sha256(collection.place, ",".join(f.reader for f in FORMATS))
    name = archive_name(collection.name)
    if stored.whole and stored.fingerprint(name) == sha256 and not (stored.waits(name) and stored.may_go_on(name)):
        job.report.unchanged_files += int(stored.rows[name]["records"])
        remember_origin(store, job.origin_of(collection.name, place, known), place, known, changed=False)
        return True
    with _folder_to_unpack(job.store) as folder:
        collection.unpack(folder, job.store.home)
        if questions := question_source_at(folder, job.format):
            _ingest_questions(job, *questions, place)
            return True
        files, done = _load_formats(job, collection, folder, stored)
        if done is None:
            return files > 0
        origin = job.origin_of(collection.name, place, known, done.broken_files)
        if job.format is None and not done.broken_files:
            also = partial(write_loaded, origin=origin, place=place)
            remember_archive(store, collection.name, sha256, files, waiting=done.waiting_files > 0, also=also)
        else:
            remember_origin(store, origin, place, known, changed=True)
        return files > 0


def _load_formats(job: _Job, collection: _Collection, place: Path, stored: StoredSources) -> tuple[int, LoadReport | None]:
    """Load the files at a place, format by format: their number, and the report; None where no law was ever there."""
    root = place if place.is_dir() else place.parent
    groups, others = _files(place, job.format, lambda format, path: _name(format, collection, root, path) in stored.rows)
    job.report.unrecognised += others
    if not groups and not any(is_archive(path) for path in place.rglob("*")):
        return 0, None  # by mistake rather than a release without law
    done = LoadReport()
    for rank, format in enumerate(FORMATS):
        files = groups.get(format.name, [])
        wanted = collection.whole and job.format in (None, format.name)
        if not files and not (wanted and _had_files(job.store.home, format, collection, stored)):
            continue
        sources = [_source(format, rank, _name(format, collection, root, file), file) for file in files]
        names = {source.name for source in sources}
        options = LoadOptions(
            collection=f"{format.name}/{collection.name}",
            whole=collection.whole,
            force=job.force,
            progress=job.progress,
            before_release=partial(_keep_rejected, job.store.home, format.name, collection, names),
        )
        report = load_acts(job.store, sources, format.read_whole, options)
        job.report.include(report)
        done.include(report)
    return sum(map(len, groups.values())), done


def _source(format: Format, rank: int, name: str, file: Path) -> SourceFile:
    return SourceFile(name, file, format.reader, rank, format.size(file) if format.size else None)


@contextmanager
def _folder_to_unpack(store: Store) -> Generator[Path]:
    """A folder for what is in an archive; what killed loads left goes first. One archive at a time is unpacked in a home."""
    with store.exclusive("archives"):
        store.home.mkdir(parents=True, exist_ok=True)
        for left in store.home.glob(f"{_UNPACKED}*"):
            shutil.rmtree(left, ignore_errors=True)
        with TemporaryDirectory(dir=store.home, prefix=_UNPACKED) as folder:
            yield Path(folder)


def _had_files(home: Path, format: Format, collection: _Collection, stored: StoredSources) -> bool:
    """True where an earlier release of a collection had files of a format, if only some that could not be read."""
    name = f"{format.name}/{collection.name}"
    waiting = any(record.source.startswith(f"{name}/") for record in quarantined(home).get(format.name, []))
    return waiting or any(stored.collection_of(id) == name for id in stored.rows)


def _name(format: Format, collection: _Collection, root: Path, file: Path) -> str:
    """The name that the graph knows a file by: files of two collections may have one."""
    return f"{format.name}/{collection.name}/{file.relative_to(root).as_posix()}"


def _files(place: Path, format: str | None, was_read: Callable[[Format, Path], bool]) -> tuple[dict[str, list[Path]], list[str]]:
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
        if path.is_dir() or _is_packed(path) or any(part.startswith(".") for part in relative.parts):
            continue
        candidates = (f for f in FORMATS if format in (None, f.name))
        chosen = next((f for f in candidates if was_read(f, path) or (path.match(f.pattern) and _is_of(f, path))), None)
        if chosen:
            groups[chosen.name].append(path)
        else:
            others.append(relative.as_posix())
    return groups, others


def _is_of(format: Format, path: Path) -> bool:
    try:
        return format.recognises(path)
    except OSError:
        return False  # a pipe, a device, a file that may not be read


def _keep_rejected(home: Path, format: str, collection: _Collection, files: Collection[str], report: LoadReport) -> None:
    """Put into quarantine what a load rejected, beside what still waits there from files that it passed over.

    Args:
        files: all files of a collection that is loaded whole: records of its others go.
    """
    if collection.archive:  # where a person finds it: what was unpacked goes again
        report.rejected = [replace(record, path=str(collection.place.absolute())) for record in report.rejected]
    before = quarantined(home).get(format, [])
    waiting = [record for record in before if (record.source or record.file) not in report.files]
    if collection.whole:
        own = f"{format}/{collection.name}/"
        waiting = [record for record in waiting if record.source in files or not record.source.startswith(own)]
    if report.rejected or len(waiting) < len(before):
        write_quarantine(home, format, [*waiting, *report.rejected])


@dataclass(frozen=True, slots=True)
class SourceLoad:
    """The load of one path or source.

    Attributes:
        name: of it.
        report: None where an error came before anything was read, or nothing was to be.
        failures: reasons why not all of it was loaded.
        note: reason why nothing was to be loaded.
    """

    name: str
    report: LoadReport | None = None
    failures: tuple[LexgraphError, ...] = ()
    note: str = ""

    @property
    def anything_changed(self) -> bool:
        """True where the graph holds other law or questions than before."""
        return self.report is not None and self.report.anything_changed


def load_of(
    store: Store,
    path: Path,
    format: str | None = None,
    *,
    force: bool = False,
    progress: Progress = silent,
    origin: Origin | None = None,
) -> SourceLoad:
    """Load a file, a folder or an archive (`ingest`), and return what became of it; what cannot be loaded is a failure."""
    report, failures = LoadReport(), list[LexgraphError]()
    try:
        ingest(store, path, format, force=force, progress=progress, report=report, origin=origin)
    except (BadSource, MissingFile, TooMuchGone) as error:
        failures.append(error)
    is_read = not failures or bool(report.files)
    if report.broken_files:
        failures.append(BadSource(path, "", f"{counted(report.broken_files, 'file')} cannot be read"))
    return SourceLoad(f"{path.parent.name}/{path.name}", report if is_read else None, tuple(failures))


def retry_quarantined(store: Store, *, progress: Progress = silent) -> Iterator[SourceLoad]:
    """Load again the files that have records in quarantine (`retry`); those that are not where they were are failures."""
    report = retry(store, progress=progress)
    missing = (MissingFile(f"{path}: no such file any more; ingest it from where it lies now") for path in report.missing)
    yield SourceLoad("quarantine", report, tuple(missing))


def retry(store: Store, *, progress: Progress = silent) -> LoadReport:
    """Read the files again that have records in quarantine: what was mended is loaded, the rest stays there.

    Files that are not where they were are ``missing`` in the report.
    """
    report = LoadReport()
    ranks = {format.name: rank for rank, format in enumerate(FORMATS)}
    for name, records in quarantined(store.home).items():
        if name not in ranks:
            continue
        format = FORMATS[ranks[name]]
        places = {(record.path, record.source) for record in records if record.path}
        report.missing += sorted({path for path, _ in places if not Path(path).exists()})
        files = [(Path(path), source) for path, source in sorted(places) if Path(path).exists()]
        for archive in sorted({path for path, _ in files if is_archive(path) or is_repository(path)}):
            ingest(store, archive, name, progress=progress, report=report)
        sources = [
            SourceFile(source, path, format.reader, ranks[name])
            for path, source in files
            if not (is_archive(path) or is_repository(path))
        ]
        if sources:
            keep = partial(_keep_rejected, store.home, name, _Collection("", Path(), whole=False), ())
            report.include(load_acts(store, sources, format.read_whole, LoadOptions(progress=progress, before_release=keep)))
    return report


def _ingest_questions(job: _Job, format: QuestionFormat, files: Path, path: Path) -> None:
    """Load questions from files, which lie at a path or were unpacked from it."""
    try:
        report = load_question_source(job.store, format, files, job.progress)
    except BadSource as error:
        if not is_archive(path):
            raise
        raise BadSource(path, error.place, error.reason) from None  # where a person finds it: what was unpacked goes again
    job.report.include(report)
    name = collection_name(path if path.is_dir() or is_archive(path) else path.parent)
    known = known_origins(job.store).get(name)
    remember_origin(job.store, job.origin_of(name, path, known), path, known, changed=report.anything_changed)
