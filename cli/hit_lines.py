"""Hits on a terminal: three lines each, fitted to its width; acts like another likewise."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from typing import Any

from rich.text import Text

from cli.group import Group
from cli.language import day_in_words, localised
from cli.output import out, say
from schema.filter import Filter
from schema.wordings import TextOfDay
from search.text.snippets import Snippet

Described = Mapping[str, Any]
MEANINGFUL = 100
"""A place further down a list is no reason for a hit."""
_LISTS = {
    "citation": "named in the query",
    "bm25": "bm25 {rank}",
    "section": "section {rank}",
    "heading": "heading {rank}",
    "vector": "vectors {rank}",
    "questions": "similar questions {rank}",
    "authority": "often cited {rank}",
    "feedback": "like the first answers {rank}",
    "hierarchical": "top-down {rank}",
}
_VIEWS = {"title": "title", "lead": "beginning", "whole": "whole"}
"""Parts of acts that lists of acts compare: `title-lead` holds the titles against the beginnings."""


def show_hits(hits: Sequence[Described], only: Filter, *, group: Group | None = None, ids: bool = False) -> None:
    """Print hits, best first: number and path, passage, reasons; gathered under their section or act where wanted.

    Args:
        hits: as `cli.hits.described_hits` gives them.
        only: the filter, which is named where nothing passes it.
        group: gathers hits, in the order of the first of each group.
        ids: print the identifier of each.
    """
    if not hits:
        say(_nothing_matches(only))
        return
    margin = len(str(hits[-1]["rank"])) + 2
    for heading, members in _grouped(hits, group):
        if heading:
            _print(Text(_shortened(heading, out.width), "bold"))
        for hit in members:
            number = Text(f"{hit['rank']:<{margin}}") + Text(hit["number"], "bold")
            path = hit["path"] if not heading else hit["path"][len(heading) :]
            where = _shortened(path, out.width - len(number) - 3)
            _print(number + Text(f" · {where}" if where else ""))
            indent = Text(" " * margin)
            _print(indent + _passage(hit, out.width - margin))
            reasons = _reasons(hit, ids, dated=only.across_time)
            _print(indent + Text(_fitted(" · ".join(reasons), out.width - margin), "dim"))


def show_acts_like(acts: Sequence[Described]) -> None:
    """Print acts, best first: identifier and date, title, reasons."""
    if not acts:
        say(localised("No act is like this one."))
    for rank, act in enumerate(acts, 1):
        margin = len(str(len(acts))) + 2
        day = f" · {day_in_words(act['published'])}" if act["published"] else ""
        _print(Text(f"{rank:<{margin}}") + Text(act["id"], "bold") + Text(day))
        for line in (act["title"], " · ".join(islice(_places(act["places"]), 4))):
            _print(Text(" " * margin + _fitted(line, out.width - margin)))


def _nothing_matches(only: Filter) -> str:
    """Return what is said where no article matches: the conditions by name."""
    named = {
        "act": localised("act"),
        "section": localised("section"),
        "in_force_on": localised("in force on"),
        "kind": localised("kind"),
        "jurisdiction": localised("jurisdiction"),
    }
    conditions = ", ".join(
        f"{named[name]} {value}" for name, value in asdict(only).items() if name in named and value is not None
    )
    return (
        localised("No article matches ({conditions}).", conditions=conditions) if conditions else localised("No article matches.")
    )


def _grouped(hits: Sequence[Described], group: Group | None) -> Iterator[tuple[list[str], list[Described]]]:
    """Yield headings and hits of each group; one group without headings where none is wanted."""
    groups: dict[str, list[Described]] = {}
    for hit in hits:
        groups.setdefault(hit[group.value] if group else "", []).append(hit)
    for members in groups.values():
        yield (members[0]["path"][: 1 if group is Group.ACT else None] if group else []), members


def _shortened(path: Sequence[str], room: int) -> str:
    """Return a path of headings in so many columns: its act and what is nearest to the article stay longest."""
    whole = " › ".join(path)
    if len(whole) <= room:
        return whole
    kept = list(path[-1:])
    for heading in reversed(path[1:-1]):
        if len(" › ".join([path[0], "…", heading, *kept])) > room:
            break
        kept.insert(0, heading)
    return _fitted(" › ".join([path[0], *(["…"] if len(kept) < len(path) - 1 else []), *kept] if len(path) > 1 else path), room)


def _fitted(line: str, room: int) -> str:
    return line if len(line) <= room else line[: max(room - 1, 0)].rstrip() + "…"


def _passage(hit: Described, room: int) -> Text:
    """Return the line of a snippet around its best place, the matched words in bold."""
    cut = Snippet(hit["snippet"], tuple(map(tuple, hit["marks"]))).line(room)
    text = Text(cut.text)
    for start, end in cut.marks:
        text.stylize("bold", start, end)
    return text


def _reasons(hit: Described, ids: bool, *, dated: bool) -> Iterator[str]:
    if hit.get("text_of_day") == TextOfDay.UNKNOWN.value:
        yield localised("text of {day} not known; today's is shown", day=hit["on"])
    elif hit.get("text_of_day") == TextOfDay.OTHER.value or (dated and (hit["valid_from"] or hit["valid_to"])):
        yield _while_in_force(hit)
    if ids:
        yield hit["id"]
    yield from _places(hit["places"])
    if (moved := hit.get("moved")) and moved["places"]:
        yield localised("reranked {n:+d}", n=moved["places"])
    if hit["matched"]:
        yield localised("words: {words}", words=", ".join(hit["matched"]))


def _while_in_force(hit: Described) -> str:
    """Return the days of the wording that is shown."""
    start, end = hit["valid_from"], hit["valid_to"]
    if start and end:
        return localised("text in force from {start} until {end}", start=start, end=end)
    return localised("text in force until {end}", end=end) if end else localised("text in force from {start}", start=start or "?")


def _places(places: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield the lists in which something stands high, the highest first."""
    for name, place in sorted(places.items(), key=lambda item: item[1]["rank"]):
        if place["rank"] <= MEANINGFUL:
            if name in _LISTS:
                yield localised(_LISTS[name], rank=place["rank"])
            else:
                yield f"{'–'.join(localised(_VIEWS.get(view, view)) for view in name.split('-'))} {place['rank']}"


def _print(line: Text) -> None:
    out.print(line, soft_wrap=True)
