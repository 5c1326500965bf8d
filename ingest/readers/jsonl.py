"""Reader of the project's own lines: law and questions as anybody can write them.

Each line is an object with a ``type``. An ``act`` begins an act; the ``article`` lines that follow are its articles, in
reading order, each with the headings above it; a ``question`` may stand anywhere. Behind a line that cannot be read and
may have begun an act, articles are rejected until the next act::

    {"type": "act", "id": "be/code-civil", "jurisdiction": "be", "kind": "code", "title": "Code civil", "language": "fr"}
    {"type": "article", "number": "1382", "path": ["Livre III", "Titre IV"], "text": "Tout fait quelconque…"}
    {"type": "question", "id": "q1", "text": "Qui répond du dommage ?", "relevant": ["be/code-civil/1382"], "split": "test"}

Further fields of an act: ``valid_from``, ``valid_to``, ``published``, ``updated`` (ISO 8601), ``status``, ``eli``,
``celex``, ``licence``, ``short_title``, ``subjects``, ``preamble``, and ``relations``, a list of ``{"type": "TRANSPOSES",
"target": "eu/32016L0680"}``. Of an article: ``heading``, ``source_id``, and ``cites``, a list of ``{"start", "end",
"target"}``. Of a question: ``description``, ``source``, ``split`` (train, development, test).
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any, cast, get_args

from ingest.readers.support.act_builder import Cited, TreeBuilder
from ingest.readers.support.json_lines import Json, Unreadable, first_object, json_lines, text_of
from schema.identifiers import slug
from schema.records import Act, Question, Read, Rejected, Relation, RelationType

FILE_PATTERN = "*.jsonl*"
_ID = re.compile(r"(?!.*\.\.)[a-z][a-z0-9-]{0,30}/[A-Za-z0-9][\w.:~+*()-]{0,180}")
_QUESTION_ID = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.:~+*()/-]{0,180}")
_RELATIONS: dict[str, RelationType] = {name: name for name in get_args(RelationType)}
_DEEPEST = 30
_IN_AN_ACT = re.compile(r'^(?!.*"type"\s*:\s*"act").*"type"\s*:\s*"(?:article|question)"', re.DOTALL)
"""What a broken line says that can be no act; any other may have begun one."""
_BEHIND = "an article behind an unreadable line"


def recognises(path: Path) -> bool:
    """Whether the first line of a file begins an act, or is a question."""
    return first_object(path).get("type") in ("act", "question")


def read(path: Path) -> Iterator[Read]:
    """The acts and questions of a file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    builder: TreeBuilder | None = None
    rejected: list[Rejected] = []
    relations: list[Relation] = []
    seen: dict[str, str] = {}
    no_act = "an article before any act"
    for found in json_lines(path):
        if isinstance(found, Rejected):
            if builder is not None and not _IN_AN_ACT.search(str(found.record)):
                yield builder.tree(rejected, relations)
                builder, rejected, relations = None, [], []
            no_act = _BEHIND
            rejected.append(found)
            continue
        place, row = found
        try:
            kind = row.get("type")
            if kind == "act":
                act = _act(row)
                new = _relations(act, row)
                if act.id in seen:
                    raise Unreadable("$.id", f"repeated identifier: {act.id} is on {seen[act.id]}")
                if builder is not None:
                    yield builder.tree(rejected, relations)
                    rejected = []
                builder, relations, seen[act.id] = TreeBuilder(act), new, place
            elif kind == "article":
                if builder is None:
                    raise Unreadable("$", no_act)
                _article(builder, row)
            elif kind == "question":
                question = _question(row, path)
                if question.id in seen:
                    raise Unreadable("$.id", f"repeated identifier: {question.id} is on {seen[question.id]}")
                seen[question.id] = place
                yield question
            else:
                raise Unreadable("$.type", f"neither act, article nor question: {kind!r:.60}")
        except Unreadable as error:
            where, reason = error.args
            if row.get("type") not in ("article", "question"):
                if builder is not None:
                    yield builder.tree(rejected, relations)
                    # Its articles must not become those of the act before.
                    builder, rejected, relations = None, [], []
                no_act = _BEHIND
            rejected.append(Rejected(path.name, f"{place}, {where}", reason, row))
    if builder is not None:
        yield builder.tree(rejected, relations)
    else:
        yield from rejected


def _act(row: Json) -> Act:
    id = text_of(row, "$", "id")
    if not _ID.fullmatch(id):
        raise Unreadable("$.id", f"not an identifier such as be/code-civil: {id[:60]!r}")
    title = " ".join(text_of(row, "$", "title").split())
    if not title:
        raise Unreadable("$.title", "an act without a title")
    return Act(
        id=id,
        jurisdiction=text_of(row, "$", "jurisdiction") or id.split("/")[0],
        kind=text_of(row, "$", "kind") or "act",
        title=title,
        language=text_of(row, "$", "language") or "fr",
        source="jsonl",
        source_id=text_of(row, "$", "source_id"),
        status=text_of(row, "$", "status"),
        eli=text_of(row, "$", "eli"),
        celex=text_of(row, "$", "celex"),
        licence=text_of(row, "$", "licence"),
        short_title=text_of(row, "$", "short_title"),
        preamble=text_of(row, "$", "preamble"),
        subjects=tuple(_texts(row, "subjects")),
        valid_from=_date(row, "valid_from"),
        valid_to=_date(row, "valid_to"),
        published=_date(row, "published"),
        updated=_date(row, "updated"),
    )


def _relations(act: Act, row: Json) -> list[Relation]:
    relations: list[Relation] = []
    for place, entry in _objects(row, "relations"):
        kind = _RELATIONS.get(text_of(entry, place, "type"))
        target = text_of(entry, place, "target")
        if kind is None or not target:
            raise Unreadable(place, f"not a relation with a type ({', '.join(_RELATIONS)}) and a target")
        relations.append(Relation(act.id, kind, target, "metadata", text_of(entry, place, "evidence")))
    return relations


def _article(builder: TreeBuilder, row: Json) -> None:
    path = _texts(row, "path")
    if len(path) > _DEEPEST:
        raise Unreadable("$.path", f"{len(path)} headings; at most {_DEEPEST} are read")
    text = text_of(row, "$", "text")  # as it stands: citations count its characters
    cited: list[Cited] = []
    for place, entry in _objects(row, "cites"):
        start, end, target = entry.get("start"), entry.get("end"), text_of(entry, place, "target")
        if not (isinstance(start, int) and isinstance(end, int) and 0 <= start < end <= len(text) and target):
            raise Unreadable(place, "not a target and a range of the text")
        cited.append(Cited(start, end, target))
    builder.article(
        builder.below(path),
        text_of(row, "$", "number") or "sans numéro",
        text,
        heading=text_of(row, "$", "heading"),
        source_id=text_of(row, "$", "source_id"),
        cited=cited,
    )


def _question(row: Json, path: Path) -> Question:
    id, text = text_of(row, "$", "id"), text_of(row, "$", "text").strip()
    relevant = _texts(row, "relevant")
    if not text or not relevant:
        raise Unreadable("$", "a question needs an id, a text and relevant articles")
    source = text_of(row, "$", "source") or slug(path.name.split(".")[0]) or "questions"
    if not _QUESTION_ID.fullmatch(f"{source}/{id}"):
        raise Unreadable("$.id", f"not an identifier of a question: {f'{source}/{id}'[:60]!r}")
    split = text_of(row, "$", "split")
    if split not in ("", "train", "development", "test"):
        raise Unreadable("$.split", f"neither train, development nor test: {split[:40]!r}")
    question = Question(f"{source}/{id}", text, text_of(row, "$", "description"), source, tuple(relevant))
    return replace(question, split=split, split_by_dossier=split)


def _objects(row: Json, name: str) -> Iterator[tuple[str, Json]]:
    value = row.get(name) or []
    if not isinstance(value, list):
        raise Unreadable(f"$.{name}", "not a list of objects")
    for n, item in enumerate(cast(list[Any], value)):
        if not isinstance(item, dict):
            raise Unreadable(f"$.{name}[{n}]", "not an object")
        yield f"$.{name}[{n}]", cast(Json, item)


def _texts(row: Json, name: str) -> list[str]:
    value = row.get(name) or []
    if not isinstance(value, list):
        raise Unreadable(f"$.{name}", "not a list of texts")
    found = [text_of({"": item}, f"$.{name}", "").strip() for item in cast(list[Any], value)]
    return [text for text in found if text]


def _date(row: Json, name: str) -> date | None:
    text = text_of(row, "$", name)
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise Unreadable(f"$.{name}", f"a date that is none: {text[:40]!r}") from None
