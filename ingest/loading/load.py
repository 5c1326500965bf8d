"""Write what readers give into the graph, as the difference to what it holds already."""

import gc
import hashlib
import shutil
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from cypher.authority import write_authority
from cypher.batches import BATCH, batches
from cypher.graph import Graph, Row, Statements, Store
from cypher.rows import row_of
from ingest.citations.link import (
    KnownLaw,
    LinkedCitation,
    LinkedRelation,
    link_relations,
    release_citations,
    release_relations,
    relink,
    write_citations,
    write_relations,
)
from ingest.citations.link import link as link_citations
from ingest.loading.difference import Counts, StoredActs, difference
from ingest.loading.known_sources import StoredSources, archive_name, file_sha256, law_fingerprint, stored_sources
from ingest.loading.passed_over import fill_wordings
from ingest.loading.plan import Delivery, Plan, Planner, Precedence
from ingest.loading.questions import AskedQuestions, write_read_questions
from ingest.loading.report import LoadReport
from ingest.loading.spool import ReadAct, ReadFile, read_sources
from ingest.loading.transactions import Chunk, Portion, chunks, each_written, joints, portions
from runtime.progress import Progress, silent
from schema.errors import StorageFull, TooMuchGone
from schema.records import Rejected, SourceFile

DROP_SHARE, DROP_ARTICLES = 0.05, 100
"""A release that drops more than this share of a collection's articles, and more than so many, is not believed."""
SMALL_SHARE, SMALL_ARTICLES = 0.5, 20
"""Nor is one that drops more than this share of a collection of at least so many, though it be fewer than a hundred."""
_READING = "reading"


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """Options of a load.

    Attributes:
        collection: what the files belong to.
        whole: these are all the files of the collection: what others gave is no longer there.
        force: more than the usual share of the articles may disappear.
        workers: processes that read, at the most (`ingest.loading.spool.read_sources`).
        before_release: called before any file counts as loaded: what it keeps is never lost.
    """

    collection: str = ""
    whole: bool = False
    force: bool = False
    workers: int | None = None
    progress: Progress = silent
    before_release: Callable[[LoadReport], object] = lambda report: None


def load_acts(store: Store, sources: Sequence[SourceFile], read: ReadFile, options: LoadOptions = LoadOptions()) -> LoadReport:
    """Load files into a graph.

    A file whose fingerprint the graph knows is passed over, unless it has questions on law that may have come since. Of the
    others, only what differs is written.
    A file that cannot be read leaves its acts as they were and is reported; the other files are loaded.

    On the embedded engine a load is seen whole or not at all. On a server it is written in portions, and until the
    last of them the graph says that it is being loaded; a load that was cut off goes on where it was when it is
    run again.

    Raises:
        GraphBusy: another process is writing.
        StorageFull: the disk is full; what was there is unharmed.
        ServerUnavailable: the server went away and did not come back in time.
        TooMuchGone: more articles would disappear than is believed (more than a hundred and a twentieth of the collection,
            or more than half of one that has twenty at least); nothing of these files was changed.
    """
    report, progress = LoadReport(), options.progress
    stored = stored_sources(store)
    delivery = _delivery(sources, stored, options, report)
    if not delivery.sources and not delivery.gone and stored.whole:
        options.before_release(report)
        return report
    with store.writing() as graph, _spool(store.home) as folder, _collecting_rarely():
        planner = Planner(Precedence(stored, delivery), {row["id"]: row for row in graph.rows("act_files")})
        writer = _Writer(graph, planner.stored_acts, report)
        readings = read_sources(delivery.sources, read, folder, workers=options.workers, progress=progress)
        new_acts = (act for reading in readings for act in planner.take(reading))
        # Where nothing can disappear, acts are written while others are read.
        deque(new_acts if planner.may_remove else writer.write(new_acts), maxlen=0)
        plan = planner.plan()
        report.include(plan.report)
        if not options.force:
            check(graph, plan)
        write(writer, plan, progress)
        link(writer, plan, progress)
        report.changed["Wording"] += fill_wordings(graph, plan, writer.begin)
        asked = _write_questions(graph, plan, report)
        options.before_release(report)
        seal(graph, plan, asked)
    return report


def _delivery(sources: Sequence[SourceFile], stored: StoredSources, options: LoadOptions, report: LoadReport) -> Delivery:
    """The files that are not as they were read, and those that may find now what their questions wait for."""
    sha256: dict[str, str] = {}
    with options.progress("fingerprints", len(sources)) as advance:
        for source in sources:
            advance(1)
            try:
                sha256[source.name] = file_sha256(source.path, source.reader)
            except OSError as error:
                report.note_broken(source, Rejected(source.path.name, "", f"cannot be read: {error.strerror}"))
    names = {source.name for source in sources}
    gone = {id for id in stored.rows if options.whole and id not in names and stored.collection_of(id) == options.collection}
    other = {name for name in sha256 if stored.fingerprint(name) != sha256[name]}
    unchanged = {
        name for name in sha256.keys() - other if not stored.waits(name) or not (gone or other or stored.may_go_on(name))
    }
    report.unchanged_files += len(unchanged)
    report.waiting_files += sum(stored.waits(name) for name in unchanged)
    wanted = {name: sha256[name] for name in sha256 if name not in unchanged}
    files = tuple(source for source in sources if source.name in wanted)
    return Delivery(options.collection, options.whole, files, wanted, frozenset(gone))


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


def check(graph: Statements, plan: Plan) -> None:
    """Stop where more would disappear than is believed.

    Raises:
        TooMuchGone: that is so.
    """
    acts, stored, delivery = plan.stored_acts, plan.precedence.stored, plan.precedence.delivery
    touched = plan.taken.keys() & acts.keys()
    concerned = {id for id in plan.gone_acts | touched if acts[id]["file"]}
    if not concerned:
        return
    files = {name for name in stored.rows if stored.collection_of(name) == delivery.collection}
    collection = concerned.union(id for id, row in acts.items() if row["file"] in files)
    kept = {id for act in touched for id in plan.taken[act][1].articles}
    total = dropped = 0
    for row in graph.rows("article_acts"):
        total += row["act_id"] in collection
        dropped += row["act_id"] in concerned and row["id"] not in kept
    many = dropped > DROP_ARTICLES and dropped > DROP_SHARE * total
    most = total >= SMALL_ARTICLES and dropped > SMALL_SHARE * total
    if many or most:
        raise TooMuchGone(
            f"{dropped:,} of {total:,} articles would disappear ({len(plan.gone_acts):,} acts whole, "
            f"{len(delivery.gone):,} files are not there any more): if this release is right, run "
            f"`lexgraph ingest` with --force; nothing of {delivery.collection or 'these files'} was changed"
        )


@dataclass(slots=True)
class _Writer:
    """The acts written so far, in portions of one transaction each.

    Attributes:
        law: names that the written acts answer to.
    """

    graph: Graph
    stored_acts: Mapping[str, Row]
    report: LoadReport
    law: KnownLaw = field(default_factory=KnownLaw)
    written: set[str] = field(default_factory=set[str])

    def begin(self) -> None:
        """Say that from here to the end the graph holds neither the old law nor the new."""
        if not self.written:
            self.graph.write("set_corpus_sha256", sha256="")

    def write(self, acts: Iterable[ReadAct]) -> Iterator[Portion]:
        """Write acts; yield each portion once it is in the graph."""
        for portion, counts in each_written(self._portions(acts), self._write, self.graph.writers):
            self.report.add(counts)
            self.law.add_trees(portion.trees)
            yield portion

    def _portions(self, acts: Iterable[ReadAct]) -> Iterator[Portion]:
        for chunk in chunks(acts, self.stored_acts):
            self.begin()
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


def _write_portion(graph: Statements, *, portion: Portion) -> Counts:
    chunk, changes = portion.chunk, portion.changes
    if changes is None:
        old = StoredActs.of(graph, chunk.stored_ids)
        changes = difference(old, portion.trees, datetime.now(UTC))
        for batch in batches(chunk.stored_ids):
            graph.write("open_acts", ids=batch)
        release_citations(graph, {act.id for act in chunk.acts}, changes.gone_sections, changes.gone_articles)
    changes.write(graph)
    return changes.counts


def write(writer: _Writer, plan: Plan, progress: Progress) -> None:
    """Remove the acts that go, then write nodes and the tree of those that came or changed."""
    waiting = [act for id, (_, act) in plan.taken.items() if id not in writer.written]
    if not waiting and not plan.gone_acts:
        return
    writer.begin()
    for batch in batches(sorted(plan.gone_acts), 200):
        writer.report.add(writer.graph.atomically(partial(_remove_acts, ids=batch)))
    with progress("acts", len(waiting)) as advance:
        for portion in writer.write(waiting):
            advance(len(portion.trees))


@dataclass(frozen=True, slots=True)
class _Linked:
    """A chunk with all that its acts cite and do to others."""

    chunk: Chunk
    citations: list[LinkedCitation]
    relations: list[LinkedRelation]
    renumberings: list[Row]


def link(writer: _Writer, plan: Plan, progress: Progress) -> None:
    """Write citations and relations, with which acts count as loaded."""
    if not plan.changed_acts:
        return
    graph, law, changed = writer.graph, writer.law, plan.changed_acts
    if plan.stored_acts.keys() - changed:  # others cite, and are cited
        law.add_graph(graph, changed)
        graph.atomically(partial(relink, law=law, changed=changed))
    with progress("citations", len(plan.taken)) as advance:
        taken = (act for _, act in plan.taken.values())
        linked_chunks = (_linked(chunk, law) for chunk in chunks(taken, plan.stored_acts))
        for linked, _ in each_written(linked_chunks, partial(_write_linked, graph, plan), graph.writers):
            advance(len(linked.chunk.acts))
    graph.write("delete_lone_outside")


def _linked(chunk: Chunk, law: KnownLaw) -> _Linked:
    named = [act.citations() for act in chunk.acts]
    citations = [linked for cited, _, _ in named for linked in link_citations(cited, law)]
    relations = [linked for _, related, _ in named for linked in link_relations(related, law)]
    renumberings = [row_of(renumbering) for _, _, renumbered in named for renumbering in renumbered]
    return _Linked(chunk, citations, relations, renumberings)


def _write_linked(graph: Graph, plan: Plan, linked: _Linked) -> None:
    if linked.chunk.stored or len(linked.citations) <= BATCH:
        graph.atomically(partial(_write_links, plan=plan, linked=linked))
    else:  # statement by statement: the acts do not count as loaded before the last of them
        _write_links(graph, plan, linked)


def _write_links(graph: Statements, plan: Plan, linked: _Linked) -> None:
    chunk = linked.chunk
    for batch in batches([] if chunk.stored else joints(chunk.acts)):
        graph.write("create_next", rows=batch)
    write_citations(graph, chunk.stored_ids, linked.citations)
    write_relations(graph, chunk.stored_ids, linked.relations)
    for batch in batches(chunk.stored_ids):
        graph.write("delete_renumberings", ids=batch)
    for batch in batches(linked.renumberings):
        graph.write("create_renumberings", rows=batch)
    seals = [
        {"id": a.id, "file": plan.taken[a.id][0].name, "law_sha256": a.law_sha256, "tree_sha256": a.tree_sha256}
        for a in chunk.acts
    ]
    for batch in batches(seals):
        graph.write("seal_acts", rows=batch)
        now = datetime.now(UTC).isoformat(timespec="microseconds")
        graph.write("begin_records", ids=[row["id"] for row in batch], recorded=now)


def _write_questions(graph: Graph, plan: Plan, report: LoadReport) -> AskedQuestions:
    """Write the questions of the files, which name law that the graph has by now."""
    replaced = plan.whole_files | plan.precedence.delivery.gone
    asked = write_read_questions(graph, plan.questions, replaced, plan.precedence.keeps)
    report.add(asked.counts)
    report.rejected += asked.rejected
    report.waiting_files += len(asked.waiting)
    return asked


def seal(graph: Graph, plan: Plan, asked: AskedQuestions) -> None:
    """Let files count as loaded, and the graph as whole."""
    corpus = corpus_sha256(graph)
    graph.atomically(partial(_write_sources, plan=plan, asked=asked, law=law_fingerprint(graph, corpus)))
    if plan.changed_acts or not graph.rows("graph_row")[0]["corpus_sha256"]:
        write_authority(graph)
        graph.write("set_corpus_sha256", sha256=corpus)


def _write_sources(graph: Statements, *, plan: Plan, asked: AskedQuestions, law: str) -> None:
    stored = plan.precedence.stored.rows
    rows = {name: {**row, "waits_since": law if name in asked.waiting else ""} for name, row in plan.source_rows.items()}
    overtaken: set[str] = set()
    for taken_over in (plan.taken_over, asked.passed_over):
        for name, ids in taken_over.items():
            row = rows.get(name) or stored.get(name)
            if row is not None:
                rows[name] = {**row, "passed_over": sorted(ids.union(row["passed_over"] or ()))}
                overtaken.add(name)
    for batch in batches(sorted(rows.keys() | plan.precedence.delivery.gone)):
        graph.write("delete_sources", ids=batch)
    for batch in batches(list(rows.values())):
        graph.write("create_sources", rows=batch)
    # Who is asked for law that was taken over gives it again; so does, for what goes, who was passed over for it:
    # its file is read again, and the archive that it came from.
    gone = plan.gone_acts | asked.removed
    wanted = {id for id, row in stored.items() if id in overtaken or gone.intersection(row["passed_over"] or ())}
    wanted -= plan.source_rows.keys()
    archives = {archive_name(stored[id]["collection"]) for id in wanted} & stored.keys()
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
        ("delete_revisions", sorted(old.acts)),  # an act that comes back begins a record of its own
    ):
        for batch in batches(gone):
            graph.write(statement, ids=batch)
    counts.removed.update({"Act": len(old.acts), "Section": len(old.sections), "Article": len(old.articles)})
    return counts


def corpus_sha256(graph: Statements) -> str:
    """Return the fingerprint of the law in the graph: that of all its acts, in whatever order they came."""
    acts = sorted(f"{row['id']} {row['law_sha256']}" for row in graph.rows("act_files"))
    return hashlib.sha256("\n".join(acts).encode()).hexdigest()
