"""Front matter of law-as-git: the act that a file holds, what it does to others, and its jurisdiction's peculiarities."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, cast

import yaml

from ingest.readers.support.errors import Unreadable
from ingest.readers.support.json_lines import iso_date
from schema.identifiers import act_id, eli_target
from schema.records import Act, Relation, RelationType

LONGEST_FRONT_MATTER = 64 << 10
"""Characters of front matter; those of real acts have at most a few thousand."""
DEEPEST_FRONT_MATTER = 20
"""Levels of lists and mappings in it; real acts have two."""
_IDENTIFIER = re.compile(r"(?!.*\.\.)[A-Za-z0-9][\w.:~+-]{0,150}")
_COUNTRY = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}")


@dataclass(frozen=True, slots=True)
class Jurisdiction:
    """The peculiarities of a jurisdiction's files.

    Attributes:
        language: of the acts.
        article: the words that a heading of an article begins with; they are followed by its number.
        whole_number: all that follows them is the number, rather than a number and a heading.
        strict_headings: a heading must look like one of a section to be one; others are paragraphs.
        licence: of the publisher.
    """

    language: str
    article: re.Pattern[str]
    whole_number: bool = False
    strict_headings: bool = False
    licence: str = ""


_FRENCH = re.compile(r"^(?:Articles?|Art\.?)(?![a-zà-ÿ])\s*", re.IGNORECASE)
_ANY = re.compile(
    r"^(?:Art[ií]c(?:le|ulo|olo|ol|ulos)\.?|Artigo|Artikel|Artik[eu]l[aą]?s?|Artyku[lł]|Art\.?|Pykälä|Paragraf|§+|čl(?:ánek|\.)|члан)"
    r"(?![a-zà-ÿ])\s*",
    re.IGNORECASE,
)
JURISDICTIONS: Mapping[str, Jurisdiction] = {
    "fr": Jurisdiction("fr", _FRENCH, whole_number=True, licence="Licence Ouverte 2.0"),
    "lu": Jurisdiction("fr", _FRENCH, strict_headings=True, licence="CC BY 4.0"),
}


def any_jurisdiction(language: str) -> Jurisdiction:
    """Return a jurisdiction that has no entry: it is read by the words most of them share."""
    return Jurisdiction(language, _ANY)


_LANGUAGES = {
    **dict.fromkeys(("at", "ch", "de", "li"), "de"),
    **dict.fromkeys(("be", "mc"), "fr"),
    **{country: country for country in ("es", "it", "pt")},
}
"""Of acts that do not say their own; others are taken for English."""

Matter = dict[str, Any]


def front_matter(lines: list[str]) -> tuple[Matter, int]:
    """Return the front matter, and the number of the first line behind it.

    Raises:
        Unreadable: there is none, or it is no list of names and values.
    """
    if lines[0].rstrip() != "---":
        raise Unreadable("line 1", "no front matter: the file does not begin with ---")
    end = next((n for n in range(1, min(len(lines), 2000)) if lines[n].rstrip() in ("---", "...")), None)
    if end is None:
        raise Unreadable("line 1", "front matter without an end")
    block = "\n".join(lines[1:end])
    if len(block) > LONGEST_FRONT_MATTER:
        raise Unreadable("line 1", f"front matter of {len(block):,} characters; at most {LONGEST_FRONT_MATTER:,} are read")
    try:
        # A bomb of aliases stays small: they are references, and nothing below follows what is nested.
        _check_depth(block)
        matter: object = yaml.load(block, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 2 if error.problem_mark else 1
        raise Unreadable(f"line {line}", f"front matter is not YAML: {error.problem or error.context or 'unreadable'}") from None
    except (yaml.YAMLError, ValueError, RecursionError, OverflowError) as error:
        raise Unreadable("line 1", f"front matter is not YAML: {str(error).splitlines()[0][:200]}") from None
    if not isinstance(matter, dict):
        raise Unreadable("line 2", "front matter is not a list of names and values")
    return {str(name): value for name, value in cast(dict[Any, Any], matter).items() if isinstance(name, str)}, end + 1


def _check_depth(block: str) -> None:
    """Refuse what nests deeply before it is composed: the loader in C recurses without a bound, and ends the process."""
    depth = 0
    for event in yaml.parse(block, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST_FRONT_MATTER:
            line = event.start_mark.line + 2 if event.start_mark else 1
            raise Unreadable(f"line {line}", f"front matter nests deeper than {DEEPEST_FRONT_MATTER} levels")


class _Loader(yaml.CSafeLoader):
    """Loads scalars, lists and mappings; a mapping that merges others is refused, as it can grow without bounds."""

    def flatten_mapping(self, node: Any) -> None:
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            raise yaml.constructor.ConstructorError(None, None, "a merge of mappings", node.start_mark)


def act_of(matter: Matter) -> Act:
    """Return the act that front matter names.

    Raises:
        Unreadable: it names none.
    """
    identifier, country = _string(matter, "identifier"), _string(matter, "country").lower()
    if not _IDENTIFIER.fullmatch(identifier):
        raise Unreadable("front matter", f"not an identifier of an act: {identifier[:60]!r}")
    if not _COUNTRY.fullmatch(country):
        raise Unreadable("front matter", f"not a country: {country[:60]!r}")
    title = " ".join(_string(matter, "title").split())
    if not title:
        raise Unreadable("front matter", "no title")
    jurisdiction = JURISDICTIONS.get(country)
    language = _string(matter, "language")[:2].lower() or _LANGUAGES.get(country[:2], "en")
    published = _date(matter, "publication_date") or _date(matter, "enactment_date")
    return Act(
        id=act_id(country, identifier),
        jurisdiction=country,
        kind=_string(matter, "rank").strip() or "act",
        title=title,
        language=jurisdiction.language if jurisdiction else language,
        status=_string(matter, "status"),
        valid_from=_date(matter, "entry_in_force") or published,
        eli=_string(matter, "eli"),
        source="legalize",
        source_id=identifier,
        licence=jurisdiction.licence if jurisdiction else _string(matter, "license"),
        short_title=" ".join(_string(matter, "short_title").split()),
        published=published,
        updated=_date(matter, "last_updated"),
        subjects=tuple(sorted({*_list(matter, "subjects"), *_list(matter, "department")})),
    )


def _string(matter: Matter, name: str) -> str:
    value = matter.get(name)
    if value is None or isinstance(value, list | dict):
        return ""
    if isinstance(value, date):
        return value.isoformat()
    text = str(value) if isinstance(value, str | int | float | bool) else ""
    if not text.isprintable():
        text = "".join(c if c.isprintable() else " " for c in text)
    return text.strip()


def _list(matter: Matter, name: str) -> list[str]:
    """Values that stand in a list, or in a text between semicolons."""
    value = matter.get(name)
    texts = (
        [v for v in cast(list[Any], value) if isinstance(v, str)] if isinstance(value, list) else _string(matter, name).split(";")
    )
    return [text.strip() for text in texts if text.strip()]


def _date(matter: Matter, name: str) -> date | None:
    value = matter.get(name)
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    return iso_date(_string(matter, name), f"front matter, {name}")


_RELATIONS: tuple[tuple[str, RelationType], ...] = (
    ("cites", "CITES"),
    ("modifies", "AMENDS"),
    ("repeals", "REPEALS"),
    ("consolidates", "CONSOLIDATES"),
    ("transposes", "TRANSPOSES"),
)


def relations_of(act: Act, matter: Matter) -> list[Relation]:
    """Return the relations to other acts that the front matter names."""
    relations: dict[tuple[str, str], Relation] = {}
    for name, type in _RELATIONS:
        for address in _list(matter, name):
            target = eli_target(address) or address[:500]
            if target != act.id:
                relations.setdefault((type, target), Relation(act.id, type, target, "metadata", f"{name}: {address[:500]}"))
    return list(relations.values())
