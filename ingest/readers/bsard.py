"""Reader of BSARD, the Belgian Statutory Article Retrieval Dataset (Louis & Spanakis, ACL 2022), as published.

``articles.csv`` has an article a line, with its code and the headings above it; ``questions_train.csv``,
``questions_test.csv`` and ``questions_synthetic.csv`` have questions with the identifiers of their relevant articles.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ingest.readers.support.act_builder import TreeBuilder
from ingest.readers.support.decode import starts_with
from ingest.readers.support.errors import Identifiers, Unreadable
from ingest.readers.support.json_lines import csv_rows, parsed
from schema.identifiers import act_id, slug
from schema.records import Act, Question, Read

Row = dict[str, str]

FILE_PATTERN = "*.csv"
SOURCE = "bsard"
LICENCE = "CC BY-NC-SA 4.0"
_ARTICLES = frozenset({"id", "article", "code"})
_QUESTIONS = frozenset({"id", "question", "article_ids"})
_ID = re.compile(r"\d{1,12}", re.ASCII)
_HEADINGS = ("book", "part", "act", "chapter", "section", "subsection")
_REFERENCE = re.compile(r"^\s*(?:article|art)\.?\s*(?P<number>[^,]{1,60})", re.IGNORECASE)
_DEVELOPMENT_SHARE = 10
"""One in so many training questions is a development question: the dataset has none of its own. Synthetic ones train."""


def recognises(path: Path) -> bool:
    """Return whether the first line of a file names the dataset's columns."""
    names = set(_first_line(path).replace('"', "").split(","))
    return names >= _ARTICLES or names >= _QUESTIONS


def _first_line(path: Path) -> str:
    return starts_with(path).decode("utf-8-sig", "replace").split("\n")[0].strip()


def read(path: Path) -> Iterator[Read]:
    """Return the codes of a file of articles, or the questions of one of questions.

    A file of articles is held whole: articles of one code need not stand together.

    Raises:
        MissingFile: there is no such file.
        BadSource: not UTF-8 text, not CSV, or a column is missing.
    """
    return _questions(path) if "article_ids" in _first_line(path) else _codes(path)


def _codes(path: Path) -> Iterator[Read]:
    builders: dict[str, TreeBuilder] = {}
    taken = Identifiers()

    def add(line: str, row: Row) -> None:
        code, id, text = " ".join(row["code"].split()), row["id"].strip(), row["article"].strip()
        if not code or not text:
            raise Unreadable("", f"an article without a {'text' if code else 'code'}")
        if not _ID.fullmatch(id):
            raise Unreadable("", f"not an identifier: {id[:40]!r}")
        taken.take(id, line, "")
        act = _act(code, row.get("law_type", ""))
        builder = builders.setdefault(act.id, TreeBuilder(act))
        headings = [" ".join(row.get(name, "").split()) for name in _HEADINGS]
        if not any(headings):  # the first publication has them all in one column
            headings = [" ".join(row.get("description", "").split())]
        section = builder.below([heading for heading in headings if heading])
        builder.article(section, _number(row), text, source_id=f"{SOURCE}:{id}")

    yield from filter(None, parsed(csv_rows(path, _ARTICLES), path.name, add))
    for builder in builders.values():
        yield builder.tree()


def _act(code: str, law_type: str) -> Act:
    return Act(
        id=act_id("be", slug(code) or "code"),
        jurisdiction="be",
        kind="code",
        title=code,
        language="fr",
        source=SOURCE,
        source_id=f"{SOURCE}:{slug(code)}",
        licence=LICENCE,
        subjects=(law_type,) if law_type else (),
    )


def _number(row: Row) -> str:
    """The article's number: from a column of its own, else from the reference ("Art. 1.1.1, Code de l'Eau …")."""
    number = row.get("article_no", "").strip()
    match = _REFERENCE.match(row.get("reference", ""))
    return number or (match["number"].strip() if match else "") or row["id"]


def _questions(path: Path) -> Iterator[Read]:
    file = next((name for name in ("test", "synthetic") if name in path.stem), "train")
    taken = Identifiers()

    def question(line: str, row: Row) -> Question:
        text, id = " ".join(row["question"].split()), row["id"].strip()
        ids = [name.strip() for name in row["article_ids"].strip("[] ").split(",") if name.strip()]
        if not text or not ids or not all(_ID.fullmatch(name) for name in (id, *ids)):
            raise Unreadable("", "a question without an identifier, a text, or identifiers of articles")
        taken.take(id, line, "")
        part = "test" if file == "test" else "development" if file == "train" and _bucket(id) == 0 else "train"
        relevant = tuple(f"{SOURCE}:{name}" for name in ids)
        description = " ".join(row.get("extra_description", "").split())
        question = Question(f"{SOURCE}/{file}-{id}", text, description, SOURCE, relevant)
        return replace(question, split=part, split_by_dossier=part)

    return parsed(csv_rows(path, _QUESTIONS), path.name, question)


def _bucket(id: str) -> int:
    return int(hashlib.sha256(id.encode()).hexdigest()[:8], 16) % _DEVELOPMENT_SHARE
