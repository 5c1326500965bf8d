"""Link citations, and what acts do to each other, to their targets: in the graph, or outside it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from citations.resolve import LawIndex
from cypher.batches import batches
from cypher.graph import Row, Statements
from schema.identifiers import act_of
from schema.records import Act, ActTree, Citation, OutsideKind, Relation

_CITES = {
    "Article": "create_article_citations",
    "Section": "create_section_citations",
    "Act": "create_act_citations",
    "Outside": "create_outside_citations",
}
_Named = tuple[str, str, Sequence[str]]
"""Identifier, number, publisher's identifiers."""
_RELATES = {
    "CITES": "create_cites",
    "TRANSPOSES": "create_transposes",
    "AMENDS": "create_amends",
    "REPEALS": "create_repeals",
    "CONSOLIDATES": "create_consolidates",
}


@dataclass(frozen=True, slots=True)
class LinkedCitation:
    """A citation, and the identifier in the graph of what it names; ``label`` is Outside where the graph lacks it."""

    citation: Citation
    label: str
    target: str

    def row(self) -> Row:
        """Return the parameters of the statement that writes it."""
        c = self.citation
        row: Row = {"article": c.article_id, "target": self.target, "cited": c.target}
        return row | {"text": c.text, "start": c.start, "end": c.end, "kind": c.kind}


@dataclass(frozen=True, slots=True)
class LinkedRelation:
    """A relation of an act, and the identifier of the other act; that is as cited where it is not ``inside`` the graph."""

    relation: Relation
    target: str
    inside: bool

    def row(self) -> Row:
        """Return the parameters of the statement that writes it."""
        r = self.relation
        row: Row = {"act": r.act_id, "type": r.type, "target": self.target, "cited": r.target}
        return row | {"basis": r.basis, "evidence": r.evidence, "confidence": r.confidence}


Target = tuple[str, str]
"""Label and identifier of a node of the graph."""


@dataclass(slots=True)
class KnownLaw:
    """Law that can be cited: by a publisher's identifier, of any version, by ours, or by a name (`citations.resolve`).

    Where several answer to a publisher's identifier, the first by identifier is meant, in whatever order they came.
    """

    index: LawIndex = field(default_factory=LawIndex)
    _claims: dict[str, Target] = field(default_factory=dict[str, Target])

    @classmethod
    def of(cls, graph: Statements) -> "KnownLaw":
        """Return the law in a graph."""
        law = cls()
        law.add_graph(graph)
        return law

    def add_graph(self, graph: Statements, without: Collection[str] = ()) -> None:
        """Add the acts of a graph, less some."""
        articles = {row["act_id"]: row for row in graph.rows("names_of_articles")}
        sections = {row["act_id"]: row for row in graph.rows("names_of_sections")}
        none: Row = {"ids": [], "numbers": [], "source_ids": []}
        for row in graph.rows("act_names"):
            id = row["id"]
            if id not in without:
                act: Row = {**row, "language": ""}
                self.add(Act(**act), _named(articles.get(id, none)), _named(sections.get(id, none)))

    def add_trees(self, trees: Iterable[ActTree]) -> None:
        """Add acts that were read."""
        for tree in trees:
            articles = ((a.id, a.number, a.source_ids) for a in tree.articles)
            self.add(tree.act, articles, ((s.id, s.number, s.source_ids) for s in tree.sections))

    def add(self, act: Act, articles: Iterable[_Named], sections: Iterable[_Named]) -> None:
        """Add an act that is not there yet: (identifier, number, publisher's identifiers) of its articles and sections."""
        named, held = list(articles), list(sections)
        self.index.add(act, ((id, number) for id, number, _ in named), (id for id, _, _ in held))
        for name in (act.eli, act.source_id):
            self._claim(name, ("Act", act.id))
        for label, records in (("Article", named), ("Section", held)):
            for id, _, source_ids in records:
                for name in source_ids:
                    self._claim(name, (label, id))

    def _claim(self, name: str, target: Target) -> None:
        if name:
            self._claims[name] = min(target, self._claims.get(name, target))

    def resolve(self, name: str) -> list[Target] | str:
        """Return what a citation names, each with its label, or the reason why the graph lacks it."""
        claimed = self._claims.get(name)
        if claimed:
            return [claimed]
        resolved = self.index.resolve(name)
        return resolved if isinstance(resolved, str) else [(label, id) for label, id in resolved]

    def targets(self, name: str) -> list[Target]:
        """Return what a citation names; nothing where the graph lacks it."""
        resolved = self.resolve(name)
        return [] if isinstance(resolved, str) else resolved


def _named(row: Row) -> Iterable[_Named]:
    return zip(row["ids"], row["numbers"], row["source_ids"], strict=True)


def link(citations: Iterable[Citation], law: KnownLaw) -> Iterator[LinkedCitation]:
    """Yield each citation with its targets (a range has several); what the graph lacks stands outside."""
    for citation in citations:
        for label, target in law.targets(citation.target) or [("Outside", citation.target)]:
            if target != citation.article_id or citation.kind == "link":  # a publisher's link is kept whatever it points to
                yield LinkedCitation(citation, label, target)


_BASES = ("metadata", "title", "preamble")


def link_relations(relations: Iterable[Relation], law: KnownLaw) -> Iterator[LinkedRelation]:
    """Yield what acts do to each other, with the other act; each once, and nothing that an act does to itself."""
    linked: list[LinkedRelation] = []
    for relation in relations:
        acts = [id for label, id in law.targets(relation.target) if label == "Act"]
        if acts != [relation.act_id]:
            linked.append(LinkedRelation(relation, acts[0] if acts else relation.target, bool(acts)))
    return _each_once(linked)


def _each_once(relations: Iterable[LinkedRelation]) -> Iterator[LinkedRelation]:
    """Each edge of one type between two acts once, on its best basis, in whatever order they were read."""
    best: dict[tuple[str, str, str], LinkedRelation] = {}
    for linked in relations:
        key = (linked.relation.act_id, linked.relation.type, linked.target)
        best[key] = min(best.get(key, linked), linked, key=_precedence)
    return iter(best.values())


def _precedence(linked: LinkedRelation) -> tuple[int, float, str, str]:
    relation = linked.relation
    basis = _BASES.index(relation.basis) if relation.basis in _BASES else len(_BASES)
    return basis, -relation.confidence, relation.target, relation.evidence


def write_citations(graph: Statements, stored: Sequence[str], citations: Sequence[LinkedCitation]) -> None:
    """Make these the citations of the articles of acts; articles whose citations are the same are left alone.

    Args:
        stored: those of the acts that the graph may hold citations of already.
    """
    old: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for statement in ("citations_of_acts", "outside_citations_of_acts") if stored else ():
        for row in graph.rows(statement, ids=stored):
            cited = row.get("cited", row["target"])
            old[row["article"]][row["target"], cited, row["text"], row["start"], row["end"], row["kind"]] += 1
    if not old:
        _create(graph, citations)
        return
    new: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for linked in citations:
        c = linked.citation
        new[c.article_id][linked.target, c.target, c.text, c.start, c.end, c.kind] += 1
    different = {article for article in old.keys() | new.keys() if old.get(article) != new.get(article)}
    _delete(graph, sorted(different & old.keys()))
    _create(graph, [linked for linked in citations if linked.citation.article_id in different])


def write_relations(graph: Statements, stored: Sequence[str], relations: Sequence[LinkedRelation]) -> None:
    """Make these what acts do to other acts."""
    if stored:
        for batch in batches(stored):
            graph.write("delete_relations", ids=batch)
            graph.write("delete_outside_relations", ids=batch)
    _create_outside(graph, {(r.target, "act") for r in relations if not r.inside})
    for type, statement in _RELATES.items():
        for batch in batches([r.row() for r in relations if r.inside and r.relation.type == type]):
            graph.write(statement, rows=batch)
    for batch in batches([r.row() for r in relations if not r.inside]):
        graph.write("create_relates_outside", rows=batch)


def relink(graph: Statements, law: KnownLaw, changed: Collection[str]) -> None:
    """Link anew what names something that a load has given to the graph, taken from it, or moved.

    A citation that pointed outside may have its target now; the version that one names may have gone, or
    belong to another article by now.

    Args:
        changed: acts whose own citations the load has linked already.
    """
    loaded = [row["id"] for row in graph.rows("outside_ids") if law.targets(row["id"])]
    meant: dict[str, set[str]] = defaultdict(set)
    for row in graph.rows("cited"):
        meant[row["cited"]].add(row["target"])
    moved = sorted(cited for cited, ids in meant.items() if ids != {id for _, id in law.targets(cited)})
    articles: set[str] = set()
    acts: set[str] = set()
    for ids, of_articles, of_acts in (
        (moved, "articles_citing", "acts_relating"),
        (loaded, "articles_citing_outside", "acts_relating_outside"),
    ):
        for batch in batches(ids):
            articles.update(row["article"] for row in graph.rows(of_articles, ids=batch))
            acts.update(row["act"] for row in graph.rows(of_acts, ids=batch))
    _relink_citations(graph, law, sorted(article for article in articles if act_of(article) not in changed))
    _relink_relations(graph, law, sorted(acts.difference(changed)))


def _relink_citations(graph: Statements, law: KnownLaw, articles: Sequence[str]) -> None:
    citations: dict[Citation, None] = {}  # a range has an edge to each of its articles
    for batch in batches(articles):
        for row in graph.rows("citations_from", ids=batch):
            citations[_citation(row, row["cited"], row["label"].lower())] = None
        for row in graph.rows("outside_citations_from", ids=batch):
            citations[_citation(row, row["target"], row["target_kind"])] = None
    _delete(graph, articles)
    _create(graph, list(link(citations, law)))


def _citation(row: Row, cited: str, kind: OutsideKind) -> Citation:
    return Citation(row["article"], cited, kind, row["text"], row["start"], row["end"], row["kind"])


def _relation(row: Row) -> Relation:
    return Relation(row["act"], row["type"], row["cited"], row["basis"], row["evidence"], row["confidence"])


def _relink_relations(graph: Statements, law: KnownLaw, acts: Sequence[str]) -> None:
    for batch in batches(acts):
        rows = (row for name in _RELATIONS for row in graph.rows(name, ids=batch))
        write_relations(graph, batch, list(link_relations(map(_relation, rows), law)))


_RELATIONS = ("relations_of_acts", "outside_relations_of_acts")
_KINDS: tuple[OutsideKind, ...] = ("article", "section", "act")


def release_citations(graph: Statements, acts: set[str], sections: Sequence[str], articles: Sequence[str]) -> None:
    """Point outside what other acts cite of nodes that go: called before they are deleted.

    Args:
        acts: whose own citations go or are written anew, and need no release.
    """
    released: dict[LinkedCitation, None] = {}
    for kind, gone in zip(_KINDS, (articles, sections, sorted(acts)), strict=True):
        for batch in batches(gone):
            for row in graph.rows(f"citations_into_{kind}", ids=batch):
                if act_of(row["article"]) not in acts:
                    released[LinkedCitation(_citation(row, row["cited"], kind), "Outside", row["cited"])] = None
    _create(graph, list(released))


def release_relations(graph: Statements, acts: Sequence[str]) -> None:
    """Point outside what other acts do to acts that go: called before they are deleted."""
    related = {row["act"] for batch in batches(acts) for row in graph.rows("acts_relating_to", ids=batch)}
    gone = set(acts)
    for batch in batches(sorted(related - gone)):
        again: list[LinkedRelation] = []
        for name in _RELATIONS:
            for row in graph.rows(name, ids=batch):
                inside = name != "outside_relations_of_acts" and row["target"] not in gone
                again.append(LinkedRelation(_relation(row), row["target"] if inside else row["cited"], inside))
        write_relations(graph, batch, list(_each_once(again)))


def _delete(graph: Statements, articles: Sequence[str]) -> None:
    for batch in batches(articles):
        graph.write("delete_citations", ids=batch)
        graph.write("delete_outside_citations", ids=batch)


def _create(graph: Statements, citations: Sequence[LinkedCitation]) -> None:
    _create_outside(graph, {(c.target, c.citation.target_kind) for c in citations if c.label == "Outside"})
    for label, statement in _CITES.items():
        for batch in batches([c.row() for c in citations if c.label == label]):
            graph.write(statement, rows=batch)


def _create_outside(graph: Statements, nodes: set[tuple[str, str]]) -> None:
    for batch in batches(sorted(nodes)):
        graph.write("merge_outside", rows=[{"id": id, "kind": kind} for id, kind in batch])
