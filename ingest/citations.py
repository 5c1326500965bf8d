"""Link citations to what they cite: an article or a section of the graph, or something outside it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from cypher.graph import Row, Statements
from schema.records import Citation

_BATCH = 2000
_STATEMENTS = {
    "Article": "create_article_citations",
    "Section": "create_section_citations",
    "Outside": "create_outside_citations",
}


@dataclass(frozen=True, slots=True)
class LinkedCitation:
    """A citation with its target found: ``label`` says where (Article, Section, or Outside the graph).

    ``cited`` is the publisher's identifier that it names, ``target`` the identifier in the graph.
    """

    article: str
    label: str
    target: str
    cited: str
    target_kind: str
    text: str
    start: int
    end: int
    kind: str

    def row(self) -> Row:
        """The parameters of the statement that writes it."""
        return {
            "article": self.article,
            "target": self.target,
            "cited": self.cited,
            "text": self.text,
            "start": self.start,
            "end": self.end,
            "kind": self.kind,
        }


@dataclass(frozen=True, slots=True)
class SourceIds:
    """Publishers' identifiers, of every version, of what the graph holds."""

    articles: dict[str, str]
    sections: dict[str, str]

    @classmethod
    def of(cls, graph: Statements) -> "SourceIds":
        return cls(
            {source: row["id"] for row in graph.rows("article_source_ids") for source in row["source_ids"]},
            {source: row["id"] for row in graph.rows("section_source_ids") for source in row["source_ids"]},
        )

    def label_and_id(self, target: str) -> tuple[str, str] | None:
        """Label and identifier of what a publisher's identifier names, or None where the graph lacks it."""
        if target in self.articles:
            return "Article", self.articles[target]
        if target in self.sections:
            return "Section", self.sections[target]
        return None


def link(citations: Iterable[Citation], ids: SourceIds) -> list[LinkedCitation]:
    """Each citation with its target; what the graph lacks, and whole acts and pages, stand outside."""
    linked: list[LinkedCitation] = []
    for c in citations:
        label, target = ids.label_and_id(c.target) or ("Outside", c.target)
        linked.append(LinkedCitation(c.article_id, label, target, c.target, c.target_kind, c.text, c.start, c.end, c.kind))
    return linked


def write_citations(graph: Statements, act_id: str, citations: Sequence[LinkedCitation]) -> None:
    """Make these the citations of the articles of one act; articles whose citations are the same are left alone."""
    old: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for statement in ("citations_of_act", "outside_citations_of_act"):
        for row in graph.rows(statement, act_id=act_id):
            cited = row.get("cited", row["target"])
            old[row["article"]][row["target"], cited, row["text"], row["start"], row["end"], row["kind"]] += 1
    new: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for c in citations:
        new[c.article][c.target, c.cited, c.text, c.start, c.end, c.kind] += 1
    different = sorted(a for a in old.keys() | new.keys() if old.get(a) != new.get(a))
    known = [a for a in different if a in old]
    _delete(graph, known)
    changed = set(different)
    _create(graph, [c for c in citations if c.article in changed])
    graph.write("delete_lone_outside")


def relink(graph: Statements, ids: SourceIds) -> None:
    """Link anew what other acts cite, after a load.

    A citation that pointed outside may have its target now; the version that one names may have gone, or
    belong to another article by now.
    """
    found: dict[str, list[LinkedCitation]] = defaultdict(list)
    stale: set[str] = set()
    for row in graph.rows("outside_citations"):
        place = ids.label_and_id(row["target"])
        if place:
            stale.add(row["article"])
        found[row["article"]].append(_linked(row, place, row["target"], row["target_kind"]))
    for row in graph.rows("citations"):
        place = ids.label_and_id(row["cited"])
        if place != (row["label"], row["target"]):
            stale.add(row["article"])
        found[row["article"]].append(_linked(row, place, row["cited"], row["label"].lower()))
    if stale:
        articles = sorted(stale)
        _delete(graph, articles)
        _create(graph, [c for article in articles for c in found[article]])
        graph.write("delete_lone_outside")


def _linked(row: Row, place: tuple[str, str] | None, cited: str, kind: str) -> LinkedCitation:
    label, target = place or ("Outside", cited)
    return LinkedCitation(row["article"], label, target, cited, kind, row["text"], row["start"], row["end"], row["kind"])


def write_citations_outside(graph: Statements, citations: Sequence[LinkedCitation]) -> None:
    """Add citations that point outside, as they are."""
    _create(graph, citations)


def _delete(graph: Statements, articles: Sequence[str]) -> None:
    for start in range(0, len(articles), _BATCH):
        graph.write("delete_citations", ids=articles[start : start + _BATCH])
        graph.write("delete_outside_citations", ids=articles[start : start + _BATCH])


def _create(graph: Statements, citations: Sequence[LinkedCitation]) -> None:
    outside = sorted({(c.target, c.target_kind) for c in citations if c.label == "Outside"})
    for start in range(0, len(outside), _BATCH):
        graph.write("merge_outside", rows=[{"id": id, "kind": kind} for id, kind in outside[start : start + _BATCH]])
    for label, statement in _STATEMENTS.items():
        rows = [c.row() for c in citations if c.label == label]
        for start in range(0, len(rows), _BATCH):
            graph.write(statement, rows=rows[start : start + _BATCH])
