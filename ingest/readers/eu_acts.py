"""Reader of EU acts as JSON lines: ``celex``, ``title``, ``consolidated``, and ``provisions`` (articles and annexes)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from ingest.readers.support.act_builder import TreeBuilder
from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import Json, first_object, iso_date, text_of, trees_of_lines
from ingest.readers.support.markdown import MarkdownText
from schema.identifiers import act_id
from schema.records import Act, ActTree, Read

FILE_PATTERN = "*.jsonl*"
_CELEX = re.compile(r"\d{5}[A-Z]{1,2}[A-Z0-9()_-]{1,12}", re.ASCII)
_LETTER = re.compile(r"^\d{5}([A-Z]{1,2})")
_KINDS = {"L": "directive", "R": "regulation", "D": "decision", "F": "framework decision", "E": "treaty"}
_NUMBER = re.compile(r"^(?:article|art\.?)\s+", re.IGNORECASE)
LICENCE = "© European Union, https://eur-lex.europa.eu, reuse with attribution (Decision 2011/833/EU)"


def recognises(path: Path) -> bool:
    """Return whether the first line of a file is an EU act."""
    names = first_object(path).keys()
    return "celex" in names and "type" not in names


def read(path: Path) -> Iterator[Read]:
    """Return the acts of a file, line by line; a line that cannot be read is rejected.

    Raises:
        MissingFile: there is no such file.
        BadSource: it breaks off, or a line is longer than any act.
    """
    return trees_of_lines(path, _tree, "celex")


def _tree(row: Json) -> ActTree:
    celex = row.get("celex")
    if not isinstance(celex, str) or not _CELEX.fullmatch(celex):
        raise Unreadable("$.celex", f"not a CELEX number: {celex!r:.60}")
    provisions = row.get("provisions")
    if not isinstance(provisions, list):
        raise Unreadable("$.provisions", "not a list")
    letter = _LETTER.match(celex)
    act = Act(
        id=act_id("eu", celex),
        jurisdiction="eu",
        kind=_KINDS.get(letter[1] if letter else "", "act"),
        title=" ".join(text_of(row, "$", "title").split()) or celex,
        language="fr",
        status="in_force",
        celex=celex,
        source="eu-acts",
        source_id=celex,
        licence=LICENCE,
        updated=iso_date(row.get("consolidated"), "$.consolidated"),
    )
    builder = TreeBuilder(act)
    for n, item in enumerate(cast(list[Any], provisions)):
        number, heading, path, text = _provision(item, n)
        builder.article(builder.below(path), "1er" if number.lower() == "premier" else number, text, heading=heading)
    return builder.tree()


def _provision(item: object, n: int) -> tuple[str, str, list[str], str]:
    """Return number, heading, headings above it, and text."""
    place = f"$.provisions[{n}]"
    if not isinstance(item, dict):
        raise Unreadable(place, "not an object")
    provision = cast(Json, item)
    kind = provision.get("type")
    if kind not in ("article", "annex", "document"):
        raise Unreadable(f"{place}.type", f"neither an article, an annex nor a document: {kind!r:.60}")
    path: object = provision.get("path") or []
    if not isinstance(path, list) or len(path_ := cast(list[Any], path)) > 20:
        raise Unreadable(f"{place}.path", "not a list of headings")
    headings = [" ".join(text_of({"path": heading}, place, "path").split()) for heading in path_]
    heading = " ".join(text_of(provision, place, "heading").split())
    number = _NUMBER.sub("", " ".join(text_of(provision, place, "num").split()))
    if kind == "article":
        number = number or "sans numéro"
    elif kind == "annex":
        number, heading = (heading or "Annexe")[:80], "" if len(heading) <= 80 else heading
    else:
        number = "Texte"
    text = MarkdownText()
    for paragraph in text_of(provision, place, "text").split("\n"):
        text.add_paragraph(paragraph)
    return number, heading, [h for h in headings if h], text.text
