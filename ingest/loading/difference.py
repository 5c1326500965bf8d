"""The difference between the acts in a graph and the same acts as they were read, as rows to write."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import pairwise
from typing import Any, TypeVar

from cypher.batches import batches
from cypher.graph import Statements
from cypher.rows import record_of, row_of
from ingest.loading.filling import filled, texts_in_time
from schema.filter import is_present
from schema.identifiers import act_of
from schema.records import Act, ActTree, Article, Section, Wording
from schema.revisions import PRESENT, Revision, on_record, present_wording, revision

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
    "create_revisions",
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


_Part = TypeVar("_Part")


@dataclass(slots=True)
class Counts:
    """Counts of the nodes of a load, by label.

    A node counts as moved when nothing but its parent or its order among its neighbours changed.
    """

    created: Counter[str] = field(default_factory=Counter[str])
    changed: Counter[str] = field(default_factory=Counter[str])
    moved: Counter[str] = field(default_factory=Counter[str])
    removed: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Counts") -> None:
        """Add the counts of another load."""
        for name in ("created", "changed", "moved", "removed"):
            getattr(self, name).update(getattr(other, name))

    @property
    def anything_changed(self) -> bool:
        """True where any node is other than before."""
        return any(counts.total() for counts in (self.created, self.changed, self.moved, self.removed))


@dataclass(frozen=True, slots=True)
class StoredActs:
    """Acts as a graph holds them, by identifier, with all that is below them, by identifier as well."""

    acts: Mapping[str, Act] = field(default_factory=dict[str, Act])
    sections: Mapping[str, Section] = field(default_factory=dict[str, Section])
    articles: Mapping[str, Article] = field(default_factory=dict[str, Article])
    wordings: Mapping[str, Wording] = field(default_factory=dict[str, Wording])
    following: Mapping[str, str] = field(default_factory=dict[str, str])
    recorded: frozenset[str] = frozenset()
    """Those of the acts whose changes are kept: they were loaded whole before."""

    @classmethod
    def of(cls, graph: Statements, ids: Sequence[str]) -> "StoredActs":
        """Return those of these acts that a graph has."""
        if not ids:
            return cls()
        return cls(
            {row["id"]: record_of(Act, row) for row in graph.rows("acts_by_id", ids=ids)},
            {row["id"]: record_of(Section, row) for row in graph.rows("sections_of_acts", ids=ids)},
            {row["id"]: record_of(Article, row) for row in graph.rows("articles_of_acts", ids=ids)},
            {row["id"]: record_of(Wording, row) for row in graph.rows("wordings_of_acts", ids=ids)},
            {row["article"]: row["following"] for row in graph.rows("next_of_acts", ids=ids)},
            frozenset(row["id"] for row in graph.rows("begun_records", ids=ids)),
        )

    def by_act(self) -> dict[str, "StoredActs"]:
        """Return each act by itself, by its identifier."""
        sections, articles = _by_act(self.sections), _by_act(self.articles)
        wordings, following = _by_act(self.wordings), _by_act(self.following)
        return {
            id: StoredActs({id: act}, sections[id], articles[id], wordings[id], following[id], self.recorded & {id})
            for id, act in self.acts.items()
        }


def _by_act(parts: Mapping[str, _Part]) -> dict[str, dict[str, _Part]]:
    by_act: dict[str, dict[str, _Part]] = defaultdict(dict)
    for id, part in parts.items():
        by_act[act_of(part.article_id if isinstance(part, Wording) else id)][id] = part
    return by_act


@dataclass(slots=True)
class Difference:
    """Rows to write, by statement, and what they do."""

    rows: dict[str, list[Any]] = field(default_factory=lambda: defaultdict[str, list[Any]](list))
    counts: Counts = field(default_factory=Counts)

    @property
    def gone_sections(self) -> list[str]:
        """Identifiers of the sections that will be deleted."""
        return self.rows["delete_sections"]

    @property
    def gone_articles(self) -> list[str]:
        """Identifiers of the articles that will be deleted."""
        return self.rows["delete_articles"]

    def write(self, graph: Statements) -> None:
        """Write the rows, in batches."""
        for statement in _WRITES:
            rows = self.rows.get(statement, [])
            name = "ids" if statement.startswith("delete") else "rows"
            for batch in batches(rows):
                graph.write(statement, **{name: batch})


def difference(old: StoredActs, trees: Iterable[ActTree], now: datetime) -> Difference:
    """Return what must be written for the graph to hold these acts, and what of it changes what was on record.

    A wording that gives way to another is kept as a wording of its article, which ends where the new one begins:
    on the new one's first day, else on the day of the consolidation, else today. Where the source does not date wordings,
    that day becomes the first of the new one and stays it in later releases.
    """
    changes = Difference()
    by_act = old.by_act()
    for tree in trees:
        _add_act(changes, by_act.get(tree.act.id, StoredActs()), tree, now)
    return changes


def _add_act(changes: Difference, old: StoredActs, tree: ActTree, now: datetime) -> None:
    """Add what must be written for one act."""
    act, today = tree.act, now.date()
    if act.id not in old.acts:
        changes.rows["create_acts"].append(row_of(act))
        changes.counts.created["Act"] += 1
    elif old.acts[act.id] != act:
        changes.rows["update_acts"].append(row_of(act))
        changes.counts.changed["Act"] += 1
    if old.articles and not tree.wordings_dated:
        ended = {(wording.article_id, wording.valid_to) for wording in old.wordings.values() if wording.text}
        tree = replace(tree, articles=tuple(_dated(article, old, ended, act, today) for article in tree.articles))
    _add_nodes(changes, "Section", act.id, old.sections, tree.sections)
    _add_nodes(changes, "Article", act.id, old.articles, tree.articles)
    wordings = _add_wordings(changes, old, tree, today)
    if act.id in old.recorded:
        new = replace(old, articles={article.id: article for article in tree.articles}, wordings=wordings)
        changes.rows["create_revisions"] += map(row_of, revisions(old, new, now))
    gone = old.articles.keys() - {article.id for article in tree.articles}
    changes.rows["delete_wordings"] += sorted(id for id, wording in old.wordings.items() if wording.article_id in gone)
    present = (a.id for a in tree.articles if is_present(a.valid_from, a.valid_to, act.as_of))
    following = dict(pairwise(present))
    changes.rows["delete_next"] += [id for id in old.following if following.get(id) != old.following[id]]
    changes.rows["create_next"] += [
        {"article": id, "following": other} for id, other in following.items() if old.following.get(id) != other
    ]


def _add_nodes(
    changes: Difference, label: str, act: str, old: Mapping[str, Section | Article], new: Sequence[Section | Article]
) -> None:
    """Add the sections or the articles of an act, with the edges that lead to them."""
    name = label.lower()
    changes.rows[f"delete_{name}s"] += sorted(old.keys() - {record.id for record in new})
    for record in new:
        before = old.get(record.id)
        if before is None:
            changes.rows[f"create_{name}s"].append(row_of(record))
        elif before != record:
            changes.rows[f"update_{name}s"].append(row_of(record))
        if before is not None:
            if (before.parent_id, before.position) == (record.parent_id, record.position):
                continue
            changes.rows[f"delete_{name}_parents"].append(record.id)
        parent = "act" if record.parent_id == act else "section"
        row = {"parent": record.parent_id, "child": record.id, "position": record.position}
        changes.rows[f"create_{parent}_contains_{name}"].append(row)
    _count(changes.counts, label, old, new)


def _dated(article: Article, old: StoredActs, ended: Collection[tuple[str, date | None]], act: Act, today: date) -> Article:
    """An article with the first day of its wording, where its source knows that of the act alone.

    Args:
        ended: articles and days on which a wording that is kept gave way to the one that the graph holds.
    """
    before = old.articles.get(article.id)
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


def revisions(old: StoredActs, new: StoredActs, now: datetime) -> Iterator[Revision]:
    """Yield what is other on record of the articles of an act than it was."""
    before, after = _by_article(old), _by_article(new)
    for id in sorted(before.keys() | after.keys()):
        was, is_ = before.get(id, {}), after.get(id, {})
        if was != is_ and (one := revision(id, now.isoformat(timespec="microseconds"), on_record(was), on_record(is_))):
            yield one


def _by_article(acts: StoredActs) -> dict[str, dict[str, Wording]]:
    """The wordings of each article, the present one under the name ``PRESENT``."""
    found = {id: {PRESENT: present_wording(article)} for id, article in acts.articles.items()}
    for id, wording in acts.wordings.items():
        found[wording.article_id][id] = wording
    return found


def _add_wordings(changes: Difference, old: StoredActs, tree: ActTree, today: date) -> dict[str, Wording]:
    """Add dated records of the source, and wordings that give way; return all that are there then.

    What the graph knows of a wording's text stays.
    """
    wanted = {wording.id: wording for wording in tree.wordings}
    was_history = any(act.known_from and not tree.act.known_from for act in old.acts.values())
    if was_history:
        texts = texts_in_time(old.articles.values(), old.wordings.values())
        wanted |= {wording.id: wording for wording in filled(tree.wordings, texts)}
    kept = {article.id for article in tree.articles}
    there = {id: wording for id, wording in old.wordings.items() if wording.article_id in kept}
    if tree.wordings_whole or was_history:
        changes.rows["delete_wordings"] += sorted(there.keys() - wanted.keys())
        there = {id: wording for id, wording in there.items() if id in wanted}
    for article in () if tree.wordings_whole or was_history else tree.articles:
        before = old.articles.get(article.id)
        if before is None or before.text == article.text or not before.text:
            continue
        end = _end(before, article, tree.act, today)
        wording = Wording(article.id, before.source_id, before.status, before.valid_from, end, before.text)
        if not tree.wordings_dated or article.source_id == before.source_id:  # it names the article, not its wording
            named = next((v for v in tree.wordings if v.article_id == article.id and v.valid_from == before.valid_from), None)
            wording = replace(wording, source_id=named.source_id if named else "")
        dated, stored = wanted.get(wording.id), old.wordings.get(wording.id)
        if stored is not None and stored.text not in ("", before.text):
            wording = replace(wording, source_id="")  # the publisher gave one name to two wordings: both are kept
        elif dated is not None:
            wording = replace(dated, text=before.text)
        wanted[wording.id] = wording
    for id, wording in wanted.items():
        stored = old.wordings.get(id)
        there[id] = wording if wording.text or stored is None else replace(wording, text=stored.text)
        if stored is None:
            changes.rows["create_wordings"].append(row_of(wording))
        elif there[id] != stored:
            changes.rows["update_wordings"].append(row_of(there[id]))
    return there


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
