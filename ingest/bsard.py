"""Reader of BSARD, the Belgian Statutory Article Retrieval Dataset (Louis & Spanakis, ACL 2022), as published.

``articles.csv`` has an article a line, with its code and the headings above it; ``questions_train.csv``,
``questions_test.csv`` and ``questions_synthetic.csv`` have questions with the identifiers of their relevant articles.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from ingest.lines import csv_rows, starts_with
from ingest.tree import TreeBuilder
from schema.identifiers import act_id, slug
from schema.records import Act, Question, Read, Rejected

FILE_PATTERN = "*.csv"
SOURCE = "bsard"
LICENCE = "CC BY-NC-SA 4.0"
_ARTICLES = frozenset({"id", "article", "code"})
_QUESTIONS = frozenset({"id", "question", "article_ids"})
_HEADINGS = ("book", "part", "act", "chapter", "section", "subsection")
_REFERENCE = re.compile(r"^\s*(?:article|art)\.?\s*(?P<number>[^,]{1,60})", re.IGNORECASE)
_DEVELOPMENT_SHARE = 10
"""One in so many training questions is a development question: the dataset has none of its own."""


def recognises(path: Path) -> bool:
    """Whether the first line of a file names the dataset's columns."""
    names = {
        name.strip().strip('"')
        for name in starts_with(path).removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")[0].split(",")
    }
    return names >= _ARTICLES or names >= _QUESTIONS


def read(path: Path) -> Iterator[Read]:
    """The codes of a file of articles, or the questions of one of questions.

    A file of articles is held whole: articles of one code need not stand together.

    Raises:
        MissingFile: there is no such file.
        BadSource: not UTF-8 text, not CSV, or a column is missing.
    """
    start = starts_with(path).decode("utf-8", "replace").split("\n")[0]
    return _questions(path) if "article_ids" in start else _codes(path)


def _codes(path: Path) -> Iterator[Read]:
    builders: dict[str, TreeBuilder] = {}
    rejected: dict[str, list[Rejected]] = {}
    for place, row in csv_rows(path, _ARTICLES):
        code, id = " ".join(row["code"].split()), row["id"].strip()
        if not code or not id.isdigit():
            yield Rejected(path.name, place, "an article without a code" if not code else f"not an identifier: {id[:40]!r}", row)
            continue
        if code not in builders:
            builders[code] = TreeBuilder(_act(code, row.get("law_type", "")))
        builder = builders[code]
        if builder.act.title != code:
            rejected.setdefault(code, []).append(
                Rejected(path.name, place, f"a code of the same name as {builder.act.title}", row)
            )
            continue
        headings = [" ".join(row.get(name, "").split()) for name in _HEADINGS]
        builder.article(
            builder.below([heading for heading in headings if heading]),
            _number(row),
            row["article"].strip(),
            source_id=f"{SOURCE}:{id}",
        )
    for code, builder in builders.items():
        yield builder.tree(rejected.get(code, ()))


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


def _number(row: dict[str, str]) -> str:
    """The article's number: from a column of its own, else from the reference ("Art. 1.1.1, Code de l'Eau …")."""
    number = row.get("article_no", "").strip()
    found = _REFERENCE.match(row.get("reference", ""))
    return number or (found["number"].strip() if found else "") or row["id"]


def _questions(path: Path) -> Iterator[Read]:
    split = "test" if "test" in path.stem else "synthetic" if "synthetic" in path.stem else "train"
    for place, row in csv_rows(path, _QUESTIONS):
        text, id = " ".join(row["question"].split()), row["id"].strip()
        ids = [name.strip() for name in row["article_ids"].strip("[] ").split(",") if name.strip()]
        if not text or not id or not ids or not all(name.isdigit() for name in ids):
            yield Rejected(path.name, place, "a question without an id, a text, or identifiers of articles", row)
            continue
        part = "development" if split == "train" and _bucket(id) == 0 else split
        relevant = tuple(f"{SOURCE}:{name}" for name in ids)
        question = Question(f"{SOURCE}/{split}-{id}", text, " ".join(row.get("extra_description", "").split()), SOURCE, relevant)
        yield replace(question, split=part, split_by_dossier=part)


def _bucket(id: str) -> int:
    return int(hashlib.sha256(id.encode()).hexdigest()[:8], 16) % _DEVELOPMENT_SHARE
