"""Questions with the articles that answer them: written into a graph, read from it."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from functools import partial

from cypher.graph import Graph, Row, Statements, Store
from ingest.difference import Counts, batches
from schema.records import Question, Rejected, SourceFile


def load_questions(store: Store, source: str, questions: Sequence[Question]) -> Counts:
    """Make the questions of one source in the graph these: new ones written, changed ones anew, others removed.

    Raises:
        NotReady: there is no graph.
    """
    store.reading().close()  # without a graph there is nothing to ask about
    with store.writing() as graph:
        return _load(graph, source, questions)


def _load(graph: Graph, source: str, questions: Sequence[Question]) -> Counts:
    there = {row["id"] for row in graph.rows("question_ids", source=source)}
    old = {question.id: question for question in read_questions(graph, source)}
    if there == old.keys() and list(old.values()) == sorted(questions, key=lambda question: question.id):
        return Counts()
    return graph.atomically(partial(_write_questions, source=source, questions=questions))


def write_read_questions(graph: Graph, asked: Sequence[tuple[SourceFile, Question]]) -> tuple[Counts, list[Rejected]]:
    """Write the questions of files into a graph that holds the law they name, by publishers' identifiers.

    Returns:
        What was written, and a record for each question that names what the graph lacks.
    """
    counts, rejected = Counts(), list[Rejected]()
    if not asked:
        return counts, rejected
    articles = {source: row["id"] for row in graph.rows("article_source_ids") for source in (*row["source_ids"], row["id"])}
    known: dict[str, list[Question]] = defaultdict(list)
    splits: dict[str, set[str]] = defaultdict(set)
    for file, question in asked:
        splits[question.source].add(question.split)
        lost = [name for name in question.relevant if name not in articles]
        if lost:
            why = f"names articles that the graph lacks: {', '.join(lost[:5])}"
            rejected.append(Rejected(file.path.name, question.id, why, path=str(file.path.absolute()), source=file.name))
        if len(lost) < len(question.relevant):
            relevant = tuple(sorted({articles[name] for name in question.relevant if name in articles}))
            known[question.source].append(replace(question, relevant=relevant))
    for source, given in splits.items():
        # A file has questions of some splits; those of others came from other files, which may not have changed.
        others = [question for question in read_questions(graph, source) if question.split not in given]
        counts.add(_load(graph, source, [*others, *known[source]]))
    return counts, rejected


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
    for batch in batches(stale):
        graph.write("delete_questions", ids=batch)
    rows = [{f.name: getattr(q, f.name) for f in fields(q) if f.name != "relevant"} for q in fresh]
    for batch in batches(rows):
        graph.write("create_questions", rows=batch)
    pairs = [{"question": q.id, "article": article, "via": "link"} for q in fresh for article in q.relevant]
    for batch in batches(pairs):
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
