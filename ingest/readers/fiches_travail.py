"""Reader of the labour ministry's sheets (npm ``@socialgouv/fiches-travail-data``): each section asks, and names its articles.

``fiches-travail.json`` is a list of sheets. A section names articles by code and number; those of a code that the publisher
could not tell (``UNDEFINED``) are left out. The title is that of the sheet with that of the section, the description the start
of the section's text.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import cast

from ingest.readers.service_public import MAX_RELEVANT, normal_title, split_of
from ingest.readers.support.decode import file_json, starts_with
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import Json, list_of, text_of
from schema.errors import BadSource
from schema.identifiers import act_id, normal_number, plain_name
from schema.records import Question, Rejected

SOURCE = "fiches-travail"
FILE = "fiches-travail.json"
LONGEST_FILE = 128 << 20
"""Bytes of a file that is read; the published one has 17 million."""
_CODE = "LEGITEXT"
_LONGEST_DESCRIPTION = 300
"""Characters of a section that describe the question; the sheets of service-public.fr have as long descriptions."""


def file_at(path: Path) -> Path:
    """Return the file of sheets at a path: itself, or one in that folder."""
    return path / FILE if path.is_dir() else path


def recognises(path: Path) -> bool:
    """Return whether there is a file of sheets at a path."""
    start = starts_with(file_at(path)).decode("utf-8-sig", "ignore").lstrip()
    return start.startswith("[") and '"pubId"' in start and '"sections"' in start


def read(path: Path, articles: Collection[str], rejected: list[Rejected]) -> list[Question]:
    """Return the questions of a file of sheets, with the articles at hand that they name.

    A section that names none of these, or more than a question may, asks nothing; of those that share their title the first does.

    Args:
        articles: identifiers of the law at hand.
        rejected: gets what cannot be read.

    Raises:
        MissingFile: there is no such file.
        BadSource: it is no JSON list.
    """
    file = file_at(path)
    sheets = file_json(file, LONGEST_FILE)
    if not isinstance(sheets, list):
        raise BadSource(file, "$", "not a list of sheets")
    questions: dict[str, Question] = {}
    for number, sheet in enumerate(cast(list[object], sheets)):
        place = f"$[{number}]"
        try:
            if not isinstance(sheet, dict):
                raise Unreadable("", "not a sheet")
            for question in _asked(cast(Json, sheet), articles):
                questions.setdefault(normal_title(question.text), question)
        except Unreadable as error:
            rejected.append(Rejected(file.name, place + error.place.removeprefix("$"), error.reason))
    return list({question.id: question for question in questions.values()}.values())


def _asked(sheet: Json, articles: Collection[str]) -> Iterator[Question]:
    name, title = text_of(sheet, "$", "pubId"), _line(sheet, "$", "title")
    if not name or not title:
        raise Unreadable("$", f"not a sheet: no {'title' if name else 'pubId'}")
    for number, section in enumerate(list_of(sheet, "$", "sections")):
        place = f"$.sections[{number}]"
        if not isinstance(section, dict):
            raise Unreadable(place, "not a section")
        relevant = {article for article in _named(cast(Json, section), place) if article in articles}
        if not 1 <= len(relevant) <= MAX_RELEVANT:
            continue
        heading = _line(cast(Json, section), place, "title")
        id = f"{SOURCE}/{plain_name(name)}-{number}"
        yield Question(
            id=id,
            text=title if normal_title(heading) in normal_title(title) else f"{title} – {heading}",
            description=_beginning(_line(cast(Json, section), place, "text")),
            source=SOURCE,
            relevant=tuple(sorted(relevant)),
            split=split_of(id),
            split_by_dossier=split_of(normal_title(title)),  # two sheets may share their title
        )


def _named(section: Json, place: str) -> Iterator[str]:
    """Yield the identifiers of the articles that a section names, whether or not the law at hand has them."""
    codes = section.get("references") or {}
    if not isinstance(codes, dict):
        raise Unreadable(f"{place}.references", "not an object")
    for code, named in cast(dict[str, object], codes).items():
        if not isinstance(named, dict):
            raise Unreadable(f"{place}.references.{code[:40]}", "not an object")
        for article in list_of(cast(Json, named), f"{place}.references.{code[:40]}", "articles"):
            if code.startswith(_CODE) and isinstance(article, dict):
                number = text_of(cast(Json, article), f"{place}.references.{code[:40]}", "fmt")
                yield f"{act_id('fr', code)}/{normal_number(number)}"


def _line(row: Json, place: str, name: str) -> str:
    return " ".join(text_of(row, place, name).split())


def _beginning(text: str) -> str:
    """The start of a text, up to the end of a word."""
    return text if len(text) <= _LONGEST_DESCRIPTION else text[:_LONGEST_DESCRIPTION].rpartition(" ")[0]
