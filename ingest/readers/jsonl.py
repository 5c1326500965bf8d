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
from collections.abc import Container, Iterator
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, cast, get_args

from ingest.readers.support.act_builder import Cited, TreeBuilder
from ingest.readers.support.errors import Identifiers, Unreadable
from ingest.readers.support.json_lines import Json, first_object, iso_date, json_lines, list_of, parsed, text_of
from schema.errors import BadSource
from schema.identifiers import slug
from schema.labels import properties_of
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
    """Return whether the first line of a file begins an act, or is a question."""
    return first_object(path).get("type") in ("act", "question")


def read(path: Path) -> Iterator[Read]:
    """Yield the acts and questions of a file.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any record.
    """
    reading = _Reading(path.name)
    for item in json_lines(path):
        if isinstance(item, Rejected):
            yield from reading.refuse(item, may_be_act=not _IN_AN_ACT.search(str(item.record)))
            continue
        place, row = item
        try:
            yield from reading.take(place, row)
        except Unreadable as error:
            may_be_act = row.get("type") not in ("article", "question")
            yield from reading.refuse(error.rejected(path.name, row, place), may_be_act=may_be_act, is_object=True)
    if reading.builder is not None:
        yield from reading.finish()
    else:
        yield from reading.rejected


@dataclass(slots=True)
class _Reading:
    """The act that the next lines belong to, with what was rejected since it began.

    Attributes:
        taken: identifiers of the acts and questions so far.
        no_act: the reason why an article has no act.
    """

    file: str
    builder: TreeBuilder | None = None
    relations: list[Relation] = field(default_factory=list[Relation])
    rejected: list[Rejected] = field(default_factory=list[Rejected])
    taken: Identifiers = field(default_factory=Identifiers)
    no_act: str = "an article before any act"

    def take(self, place: str, row: Json) -> Iterator[Read]:
        """Take up a line; yield what it completes."""
        kind = row.get("type")
        if kind == "act":
            act = _act(row)
            relations = _relations(act, row)
            self.taken.take(act.id, place, "$.id")
            yield from self.finish()
            self.builder, self.relations = TreeBuilder(act), relations
        elif kind == "article":
            if self.builder is None:
                raise Unreadable("$", self.no_act)
            _article(self.builder, row)
        elif kind == "question":
            question = _question(row, self.file)
            self.taken.take(question.id, place, "$.id")
            yield question
        else:
            raise Unreadable("$.type", f"neither act, article nor question: {kind!r:.60}")

    def refuse(self, rejected: Rejected, *, may_be_act: bool, is_object: bool = False) -> Iterator[Read]:
        """Note a bad line; behind one that may have begun an act, articles must not become those of the act before."""
        if may_be_act:
            yield from self.finish()
        if may_be_act or not is_object:
            self.no_act = _BEHIND
        self.rejected.append(rejected)

    def finish(self) -> Iterator[Read]:
        """Yield the act, which gets no more articles."""
        if self.builder is not None:
            yield self.builder.tree(self.rejected, self.relations)
            self.builder, self.relations, self.rejected = None, [], []


def _act(row: Json) -> Act:
    id = text_of(row, "$", "id")
    if not _ID.fullmatch(id):
        raise Unreadable("$.id", f"not an identifier such as be/code-civil: {id[:60]!r}")
    title = " ".join(text_of(row, "$", "title").split())
    if not title:
        raise Unreadable("$.title", "an act without a title")
    values: dict[str, Any] = {"jurisdiction": id.split("/")[0], "kind": "act", "language": "fr"}
    values |= {name: value for name, value in _properties(row, Act).items() if value}
    values.update(id=id, title=title, source="jsonl")
    return Act(**values)


def _properties(row: Json, record: type) -> dict[str, Any]:
    """Return the properties of a record that a line gives, by name: texts, days, lists of texts."""
    read = {
        "STRING": lambda name: text_of(row, "$", name),
        "DATE": partial(_date, row),
        "STRING[]": lambda name: tuple(_texts(row, name)),
    }
    return {name: read[kind](name) for name, kind in properties_of(record).items() if kind in read and name in row}


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


def _question(row: Json, file: str) -> Question:
    id, text = text_of(row, "$", "id"), text_of(row, "$", "text").strip()
    relevant = _texts(row, "relevant")
    if not text or not relevant:
        raise Unreadable("$", "a question needs an id, a text and relevant articles")
    source = text_of(row, "$", "source") or slug(file.split(".")[0]) or "questions"
    if not _QUESTION_ID.fullmatch(f"{source}/{id}"):
        raise Unreadable("$.id", f"not an identifier of a question: {f'{source}/{id}'[:60]!r}")
    split = text_of(row, "$", "split")
    if split not in ("", "train", "development", "test"):
        raise Unreadable("$.split", f"neither train, development nor test: {split[:40]!r}")
    question = Question(f"{source}/{id}", text, text_of(row, "$", "description"), source, tuple(relevant))
    return replace(question, split=split, split_by_dossier=split)


def _objects(row: Json, name: str) -> Iterator[tuple[str, Json]]:
    for n, item in enumerate(list_of(row, "$", name)):
        if not isinstance(item, dict):
            raise Unreadable(f"$.{name}[{n}]", "not an object")
        yield f"$.{name}[{n}]", cast(Json, item)


def _texts(row: Json, name: str) -> list[str]:
    texts = [text_of({"": item}, f"$.{name}", "").strip() for item in list_of(row, "$", name)]
    return [text for text in texts if text]


def _date(row: Json, name: str) -> date | None:
    text = text_of(row, "$", name)
    if len(text) > len("2020-01-31"):
        raise Unreadable(f"$.{name}", f"not a date: {text[:40]!r}")
    return iso_date(text, f"$.{name}")


def read_questions_file(path: Path, articles: Container[str]) -> list[Question]:
    """Return the questions of a file of ``{"id", "text", "relevant": [articles]}`` lines; ``description`` is optional.

    Args:
        articles: identifiers of the articles of the graph.

    Raises:
        MissingFile: there is no such file.
        BadSource: a line is no question, repeats an identifier, or names an article that the graph lacks.
    """
    questions: dict[str, Question] = {}

    def new_question(_: str, row: Json) -> Question:
        question = _bare_question(row, path.name)
        missing = [article for article in question.relevant if article not in articles]
        if question.id in questions:
            raise Unreadable("$.id", f"repeated identifier {question.id}")
        if missing:
            raise Unreadable("$.relevant", f"no such article: {missing[0]}")
        return question

    for item in parsed(json_lines(path), path.name, new_question):
        if isinstance(item, Rejected):
            raise BadSource(path, item.place, item.reason)
        questions[item.id] = item
    if not questions:
        raise BadSource(path, "", "no questions in it")
    return list(questions.values())


def _bare_question(row: Json, file: str) -> Question:
    id, text, relevant = row.get("id"), text_of(row, "$", "text"), _texts(row, "relevant")
    if not isinstance(id, str | int) or id == "":
        raise Unreadable("$.id", "no identifier")
    if not text.strip():
        raise Unreadable("$.text", "no text")
    if not relevant:
        raise Unreadable("$.relevant", "not a list of article identifiers, at least one")
    return Question(str(id), text, text_of(row, "$", "description"), file, tuple(sorted(set(relevant))))
