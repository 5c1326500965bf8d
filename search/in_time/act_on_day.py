"""An act as it stood on a day: its sections with their headings, its articles with their wordings, in reading order."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from cypher.graph import Graph, Row
from schema.wordings import in_force_on, place_on, value_on


@dataclass(frozen=True, slots=True)
class Part:
    """A section or an article on a day.

    Attributes:
        label: Section or Article.
        heading: of that day.
        row: the section; the wording of the article, with ``text``, ``valid_from`` and ``valid_to``.
    """

    id: str
    label: str
    number: str
    heading: str
    row: Row


@dataclass(slots=True)
class ActOnDay:
    """An act on a day.

    Attributes:
        act: the act's row.
        parts: sections and articles by identifier.
    """

    act: Row
    day: date
    parts: dict[str, Part] = field(default_factory=dict[str, Part])
    _parents: dict[str, str] = field(default_factory=dict[str, str])
    _below: dict[str, list[tuple[int, str]]] = field(default_factory=lambda: defaultdict[str, list[tuple[int, str]]](list))

    @classmethod
    def of(cls, graph: Graph, act: str, day: date) -> "ActOnDay":
        """Read an act from a graph."""
        (row,) = graph.rows("acts_by_id", ids=[act])
        stood = cls(row, day)
        for section in graph.rows("sections_of_acts", ids=[act]):
            heading = value_on(day, section["stays"]) if section["stays"] else section["heading"]
            if heading is not None:
                part = Part(section["id"], "Section", section["number"], heading, section)
                stood._add(part, section["parent_id"], section["position"])
        wordings: dict[str, list[Row]] = defaultdict(list)
        for wording in graph.rows("wordings_of_acts", ids=[act]):
            wordings[wording["article_id"]].append(wording)
        for article in graph.rows("articles_of_acts", ids=[act]):
            all_ = [article, *wordings[article["id"]]]
            place = in_force_on(day, [(wording["valid_from"], wording["valid_to"]) for wording in all_])
            if place is not None:
                part = Part(article["id"], "Article", article["number"], article["heading"] or "", all_[place])
                position, parent = place_on(day, article["stays"] or ()) or (article["position"], article["parent_id"])
                stood._add(part, parent, position)
        return stood

    def _add(self, part: Part, parent: str, position: int) -> None:
        self.parts[part.id] = part
        self._parents[part.id] = parent
        self._below[parent].append((position, part.id))

    def parent(self, id: str) -> str:
        """Return the section or act that a part stood in."""
        return self._parents[id]

    def below(self, id: str) -> list[Part]:
        """Return what stands directly in a section or the act, in order."""
        return [self.parts[child] for _, child in sorted(self._below.get(id, ()))]

    def path_above(self, id: str) -> list[tuple[str, str]]:
        """Return identifier and heading of what stands above a part, from the act down."""
        path: list[tuple[str, str]] = []
        parent = self._parents.get(id, "")
        while parent in self.parts:
            path.append((parent, self.parts[parent].heading))
            parent = self._parents[parent]
        return [(self.act["id"], self.act["title"]), *reversed(path)]

    def articles(self) -> Iterator[Part]:
        """Yield the articles in reading order."""
        stack = list(reversed(self.below(self.act["id"])))
        while stack:
            part = stack.pop()
            if part.label == "Article":
                yield part
            else:
                stack += reversed(self.below(part.id))

    def beside(self, article: str) -> tuple[Part | None, Part | None]:
        """Return the articles before and after one; None beyond the ends of the act."""
        order = list(self.articles())
        place = next((n for n, part in enumerate(order) if part.id == article), None)
        if place is None:
            return None, None
        return (order[place - 1] if place else None), (order[place + 1] if place + 1 < len(order) else None)
