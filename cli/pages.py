"""Pages and trees of law on a terminal: text folded at its width, whole lines where no person looks, no colours there."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

from rich.padding import Padding
from rich.text import Text

from cli.language import localised, number_of
from cli.output import out
from schema.wordings import Days, TextOfDay

Page = Mapping[str, Any]
FEW = 12
"""Lines of a list of citations, unless all are asked for."""
_WIDEST = 100
"""Columns of a text: longer lines are hard to read."""
_BESIDE = {"previous": "before: {number}", "next": "after: {number}"}
NUMBERED = {"from": "before {day}: article {number}", "to": "since {day}: article {number}"}
"""An article under its old and its new number."""
_RELATIONS = {
    "TRANSPOSES": ("transposes {act}", "transposed by {act}"),
    "AMENDS": ("amends {act}", "amended by {act}"),
    "REPEALS": ("repeals {act}", "repealed by {act}"),
    "CONSOLIDATES": ("consolidates {act}", "consolidated by {act}"),
    "CITES": ("cites {act}", "cited by {act}"),
}


def show_page(page: Page, *, all_lines: bool = False) -> None:
    """Print an article, a section or an act; ``all_lines`` prints long lists of citations to their ends."""
    _line(Text(_title(page), "bold"))
    above = [step["heading"] for step in page["path"]]
    if above:
        _line(Text(" › ".join(above)))
    _line(Text(" · ".join(_about(page)), "dim"))
    if page["url"]:
        _line(Text(page["url"], "dim"), fold=False)
    body = _missing_text(page) if page["text"] is None else page["text"]
    if body:
        _line(Text())
        for paragraph in body.split("\n"):
            _line(Text(paragraph), indent=2)
    for heading, lines in _lists(page):
        _line(Text())
        _line(Text(heading, "bold"))
        shown = lines if all_lines or len(lines) <= FEW + 1 else lines[:FEW]
        for line in shown:
            _line(line, indent=2, fold=False)
        if len(shown) < len(lines):
            _line(Text(localised("… and {n} more (--all)", n=len(lines) - len(shown))), indent=2)
    if page["label"] != "Article":
        _line(Text())
        _line(Text(localised("lexgraph contents {id} lists what stands in it", id=page["id"]), "dim"))
    _beside(page)


def _title(page: Page) -> str:
    match page["label"]:
        case "Article":
            heading = f" · {page['heading']}" if page["heading"] else ""
            return localised("Article {number}", number=page["number"]) + heading
        case "Section":
            return page["heading"]
        case _:
            return page["title"]


def _about(page: Page) -> Iterator[str]:
    """Yield days, state, other wordings and the identifier."""
    yield page["id"]
    if page.get("on"):
        yield localised("on {day}", day=page["on"])
    if page.get("published"):
        yield localised("of {day}", day=page["published"])
    if page.get("updated"):
        yield localised("as consolidated on {day}", day=page["updated"])
    if page.get("text_of_day") != TextOfDay.UNKNOWN.value or page["valid_from"]:
        yield from in_force(page["valid_from"], page["valid_to"])
    if page.get("status"):
        yield page["status"]
    wordings: Sequence[Page] = page.get("wordings") or ()
    if wordings:
        told = number_of(len(wordings), {True: "{n} other wording", False: "{n} other wordings"})
        yield told if any(w["text_known"] for w in wordings) else told + localised(" (dates alone)")


def in_force(start: date | None, end: date | None) -> Iterator[str]:
    """Yield the days of a wording in words; nothing where none is known."""
    if start and end:
        yield localised("in force from {start} to {end}", start=start, end=end)
    elif start:
        yield localised("in force since {start}", start=start)
    elif end:
        yield localised("in force until {end}", end=end)


def outside_in_time(day: date, known: Days) -> str:
    """Return what is said of a day outside the law that is loaded."""
    return localised("{day} lies outside the law that is loaded: from {start} to {end}", day=day, start=known[0], end=known[1])


def without_what_has_gone() -> str:
    """Return what is said below law of other days, where its source has the earlier wordings only of what is still there."""
    return localised("The source has the law of no other day: articles that it has dropped since are missing here.")


def _missing_text(page: Page) -> str:
    """Return what stands in the place of a text that is not known: another day's is never shown for it."""
    day = page["on"]
    if page["text_of_day"] == TextOfDay.OUTSIDE.value:
        return outside_in_time(day, (page["known_from"], page["known_to"]))
    if page["text_of_day"] == TextOfDay.NONE.value:
        return localised("Not in force on {day}.", day=day) + "".join(f"\n{line}" for line in _in_time(page))
    if page["valid_from"] is None and page["valid_to"] is None:
        return localised("No wording in force on {day} is known.", day=day)
    known = localised("The text in force on {day} is not known here: the source gives its dates alone.", day=day)
    return known + (localised("\nThe publisher has it at the address above.") if page["url"] else "")


def _in_time(page: Page) -> Iterator[str]:
    """Yield the days of the wordings before and after a day on which none was in force."""
    if before := page["wording_before"]:
        yield localised("The wording before: until {day}", day=before["valid_to"])
    if after := page["wording_after"]:
        yield localised("The wording after: since {day}", day=after["valid_from"])


def _renumbered(other: Page) -> str:
    return localised(NUMBERED[other["side"]], day=other["on"], number=other["number"])


def _lists(page: Page) -> Iterator[tuple[str, list[Text]]]:
    """Yield the lists of a page that hold anything: heading and lines."""
    own = page["title"] if page["label"] == "Act" else page["act"]["title"]
    cites = [_cited_line(other, own) for other in page.get("cites", ())]
    outside = [_outside_line(other) for other in page.get("cites_outside", ())]
    cited_by = [_cited_line(other, own) for other in page["cited_by"]]
    relations = [Text(_relation(relation, page["id"])) for relation in page.get("relations", ())]
    if page.get("text_of_day") in (TextOfDay.OTHER.value, TextOfDay.UNKNOWN.value):
        headings = (localised("Cites, as it reads today"), localised("Cites outside the graph, as it reads today"))
    else:
        headings = (localised("Cites"), localised("Cites outside the graph"))
    in_text = [Text(" ".join(found["words"].split())) for found in page.get("cites_in_text", ())]
    renumbered = [Text(_renumbered(other)) for other in page.get("renumbered", ())]
    named = (
        (localised("The same text under other numbers"), renumbered),
        (localised("Relations"), relations),
        (localised("Cites"), in_text),
        (headings[0], cites),
        (headings[1], outside),
    )
    for heading, lines in (*named, (localised("Cited by ({n})", n=len(cited_by)), cited_by)):
        if lines:
            yield heading, lines


def _cited_line(other: Page, own: str) -> Text:
    """Return one line of an article that is cited or cites: number, act where it is another, heading above, mentions."""
    number = other["number"] if other["label"] == "Article" else ""
    where = [part for part in (other["act"] if other["act"] != own or not number else "", other["heading"]) if part]
    times = localised(" ({n} times)", n=other["mentions"]) if other["mentions"] > 1 else ""
    return _cut(number, f"{'  ' if number else ''}{' › '.join(where)}", times)


def _outside_line(other: Page) -> Text:
    words = " ".join(other["words"][0].split())
    times = localised(" ({n} times)", n=other["mentions"]) if other["mentions"] > 1 else ""
    return Text(f"{words}  {other['url'] or other['target']}{times}")


def _relation(relation: Page, own: str) -> str:
    there, back = _RELATIONS[relation["type"]]
    forth = relation["from"] == own
    return localised(there if forth else back, act=relation["to"] if forth else relation["from"])


def _cut(head: str, rest: str, tail: str) -> Text:
    """Return one line of a list, its middle cut where it is wider than the terminal."""
    room = out.width - 2 - len(head) - len(tail)
    fits = len(rest) <= room or not out.is_terminal
    return Text.assemble((head, "bold"), rest if fits else rest[: max(room - 1, 0)] + "…", tail)


def _beside(page: Page) -> None:
    beside = [localised(_BESIDE[key], number=page[key]["number"]) for key in _BESIDE if page.get(key)]
    if beside:
        _line(Text())
        _line(Text(" · ".join(beside), "dim"))


def _line(text: Text, indent: int = 0, fold: bool = True) -> None:
    if out.is_terminal and fold:
        out.print(Padding(text, (0, 0, 0, indent)), width=min(out.width, _WIDEST))
    else:
        out.print(Text(" " * indent) + text, soft_wrap=True)
