"""Changes of the articles of an act between two days, and of one article since it began."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from cypher.graph import Graph, Row
from search.in_time.act_on_day import ActOnDay

ChangeKind = Literal["new", "repealed", "reworded", "renumbered"]


@dataclass(frozen=True, slots=True)
class ArticleChange:
    """A change of an article between two days.

    Attributes:
        renumbered_to: identifier of the article that its text went to; "" where it went nowhere.
    """

    kind: ChangeKind
    id: str
    number: str
    renumbered_to: str = ""


@dataclass(frozen=True, slots=True)
class DatedWording:
    """A wording of an article.

    Attributes:
        text: None where the source gives its dates alone.
        is_present: it is the one that the article is shown with where no day is named.
    """

    valid_from: date | None
    valid_to: date | None
    text: str | None
    instrument: str
    is_present: bool


def changes_between(graph: Graph, act: str, start: date, end: date) -> list[ArticleChange]:
    """Return what changed in an act from one day to another, in the reading order of the later one, repeals last.

    A number whose text went on under another, and that has a new text since, is there twice: renumbered, and new.
    """
    before, after = (ActOnDay.of(graph, act, day) for day in (start, end))
    old = {part.id: part for part in before.articles()}
    moved = {row["id"]: row["other"] for row in graph.rows("renumberings_of_acts", ids=[act]) if start < row["on"] <= end}
    found: list[ArticleChange] = []
    for part in after.articles():
        if part.id not in old:
            found.append(ArticleChange("new", part.id, part.number))
        elif _other(old.pop(part.id).row, part.row):
            if part.id in moved:  # its text went elsewhere, and its number has another one now
                found.append(ArticleChange("renumbered", part.id, part.number, moved[part.id]))
            found.append(ArticleChange("new" if part.id in moved else "reworded", part.id, part.number))
    gone = (part for part in old.values() if part.id not in after.parts)
    found += (
        ArticleChange("renumbered" if part.id in moved else "repealed", part.id, part.number, moved.get(part.id, ""))
        for part in gone
    )
    return found


def _other(before: Row, after: Row) -> bool:
    """Return whether two wordings differ; those whose texts are not known do where their days do."""
    if before["text"] and after["text"]:
        return before["text"] != after["text"]
    return before["valid_from"] != after["valid_from"]


def wordings_of(article: Row, others: Sequence[Row]) -> list[DatedWording]:
    """Return all wordings of an article, oldest first."""
    present = DatedWording(article["valid_from"], article["valid_to"], article["text"], article["instrument"] or "", True)
    found = [present, *_others(others)]
    return sorted(found, key=lambda wording: (wording.valid_from or date.min, wording.valid_to or date.max))


def _others(rows: Sequence[Row]) -> Iterator[DatedWording]:
    for row in rows:
        yield DatedWording(row["valid_from"], row["valid_to"], row["text"] or None, row["instrument"] or "", False)
