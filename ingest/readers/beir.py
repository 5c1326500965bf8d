"""BEIR layout, in and out: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv`` (Thakur et al., 2021, appendix).

A document becomes an act with one article: a collection of any size is read as a stream, and documents are compared with
documents, as REG-IR does. The folder that holds the three names the collection.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from cypher.graph import Graph, Row
from ingest.loading.questions import read_questions
from ingest.readers.support.act_builder import TreeBuilder
from ingest.readers.support.decode import starts_with
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import Json, csv_rows, first_object, json_lines, parsed, text_of, trees_of_lines
from schema.errors import BadSource
from schema.identifiers import act_id, plain_name, slug
from schema.records import Act, ActTree, Question, Read, Rejected

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
SPLITS = {"train": "train", "dev": "development", "development": "development", "test": "test"}
_FILE_OF_SPLIT = {"development": "dev"}
_SCORE = re.compile(r"-?\d{1,9}(?:\.\d{1,9})?", re.ASCII)
_COLUMNS = frozenset({"query-id", "corpus-id"})
_COMPRESSED = ".gz"
FILE_PATTERN = "*"


def recognises(path: Path) -> bool:
    """Return whether a file is the corpus, the queries or the judgements of a collection."""
    if path.name.removesuffix(_COMPRESSED) in (CORPUS, QUERIES):
        return "_id" in first_object(path)
    return path.suffix == ".tsv" and path.parent.name == QRELS and starts_with(path).startswith(b"query-id\tcorpus-id")


def collection_of(path: Path) -> str:
    """Return the name of the collection that a file belongs to."""
    folder = path.absolute().parent
    return slug(folder.parent.name if folder.name == QRELS else folder.name)[:80] or "beir"


def document_id(collection: str, id: str) -> str:
    """Return the identifier of a document's act."""
    return act_id("beir", f"{collection}-{plain_name(id)}")


def read(path: Path) -> Iterator[Read]:
    """Return the documents of a corpus, or the questions of a file of judgements, with their words from the queries beside it.

    Of the queries alone come the lines that cannot be read: a query without judgements answers nothing.

    Raises:
        MissingFile: there is no such file, or no queries beside the judgements.
        BadSource: it breaks off, is not UTF-8 text, or lacks a column.
    """
    if path.suffix == ".tsv":
        return _questions(path)
    if path.name.removesuffix(_COMPRESSED) == QUERIES:
        return (item for item in _queries(path) if isinstance(item, Rejected))
    return trees_of_lines(path, partial(_document, collection_of(path)), "_id")


def _document(collection: str, row: Json) -> ActTree:
    id = text_of(row, "$", "_id")
    if not id:
        raise Unreadable("$._id", "a document without an identifier")
    title = " ".join(text_of(row, "$", "title").split())
    text = text_of(row, "$", "text").strip()
    act = Act(
        id=document_id(collection, id),
        jurisdiction="beir",
        kind="document",
        title=title or " ".join(text[:80].split()) or id,
        language=_of_metadata(row, "language") or "en",
        source="beir",
        source_id=f"beir:{collection}:{id}",
    )
    builder = TreeBuilder(act)
    builder.article(act.id, "Text", text, source_id=_article_name(collection, id))
    return builder.tree()


def _of_metadata(row: Json, name: str) -> str:
    metadata = row.get("metadata")
    return text_of(cast(Json, metadata), "$.metadata", name) if isinstance(metadata, dict) else ""


def _article_name(collection: str, id: str) -> str:
    return f"beir:{collection}:{id}#text"


def _questions(path: Path) -> Iterator[Read]:
    collection, split = collection_of(path), SPLITS.get(path.stem, "test")
    relevant: dict[str, list[str]] = defaultdict(list)
    for item in csv_rows(path, _COLUMNS, delimiter="\t"):
        if isinstance(item, Rejected):
            yield item
            continue
        place, row = item
        score = row.get("score", "1").strip()
        if not _SCORE.fullmatch(score):
            yield Rejected(path.name, place, f"a score that is none: {score[:40]!r}", row)
        elif float(score) > 0:
            relevant[row["query-id"]].append(_article_name(collection, row["corpus-id"]))
    queries = path.parent.parent / QUERIES
    if not queries.exists():
        queries = queries.with_name(QUERIES + _COMPRESSED)
    for item in _queries(queries):
        if not isinstance(item, Rejected) and item[0] in relevant:
            id, text, description = item
            names = tuple(relevant.pop(id))
            question = Question(f"beir-{collection}/{plain_name(id)}", text, description, f"beir-{collection}", names)
            yield replace(question, split=split, split_by_dossier=split)
    for id in relevant:
        yield Rejected(path.name, f"query-id {id[:100]}", f"no such query in {queries.name}")


def _queries(path: Path) -> Iterator[tuple[str, str, str] | Rejected]:
    """Identifier, text and description of each query."""
    return parsed(json_lines(path), path.name, lambda _, row: _query(row))


def _query(row: Json) -> tuple[str, str, str]:
    id, text = text_of(row, "$", "_id"), text_of(row, "$", "text").strip()
    if not id or not text:
        raise Unreadable("$", "a query without an identifier or a text")
    return id, text, _of_metadata(row, "description")


@dataclass(frozen=True, slots=True)
class Document:
    """A document of a collection that is written."""

    id: str
    title: str
    text: str
    language: str


def write_collection(folder: Path, documents: Iterable[Document], questions: Iterable[Question]) -> dict[str, int]:
    """Write a collection, each question into the judgements of its split; those of none are test questions.

    Returns:
        Records by file.

    Raises:
        BadSource: an identifier holds a tab or a line end, which the judgements cannot.
    """
    counts: dict[str, int] = defaultdict(int)
    (folder / QRELS).mkdir(parents=True, exist_ok=True)
    with (folder / CORPUS).open("w", encoding="utf-8") as stream:
        for document in documents:
            row = {"_id": _one_line(document.id), "title": document.title, "text": document.text}
            stream.write(json.dumps(row | {"metadata": {"language": document.language}}, ensure_ascii=False) + "\n")
            counts[CORPUS] += 1
    by_split: dict[str, list[Question]] = defaultdict(list)
    with (folder / QUERIES).open("w", encoding="utf-8") as stream:
        for question in questions:
            row = {"_id": _one_line(question.id), "text": question.text, "metadata": {"description": question.description}}
            stream.write(json.dumps(row, ensure_ascii=False) + "\n")
            by_split[_FILE_OF_SPLIT.get(question.split, question.split or "test")].append(question)
            counts[QUERIES] += 1
    for split, asked in by_split.items():
        name = f"{QRELS}/{split}.tsv"
        with (folder / name).open("w", encoding="utf-8") as stream:
            stream.write("query-id\tcorpus-id\tscore\n")
            for question in asked:
                for article in question.relevant:
                    stream.write(f"{question.id}\t{article}\t1\n")
                    counts[name] += 1
    return dict(counts)


def write_graph(graph: Graph, folder: Path) -> dict[str, int]:
    """Write the law of a graph, an article a document titled by what stands above it, and all its questions.

    Returns:
        Records by file.
    """
    acts = {row["id"]: row for row in graph.rows("acts")}
    above = {act: ("", row["title"]) for act, row in acts.items()}
    above |= {row["id"]: (row["parent_id"], row["heading"]) for row in graph.rows("corpus_sections")}

    def title(row: Row) -> str:
        path, place = [row["heading"] or row["number"]], row["parent_id"]
        while place:
            place, heading = above[place]
            path.append(heading)
        return " > ".join(reversed(path))

    articles = sorted(graph.rows("corpus_articles"), key=lambda row: row["id"])
    documents = (Document(row["id"], title(row), row["text"], acts[row["act_id"]]["language"]) for row in articles)
    sources = [row["source"] for row in graph.rows("question_sources")]
    return write_collection(folder, documents, (question for source in sources for question in read_questions(graph, source)))


def _one_line(id: str) -> str:
    if not id.isprintable():
        raise BadSource("the graph", repr(id), "an identifier that the BEIR layout cannot hold")
    return id
