"""Build an act from headings and articles in reading order, for formats without identifiers of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from schema.identifiers import bounded, normal_number, occurrence_ids, section_number, slug
from schema.records import Act, ActTree, Article, Citation, OutsideKind, Rejected, Relation, Section

_UNNUMBERED = "sans-numero"


@dataclass(frozen=True, slots=True)
class Cited:
    """What an article cites: the words' place in its text, and the target as `Citation` names it."""

    start: int
    end: int
    target: str
    kind: OutsideKind = "article"


@dataclass(slots=True)
class _Leaf:
    parent: str
    position: int
    number: str
    heading: str
    text: str
    source_id: str
    source_ids: tuple[str, ...]
    cited: Sequence[Cited]


@dataclass(slots=True)
class TreeBuilder:
    """One act while it grows."""

    act: Act
    _sections: dict[str, Section] = field(default_factory=dict[str, Section])
    _by_path: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _leaves: list[_Leaf] = field(default_factory=list[_Leaf])
    _children: dict[str, int] = field(default_factory=dict[str, int])

    def below(self, path: Sequence[str]) -> str:
        """The section under these headings, from the act down, made where it is not there yet; without any, the act."""
        parent = self.act.id
        for depth in range(1, len(path) + 1):
            known = tuple(path[:depth])
            if known not in self._by_path:
                self._by_path[known] = self.section(parent, path[depth - 1])
            parent = self._by_path[known]
        return parent

    def section(self, parent: str, heading: str, *, number: str = "", source_id: str = "", text: str = "") -> str:
        """A new section; its identifier."""
        heading = " ".join(heading.split())
        base = bounded(f"{parent}/{slug(number or section_number(heading))[:80] or 'section'}")
        id, n = base, 1
        while id in self._sections:
            n += 1
            id = bounded(f"{base}~{n}")
        level = self._sections[parent].level + 1 if parent in self._sections else 1
        ids = (source_id,) if source_id else ()
        self._sections[id] = Section(
            id=id,
            act_id=self.act.id,
            parent_id=parent,
            position=self._place(parent),
            number=(number or section_number(heading))[:200],
            heading=heading,
            level=level,
            status=self.act.status,
            source_id=source_id,
            source_ids=ids,
            text=text,
        )
        return id

    def article(
        self,
        parent: str,
        number: str,
        text: str,
        *,
        heading: str = "",
        source_id: str = "",
        source_ids: tuple[str, ...] = (),
        cited: Sequence[Cited] = (),
    ) -> None:
        """The next article."""
        ids = source_ids or ((source_id,) if source_id else ())
        self._leaves.append(_Leaf(parent, self._place(parent), number, heading, text, source_id, ids, cited))

    @property
    def empty(self) -> bool:
        """Whether no article was added."""
        return not self._leaves

    def _place(self, parent: str) -> int:
        self._children[parent] = self._children.get(parent, 0) + 1
        return self._children[parent] - 1

    def tree(self, rejected: Iterable[Rejected] = (), relations: Iterable[Relation] = ()) -> ActTree:
        """The act with all that was added."""
        act = self.act
        ids = occurrence_ids(act.id, (normal_number(leaf.number) or _UNNUMBERED for leaf in self._leaves), self._sections)
        articles: list[Article] = []
        citations: list[Citation] = []
        for id, leaf in zip(ids, self._leaves, strict=True):
            articles.append(
                Article(
                    id=id,
                    act_id=act.id,
                    parent_id=leaf.parent,
                    position=leaf.position,
                    number=" ".join(leaf.number.split()),
                    heading=" ".join(leaf.heading.split()),
                    text=leaf.text,
                    language=act.language,
                    status=act.status,
                    valid_from=act.valid_from,
                    valid_to=act.valid_to,
                    source_id=leaf.source_id,
                    source_ids=tuple(sorted(set(leaf.source_ids))),
                )
            )
            for c in leaf.cited:
                citations.append(Citation(id, c.target, c.kind, leaf.text[c.start : c.end], c.start, c.end))
        sections = tuple(self._sections.values())
        return ActTree(act, sections, tuple(articles), tuple(citations), tuple(rejected), relations=tuple(relations))
