"""The law in time as the command line prints it: wordings, differences, changes."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from typing import Any

from rich.text import Text

from cli.language import day_in_words, localised
from cli.named import Named
from cli.output import out, say
from cli.pages import NUMBERED, in_force, outside_in_time, without_what_has_gone
from cli.reading import known_then
from cypher.graph import Graph, Row
from schema.errors import BadQuery, NotFound
from schema.wordings import Days, TextOfDay, is_outside
from search.in_time.article_on_day import ArticleOnDay
from search.in_time.changes import changes_between, wordings_of
from search.in_time.difference import difference

Found = dict[str, Any]
_MARKS = {"same": ("", ""), "deleted": ("[-", "-]"), "inserted": ("{+", "+}")}
_KINDS = {"new": "new", "repealed": "repealed", "reworded": "reworded", "renumbered": "renumbered"}
_STYLES = {"same": "", "deleted": "red strike", "inserted": "green"}


def _article(graph: Graph, name: Named, known_on: date | None) -> tuple[Row, list[Row]]:
    """An article and its other wordings, as the graph has them or had them on a day.

    Raises:
        BadQuery: something else is named.
        NotFound: nothing was known of it on that day.
    """
    label, id = name
    if label != "Article":
        raise BadQuery(localised("{id} is no article: only articles have wordings", id=id))
    (row,) = graph.rows("articles_by_id", ids=[id])
    others = graph.rows("wordings", ids=[id])
    return known_then(graph, row, others, known_on) if known_on else (row, others)


def history_of(graph: Graph, name: Named, known_on: date | None = None) -> Found:
    """Return the wordings of an article, oldest first, and the numbers that its text had before and has since.

    Args:
        graph: the law.
        name: label and identifier.
        known_on: day on which the graph knew what is listed; None: what it knows now.

    Raises:
        BadQuery: something other than an article is named.
        NotFound: nothing was known of it on that day.
    """
    article, others = _article(graph, name, known_on)
    renumbered = {
        side: [{"id": row["other"], "number": row["number"], "on": row["on"], "similarity": row["similarity"]} for row in rows]
        for side, rows in (
            ("from", graph.rows("renumberings_into", ids=[name[1]])),
            ("to", graph.rows("renumberings", ids=[name[1]])),
        )
    }
    wordings = [asdict(wording) for wording in wordings_of(article, others)]
    return {"id": name[1], "number": article["number"], "wordings": wordings, "renumbered": renumbered}


def show_history(found: Mapping[str, Any]) -> None:
    """Print the wordings of an article, one a paragraph."""
    out.print(Text(localised("Article {number}", number=found["number"]), "bold"))
    for wording in found["wordings"]:
        say("")
        say(
            ", ".join(in_force(wording["valid_from"], wording["valid_to"]))
            + (f" · {wording['instrument']}" if wording["instrument"] else "")
        )
        for paragraph in (wording["text"] or localised("The source gives its dates alone.")).split("\n"):
            say(f"  {paragraph}")
    for side, line in NUMBERED.items():
        for other in found["renumbered"][side]:
            say("")
            say(localised(line, day=other["on"], number=other["number"]))


def difference_of(graph: Graph, name: Named, start: date, end: date, known_on: date | None = None) -> Found:
    """Return the difference between the wordings of an article on two days, as the graph knows them or knew them on a third.

    Raises:
        BadQuery: something other than an article is named, or a day lies outside the law that is loaded.
        NotFound: the article was not in force on one of the days, or its wording of that day is not known.
    """
    article, others = _article(graph, name, known_on)
    (act,) = graph.rows("acts_by_id", ids=[article["act_id"]])
    texts = [_text_on(day, article, others, (act["known_from"], act["known_to"])) for day in (start, end)]
    spans = [asdict(span) for span in difference(texts[0], texts[1])]
    return {"id": name[1], "number": article["number"], "from": start, "to": end, "same": texts[0] == texts[1], "spans": spans}


def _text_on(day: date, article: Row, others: Sequence[Row], known: Days) -> str:
    stood = ArticleOnDay.of(article, others, day, known)
    if stood.state is TextOfDay.OUTSIDE:
        raise BadQuery(outside_in_time(day, known))
    if stood.state is TextOfDay.NONE:
        raise NotFound(localised("article {number} was not in force on {day}", number=article["number"], day=day))
    if stood.text is None:
        raise NotFound(localised("the wording of article {number} on {day} is not known", number=article["number"], day=day))
    return stood.text


def show_difference(found: Mapping[str, Any]) -> None:
    """Print a text in which what went and what came is marked: by colours on a terminal, by brackets elsewhere."""
    title = localised("Article {number}", number=found["number"])
    out.print(Text(f"{title}: {day_in_words(found['from'])} → {day_in_words(found['to'])}", "bold"))
    if found["same"]:
        say(localised("The same wording on both days."))
        return
    line = Text()
    for span in found["spans"]:
        before, after = ("", "") if out.is_terminal else _MARKS[span["change"]]
        line.append(f"{before}{span['text']}{after}", _STYLES[span["change"]])
    out.print(line, soft_wrap=not out.is_terminal)


def changes_of(graph: Graph, act: str, start: date, end: date) -> Found:
    """Return the changes of an act between two days.

    Raises:
        BadQuery: the days are in the wrong order, or lie outside the law that is loaded.
    """
    (row,) = graph.rows("acts_by_id", ids=[act])
    known: Days = (row["known_from"], row["known_to"])
    if end < start:
        raise BadQuery(localised("{start} comes after {end}: name the earlier day first", start=start, end=end))
    for day in (start, end):
        if is_outside(day, known):
            raise BadQuery(outside_in_time(day, known))
    listed = [asdict(change) for change in changes_between(graph, act, start, end)]
    return {"act": act, "title": row["title"], "from": start, "to": end, "changes": listed, "complete": bool(known[0])}


def show_changes(found: Mapping[str, Any]) -> None:
    """Print the changes of an act, one article a line."""
    out.print(Text(f"{found['title']}: {day_in_words(found['from'])} → {day_in_words(found['to'])}", "bold"))
    for change in found["changes"]:
        went = f" → {change['renumbered_to'].rpartition('/')[2]}" if change["renumbered_to"] else ""
        say(f"{change['number']}  {localised(_KINDS[change['kind']])}{went}")
    if not found["changes"]:
        say(localised("Nothing changed."))
    if not found["complete"]:
        out.print(Text(without_what_has_gone(), "dim"), soft_wrap=True)
