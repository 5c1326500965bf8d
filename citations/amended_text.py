"""Stretches of text that an amending act quotes: citations in them belong to the amended act."""

from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter

from citations.patterns import AMENDS, CLOSING, COLON_AFTER, NEXT_CHANGE, QUOTE_AFTER, QUOTED_AGAIN, TEXT_FOLLOWS
from citations.reference import Context


@dataclass(frozen=True, slots=True)
class Zone:
    """A stretch of text that is to stand in another place of the law."""

    start: int
    end: int


_zone_start = attrgetter("start")


def zone_at(zones: list[Zone], at: int) -> Zone | None:
    """Return the zone that a place stands in."""
    before = bisect_right(zones, at, key=_zone_start) - 1
    return zones[before] if before >= 0 and at < zones[before].end else None


def amended_zones(text: str, context: Context) -> list[Zone]:
    """Return the stretches that are new words for another place: quoted behind a verb of amendment, or behind its colon."""
    zones: list[Zone] = []
    at = 0
    while intro := AMENDS.search(text, at):
        at = intro.end()
        quote = QUOTE_AFTER.match(text, at)
        if quote:
            end = _quote_end(text, quote.end())
            zones.append(Zone(quote.end() - 1, end))
            at = end
        elif not context.is_lettered:
            follows = TEXT_FOLLOWS.match(text, intro.start())
            if follows and COLON_AFTER.match(text, follows.end()):
                ending = NEXT_CHANGE.search(text, follows.end())
                at = ending.start() if ending else len(text)
                zones.append(Zone(follows.end(), at))
    return zones


def _quote_end(text: str, at: int) -> int:
    """Past the words quoted from here on, with the quoted paragraphs that follow them at once."""
    while True:
        closing = CLOSING.search(text, at)
        if not closing:
            return len(text)
        again = QUOTED_AGAIN.match(text, closing.end())
        if not again:
            return closing.end()
        at = again.end()
