"""Link citations, and what acts do to each other, to their targets: in the graph, or outside it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from cypher.graph import Row, Statements
from ingest.difference import batches
from schema.identifiers import act_of
from schema.records import Act, ActTree, Citation, Relation

_CITES = {
    "Article": "create_article_citations",
    "Section": "create_section_citations",
    "Act": "create_act_citations",
    "Outside": "create_outside_citations",
}
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


Claims = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class KnownLaw:
    """What can be cited: publishers' identifiers, of every version, with what answers to them; and our own.

    Where several answer to one, the first by identifier is meant, in whatever order they were loaded.
    """

    articles: Claims = field(default_factory=dict[str, tuple[str, ...]])
    sections: Claims = field(default_factory=dict[str, tuple[str, ...]])
    acts: Claims = field(default_factory=dict[str, tuple[str, ...]])

    @classmethod
    def of(cls, graph: Statements) -> "KnownLaw":
        """Of the law in a graph."""
        articles, sections = (
            _claims((source, row["id"]) for row in graph.rows(name) for source in (row["id"], *row["source_ids"]))
            for name in ("article_source_ids", "section_source_ids")
        )
        acts = _claims((name, row["id"]) for row in graph.rows("act_names") for name in _act_names(row))
        return cls(articles, sections, acts)

    @classmethod
    def among(cls, trees: Iterable[ActTree]) -> "KnownLaw":
        """Of acts that are not in a graph yet."""
        articles: list[tuple[str, str]] = []
        sections: list[tuple[str, str]] = []
        acts: list[tuple[str, str]] = []
        for tree in trees:
            articles += ((source, record.id) for record in tree.articles for source in (record.id, *record.source_ids))
            sections += ((source, record.id) for record in tree.sections for source in (record.id, *record.source_ids))
            acts += ((name, tree.act.id) for name in names_of(tree.act))
        return cls(_claims(articles), _claims(sections), _claims(acts))

    def after(self, removed: set[str], new: "KnownLaw") -> "KnownLaw":
        """Without these acts, and with others."""

        def merged(old: Claims, added: Claims) -> Claims:
            if not old:
                return added
            kept = {source: tuple(id for id in ids if act_of(id) not in removed) for source, ids in old.items()}
            found = {source: ids for source, ids in kept.items() if ids}
            for source, ids in added.items():
                found[source] = tuple(sorted({*found.get(source, ()), *ids}))
            return found

        return KnownLaw(merged(self.articles, new.articles), merged(self.sections, new.sections), merged(self.acts, new.acts))

    def different(self, other: "KnownLaw") -> set[str]:
        """Names that are known here and mean something else there, or nothing."""
        return {
            name
            for claims in (self.articles, self.sections, self.acts)
            for name in claims
            if self.label_and_id(name) != other.label_and_id(name)
        }

    def label_and_id(self, target: str) -> tuple[str, str] | None:
        """Label and identifier of what a citation names, or None where the graph lacks it."""
        for label, claims in (("Article", self.articles), ("Section", self.sections), ("Act", self.acts)):
            if target in claims:
                return label, claims[target][0]
        return None


def names_of(act: Act) -> Iterator[str]:
    """What an act answers to."""
    return _act_names({"id": act.id, "eli": act.eli, "source_id": act.source_id})


def _act_names(row: Row) -> Iterator[str]:
    yield row["id"]
    for name in ("eli", "source_id"):
        if row[name]:
            yield row[name]


def _claims(pairs: Iterable[tuple[str, str]]) -> Claims:
    single: dict[str, tuple[str, ...]] = {}
    several: dict[str, set[str]] = {}
    for source, id in pairs:
        before = single.setdefault(source, (id,))
        if id not in before:
            several.setdefault(source, set(before)).add(id)
    for source, ids in several.items():
        single[source] = tuple(sorted(ids))
    return single


def link(citations: Iterable[Citation], law: KnownLaw) -> Iterator[LinkedCitation]:
    """Each citation with its target; what the graph lacks stands outside."""
    for c in citations:
        label, target = law.label_and_id(c.target) or ("Outside", c.target)
        yield LinkedCitation(c.article_id, label, target, c.target, c.target_kind, c.text, c.start, c.end, c.kind)


def link_relations(relations: Iterable[Relation], law: KnownLaw) -> Iterator[LinkedRelation]:
    """What acts do to each other, with the other act found; one that an act does to itself is left out."""
    for r in relations:
        yield from _related(r.act_id, r.type, r.target, r.basis, r.evidence, r.confidence, law)


def _related(
    act: str, type: str, cited: str, basis: str, evidence: str, confidence: float, law: KnownLaw
) -> Iterator[LinkedRelation]:
    found = law.acts.get(cited)
    if found != (act,):
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


def relink(graph: Statements, before: KnownLaw | None, law: KnownLaw) -> None:
    """Link anew what names something that a load has given to the graph, taken from it, or moved.

    A citation that pointed outside may have its target now; the version that one names may have gone, or
    belong to another article by now.

    Args:
        before: what could be cited before the load; None where it is not known, as an earlier one was cut off.
    """
    if before is None:
        moved = sorted({row["cited"] for name in ("cited", "related") for row in graph.rows(name)})
    else:
        moved = sorted(before.different(law))
    found_now = [row["id"] for row in graph.rows("outside_ids") if law.label_and_id(row["id"])]
    articles: set[str] = set()
    acts: set[str] = set()
    for ids, of_articles, of_acts in (
        (moved, "articles_citing", "acts_relating"),
        (found_now, "articles_citing_outside", "acts_relating_outside"),
    ):
        for batch in batches(ids):
            articles.update(row["article"] for row in graph.rows(of_articles, ids=batch))
            acts.update(row["act"] for row in graph.rows(of_acts, ids=batch))
    _relink_citations(graph, law, sorted(articles))
    _relink_relations(graph, law, sorted(acts))


def _relink_citations(graph: Statements, law: KnownLaw, articles: Sequence[str]) -> None:
    found: list[LinkedCitation] = []
    for batch in batches(articles):
        for row in graph.rows("citations_from", ids=batch):
            found.append(_linked(row, law.label_and_id(row["cited"]), row["cited"], row["label"].lower()))
        for row in graph.rows("outside_citations_from", ids=batch):
            found.append(_linked(row, law.label_and_id(row["target"]), row["target"], row["target_kind"]))
    _delete(graph, articles)
    _create(graph, found)


def _relink_relations(graph: Statements, law: KnownLaw, acts: Sequence[str]) -> None:
    for batch in batches(acts):
        rows = [row for name in _RELATIONS for row in graph.rows(name, ids=batch)]
        again = [
            relation
            for row in rows
            for relation in _related(row["act"], row["type"], row["cited"], row["basis"], row["evidence"], row["confidence"], law)
        ]
        write_relations(graph, batch, again)


_RELATIONS = ("relations_of_acts", "cites_of_acts", "outside_relations_of_acts")


def _linked(row: Row, place: tuple[str, str] | None, cited: str, kind: str) -> LinkedCitation:
    label, target = place or ("Outside", cited)
    return LinkedCitation(row["article"], label, target, cited, kind, row["text"], row["start"], row["end"], row["kind"])


def release_citations(graph: Statements, acts: set[str], sections: Sequence[str], articles: Sequence[str]) -> None:
    """Point outside what other acts cite of nodes that go: called before they are deleted.

    Args:
        acts: whose own citations go or are written anew, and need no release.
    """
    released: list[LinkedCitation] = []
    whole = sorted(acts)
    for statement, kind, gone in (
        ("citations_into", "article", articles),
        ("section_citations_into", "section", sections),
        ("act_citations_into", "act", whole),
    ):
        for batch in batches(gone):
            for row in graph.rows(statement, ids=batch):
                if act_of(row["article"]) not in acts:
                    released.append(_linked(row, None, row["cited"], kind))
    _create(graph, released)


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
        write_relations(graph, batch, again)


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
