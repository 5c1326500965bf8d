"""The contents of an act or a section, and the list of the acts, as trees and lines."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from rich.text import Text

from cli.language import localised, number_of
from cli.named import BY_ID, Named
from cli.output import out, say
from cli.pages import outside_in_time, without_what_has_gone
from cypher.graph import Graph, Row
from schema.errors import BadQuery, NotFound
from schema.identifiers import act_of
from schema.wordings import is_outside
from search.in_time.act_on_day import ActOnDay

Tree = dict[str, Any]
_ARTICLES = {True: "{n} article", False: "{n} articles"}


def contents_of(graph: Graph, name: Named, depth: int, day: date | None = None) -> Tree:
    """Return what stands in an act or a section, down to a depth, each part with the number of articles in it.

    Args:
        day: the day whose contents are listed; without one, those of the present law.

    Raises:
        BadQuery: an article is named, in which nothing stands; or the day lies outside the days whose law is loaded.
        NotFound: the section was not there that day.
    """
    label, id = name
    (row,) = graph.rows(BY_ID[label], ids=[id])
    if label == "Article":
        raise BadQuery(localised("{number} is an article, which has no parts (lexgraph show prints it)", number=row["number"]))
    held = [act_of(id)] if label == "Act" else [row["act_id"]]
    (act,) = graph.rows("acts_by_id", ids=held)
    if day is not None or act["known_from"]:
        return _on_day(graph, act, name, depth, day)
    below: dict[str, list[tuple[str, Row]]] = {}
    for kind, statement in (("Section", "sections_of_acts"), ("Article", "articles_of_acts")):
        for part in graph.rows(statement, ids=held):
            below.setdefault(part["parent_id"], []).append((kind, part))

    def tree(label: str, row: Row, depth: int) -> Tree:
        parts = sorted(below.get(row["id"], ()), key=lambda part: part[1]["position"])
        made = [tree(kind, part, depth - 1) for kind, part in parts]
        return _node(row, label, made if depth else [], sum(part["articles"] for part in made) if label != "Article" else 1)

    return tree(label, row, depth)


def _on_day(graph: Graph, act: Row, name: Named, depth: int, day: date | None) -> Tree:
    known_from, known_to = act["known_from"], act["known_to"]
    if day and is_outside(day, (known_from, known_to)):
        raise BadQuery(outside_in_time(day, (known_from, known_to)))
    shown = day or act["updated"]
    stood = ActOnDay.of(graph, act["id"], shown)
    label, id = name
    if label == "Section" and id not in stood.parts:
        raise NotFound(localised("{id} was not there on {day}", id=id, day=shown))

    def tree(label: str, id: str, depth: int) -> Tree:
        row: Row = act if label == "Act" else {"id": id, "number": stood.parts[id].number, "heading": stood.parts[id].heading}
        made = [tree(part.label, part.id, depth - 1) for part in stood.below(id)] if label != "Article" else []
        return _node(row, label, made if depth else [], sum(part["articles"] for part in made) if label != "Article" else 1)

    return tree(label, id, depth) | ({"on": day, "complete": bool(known_from)} if day else {})


def _node(row: Row, label: str, parts: list[Tree], articles: int) -> Tree:
    heading = row["title"] if label == "Act" else row["heading"]
    return {
        "id": row["id"], "label": label, "number": row.get("number"), "heading": heading, "articles": articles, "contents": parts,
    }  # fmt: skip


def show_tree(tree: Tree) -> None:
    """Print a tree of contents: headings with their counts, and the numbers of the articles below the last of them."""
    for level, line in _lines(tree, 0):
        folded = Text("  " * level) + line
        if out.is_terminal and len(folded) > out.width:
            folded.truncate(out.width, overflow="ellipsis")
        out.print(folded, soft_wrap=True)
    if not tree.get("complete", True):
        out.print(Text(without_what_has_gone(), "dim"), soft_wrap=True)


def _lines(tree: Tree, level: int) -> Iterator[tuple[int, Text]]:
    if tree["label"] == "Article":
        yield level, Text(_article(tree))
        return
    count = number_of(tree["articles"], _ARTICLES)
    yield level, Text.assemble((tree["heading"], "bold" if level == 0 else ""), (f"  {count}", "dim"))
    articles: list[str] = []
    for part in tree["contents"]:
        if part["label"] == "Article" and not part["heading"]:
            articles.append(part["number"])
            continue
        yield from _numbers(articles, level + 1)
        articles = []
        yield from _lines(part, level + 1)
    yield from _numbers(articles, level + 1)


def _article(tree: Mapping[str, Any]) -> str:
    return tree["number"] + (f"  {tree['heading']}" if tree["heading"] else "")


def _numbers(numbers: list[str], level: int) -> Iterator[tuple[int, Text]]:
    """Yield articles without headings, as many on a line as fit."""
    line = ""
    for number in numbers:
        if line and len(line) + len(number) + 2 + 2 * level > out.width:
            yield level, Text(line)
            line = ""
        line += ("  " if line else "") + number
    if line:
        yield level, Text(line)


def acts_of(graph: Graph) -> list[Row]:
    """Return identifier, title, kind and jurisdiction of every act."""
    return [{key: row[key] for key in ("id", "title", "kind", "jurisdiction")} for row in graph.rows("act_names")]


def show_acts(acts: list[Row]) -> None:
    """Print the acts, one a line."""
    for act in acts:
        say(f"{act['id']}  {act['title']}")
    if not acts:
        say(localised("The graph holds no act: run `lexgraph ingest`."))
