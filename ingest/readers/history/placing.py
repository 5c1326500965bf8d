"""The identity of sections and articles from state to state: which of one is which of the next.

Identifiers are those that the last state alone would give: number and path. Where two articles, or two sections side by
side, bear one number, each goes on as the one whose words, or whose place, it has.
"""

from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, field

from ingest.readers.support.dialects import Block, Heading
from schema.identifiers import bounded, section_number, slug

Place = tuple[str, str]
"""Wording (`Block.key`) and parent of an article."""
_UNNUMBERED = "sans-numero"


@dataclass(slots=True)
class Placed:
    """One state of an act.

    Attributes:
        articles: wording and parent by identifier.
        blocks: what was read of each article.
        sections: parent and heading by identifier.
        order: parent and child, of sections and articles, in reading order.
        raw: bytes of each article's block.
    """

    articles: dict[str, Place]
    blocks: dict[str, Block]
    sections: dict[str, tuple[str, str]]
    order: list[tuple[str, str]]
    raw: dict[str, bytes]


@dataclass(slots=True)
class Placing:
    """The sections and the articles of an act that have been met so far."""

    act: str
    _sections: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict[tuple[str, str], list[str]](list))
    _bears: dict[str, str] = field(default_factory=dict[str, str])
    _articles: dict[str, list[str]] = field(default_factory=lambda: defaultdict[str, list[str]](list))
    _taken: set[str] = field(default_factory=set[str])
    _last: dict[str, Place] = field(default_factory=dict[str, Place])
    _paths: tuple[tuple[tuple[Heading, ...], ...], list[list[tuple[str, str, str]]], list[str]] = ((), [], [])

    def place(self, blocks: Sequence[tuple[bytes, Block]]) -> Placed:
        """Return a state with the identifiers of all that stands in it."""
        groups = tuple(block.headings for _, block in blocks if block.headings)
        if groups != self._paths[0]:
            self._paths = (groups, *self._opened(groups))
        _, opened, below = self._paths
        sections = {id: (parent, heading) for group in opened for parent, id, heading in group}
        parents: list[str] = []
        parent, group = self.act, 0
        for _, block in blocks:
            if block.is_article:
                parents.append(parent)
            if block.headings:
                parent, group = below[group], group + 1
        found = [(raw, block) for raw, block in blocks if block.is_article]
        keys = [block.key for _, block in found]
        ids = self._identified(list(zip((block.normal or _UNNUMBERED for _, block in found), keys, parents, strict=True)))
        articles = dict(zip(ids, zip(keys, parents, strict=True), strict=True))
        self._last |= articles
        return Placed(
            articles,
            {id: block for id, (_, block) in zip(ids, found, strict=True)},
            sections,
            _in_order(blocks, zip(parents, ids, strict=True), opened),
            {id: raw for id, (raw, _) in zip(ids, found, strict=True)},
        )

    def _opened(self, groups: Sequence[Sequence[Heading]]) -> tuple[list[list[tuple[str, str, str]]], list[str]]:
        """Parent, identifier and heading of the sections that each group of headings opens, and the section behind it."""
        open_: list[tuple[int, int, str]] = []
        used: set[str] = set()
        borne = {heading.slug for group in groups for heading in group}
        opened: list[list[tuple[str, str, str]]] = []
        below: list[str] = []
        for group in groups:
            made: list[tuple[str, str, str]] = []
            for heading in group:
                if heading.rank == 0:
                    open_.clear()
                while open_ and open_[-1][:2] >= (heading.marks, heading.rank):
                    open_.pop()
                parent = open_[-1][2] if open_ else self.act
                id = self._section(parent, heading, used, borne)
                open_.append((heading.marks, heading.rank, id))
                made.append((parent, id, heading.words))
            opened.append(made)
            below.append(open_[-1][2] if open_ else self.act)
        return opened, below

    def _section(self, parent: str, heading: Heading, used: set[str], borne: Container[str]) -> str:
        """The identifier of a section: of its heading, else of its number, where no other heading of the state bears that.

        Args:
            used: identifiers of the sections before it.
            borne: headings of the state.
        """
        base = bounded(f"{parent}/{slug(section_number(heading.words))[:80] or 'section'}")
        known = self._sections[base, heading.slug]
        id = next((id for id in known if id not in used), "")
        if not id:
            id, n = base, 1
            while id in used or (id not in known and self._bears.get(id, "") in borne):
                n += 1
                id = bounded(f"{base}~{n}")
            known.append(id)
        self._bears[id] = heading.slug
        used.add(id)
        self._taken.add(id)
        return id

    def _identified(self, found: Sequence[tuple[str, str, str]]) -> list[str]:
        """The identifiers of articles, each given by number, wording and parent, in their order."""
        shared = Counter(number for number, _, _ in found)
        ids: list[str] = [""] * len(found)
        together: dict[str, list[int]] = defaultdict(list)
        for n, (number, _, _) in enumerate(found):
            known = self._articles[number]
            if shared[number] == 1 and len(known) == 1:
                ids[n] = known[0]
            else:
                together[number].append(n)
        for number, places in together.items():
            self._match(number, places, found, ids)
        return ids

    def _match(self, number: str, places: Sequence[int], found: Sequence[tuple[str, str, str]], ids: list[str]) -> None:
        """Give articles of one number their identifiers: by wording and place, by wording, by place, then in their order."""
        known = self._articles[number]
        free = list(known)
        waiting = list(places)
        for alike in (
            lambda place, last: place == last,
            lambda place, last: place[0] == last[0],
            lambda place, last: place[1] == last[1],
            lambda place, last: True,
        ):
            for n in list(waiting):
                own = found[n][1:]
                id = next((id for id in free if alike(own, self._last[id])), None)
                if id is not None:
                    ids[n] = id
                    free.remove(id)
                    waiting.remove(n)
        for n in waiting:
            ids[n] = self._new(number)

    def _new(self, number: str) -> str:
        known = self._articles[number]
        n = len(known) + 1
        id = bounded(f"{self.act}/{number}" + (f"~{n}" if n > 1 else ""))
        while id in self._taken or id in self._last:
            n += 1
            id = bounded(f"{self.act}/{number}~{n}")
        known.append(id)
        self._taken.add(id)
        return id


def _in_order(
    blocks: Sequence[tuple[bytes, Block]], articles: Iterator[tuple[str, str]], opened: Sequence[Sequence[tuple[str, str, str]]]
) -> list[tuple[str, str]]:
    """Return parent and child of articles, which come in their order, and of the sections that groups of headings open."""
    order: list[tuple[str, str]] = []
    groups = iter(opened)
    for _, block in blocks:
        if block.is_article:
            order.append(next(articles))
        if block.headings:
            order += ((above, id) for above, id, _ in next(groups))
    return order
