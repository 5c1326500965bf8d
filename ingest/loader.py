"""Write what readers give into the graph, as the difference to what it holds already."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import date
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar, cast

from cypher.authority import write_authority
from cypher.graph import Row, Statements, Store
from ingest.citations import LinkedCitation, SourceIds, link, relink, write_citations, write_citations_outside
from schema.errors import BadSource, LexgraphError, NotReady
from schema.progress import Progress, silent
from schema.records import Act, ActTree, Article, Question, Rejected, Section, SourceFile

BATCH = 2000
"""Rows in one statement."""

_T = TypeVar("_T")
_Node = TypeVar("_Node", Section, Article)
ReadAct = Callable[[Path], ActTree]


@dataclass(slots=True)
class Counts:
    """What a load did to nodes, by label.

    A node counts as moved when nothing but its parent or its order among its neighbours changed.
    """

    created: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    moved: Counter[str] = field(default_factory=Counter[str])
    removed: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Counts") -> None:
        """Count what another load did as well."""
        for name in ("created", "changed", "moved", "removed"):
            getattr(self, name).update(getattr(other, name))

    @property
    def anything_changed(self) -> bool:
        """Whether any node is other than before."""
        return any(counts.total() for counts in (self.created, self.changed, self.moved, self.removed))


@dataclass(slots=True)
class LoadReport(Counts):
    """What a load did: nodes by label, files, and what was rejected."""

    unchanged_files: int = 0
    read_files: int = 0
    broken_files: int = 0
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    files: set[str] = field(default_factory=set[str])
    """Names of the files that were read or could not be: all that ``rejected`` speaks of."""

    def reject_file(self, source: SourceFile, error: LexgraphError) -> None:
        """Note a file that as a whole cannot be read."""
        self.broken_files += 1
        self.files.add(source.path.name)
        place, reason = (error.place, error.reason) if isinstance(error, BadSource) else ("", str(error))
        self.rejected.append(Rejected(source.path.name, place, reason))


def file_sha256(path: Path, reader: str) -> str:
    """Fingerprint of a file as one reader reads it; a new version of the reader makes it anew."""
    digest = hashlib.sha256(reader.encode())
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class KnownLaw:
    """What a graph was made from, by name of the file, and whether the last load came to its end."""

    sources: dict[str, Row]
    whole: bool


def known_law(store: Store) -> KnownLaw:
    """What the graph was made from; nothing where there is none."""
    try:
        with store.reading() as graph:
            sources = {row["id"]: row for row in graph.rows("sources")}
            return KnownLaw(sources, bool(graph.rows("graph_row")[0]["corpus_sha256"]) or not sources)
    except NotReady:
        return KnownLaw({}, whole=True)


def load_acts(
    store: Store,
    sources: Sequence[SourceFile],
    read: ReadAct,
    *,
    progress: Progress = silent,
    before_release: Callable[[LoadReport], object] = lambda report: None,
) -> LoadReport:
    """Load act files into a graph.

    A file whose fingerprint the graph knows is passed over. Of the others, only what differs is written.
    A file that cannot be read leaves its act as it was and is reported; the other files are loaded.

    On the embedded engine a load is seen whole or not at all. On a server each act is one transaction, and until
    the last of them the graph says that it is being loaded; a load that was cut off goes on where it was when it is
    run again.

    Args:
        before_release: called before any file counts as loaded: what it keeps is never lost.

    Raises:
        GraphBusy: another process is writing.
        StorageFull: the disk is full; what was there is unharmed.
        ServerUnavailable: the server went away and did not come back in time.
    """
    report = LoadReport()
    known = known_law(store)
    origin: dict[str, str] = {}
    wanted: list[tuple[SourceFile, str]] = []
    with progress("fingerprints", len(sources)) as advance:
        for source in sources:
            advance(1)
            try:
                sha256 = file_sha256(source.path, source.reader)
            except OSError as error:
                report.reject_file(source, BadSource(source.path, "", f"cannot be read: {error.strerror}"))
                continue
            stored = known.sources.get(source.name)
            if stored and stored["sha256"] == sha256:
                report.unchanged_files += 1
                origin[stored["act_id"]] = source.name
            else:
                wanted.append((source, sha256))
    if not wanted and known.whole:
        before_release(report)
        return report
    with store.writing() as graph:
        before = SourceIds.of(graph)
        pending: list[tuple[SourceFile, str, ActTree]] = []
        with progress("acts", len(wanted)) as advance:
            for source, sha256 in wanted:
                advance(1)
                try:
                    tree = read(source.path)
                    act = tree.act.id
                    if act in origin:
                        raise BadSource(
                            source.path, "$.data.id", f"repeated identifier: act {act} was read from {origin[act]} already"
                        )
                except LexgraphError as error:
                    report.reject_file(source, error)
                    continue
                if not pending:
                    # From here to the end the graph holds neither the old law nor the new.
                    graph.write("set_corpus_sha256", sha256="")
                origin[act] = source.name
                report.read_files += 1
                report.files.add(source.path.name)
                report.rejected += tree.rejected
                report.add(graph.atomically(partial(_load_tree, tree=tree)))
                pending.append((source, sha256, tree))
        before_release(report)
        if pending or not known.whole:
            with progress("citations", len(pending)) as advance:
                ids = before.after([tree for _, _, tree in pending])
                for source, sha256, tree in pending:
                    graph.atomically(partial(_finish_tree, ids=ids, source=source, sha256=sha256, tree=tree))
                    advance(1)
                loaded = {tree.act.id for _, _, tree in pending}
                if not loaded.issuperset(row["id"] for row in graph.rows("acts")):  # the others cite, too
                    graph.atomically(partial(relink, before=before if known.whole else SourceIds({}, {}), ids=ids))
            write_authority(graph)
            graph.write("set_corpus_sha256", sha256=corpus_sha256(graph))
    return report


def _finish_tree(graph: Statements, *, ids: SourceIds, source: SourceFile, sha256: str, tree: ActTree) -> None:
    """Link what an act cites; with that its file counts as loaded."""
    write_citations(graph, tree.act.id, link(tree.citations, ids))
    graph.write("delete_source", id=source.name, act_id=tree.act.id)
    graph.write(
        "create_source",
        id=source.name,
        reader=source.reader,
        act_id=tree.act.id,
        sha256=sha256,
        records=len(tree.sections) + len(tree.articles),
        rejected=len(tree.rejected),
        law_sha256=law_sha256(tree),
    )


def _load_tree(graph: Statements, tree: ActTree) -> Counts:
    """Write what differs of an act; how many nodes were created, changed, moved and removed."""
    act, report = tree.act, Counts()
    existing = {row["id"]: Act(**row) for row in graph.rows("acts_by_id", ids=[act.id])}
    if act.id not in existing:
        graph.write("create_acts", rows=[_row(act)])
        report.created["Act"] += 1
    elif existing[act.id] != act:
        graph.write("update_acts", rows=[_row(act)])
        report.changed["Act"] += 1
    old_sections = {row["id"]: _record(Section, row) for row in graph.rows("sections_of_act", act_id=act.id)}
    old_articles = {row["id"]: _record(Article, row) for row in graph.rows("articles_of_act", act_id=act.id)}
    gone_sections = sorted(old_sections.keys() - {s.id for s in tree.sections})
    gone_articles = sorted(old_articles.keys() - {a.id for a in tree.articles})
    released = _citations_to_release(graph, act.id, gone_sections, gone_articles)
    for name, gone in (("section", gone_sections), ("article", gone_articles)):
        for batch in _batches(gone):
            graph.write(f"delete_{name}s", ids=batch)
    _write_nodes(graph, "section", old_sections, tree.sections)
    _write_nodes(graph, "article", old_articles, tree.articles)
    _write_contains(graph, act.id, old_sections, old_articles, tree)
    _write_next(graph, act.id, [a.id for a in tree.articles])
    write_citations_outside(graph, released)
    _count(report, "Section", old_sections, tree.sections)
    _count(report, "Article", old_articles, tree.articles)
    return report


def _count(report: Counts, label: str, old: Mapping[str, Section | Article], new: Sequence[Section | Article]) -> None:
    """Count what differs. A node that only gave way to a new neighbour, or took a gone one's place, has not moved."""
    kept = {record.id for record in new if record.id in old}
    report.created[label] += len(new) - len(kept)
    report.removed[label] += len(old) - len(kept)
    stayed = {record.id for record in new if record.id in kept and old[record.id].parent_id == record.parent_id}
    before, after = _order(old[id] for id in stayed), _order(record for record in new if record.id in stayed)
    for record in new:
        if record.id not in kept:
            continue
        place = {"parent_id": record.parent_id, "position": record.position}
        if replace(old[record.id], **place) != record:
            report.changed[label] += 1
        elif record.id not in stayed or before[record.id] != after[record.id]:
            report.moved[label] += 1


def _order(records: Iterable[Section | Article]) -> dict[str, int]:
    """Place among those of the same parent, by identifier."""
    below: dict[str, list[Section | Article]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.position):
        below[record.parent_id].append(record)
    return {record.id: place for children in below.values() for place, record in enumerate(children)}


def _write_nodes(graph: Statements, name: str, old: dict[str, Any], new: Sequence[Section] | Sequence[Article]) -> None:
    for batch in _batches([_row(record) for record in new if record.id not in old]):
        graph.write(f"create_{name}s", rows=batch)
    for batch in _batches([_row(record) for record in new if record.id in old and old[record.id] != record]):
        graph.write(f"update_{name}s", rows=batch)


def _write_contains(
    graph: Statements, act_id: str, old_sections: dict[str, Section], old_articles: dict[str, Article], tree: ActTree
) -> None:
    for name, old, new in (("section", old_sections, tree.sections), ("article", old_articles, tree.articles)):
        moved = [
            record
            for record in new
            if record.id not in old or (old[record.id].parent_id, old[record.id].position) != (record.parent_id, record.position)
        ]
        for batch in _batches([record.id for record in moved if record.id in old]):
            graph.write(f"delete_{name}_parents", ids=batch)
        for parent in ("act", "section"):
            rows = [
                {"parent": record.parent_id, "child": record.id, "position": record.position}
                for record in moved
                if (record.parent_id == act_id) == (parent == "act")
            ]
            for batch in _batches(rows):
                graph.write(f"create_{parent}_contains_{name}", rows=batch)


def _write_next(graph: Statements, act_id: str, reading_order: Sequence[str]) -> None:
    old = {row["article"]: row["following"] for row in graph.rows("next_of_act", act_id=act_id)}
    new = dict(pairwise(reading_order))
    for batch in _batches([article for article in old if new.get(article) != old[article]]):
        graph.write("delete_next", ids=batch)
    rows = [{"article": a, "following": b} for a, b in new.items() if old.get(a) != b]
    for batch in _batches(rows):
        graph.write("create_next", rows=batch)


def _citations_to_release(graph: Statements, act_id: str, sections: list[str], articles: list[str]) -> list[LinkedCitation]:
    """Citations from other acts into nodes that go: they will point outside."""
    found: list[Row] = []
    for batch in _batches(articles):
        found += [row | {"label": "article"} for row in graph.rows("citations_into", ids=batch)]
    for batch in _batches(sections):
        found += [row | {"label": "section"} for row in graph.rows("section_citations_into", ids=batch)]
    return [
        LinkedCitation(
            row["article"],
            "Outside",
            row["cited"],
            row["cited"],
            row["label"],
            row["text"],
            row["start"],
            row["end"],
            row["kind"],
        )
        for row in found
        if not row["article"].startswith(act_id + "/")
    ]


def load_questions(store: Store, source: str, questions: Sequence[Question]) -> LoadReport:
    """Make the questions of one source in the graph these: new ones written, changed ones anew, others removed.

    Raises:
        NotReady: there is no graph.
    """
    store.reading().close()  # without a graph there is nothing to ask about
    report = LoadReport()
    with store.writing() as graph:
        there = {row["id"] for row in graph.rows("question_ids", source=source)}
        old = {question.id: question for question in read_questions(graph, source)}
        if there == old.keys() and list(old.values()) == sorted(questions, key=lambda question: question.id):
            return report
        report.add(graph.atomically(partial(_write_questions, source=source, questions=questions)))
    return report


def _write_questions(graph: Statements, *, source: str, questions: Sequence[Question]) -> Counts:
    counts = Counts()
    old = {question.id: question for question in read_questions(graph, source)}
    there = {row["id"] for row in graph.rows("question_ids", source=source)}
    new = {question.id: question for question in questions}
    stale = sorted(id for id in there if id not in new or new[id] != old.get(id))
    fresh = [question for question in questions if old.get(question.id) != question]
    counts.created["Question"] = len(new.keys() - there)
    counts.removed["Question"] = len(there - new.keys())
    counts.changed["Question"] = len(fresh) - counts.created["Question"]
    for batch in _batches(stale):
        graph.write("delete_questions", ids=batch)
    rows = [{f.name: getattr(q, f.name) for f in fields(q) if f.name != "relevant"} for q in fresh]
    for batch in _batches(rows):
        graph.write("create_questions", rows=batch)
    pairs = [{"question": q.id, "article": article, "via": "link"} for q in fresh for article in q.relevant]
    for batch in _batches(pairs):
        graph.write("create_relevant", rows=batch)
    digest = hashlib.sha256(json.dumps([asdict(q) for q in sorted(questions, key=lambda q: q.id)]).encode())
    graph.write("set_questions_sha256", sha256=digest.hexdigest())
    return counts


def read_questions(graph: Statements, source: str) -> list[Question]:
    """The questions of one source, in order of their identifiers, their articles likewise."""
    relevant: dict[str, list[str]] = defaultdict(list)
    first: dict[str, Row] = {}
    for row in graph.rows("questions", source=source):
        article = row.pop("article")
        first.setdefault(row["id"], row)
        relevant[row["id"]].append(article)
    return [Question(**row, relevant=tuple(sorted(relevant[id]))) for id, row in sorted(first.items())]


def law_sha256(tree: ActTree) -> str:
    """Fingerprint of an act: everything of it that an index or a model is made from.

    Where its citations lead follows from the fingerprints of all acts: each says what it cites, and which publishers'
    identifiers it answers to.
    """
    digest = hashlib.sha256()
    act = tree.act

    def add(*values: object) -> None:
        digest.update("\x1f".join(map(str, values)).encode() + b"\n")

    add(act.id, act.title, act.language, act.kind, act.jurisdiction)
    for s in tree.sections:
        add(s.id, s.parent_id, s.position, s.heading, *s.source_ids)
    for a in tree.articles:
        add(a.id, a.parent_id, a.position, a.number, a.heading, a.text, a.valid_from, a.valid_to, *a.source_ids)
    for c in sorted((c.article_id, c.target) for c in tree.citations):
        add(*c)
    return digest.hexdigest()


def corpus_sha256(graph: Statements) -> str:
    """Fingerprint of the law in the graph: that of all its acts, in whatever order they came."""
    acts = sorted(f"{row['act_id']} {row['law_sha256'] or row['sha256']}" for row in graph.rows("sources"))
    return hashlib.sha256("\n".join(acts).encode()).hexdigest()


def rows_of(records: Iterable[Act | Section | Article]) -> list[Row]:
    """Records as the parameters of the statements that create them."""
    return [_row(record) for record in records]


def _row(record: Act | Section | Article) -> Row:
    row: Row = {}
    for f in fields(record):
        value = getattr(record, f.name)
        if f.name in ("valid_from", "valid_to"):
            value = value.isoformat() if isinstance(value, date) else ""
        elif isinstance(value, tuple):
            value = list(value)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        row[f.name] = value
    if isinstance(record, Article):
        row["text_sha256"] = record.text_sha256
    return row


def _record(kind: type[_Node], row: Row) -> _Node:
    values: Row = {**row, "source_ids": tuple(cast(list[str], row["source_ids"]))}
    return kind(**values)


def _batches(rows: Sequence[_T]) -> Iterable[Sequence[_T]]:
    return (rows[start : start + BATCH] for start in range(0, len(rows), BATCH))
