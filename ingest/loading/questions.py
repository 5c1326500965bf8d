"""Questions with the articles that answer them: written into a graph, read from it."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import partial

from cypher.batches import batches
from cypher.graph import Graph, Row, Statements, Store
from ingest.loading.difference import Counts
from ingest.loading.report import placed
from schema.records import Question, Rejected, SourceFile, outside_source

_OfFile = tuple[str, Question]
"""A question, and the name of the file that it was read from."""


@dataclass(slots=True)
class AskedQuestions:
    """Counts of the questions of a load.

    Attributes:
        waiting: files with questions that name articles which the graph lacks.
        passed_over: by file, questions that it gives and the graph has from another.
        removed: identifiers of those that nobody gives any more.
    """

    counts: Counts = field(default_factory=Counts)
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    waiting: set[str] = field(default_factory=set[str])
    passed_over: dict[str, set[str]] = field(default_factory=lambda: defaultdict[str, set[str]](set))
    removed: set[str] = field(default_factory=set[str])

    def reject(self, file: SourceFile, question: Question, why: str) -> None:
        """Note a question, or a part of it, that is not written."""
        self.rejected.append(placed(Rejected(file.path.name, question.id, why), file))


def load_questions(store: Store, source: str | Collection[str], questions: Sequence[Question]) -> Counts:
    """Make the questions of a source that no file of law brought these: new ones written, others changed or removed.

    Args:
        source: name of it, or of all that are loaded together.

    Raises:
        NotReady: there is no graph.
    """
    store.reading().close()  # without a graph there is nothing to ask about
    sources = {source} if isinstance(source, str) else set(source)
    with store.writing() as graph:
        old = {row["id"] for row in graph.rows("question_files") if row["source"] in sources and not row["file"]}
        return _replace(graph, old, [("", question) for question in questions])


def write_read_questions(
    graph: Graph,
    asked: Sequence[tuple[SourceFile, Question]],
    replaced: Collection[str],
    keeps: Callable[[str, SourceFile], bool],
) -> AskedQuestions:
    """Write the questions of files into a graph that holds the law they name, by publishers' identifiers.

    Args:
        replaced: files whose questions are these alone: those that were read whole, and those that are gone.
        keeps: true where a file of another load keeps a question that a file gives, too.
    """
    files = {row["id"]: row["file"] for row in graph.rows("question_files")}
    old = {id for id, file in files.items() if file in replaced}
    done = AskedQuestions()
    if not asked and not old:
        return done
    holders = {id: file for id, file in files.items() if file and id not in old}
    read: set[str] = set()
    articles = {source: row["id"] for row in graph.rows("article_source_ids") for source in (*row["source_ids"], row["id"])}
    answered: list[_OfFile] = []
    for file, question in _believed(asked, holders, keeps, done):
        read.add(question.id)
        lacking = [name for name in question.relevant if name not in articles]
        if lacking:
            done.waiting.add(file.name)
            done.reject(file, question, f"names articles that the graph lacks: {', '.join(lacking[:5])}")
        relevant = {articles[name] for name in question.relevant if name in articles}
        if relevant:
            answered.append((file.name, replace(question, relevant=tuple(sorted(relevant)))))
    done.removed = old.difference(read)
    done.counts = _replace(graph, old, answered)
    return done


def _believed(
    asked: Iterable[tuple[SourceFile, Question]],
    holders: dict[str, str],
    keeps: Callable[[str, SourceFile], bool],
    done: AskedQuestions,
) -> Iterator[tuple[SourceFile, Question]]:
    """The questions that no other file is believed for."""
    read: set[str] = set()
    for file, question in asked:
        holder = holders.get(question.id, "")
        if holder and (question.id in read or (holder != file.name and keeps(holder, file))):
            done.passed_over[file.name].add(question.id)
            done.reject(file, question, f"repeated identifier: it was read from {holder} already")
            continue
        if holder and holder != file.name:
            done.passed_over[holder].add(question.id)
        holders[question.id] = file.name
        read.add(question.id)
        yield file, question


def _replace(graph: Graph, replaced: Collection[str], asked: Sequence[_OfFile]) -> Counts:
    """Make some of the questions in the graph others; what is the same stays."""
    files = {row["id"]: row for row in graph.rows("question_files")}
    sources = {question.source for _, question in asked} | {files[id]["source"] for id in replaced}
    read = (read_questions, read_unanswered)
    old = {question.id: question for source in sorted(sources) for some in read for question in some(graph, source)}
    new = {question.id: (file, question) for file, question in asked}
    gone = sorted(set(replaced) - new.keys())
    fresh = [(file, question) for file, question in new.values() if old.get(question.id) != question]
    moved = [{"id": id, "file": file} for id, (file, q) in new.items() if old.get(id) == q and files[id]["file"] != file]
    counts = Counts()
    if not gone and not fresh and not moved:
        return counts
    stale = [question.id for _, question in fresh if question.id in files]
    graph.atomically(partial(_write_questions, stale=sorted([*gone, *stale]), fresh=fresh, moved=moved))
    counts.removed["Question"] = len(gone)
    counts.changed["Question"] = len(stale)
    counts.created["Question"] = len(fresh) - len(stale)
    return counts


def _write_questions(graph: Statements, *, stale: Sequence[str], fresh: Sequence[_OfFile], moved: Sequence[Row]) -> None:
    for batch in batches(stale):
        graph.write("delete_questions", ids=batch)
    names = [f.name for f in fields(Question) if f.name != "relevant"]
    for batch in batches([{name: getattr(q, name) for name in names} | {"file": file} for file, q in fresh]):
        graph.write("create_questions", rows=batch)
    for batch in batches([{"question": q.id, "article": article, "via": "link"} for _, q in fresh for article in q.relevant]):
        graph.write("create_relevant", rows=batch)
    for batch in batches(moved):
        graph.write("set_question_files", rows=batch)
    sources = [row["source"] for row in graph.rows("question_sources")]
    everything = [asdict(question) for source in sources for question in read_questions(graph, source)]
    graph.write("set_questions_sha256", sha256=hashlib.sha256(json.dumps(everything).encode()).hexdigest())


def read_questions(graph: Statements, source: str) -> list[Question]:
    """Return the questions of one source, in order of their identifiers, their articles likewise."""
    relevant: dict[str, list[str]] = defaultdict(list)
    first: dict[str, Row] = {}
    for row in graph.rows("questions", source=source):
        article = row.pop("article")
        first.setdefault(row["id"], row)
        relevant[row["id"]].append(article)
    return [Question(**row, relevant=tuple(sorted(relevant[id]))) for id, row in sorted(first.items())]


def read_unanswered(graph: Statements, source: str) -> list[Question]:
    """Return the questions of one source that no article answers, in order of their identifiers."""
    return [Question(**row, relevant=()) for row in graph.rows("unanswered_questions", source=source)]


def read_outside(graph: Statements, source: str) -> list[Question]:
    """Return the questions that came with those of a source and that the law at hand cannot answer."""
    return read_unanswered(graph, outside_source(source))
