"""Write what readers give into the graph, as the difference to what it holds already."""

import gc
import hashlib
import shutil
from collections import defaultdict, deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cypher.authority import write_authority
from cypher.batches import BATCH, batches
from cypher.graph import Graph, Row, Statements, Store
from ingest.citations.link import (
    KnownLaw,
    LinkedCitation,
    LinkedRelation,
    link,
    link_relations,
    release_citations,
    release_relations,
    relink,
    write_citations,
    write_relations,
)
from ingest.loading.difference import Counts, StoredActs, difference
from ingest.loading.known_sources import StoredSources, archive_name, collection_of, file_sha256, law_fingerprint, stored_sources
from ingest.loading.questions import AskedQuestions, write_read_questions
from ingest.loading.report import LoadReport
from ingest.loading.spool import ReadAct, ReadFile, ReadSource, read_sources
from ingest.loading.transactions import Chunk, Portion, chunks, each_written, joints, portions
from runtime.progress import Progress, silent
from schema.errors import StorageFull, TooMuchGone
from schema.records import Question, Rejected, SourceFile

DROP_SHARE, DROP_ARTICLES = 0.05, 100
"""A release that drops more than this share of a collection's articles, and more than so many, is not believed."""
SMALL_SHARE, SMALL_ARTICLES = 0.5, 20
"""Nor is one that drops more than this share of a collection of at least so many, though it be fewer than a hundred."""
_READING = "reading"


def load_acts(
    store: Store,
    sources: Sequence[SourceFile],
    read: ReadFile,
    *,
    collection: str = "",
    whole: bool = False,
    force: bool = False,
    workers: int | None = None,
    progress: Progress = silent,
    before_release: Callable[[LoadReport], object] = lambda report: None,
) -> LoadReport:
    """Load files into a graph.

    A file whose fingerprint the graph knows is passed over, unless it has questions on law that may have come since. Of the
    others, only what differs is written.
    A file that cannot be read leaves its acts as they were and is reported; the other files are loaded.

    On the embedded engine a load is seen whole or not at all. On a server it is written in portions, and until the
    last of them the graph says that it is being loaded; a load that was cut off goes on where it was when it is
    run again.

    Args:
        collection: what the files belong to.
        whole: whether these are all the files of the collection: what others gave is no longer there.
        force: whether more than the usual share of the articles may disappear.
        workers: processes that read, at the most (`ingest.loading.spool.read_sources`).
        before_release: called before any file counts as loaded: what it keeps is never lost.

    Raises:
        GraphBusy: another process is writing.
        StorageFull: the disk is full; what was there is unharmed.
        ServerUnavailable: the server went away and did not come back in time.
        TooMuchGone: more articles would disappear than is believed (more than a hundred and a twentieth of the collection,
            or more than half of one that has twenty at least); nothing of these files was changed.
    """
    report = LoadReport()
    stored = stored_sources(store)
    wanted: list[tuple[SourceFile, str]] = []
    with progress("fingerprints", len(sources)) as advance:
        for source in sources:
            advance(1)
            try:
                sha256 = file_sha256(source.path, source.reader)
            except OSError as error:
                _broken(report, source, Rejected(source.path.name, "", f"cannot be read: {error.strerror}"))
                continue
            wanted.append((source, sha256))
    names = {source.name for source in sources}
    gone = sorted(id for id in stored.rows if whole and collection_of(id, stored.rows) == collection and id not in names)
    wanted = _to_read(wanted, stored, report, gone=bool(gone))
    if not wanted and not gone and stored.whole:
        before_release(report)
        return report
    with store.writing() as graph, _spool(store.home) as folder, _collecting_rarely():
        load = _Load(graph, stored, report, {source.name: sha256 for source, sha256 in wanted}, collection, whole)
        files = [source for source, _ in wanted]
        load.plan(files, gone, read_sources(files, read, folder, workers=workers, progress=progress))
        load.check_share(force)
        load.write(progress)
        load.link(progress)
        before_release(report)
        load.seal()
    return report


def _to_read(
    sources: Sequence[tuple[SourceFile, str]], stored: StoredSources, report: LoadReport, *, gone: bool
) -> list[tuple[SourceFile, str]]:
    """The files that are not as they were read, and those that may find now what their questions wait for."""
    other = {source.name for source, sha256 in sources if stored.fingerprint(source.name) != sha256}
    stay = {
        source.name
        for source, _ in sources
        if source.name not in other
        if not stored.waits(source.name) or not (gone or other or stored.may_go_on(source.name))
    }
    report.unchanged_files += len(stay)
    report.waiting_files += sum(stored.waits(name) for name in stay)
    return [(source, sha256) for source, sha256 in sources if source.name not in stay]


def _broken(report: LoadReport, source: SourceFile, why: Rejected) -> None:
    """Note a file that as a whole cannot be read."""
    report.broken_files += 1
    report.files.add(source.name)
    report.rejected.append(replace(why, path=str(source.path.absolute()), source=source.name))


@contextmanager
def _spool(home: Path) -> Generator[Path]:
    """A folder for what was read and is not written yet; what a killed load left goes first."""
    folder = home / _READING
    shutil.rmtree(folder, ignore_errors=True)
    try:
        try:
            folder.mkdir(parents=True)
        except OSError as error:
            raise StorageFull(f"{folder}: {error.strerror}; nothing was changed") from None
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _collecting_rarely() -> Generator[None]:
    """Records hold no cycles, and the search for some among a million of them takes a fifth of a load."""
    before = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _each_once(reading: ReadSource, rejected: list[Rejected]) -> list[ReadAct]:
    """The acts of a file; where it gives one twice, the first counts."""
    acts: dict[str, ReadAct] = {}
    for act in reading.acts:
        if acts.setdefault(act.id, act) is not act:
            rejected.append(Rejected(reading.source.path.name, act.id, f"repeated identifier: act {act.id} is there twice"))
    return list(acts.values())


@dataclass(frozen=True, slots=True)
class _Linked:
    """A chunk with all that its acts cite and do to others."""

    chunk: Chunk
    citations: list[LinkedCitation]
    relations: list[LinkedRelation]


def _linked(chunk: Chunk, law: KnownLaw) -> _Linked:
    named = [act.citations() for act in chunk.acts]
    citations = [linked for cited, _ in named for linked in link(cited, law)]
    return _Linked(chunk, citations, [linked for _, related in named for linked in link_relations(related, law)])


def _write_portion(graph: Statements, *, portion: Portion) -> Counts:
    chunk, found = portion.chunk, portion.found
    if found is None:
        old = StoredActs.of(graph, chunk.known_ids)
        found = difference(old, portion.trees, datetime.now(UTC).date())
        for batch in batches(chunk.known_ids):
            graph.write("open_acts", ids=batch)
        release_citations(graph, {act.id for act in chunk.acts}, found.gone_sections, found.gone_articles)
    found.write(graph)
    return found.counts


class _Load:
    """One load, step by step: plan what to write, see whether to believe it, write it, link it."""

    def __init__(
        self,
        graph: Graph,
        stored: StoredSources,
        report: LoadReport,
        sha256: Mapping[str, str],
        collection: str,
        whole: bool,
    ) -> None:
        self.graph = graph
        self.stored = stored
        self.report = report
        self.sha256 = sha256
        self.collection = collection
        self.whole = whole
        self.files: dict[str, Row] = {row["id"]: row for row in graph.rows("act_files")}
        self.by_file: dict[str, list[str]] = defaultdict(list)
        for row in self.files.values():
            self.by_file[row["file"]].append(row["id"])
        self.taken: dict[str, tuple[SourceFile, ReadAct]] = {}
        self.unchanged: dict[str, str] = {}
        self.gone_acts: set[str] = set()
        self.source_rows: dict[str, Row] = {}
        self.present: set[str] = set()
        self.ranks: dict[str, int] = {}
        self.gone_files: Sequence[str] = ()
        self.questions: list[tuple[SourceFile, Question]] = []
        self.asked = AskedQuestions()
        self.taken_over: dict[str, set[str]] = defaultdict(set)
        self.law = KnownLaw()
        self.written: set[str] = set()

    def plan(self, sources: Sequence[SourceFile], gone: Sequence[str], readings: Iterable[ReadSource]) -> None:
        """Which acts are written, which stay, which go.

        Of a collection that the graph has nothing of, nothing can disappear: its acts are written while others are read.
        """
        self.present = {source.name for source in sources} | {id for id in self.stored.rows if id not in gone}
        self.ranks = {id: int(row["rank"] or 0) for id, row in self.stored.rows.items()} | {s.name: s.rank for s in sources}
        self.gone_files = gone
        self.report.gone_files = len(gone)
        given: dict[str, set[str]] = {}
        new_acts = self._sorted(readings, given)
        if not gone and self.by_file.keys().isdisjoint(source.name for source in sources):
            deque(self._write_all(new_acts), maxlen=0)
        else:
            deque(new_acts, maxlen=0)
        self.report.unchanged_acts = len(self.unchanged)
        whole = {name for name, row in self.source_rows.items() if row["sha256"]}
        for id, row in self.files.items():
            if id in self.taken or id in self.unchanged:
                continue
            file = row["file"]
            if not file or file in gone or (file in whole and id not in given[file]):
                self.gone_acts.add(id)  # without a file: a load that was cut off began it, and nobody gives it now

    def _sorted(self, readings: Iterable[ReadSource], given: dict[str, set[str]]) -> Iterator[ReadAct]:
        """Sort the acts of files, noting which file gave which; what comes back are those that the graph lacks."""
        for reading in readings:
            given[reading.source.name] = {act.id for act in reading.acts}
            yield from (act for act in self._take(reading) if act.id not in self.files)

    def _take(self, reading: ReadSource) -> list[ReadAct]:
        """Sort the acts of a file into those that are as they were, those that another file gives, and those to write."""
        source, report, error = reading.source, self.report, reading.error
        place = {"path": str(source.path.absolute()), "source": source.name}
        rejected = list(reading.rejected)
        passed_over: list[str] = []
        repeated: list[str] = []
        taken: list[ReadAct] = []
        kept = 0
        for act in _each_once(reading, rejected):
            holder = self._holder(act.id, source)
            if holder is not None and self.ranks[holder] < source.rank:
                passed_over.append(act.id)
            elif holder is not None and self.ranks[holder] == source.rank:
                repeated.append(act.id)
                why = f"repeated identifier: act {act.id} was read from {holder} already"
                rejected.append(Rejected(source.path.name, act.id, why))
            else:
                kept += 1
                rejected += act.rejected
                row = self.files.get(act.id)
                if row and row["file"] != source.name and row["file"] in self.stored.rows and row["file"] in self.present:
                    self.taken_over[row["file"]].add(act.id)
                if row and (row["tree_sha256"], row["file"]) == (act.tree_sha256, source.name):
                    self.unchanged[act.id] = source.name
                else:
                    self.taken[act.id] = source, act
                    taken.append(act)
        report.remarks += reading.remarks
        if error is None and reading.acts and not kept and not passed_over:
            error = rejected.pop()  # nothing but the law of another file: this one is that by mistake
            reading.acts.clear()
        else:
            self.questions += ((source, question) for question in reading.questions)
        report.rejected += (replace(record, **place) for record in rejected)
        if error is None:
            report.read_files += 1
            report.files.add(source.name)
        else:
            _broken(report, source, error)
            if not reading.acts and not reading.questions:
                return taken
        report.passed_over += len(passed_over)
        self.source_rows[source.name] = {
            "id": source.name,
            "collection": self._collection_of(source.name),
            "reader": source.reader,
            "rank": source.rank,
            # A file that broke off is read again the next time.
            "sha256": "" if error is not None else self.sha256[source.name],
            "records": sum(act.sections + len(act.articles) for act in reading.acts),
            "rejected": len(reading.rejected) + sum(len(act.rejected) for act in reading.acts),
            # Wanted when who gives them does no more.
            "passed_over": [*passed_over, *repeated],
            "waits_since": "",
        }
        return taken

    def _collection_of(self, name: str) -> str:
        """That of the load; a file alone stays in the one that it was read with."""
        return self.collection if self.whole else collection_of(name, self.stored.rows) or self.collection

    def _holder(self, act: str, source: SourceFile) -> str | None:
        """The file that gives an act already, where it is another that is still there."""
        if act in self.taken:
            file = self.taken[act][0].name
        elif act in self.unchanged:
            file = self.unchanged[act]
        elif act in self.files and self.files[act]["file"] != source.name:
            file = self.files[act]["file"]
            # A file of another load gives way to one that is as good: the law was moved to another place.
            if file not in self.stored.rows or file not in self.present or file in self.sha256:
                return None
            if self.ranks[file] == source.rank and not self._of_one_collection(file, source):
                return None
        else:
            return None
        return None if file == source.name else file

    def _of_one_collection(self, file: str, source: SourceFile) -> bool:
        return collection_of(file, self.stored.rows) == self._collection_of(source.name)

    def _keeps(self, file: str, source: SourceFile) -> bool:
        """Whether a file of another load keeps a question: the rule for acts of equal rank."""
        there = file in self.stored.rows and file in self.present and file not in self.sha256
        return there and self._of_one_collection(file, source)

    def check_share(self, force: bool) -> None:
        """Stop where more would disappear than is believed."""
        touched = [id for id in self.taken if id in self.files]
        concerned = {id for id in self.gone_acts.union(touched) if self.files[id]["file"]}
        if not concerned:
            return
        files = [name for name in self.stored.rows if collection_of(name, self.stored.rows) == self.collection]
        collection = {id for name in files for id in self.by_file[name]}
        there = 0
        dropped = 0
        kept = {id for act in touched for id in self.taken[act][1].articles}
        for row in self.graph.rows("article_acts"):
            there += row["act_id"] in collection or row["act_id"] in concerned
            dropped += row["act_id"] in concerned and row["id"] not in kept
        many = dropped > DROP_ARTICLES and dropped > DROP_SHARE * there
        most = there >= SMALL_ARTICLES and dropped > SMALL_SHARE * there
        if (many or most) and not force:
            raise TooMuchGone(
                f"{dropped:,} of {there:,} articles would disappear ({len(self.gone_acts):,} acts whole, "
                f"{len(self.gone_files):,} files are not there any more): if this release is right, run "
                f"`lexgraph ingest` with --force; nothing of {self.collection or 'these files'} was changed"
            )

    def write(self, progress: Progress) -> None:
        """Acts that go, then nodes and the tree of acts that came or changed."""
        waiting = [act for id, (_, act) in self.taken.items() if id not in self.written]
        if not waiting and not self.gone_acts:
            return
        self._begin_writing()
        for batch in batches(sorted(self.gone_acts), 200):
            self.report.add(self.graph.atomically(partial(_remove_acts, ids=batch)))
        with progress("acts", len(waiting)) as advance:
            for portion in self._write_all(waiting):
                advance(len(portion.trees))

    def _begin_writing(self) -> None:
        """From here to the end the graph holds neither the old law nor the new."""
        if not self.written:
            self.graph.write("set_corpus_sha256", sha256="")

    def _write_all(self, waiting: Iterable[ReadAct]) -> Iterator[Portion]:
        """Write acts, and give what was written as it is there."""
        for portion, counts in each_written(self._portions(waiting), self._write, self.graph.writers):
            self.report.add(counts)
            self.law.add_trees(portion.trees)
            yield portion

    def _portions(self, waiting: Iterable[ReadAct]) -> Iterator[Portion]:
        for chunk in chunks(waiting, self.files):
            self._begin_writing()
            self.written.update(act.id for act in chunk.acts)
            yield from portions(chunk)

    def _write(self, portion: Portion) -> Counts:
        """Write a portion, in a thread of its own; what stands on it learns that it is there, or why it is not."""
        if not portion.trees:
            portion.begun.result()
        try:
            counts = self.graph.atomically(partial(_write_portion, portion=portion))
        except BaseException as error:
            if portion.trees:
                portion.begun.set_exception(error)
            raise
        if portion.trees:
            portion.begun.set_result(None)
        return counts

    def link(self, progress: Progress) -> None:
        """Citations and relations, with which acts count as loaded, and what the questions name."""
        graph = self.graph
        if self.taken or self.gone_acts:
            changed_acts = {*self.taken, *self.gone_acts}
            law = self.law
            if self.files.keys() - changed_acts:  # others cite, and are cited
                law.add_graph(graph, changed_acts)
                graph.atomically(partial(relink, law=law, changed=changed_acts))
            with progress("citations", len(self.taken)) as advance:
                taken = (act for _, act in self.taken.values())
                linked_acts = (_linked(chunk, law) for chunk in chunks(taken, self.files))
                for linked, _ in each_written(linked_acts, self._link, graph.writers):
                    advance(len(linked.chunk.acts))
            graph.write("delete_lone_outside")
        whole = {name for name, row in self.source_rows.items() if row["sha256"]}
        self.asked = write_read_questions(graph, self.questions, whole.union(self.gone_files), self._keeps)
        self.report.add(self.asked.counts)
        self.report.rejected += self.asked.rejected
        self.report.waiting_files += len(self.asked.waiting)

    def _link(self, linked: _Linked) -> None:
        if linked.chunk.known or len(linked.citations) <= BATCH:
            self.graph.atomically(partial(self._write_links, linked=linked))
        else:  # statement by statement: the acts do not count as loaded before the last of them
            self._write_links(self.graph, linked)

    def seal(self) -> None:
        """Files count as loaded, and the graph as whole."""
        graph = self.graph
        corpus = corpus_sha256(graph)
        graph.atomically(partial(self._write_sources, law=law_fingerprint(graph, corpus)))
        if self.taken or self.gone_acts or not graph.rows("graph_row")[0]["corpus_sha256"]:
            write_authority(graph)
            graph.write("set_corpus_sha256", sha256=corpus)

    def _write_links(self, graph: Statements, linked: _Linked) -> None:
        chunk = linked.chunk
        for batch in batches([] if chunk.known else joints(chunk.acts)):
            graph.write("create_next", rows=batch)
        write_citations(graph, chunk.known_ids, linked.citations)
        write_relations(graph, chunk.known_ids, linked.relations)
        seals = [
            {"id": a.id, "file": self.taken[a.id][0].name, "law_sha256": a.law_sha256, "tree_sha256": a.tree_sha256}
            for a in chunk.acts
        ]
        for batch in batches(seals):
            graph.write("seal_acts", rows=batch)

    def _write_sources(self, graph: Statements, law: str) -> None:
        for name in self.asked.waiting:
            self.source_rows[name]["waits_since"] = law
        rows = dict(self.source_rows)
        overtaken: set[str] = set()
        for given in (self.taken_over, self.asked.passed_over):
            for name, ids in given.items():
                row = rows.get(name) or self.stored.rows.get(name)
                if row is not None:
                    rows[name] = {**row, "passed_over": sorted(ids.union(row["passed_over"] or ()))}
                    overtaken.add(name)
        for batch in batches(sorted({*rows, *self.gone_files})):
            graph.write("delete_sources", ids=batch)
        for batch in batches(list(rows.values())):
            graph.write("create_sources", rows=batch)
        # Who is asked for law that was taken over gives it again; so does, for what goes, who was passed over for it:
        # its file is read again, and the archive that it came from.
        gone = self.gone_acts | self.asked.removed
        wanted = {id for id, row in self.stored.rows.items() if id in overtaken or gone.intersection(row["passed_over"] or ())}
        wanted -= self.source_rows.keys()
        archives = {archive_name(self.stored.rows[id]["collection"]) for id in wanted} & self.stored.rows.keys()
        for batch in batches(sorted(wanted | archives)):
            graph.write("forget_source_sha256", ids=batch)


def _remove_acts(graph: Statements, ids: Sequence[str]) -> Counts:
    counts = Counts()
    old = StoredActs.of(graph, ids)
    release_citations(graph, set(ids), sorted(old.sections), sorted(old.articles))
    release_relations(graph, ids)
    for statement, gone in (
        ("delete_wordings", sorted(old.wordings)),
        ("delete_sections", sorted(old.sections)),
        ("delete_articles", sorted(old.articles)),
        ("delete_acts", sorted(old.acts)),
    ):
        for batch in batches(gone):
            graph.write(statement, ids=batch)
    counts.removed.update({"Act": len(old.acts), "Section": len(old.sections), "Article": len(old.articles)})
    return counts


def corpus_sha256(graph: Statements) -> str:
    """Fingerprint of the law in the graph: that of all its acts, in whatever order they came."""
    acts = sorted(f"{row['id']} {row['law_sha256']}" for row in graph.rows("act_files"))
    return hashlib.sha256("\n".join(acts).encode()).hexdigest()
