"""BEIR layout, in and out: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/<split>.tsv`` (Thakur et al., 2021, appendix).

A document becomes an act with one article: a collection of any size is read as a stream, and documents are compared with
documents, as REG-IR does. The folder that holds the three names the collection.
"""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from ingest.lines import Json, Unreadable, csv_rows, json_lines, starts_with, text_of
from ingest.tree import TreeBuilder
from schema.errors import BadSource
from schema.identifiers import act_id, slug
from schema.records import Act, Question, Read, Rejected

CORPUS, QUERIES, QRELS = "corpus.jsonl", "queries.jsonl", "qrels"
SPLITS = {"train": "train", "dev": "development", "development": "development", "test": "test"}
_COLUMNS = frozenset({"query-id", "corpus-id"})
_SAFE = re.compile(r"[^A-Za-z0-9._-]+")
FILE_PATTERN = "*"


def recognises(path: Path) -> bool:
    """Whether a file is the corpus or the judgements of a collection."""
    if path.name in (CORPUS, CORPUS + ".gz"):
        return b'"_id"' in starts_with(path)
    return path.suffix == ".tsv" and path.parent.name == QRELS


def collection_of(path: Path) -> str:
    """The name of the collection that a file belongs to."""
    folder = path.absolute().parent
    return slug(folder.parent.name if folder.name == QRELS else folder.name) or "beir"


def document_id(collection: str, id: str) -> str:
    """The identifier of a document's act: its own identifier, in characters that identifiers may have."""
    return act_id("beir", f"{collection}-{_SAFE.sub('_', id)}")


def read(path: Path) -> Iterator[Read]:
    """The documents of a corpus, or the questions of a file of judgements.

    Raises:
        MissingFile: there is no such file, or no queries beside the judgements.
        BadSource: it breaks off, is not UTF-8 text, or lacks a column.
    """
    return _questions(path) if path.suffix == ".tsv" else _documents(path)


def _documents(path: Path) -> Iterator[Read]:
    collection = collection_of(path)
    for found in json_lines(path):
        if isinstance(found, Rejected):
            yield found
            continue
        place, row = found
        try:
            yield _document(collection, row)
        except Unreadable as error:
            where, reason = error.args
            yield Rejected(path.name, f"{place}, {where}", reason, row)


def _document(collection: str, row: Json):
    id = text_of(row, "$", "_id")
    if not id:
        raise Unreadable("$._id", "a document without an identifier")
    title = " ".join(text_of(row, "$", "title").split())
    text = text_of(row, "$", "text").strip()
    metadata = row.get("metadata")
    language = metadata.get("language") if isinstance(metadata, dict) else None
    act = Act(
        id=document_id(collection, id),
        jurisdiction="beir",
        kind="document",
        title=title or text[:80] or id,
        language=language if isinstance(language, str) and language else "en",
        source="beir",
        source_id=f"beir:{collection}:{id}",
    )
    builder = TreeBuilder(act)
    builder.article(act.id, "Texte", text, source_ids=(f"beir:{collection}:{id}#text",))
    return builder.tree()


def _questions(path: Path) -> Iterator[Read]:
    collection = collection_of(path)
    relevant: dict[str, list[str]] = defaultdict(list)
    for place, row in csv_rows(path, _COLUMNS, delimiter="\t"):
        score = row.get("score", "1").strip()
        if not re.fullmatch(r"-?\d+", score):
            yield Rejected(path.name, place, f"a score that is none: {score[:40]!r}", row)
        elif int(score) > 0:
            relevant[row["query-id"]].append(f"beir:{collection}:{row['corpus-id']}#text")
    queries = path.parent.parent / QUERIES
    if not queries.exists() and queries.with_name(QUERIES + ".gz").exists():
        queries = queries.with_name(QUERIES + ".gz")
    split = SPLITS.get(path.stem, "test")
    for found in json_lines(queries):
        if isinstance(found, Rejected):
            yield found
            continue
        place, row = found
        try:
            id, text = text_of(row, "$", "_id"), text_of(row, "$", "text").strip()
        except Unreadable as error:
            yield Rejected(queries.name, f"{place}, {error.args[0]}", error.args[1], row)
            continue
        if id in relevant and text:
            names = tuple(relevant.pop(id))
            question = Question(f"beir-{collection}/{id}", text, "", f"beir-{collection}", names)
            yield replace(question, split=split, split_by_dossier=split)
    for id in relevant:
        yield Rejected(path.name, f"query-id {id}", f"no such query in {queries.name}")


def write_collection(
    folder: Path, documents: Iterable[tuple[str, str, str]], questions: Iterable[tuple[Question, str]]
) -> dict[str, int]:
    """Write a collection.

    Args:
        documents: (identifier, title, text).
        questions: with the split that each falls in.

    Returns:
        Records by file.

    Raises:
        BadSource: an identifier holds a tab or a line end, which the judgements cannot.
    """
    counts: dict[str, int] = defaultdict(int)
    (folder / QRELS).mkdir(parents=True, exist_ok=True)
    with (folder / CORPUS).open("w", encoding="utf-8") as stream:
        for id, title, text in documents:
            stream.write(json.dumps({"_id": _plain(id), "title": title, "text": text}, ensure_ascii=False) + "\n")
            counts[CORPUS] += 1
    by_split: dict[str, list[Question]] = defaultdict(list)
    with (folder / QUERIES).open("w", encoding="utf-8") as stream:
        for question, split in questions:
            stream.write(json.dumps({"_id": _plain(question.id), "text": question.text}, ensure_ascii=False) + "\n")
            by_split["dev" if split == "development" else split or "test"].append(question)
            counts[QUERIES] += 1
    for split, asked in by_split.items():
        name = f"{QRELS}/{split}.tsv"
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            rows = csv.writer(stream, delimiter="\t", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None)
            rows.writerow(("query-id", "corpus-id", "score"))
            for question in asked:
                for article in question.relevant:
                    rows.writerow((question.id, _plain(article), 1))
                    counts[name] += 1
    return dict(counts)


def _plain(id: str) -> str:
    if not id.isprintable():
        raise BadSource("graph", repr(id), "an identifier that the BEIR layout cannot hold")
    return id
