"""Reader of a question set of one's own: JSON lines ``{"id": …, "text": …, "relevant": [article identifiers]}``."""

import json
from collections.abc import Container
from pathlib import Path
from typing import Any, cast

from schema.errors import BadSource, MissingFile
from schema.records import Question


def read_questions_file(path: Path, known: Container[str]) -> list[Question]:
    """All questions of a file; ``description`` may stand beside ``text``.

    Args:
        known: identifiers of the articles there are.

    Raises:
        MissingFile: there is no such file.
        BadSource: a line is no question, repeats an identifier, or names an article that is not there.
    """
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise MissingFile(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise BadSource(path, f"byte {error.start}", "not UTF-8 text") from None
    questions: dict[str, Question] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        place = f"line {number}"
        try:
            record = json.loads(line)
        except json.JSONDecodeError as error:
            raise BadSource(path, f"{place}, column {error.colno}", f"not JSON: {error.msg}") from None
        question = _question(path, place, record)
        if question.id in questions:
            raise BadSource(path, place, f"repeated identifier {question.id}")
        unknown = [article for article in question.relevant if article not in known]
        if unknown:
            raise BadSource(path, place, f"no such article: {unknown[0]}")
        questions[question.id] = question
    if not questions:
        raise BadSource(path, "", "no questions in it")
    return list(questions.values())


def _question(path: Path, place: str, record: object) -> Question:
    if not isinstance(record, dict):
        raise BadSource(path, place, "not an object")
    fields = cast(dict[str, Any], record)
    id, text, relevant = fields.get("id"), fields.get("text"), fields.get("relevant")
    if not isinstance(id, str | int) or id == "":
        raise BadSource(path, place, 'no "id"')
    if not isinstance(text, str) or not text.strip():
        raise BadSource(path, place, 'no "text"')
    if not isinstance(relevant, list) or not relevant or not all(isinstance(a, str) for a in cast(list[Any], relevant)):
        raise BadSource(path, place, '"relevant" must be a list of article identifiers, at least one')
    description = fields.get("description") or ""
    return Question(str(id), text, str(description), path.name, tuple(sorted(set(cast(list[str], relevant)))))
