"""Build an act from headings and articles in reading order, for formats without identifiers of their own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from schema.identifiers import bounded, normal_number, occurrence_ids, section_number, slug
from schema.records import Act, ActTree, Article, Citation, OutsideKind, Rejected, Relation, Section

_UNNUMBERED = "sans-numero"


@dataclass(frozen=True, slots=True)
class Cited:
    """A citation by an article: the words' place in its text, and the target as `Citation` names it."""

    start: int
    end: int
    target: str
    kind: OutsideKind = "article"


@dataclass(slots=True)
class TreeBuilder:
    """One act while it grows."""

    act: Act
    _sections: dict[str, Section] = field(default_factory=dict[str, Section])
    _by_path: dict[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    _articles: list[tuple[str, Article, Sequence[Cited]]] = field(default_factory=list[tuple[str, Article, Sequence[Cited]]])
    _children: dict[str, int] = field(default_factory=dict[str, int])

    def below(self, path: Sequence[str]) -> str:
        """Return the section under these headings, from the act down, made where it is missing; without any, the act."""
        parent = self.act.id
        for depth in range(1, len(path) + 1):
            above = tuple(path[:depth])
            if above not in self._by_path:
                self._by_path[above] = self.section(parent, path[depth - 1])
            parent = self._by_path[above]
        return parent

    def section(self, parent: str, heading: str, *, number: str = "", source_id: str = "", text: str = "") -> str:
        """Add the next section; return its identifier."""
        heading = " ".join(heading.split())
        base = bounded(f"{parent}/{slug(number or section_number(heading))[:80] or 'section'}")
        id, n = base, 1
        while id in self._sections:
            n += 1
            id = bounded(f"{base}~{n}")
        level = self._sections[parent].level + 1 if parent in self._sections else 1
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
            source_ids=(source_id,) if source_id else (),
            text=text,
        )
        return id

    def article(
        self, parent: str, number: str, text: str, *, heading: str = "", source_id: str = "", cited: Sequence[Cited] = ()
    ) -> None:
        """Add the next article; it is identified once all of them are there."""
        article = Article(
            id="",
            act_id=self.act.id,
            parent_id=parent,
            position=self._place(parent),
            number=" ".join(number.split()),
            heading=" ".join(heading.split()),
            text=text,
            language=self.act.language,
            status=self.act.status,
            valid_from=self.act.valid_from,
            valid_to=self.act.valid_to,
            source_id=source_id,
            source_ids=(source_id,) if source_id else (),
        )
        self._articles.append((number, article, cited))

    @property
    def empty(self) -> bool:
        """True while no article was added."""
        return not self._articles

    def _place(self, parent: str) -> int:
        self._children[parent] = self._children.get(parent, 0) + 1
        return self._children[parent] - 1

    def tree(self, rejected: Iterable[Rejected] = (), relations: Iterable[Relation] = ()) -> ActTree:
        """Return the act with all that was added."""
        numbers = (normal_number(number) or _UNNUMBERED for number, _, _ in self._articles)
        articles: list[Article] = []
        citations: list[Citation] = []
        for id, (_, article, cited) in zip(occurrence_ids(self.act.id, numbers, self._sections), self._articles, strict=True):
            articles.append(replace(article, id=id))
            citations += (Citation(id, c.target, c.kind, article.text[c.start : c.end], c.start, c.end) for c in cited)
        sections = tuple(self._sections.values())
        return ActTree(self.act, sections, tuple(articles), tuple(citations), tuple(rejected), relations=tuple(relations))
