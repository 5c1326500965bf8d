"""What differs between the acts in a graph and the same acts as they were read, as rows to write."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import pairwise
from typing import Any

from cypher.batches import batches
from cypher.graph import Statements
from cypher.rows import record_of, row_of
from schema.identifiers import act_of
from schema.records import Act, ActTree, Article, Section, Wording

_WRITES = (
    "delete_wordings",
    "delete_sections",
    "delete_articles",
    "create_acts",
    "update_acts",
    "create_sections",
    "update_sections",
    "create_articles",
    "update_articles",
    "create_wordings",
    "update_wordings",
    "delete_section_parents",
    "delete_article_parents",
    "create_act_contains_section",
    "create_section_contains_section",
    "create_act_contains_article",
    "create_section_contains_article",
    "delete_next",
    "create_next",
)
"""The order of writing: what is deleted first, nodes before the edges between them."""


@dataclass(slots=True)
class Counts:
    """What a load did to nodes, by label.

    A node counts as moved when nothing but its parent or its order among its neighbours changed.
    """

    created: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    moved: Counter[str] = field(default_factory=Counter[str])
    removed: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Counts") -> None:
        """Count what another load did as well."""
        for name in ("created", "changed", "moved", "removed"):
            getattr(self, name).update(getattr(other, name))

    @property
    def anything_changed(self) -> bool:
        """Whether any node is other than before."""
        return any(counts.total() for counts in (self.created, self.changed, self.moved, self.removed))


@dataclass(frozen=True, slots=True)
class StoredActs:
    """Acts as a graph holds them, by identifier, with all that is below them, by identifier as well."""

    acts: Mapping[str, Act] = field(default_factory=dict[str, Act])
    sections: Mapping[str, Section] = field(default_factory=dict[str, Section])
    articles: Mapping[str, Article] = field(default_factory=dict[str, Article])
    wordings: Mapping[str, Wording] = field(default_factory=dict[str, Wording])
    following: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def of(cls, graph: Statements, ids: Sequence[str]) -> "StoredActs":
        """Those of these acts that a graph has."""
        if not ids:
            return cls()
        return cls(
            {row["id"]: record_of(Act, row) for row in graph.rows("acts_by_id", ids=ids)},
            {row["id"]: record_of(Section, row) for row in graph.rows("sections_of_acts", ids=ids)},
            {row["id"]: record_of(Article, row) for row in graph.rows("articles_of_acts", ids=ids)},
            {row["id"]: record_of(Wording, row) for row in graph.rows("wordings_of_acts", ids=ids)},
            {row["article"]: row["following"] for row in graph.rows("next_of_acts", ids=ids)},
        )


@dataclass(slots=True)
class Difference:
    """Rows to write, by statement, and what they do.

    Attributes:
        gone_sections, gone_articles: identifiers of what will be deleted.
    """

    rows: dict[str, list[Any]] = field(default_factory=lambda: defaultdict[str, list[Any]](list))
    counts: Counts = field(default_factory=Counts)
    gone_sections: list[str] = field(default_factory=list[str])
    gone_articles: list[str] = field(default_factory=list[str])

    def write(self, graph: Statements) -> None:
        """Write it, in batches."""
        for statement in _WRITES:
            rows = self.rows.get(statement, [])
            name = "ids" if statement.startswith("delete") else "rows"
            for batch in batches(rows):
                graph.write(statement, **{name: batch})


def difference(old: StoredActs, trees: Iterable[ActTree], today: date) -> Difference:
    """What must be written for the graph to hold these acts.

    A wording that gives way to another is kept as a wording of its article, which ends where the new one begins:
    on the new one's first day, else on the day of the consolidation, else today. Where the source does not date wordings,
    that day becomes the first of the new one and stays it in later releases.
    """
    found = Difference()
    ended = {(wording.article_id, wording.valid_to) for wording in old.wordings.values() if wording.text and wording.valid_to}
    sections: dict[str, list[str]] = defaultdict(list)
    articles: dict[str, list[str]] = defaultdict(list)
    for kept, by_act in ((old.sections, sections), (old.articles, articles)):
        for id in kept:
            by_act[act_of(id)].append(id)
    following: dict[str, dict[str, str]] = defaultdict(dict)
    for article, other in old.following.items():
        following[act_of(article)][article] = other
    for tree in trees:
        act = tree.act.id
        if act not in old.acts:
            found.rows["create_acts"].append(row_of(tree.act))
            found.counts.created["Act"] += 1
        elif old.acts[act] != tree.act:
            found.rows["update_acts"].append(row_of(tree.act))
            found.counts.changed["Act"] += 1
        old_sections = {id: old.sections[id] for id in sections[act]}
        old_articles = {id: old.articles[id] for id in articles[act]}
        if old_articles and not tree.wordings_dated:
            dated = tuple(_dated(article, old_articles, ended, tree.act, today) for article in tree.articles)
            tree = replace(tree, articles=dated)
        found.gone_sections += sorted(old_sections.keys() - {s.id for s in tree.sections})
        found.gone_articles += sorted(old_articles.keys() - {a.id for a in tree.articles})
        _nodes(found, "section", old_sections, tree.sections)
        _nodes(found, "article", old_articles, tree.articles)
        _wordings(found, old, old_articles, tree, today)
        _contains(found, act, old_sections, old_articles, tree)
        _next(found, following[act], [a.id for a in tree.articles])
        _count(found.counts, "Section", old_sections, tree.sections)
        _count(found.counts, "Article", old_articles, tree.articles)
    found.rows["delete_sections"] += found.gone_sections
    found.rows["delete_articles"] += found.gone_articles
    gone = set(found.gone_articles)
    found.rows["delete_wordings"] += sorted(id for id, wording in old.wordings.items() if wording.article_id in gone)
    return found


def _nodes(found: Difference, name: str, old: Mapping[str, Any], new: Sequence[Section] | Sequence[Article]) -> None:
    found.rows[f"create_{name}s"] += [row_of(record) for record in new if record.id not in old]
    found.rows[f"update_{name}s"] += [row_of(record) for record in new if record.id in old and old[record.id] != record]


def _dated(
    article: Article, old: Mapping[str, Article], ended: Collection[tuple[str, date | None]], act: Act, today: date
) -> Article:
    """An article with the first day of its wording, where its source knows that of the act alone.

    Args:
        ended: articles and days on which a wording that is kept gave way to the one that the graph holds.
    """
    before = old.get(article.id)
    if before is None:
        return article
    if before.text and before.text != article.text:
        return replace(article, valid_from=_end(before, article, act, today))
    came_later = before.valid_from and before.valid_from > (article.valid_from or date.min)
    return replace(article, valid_from=before.valid_from) if came_later and (article.id, before.valid_from) in ended else article


def _end(before: Article, after: Article, act: Act, today: date) -> date:
    """The day on which a wording gives way to another: its successor's first, that of the consolidation, or today."""
    began = before.valid_from or date.min
    return next((day for day in (after.valid_from, act.updated) if day and day > began), max(today, began))


def _wordings(found: Difference, old: StoredActs, articles: Mapping[str, Article], tree: ActTree, today: date) -> None:
    """Dated records of the source, and wordings that give way. What the graph knows of a wording's text stays."""
    wanted = {wording.id: wording for wording in tree.wordings}
    for article in tree.articles:
        before = articles.get(article.id)
        if before is None or before.text == article.text or not before.text:
            continue
        end = _end(before, article, tree.act, today)
        wording = Wording(article.id, before.source_id, before.status, before.valid_from, end, before.text)
        if not tree.wordings_dated or article.source_id == before.source_id:  # it names the article, not its wording
            named = next((v for v in tree.wordings if v.article_id == article.id and v.valid_from == before.valid_from), None)
            wording = replace(wording, source_id=named.source_id if named else "")
        dated = wanted.get(wording.id)
        known = old.wordings.get(wording.id)
        if known is not None and known.text not in ("", before.text):
            wording = replace(wording, source_id="")  # the publisher gave one name to two wordings: both are kept
        elif dated is not None:
            wording = replace(dated, text=before.text)
        wanted[wording.id] = wording
    for id, wording in wanted.items():
        known = old.wordings.get(id)
        if known is None:
            found.rows["create_wordings"].append(row_of(wording))
            continue
        wording = wording if wording.text else replace(wording, text=known.text)
        if wording != known:
            found.rows["update_wordings"].append(row_of(wording))


def _contains(
    found: Difference, act: str, sections: Mapping[str, Section], articles: Mapping[str, Article], tree: ActTree
) -> None:
    for name, old, new in (("section", sections, tree.sections), ("article", articles, tree.articles)):
        for record in new:
            before = old.get(record.id)
            if before is not None:
                if (before.parent_id, before.position) == (record.parent_id, record.position):
                    continue
                found.rows[f"delete_{name}_parents"].append(record.id)
            parent = "act" if record.parent_id == act else "section"
            row = {"parent": record.parent_id, "child": record.id, "position": record.position}
            found.rows[f"create_{parent}_contains_{name}"].append(row)


def _next(found: Difference, old: Mapping[str, str], reading_order: Sequence[str]) -> None:
    new = dict(pairwise(reading_order))
    found.rows["delete_next"] += [article for article in old if new.get(article) != old[article]]
    found.rows["create_next"] += [{"article": a, "following": b} for a, b in new.items() if old.get(a) != b]


def _count(counts: Counts, label: str, old: Mapping[str, Section | Article], new: Sequence[Section | Article]) -> None:
    """Count what differs. A node that only gave way to a new neighbour, or took a gone one's place, has not moved."""
    kept = {record.id for record in new if record.id in old}
    counts.created[label] += len(new) - len(kept)
    counts.removed[label] += len(old) - len(kept)
    if not kept:
        return
    stayed = {record.id for record in new if record.id in kept and old[record.id].parent_id == record.parent_id}
    before, after = _order(old[id] for id in stayed), _order(record for record in new if record.id in stayed)
    for record in new:
        if record.id not in kept:
            continue
        place = {"parent_id": record.parent_id, "position": record.position}
        if replace(old[record.id], **place) != record:
            counts.changed[label] += 1
        elif record.id not in stayed or before[record.id] != after[record.id]:
            counts.moved[label] += 1


def _order(records: Iterable[Section | Article]) -> dict[str, int]:
    """Place among those of the same parent, by identifier."""
    below: dict[str, list[Section | Article]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.position):
        below[record.parent_id].append(record)
    return {record.id: place for children in below.values() for place, record in enumerate(children)}
