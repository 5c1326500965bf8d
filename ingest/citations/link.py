"""Link citations, and what acts do to each other, to their targets: in the graph, or outside it."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cypher.batches import batches
from cypher.graph import Row, Statements
from ingest.citations.resolve import LawIndex
from schema.identifiers import act_of
from schema.records import Act, ActTree, Citation, Relation

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
    """A citation with its target found: ``label`` says where (Article, Section, Act, or Outside the graph).

    ``cited`` is what it names, ``target`` the identifier in the graph.
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
class LinkedRelation:
    """What an act does to another, with the other found; ``target`` is ``cited`` where the graph lacks it."""

    act: str
    type: str
    target: str
    inside: bool
    cited: str
    basis: str
    evidence: str
    confidence: float

    def row(self) -> Row:
        """The parameters of the statement that writes it."""
        return {
            "act": self.act,
            "type": self.type,
            "target": self.target,
            "cited": self.cited,
            "basis": self.basis,
            "evidence": self.evidence,
            "confidence": self.confidence,
        }


Target = tuple[str, str]
"""Label and identifier of a node of the graph."""


@dataclass(slots=True)
class KnownLaw:
    """What can be cited: by a publisher's identifier, of any version, by ours, or by a name (`ingest.citations.resolve`).

    Where several answer to a publisher's identifier, the first by identifier is meant, in whatever order they came.
    """

    index: LawIndex = field(default_factory=LawIndex)
    _claims: dict[str, Target] = field(default_factory=dict[str, Target])

    @classmethod
    def of(cls, graph: Statements) -> "KnownLaw":
        """Of the law in a graph."""
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
                known: Row = {**row, "language": ""}
                self.add(Act(**known), _named(articles.get(id, none)), _named(sections.get(id, none)))

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
        """What a citation names, each with its label, or the reason why the graph lacks it."""
        found = self._claims.get(name)
        if found:
            return [found]
        return [(label, id) for label, id in resolved] if not isinstance(resolved := self.index.resolve(name), str) else resolved

    def targets(self, name: str) -> list[Target]:
        """What a citation names; nothing where the graph lacks it."""
        found = self.resolve(name)
        return [] if isinstance(found, str) else found


def _named(row: Row) -> Iterable[_Named]:
    return zip(row["ids"], row["numbers"], row["source_ids"], strict=True)


def link(citations: Iterable[Citation], law: KnownLaw) -> Iterator[LinkedCitation]:
    """Each citation with its targets (a range has several); what the graph lacks stands outside."""
    for c in citations:
        yield from _linked(c.article_id, c.target, c.target_kind, c.text, c.start, c.end, c.kind, law)


def _linked(
    article: str, cited: str, kind_of: str, text: str, start: int, end: int, kind: str, law: KnownLaw
) -> Iterator[LinkedCitation]:
    targets = law.targets(cited)
    for label, target in targets or [("Outside", cited)]:
        if target != article or kind == "link":  # a publisher's own link is kept whatever it points to
            yield LinkedCitation(article, label, target, cited, kind_of, text, start, end, kind)


def link_relations(relations: Iterable[Relation], law: KnownLaw) -> Iterator[LinkedRelation]:
    """What acts do to each other, with the other act found; each once, and nothing that an act does to itself."""
    return _each_once(
        found for r in relations for found in _related(r.act_id, r.type, r.target, r.basis, r.evidence, r.confidence, law)
    )


_BASES = ("metadata", "title", "preamble")


def _each_once(relations: Iterable[LinkedRelation]) -> Iterator[LinkedRelation]:
    """Of several edges of one type between two acts that on the best basis, in whatever order they were found."""
    best: dict[tuple[str, str, str], LinkedRelation] = {}
    for relation in relations:
        other = best.setdefault((relation.act, relation.type, relation.target), relation)
        if _precedence(relation) < _precedence(other):
            best[relation.act, relation.type, relation.target] = relation
    return iter(best.values())


def _precedence(relation: LinkedRelation) -> tuple[int, float, str, str]:
    basis = _BASES.index(relation.basis) if relation.basis in _BASES else len(_BASES)
    return basis, -relation.confidence, relation.cited, relation.evidence


def _related(
    act: str, type: str, cited: str, basis: str, evidence: str, confidence: float, law: KnownLaw
) -> Iterator[LinkedRelation]:
    found = [id for label, id in law.targets(cited) if label == "Act"]
    if found != [act]:
        yield LinkedRelation(act, type, found[0] if found else cited, bool(found), cited, basis, evidence, confidence)


def write_citations(graph: Statements, known: Sequence[str], citations: Sequence[LinkedCitation]) -> None:
    """Make these the citations of the articles of acts; articles whose citations are the same are left alone.

    Args:
        known: those of the acts that the graph may hold citations of already.
    """
    old: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for statement in ("citations_of_acts", "outside_citations_of_acts") if known else ():
        for row in graph.rows(statement, ids=known):
            cited = row.get("cited", row["target"])
            old[row["article"]][row["target"], cited, row["text"], row["start"], row["end"], row["kind"]] += 1
    if not old:
        _create(graph, citations)
        return
    new: dict[str, Counter[tuple[object, ...]]] = defaultdict(Counter)
    for c in citations:
        new[c.article][c.target, c.cited, c.text, c.start, c.end, c.kind] += 1
    different = sorted(a for a in old.keys() | new.keys() if old.get(a) != new.get(a))
    _delete(graph, [a for a in different if a in old])
    changed = set(different)
    _create(graph, [c for c in citations if c.article in changed])


def write_relations(graph: Statements, known: Sequence[str], relations: Sequence[LinkedRelation]) -> None:
    """Make these what acts do to other acts."""
    if known:
        for batch in batches(known):
            graph.write("delete_relations", ids=batch)
            graph.write("delete_outside_relations", ids=batch)
    _create_outside(graph, {(r.target, "act") for r in relations if not r.inside})
    for type, statement in _RELATES.items():
        for batch in batches([r.row() for r in relations if r.inside and r.type == type]):
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
    found_now = [row["id"] for row in graph.rows("outside_ids") if law.targets(row["id"])]
    meant: dict[str, set[str]] = defaultdict(set)
    for row in graph.rows("cited"):
        meant[row["cited"]].add(row["target"])
    moved = sorted(cited for cited, ids in meant.items() if ids != {id for _, id in law.targets(cited)})
    articles: set[str] = set()
    acts: set[str] = set()
    for ids, of_articles, of_acts in (
        (moved, "articles_citing", "acts_relating"),
        (found_now, "articles_citing_outside", "acts_relating_outside"),
    ):
        for batch in batches(ids):
            articles.update(row["article"] for row in graph.rows(of_articles, ids=batch))
            acts.update(row["act"] for row in graph.rows(of_acts, ids=batch))
    _relink_citations(graph, law, sorted(article for article in articles if act_of(article) not in changed))
    _relink_relations(graph, law, sorted(acts.difference(changed)))


def _relink_citations(graph: Statements, law: KnownLaw, articles: Sequence[str]) -> None:
    found: dict[tuple[str, str, str, str, int, int, str], None] = {}  # a range has an edge to each of its articles
    for batch in batches(articles):
        for row in graph.rows("citations_from", ids=batch):
            found[_words(row, row["cited"], row["label"].lower())] = None
        for row in graph.rows("outside_citations_from", ids=batch):
            found[_words(row, row["target"], row["target_kind"])] = None
    _delete(graph, articles)
    _create(graph, [linked for words in found for linked in _linked(*words, law)])


def _words(row: Row, cited: str, kind_of: str) -> tuple[str, str, str, str, int, int, str]:
    return row["article"], cited, kind_of, row["text"], row["start"], row["end"], row["kind"]


def _relink_relations(graph: Statements, law: KnownLaw, acts: Sequence[str]) -> None:
    for batch in batches(acts):
        rows = [row for name in _RELATIONS for row in graph.rows(name, ids=batch)]
        again = [
            relation
            for row in rows
            for relation in _related(row["act"], row["type"], row["cited"], row["basis"], row["evidence"], row["confidence"], law)
        ]
        write_relations(graph, batch, list(_each_once(again)))


_RELATIONS = ("relations_of_acts", "outside_relations_of_acts")


def release_citations(graph: Statements, acts: set[str], sections: Sequence[str], articles: Sequence[str]) -> None:
    """Point outside what other acts cite of nodes that go: called before they are deleted.

    Args:
        acts: whose own citations go or are written anew, and need no release.
    """
    released: list[LinkedCitation] = []
    whole = sorted(acts)
    for kind, gone in (("article", articles), ("section", sections), ("act", whole)):
        for batch in batches(gone):
            for row in graph.rows(f"citations_into_{kind}", ids=batch):
                if act_of(row["article"]) not in acts:
                    article, cited, *words = _words(row, row["cited"], kind)
                    released.append(LinkedCitation(article, "Outside", cited, cited, *words))  # pyright: ignore[reportArgumentType]
    _create(graph, list(dict.fromkeys(released)))


def release_relations(graph: Statements, acts: Sequence[str]) -> None:
    """Point outside what other acts do to acts that go: called before they are deleted."""
    related = [row["act"] for batch in batches(acts) for row in graph.rows("acts_relating_to", ids=batch)]
    gone = set(acts)
    for batch in batches(sorted(set(related) - gone)):
        again: list[LinkedRelation] = []
        for name in _RELATIONS:
            for row in graph.rows(name, ids=batch):
                inside = name != "outside_relations_of_acts" and row["target"] not in gone
                target = row["target"] if inside else row["cited"]
                again.append(
                    LinkedRelation(
                        row["act"], row["type"], target, inside, row["cited"], row["basis"], row["evidence"], row["confidence"]
                    )
                )
        write_relations(graph, batch, list(_each_once(again)))


def _delete(graph: Statements, articles: Sequence[str]) -> None:
    for batch in batches(articles):
        graph.write("delete_citations", ids=batch)
        graph.write("delete_outside_citations", ids=batch)


def _create(graph: Statements, citations: Sequence[LinkedCitation]) -> None:
    _create_outside(graph, {(c.target, c.target_kind) for c in citations if c.label == "Outside"})
    for label, statement in _CITES.items():
        for batch in batches([c.row() for c in citations if c.label == label]):
            graph.write(statement, rows=batch)


def _create_outside(graph: Statements, nodes: set[tuple[str, str]]) -> None:
    for batch in batches(sorted(nodes)):
        graph.write("merge_outside", rows=[{"id": id, "kind": kind} for id, kind in batch])
