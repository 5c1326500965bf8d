"""Link citations to what they cite: an article or a section of the graph, or something outside it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from cypher.graph import Row, Statements
from schema.identifiers import act_of
from schema.records import ActTree, Citation

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


Claims = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class SourceIds:
    """Publishers' identifiers, of every version, with what answers to them in the graph.

    Where several do, the first by identifier is meant, in whatever order they were loaded.
    """

    articles: Claims
    sections: Claims

    @classmethod
    def of(cls, graph: Statements) -> "SourceIds":
        """Of the law in a graph."""
        articles, sections = (
            _claims((source, row["id"]) for row in graph.rows(name) for source in row["source_ids"])
            for name in ("article_source_ids", "section_source_ids")
        )
        return cls(articles, sections)

    @classmethod
    def among(cls, trees: Sequence[ActTree]) -> "SourceIds":
        """Of acts that are not in a graph yet."""
        return cls(
            _claims((source, record.id) for tree in trees for record in tree.articles for source in record.source_ids),
            _claims((source, record.id) for tree in trees for record in tree.sections for source in record.source_ids),
        )

    def after(self, trees: Sequence[ActTree]) -> "SourceIds":
        """With these acts in the place of what the graph had of them."""
        acts = {tree.act.id for tree in trees}
        new = SourceIds.among(trees)

        def merged(old: Claims, added: Claims) -> Claims:
            kept = ((source, id) for source, ids in old.items() for id in ids if act_of(id) not in acts)
            return _claims(chain(kept, ((source, id) for source, ids in added.items() for id in ids)))

        return SourceIds(merged(self.articles, new.articles), merged(self.sections, new.sections))

    def different(self, other: "SourceIds") -> set[str]:
        """Identifiers that name something else there, or nothing in one of the two."""
        known = self.articles.keys() | self.sections.keys() | other.articles.keys() | other.sections.keys()
        return {id for id in known if self.label_and_id(id) != other.label_and_id(id)}

    def label_and_id(self, target: str) -> tuple[str, str] | None:
        """Label and identifier of what a publisher's identifier names, or None where the graph lacks it."""
        if target in self.articles:
            return "Article", min(self.articles[target])
        if target in self.sections:
            return "Section", min(self.sections[target])
        return None


def _claims(pairs: Iterable[tuple[str, str]]) -> Claims:
    found: dict[str, set[str]] = defaultdict(set)
    for source, id in pairs:
        found[source].add(id)
    return {source: frozenset(ids) for source, ids in found.items()}


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


def relink(graph: Statements, before: SourceIds, ids: SourceIds) -> None:
    """Link anew what names a publisher's identifier that a load has given to the graph, taken from it, or moved.

    A citation that pointed outside may have its target now; the version that one names may have gone, or
    belong to another article by now.
    """
    moved = sorted(before.different(ids))
    stale: set[str] = set()
    for batch in _batches(moved):
        stale.update(
            row["article"] for name in ("articles_citing", "articles_citing_outside") for row in graph.rows(name, ids=batch)
        )
    articles = sorted(stale)
    found: list[LinkedCitation] = []
    for batch in _batches(articles):
        for row in graph.rows("citations_from", ids=batch):
            found.append(_linked(row, ids.label_and_id(row["cited"]), row["cited"], row["label"].lower()))
        for row in graph.rows("outside_citations_from", ids=batch):
            found.append(_linked(row, ids.label_and_id(row["target"]), row["target"], row["target_kind"]))
    if articles:
        _delete(graph, articles)
        _create(graph, found)
        graph.write("delete_lone_outside")


def _batches(values: Sequence[str]) -> Iterable[Sequence[str]]:
    return (values[start : start + _BATCH] for start in range(0, len(values), _BATCH))


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
