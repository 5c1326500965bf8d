"""The law as arrays: articles and sections in reading order, their tree, groups and citations.

An index position is a place in this order; every text index and every matrix of scores uses it.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy import sparse

from schema.errors import BadQuery, NotFound
from schema.filter import Filter
from schema.records import Act

Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]

REMEMBERED_DAYS = 16
"""Days whose law is kept: people page, and look around on one day."""
NO_START, NO_END = np.iinfo(np.int32).min, np.iinfo(np.int32).max
"""Validity of an article without a first or a last day, in days since 1970-01-01."""


@dataclass(frozen=True, eq=False)
class Corpus:
    """n articles and m sections of the acts of a graph.

    Attributes:
        sha256: fingerprint of the law that this was made from.
        acts, sections, articles: identifiers; acts by identifier, the others in reading order.
        kinds, jurisdictions: of the acts.
        article_parent: int32[n], position of the section an article stands in, or -1 - act.
        section_parent: int32[m], likewise.
        article_act: int32[n], position of the act.
        stem: int32[n], group of the articles of an act that share the stem of their number.
        valid_from, valid_to: int32[n], days since 1970-01-01 of the wording that is kept; the end is exclusive.
        present: bool[n], whether an article is part of the present law (`schema.filter.is_present`).
        versions: int32[v, 3], article and days of its other wordings, by article.
        known: bool[v], whether the texts of these are known.
        stays: int32[s, 4], article, days, and the node that it stood in then, of articles that moved or ended.
        cites: int32[e, 2], pairs of article positions (citing, cited), each once.
        authority: float32[n], PageRank over CITES (`cypher.authority`).
    """

    sha256: str
    acts: list[str]
    sections: list[str]
    articles: list[str]
    kinds: list[str]
    jurisdictions: list[str]
    article_parent: Ints
    section_parent: Ints
    article_act: Ints
    stem: Ints
    valid_from: Ints
    valid_to: Ints
    present: Mask
    versions: Ints
    known: Mask
    stays: Ints
    cites: Ints
    authority: npt.NDArray[np.float32]

    @cached_property
    def act_position(self) -> dict[str, int]:
        """Position by identifier."""
        return {id: position for position, id in enumerate(self.acts)}

    @cached_property
    def article_position(self) -> dict[str, int]:
        """Position by identifier."""
        return {id: position for position, id in enumerate(self.articles)}

    @cached_property
    def section_position(self) -> dict[str, int]:
        """Position by identifier."""
        return {id: position for position, id in enumerate(self.sections)}

    @cached_property
    def group(self) -> Ints:
        """int32[n]: number of the parent, section or act, of each article: articles of one parent share it."""
        _, inverse = np.unique(self.article_parent, return_inverse=True)
        return inverse.astype(np.int32)

    @cached_property
    def cited_either_way(self) -> sparse.csr_array:
        """float32[n, n]: 1 where one article cites the other, and on the diagonal."""
        n = len(self.articles)
        a, b = self.cites[:, 0], self.cites[:, 1]
        ends = (np.concatenate([a, b, np.arange(n)]), np.concatenate([b, a, np.arange(n)]))
        matrix = sparse.csr_array((np.ones(len(ends[0]), np.float32), ends), shape=(n, n))
        matrix.sum_duplicates()
        matrix.data[:] = 1
        return matrix

    def parents_on(self, day: date) -> Ints:
        """Return int32[n]: `article_parent` as it was on a day."""
        number = days_of(day, NO_START)
        article, start, end, node = self.stays.T
        held = (start <= number) & (number < end)
        parents = self.article_parent.copy()
        parents[article[held]] = node[held]
        return parents

    def parent_on(self, article: int, day: date | None) -> int:
        """Return the node that one article stood in on a day; without one, that of the present law."""
        number = days_of(day, NO_END)
        held = (self.stays[:, 0] == article) & (self.stays[:, 1] <= number) & (number < self.stays[:, 2])
        nodes = self.stays[held, 3] if day is not None else self.stays[:0, 3]
        return int(nodes[0]) if len(nodes) else int(self.article_parent[article])

    def below(self, section: int, parents: Ints | None = None) -> Mask:
        """Return bool[n]: the articles anywhere below a section, by `article_parent` or that of another day."""
        parents = self.article_parent if parents is None else parents
        inside = np.zeros(len(self.sections) + 1, bool)
        inside[section] = True
        for position in range(section + 1, len(self.sections)):  # parents come before their children
            parent = self.section_parent[position]
            inside[position] = parent >= 0 and inside[parent]
        return inside[np.maximum(parents, -1)] & (parents >= 0)

    @cached_property
    def members(self) -> dict[int, list[int]]:
        """The articles of each parent (`article_parent`), ended ones among them."""
        members: dict[int, list[int]] = {}
        for position, parent in enumerate(self.article_parent.tolist()):
            members.setdefault(parent, []).append(position)
        return members

    def present_members(self, parent: int) -> list[int]:
        """Return the articles of a parent that are part of the present law, or all where none is."""
        members = self.members.get(parent, [])
        return [position for position in members if self.present[position]] or members

    def in_force_on(self, day: date) -> Mask:
        """Return bool[n]: the articles in force on a day, in whatever wording; not to be written into."""
        return self._in_force_on(day)

    @cached_property
    def _in_force_on(self) -> Callable[[date], Mask]:
        return lru_cache(REMEMBERED_DAYS)(self._found_in_force_on)

    def _found_in_force_on(self, day: date) -> Mask:
        number = days_of(day, NO_START)
        mask = (self.valid_from <= number) & (number < self.valid_to)
        article, start, end = self.versions.T
        mask[article[(start <= number) & (number < end)]] = True
        mask.flags.writeable = False
        return mask

    @cached_property
    def present_days(self) -> tuple[int, int] | None:
        """A day by which every article of the present law has begun, and one on which none has ended; None where all are present.

        What began later or ended earlier is not part of it; of acts that are consolidated on different days, some that are not
        part of it may lie between.
        """
        first, last = self.span
        if self.present.all() or not self.present.any():
            return None
        return int(first[self.present].max()), int(last[self.present].min()) - 1

    @cached_property
    def span(self) -> tuple[Ints, Ints]:
        """int32[n] each: the first day of an article's first wording and the end of its last."""
        first, last = self.valid_from.copy(), self.valid_to.copy()
        np.minimum.at(first, self.versions[:, 0], self.versions[:, 1])
        np.maximum.at(last, self.versions[:, 0], self.versions[:, 2])
        return first, last

    @cached_property
    def version_parents(self) -> list[int]:
        """The node that each row of ``versions`` stood in on its first day."""
        moved: dict[int, list[tuple[int, int, int]]] = {}
        for article, start, end, node in self.stays.tolist():
            moved.setdefault(article, []).append((start, end, node))
        own = self.article_parent.tolist()
        return [
            next((node for first, end, node in moved.get(article, ()) if first <= start < end), own[article])
            for article, start, _ in self.versions.tolist()
        ]

    def wordings(self, article: int, *, known: bool = True) -> list[tuple[int, int]]:
        """Return the days of every wording of an article, its own first; without those of others that are known, if so asked."""
        low, high = np.searchsorted(self.versions[:, 0], [article, article + 1]).tolist()
        rows = (row for row in range(low, high) if known or not self.known[row])
        others = [(int(start), int(end)) for _, start, end in self.versions[[*rows]]]
        return [(int(self.valid_from[article]), int(self.valid_to[article])), *others]

    def passing(self, filter: Filter) -> Mask | None:
        """Return bool[n]: the articles that pass a filter; None where all do.

        Raises:
            NotFound: it names no act or section.
            BadQuery: it names a day, and all days.
        """
        masks: list[Mask] = []
        if filter.act is not None:
            if filter.act not in self.act_position:
                raise NotFound(f"no such act: {filter.act}")
            masks.append(self.article_act == self.act_position[filter.act])
        if filter.section is not None:
            if filter.section not in self.section_position:
                raise NotFound(f"no such section: {filter.section}")
            parents = None if filter.in_force_on is None else self.parents_on(filter.in_force_on)
            masks.append(self.below(self.section_position[filter.section], parents))
        if filter.across_time and filter.in_force_on is not None:
            raise BadQuery("a search is on a day or across time, not both")
        if filter.in_force_on is not None:
            masks.append(self.in_force_on(filter.in_force_on))
        elif not filter.across_time and not self.present.all():
            masks.append(self.present)
        for wanted, values in ((filter.kind, self.kinds), (filter.jurisdiction, self.jurisdictions)):
            if wanted is not None:
                masks.append(np.array([value == wanted for value in values], bool)[self.article_act])
        return np.logical_and.reduce(masks) if masks else None

    def ancestors(self, node: int) -> list[int]:
        """Return the nodes from the act down to ``node``, itself included: sections, and -1 - act, which comes first."""
        path = [node]
        while path[-1] >= 0:
            path.append(int(self.section_parent[path[-1]]))
        return path[::-1]

    def node_id(self, node: int) -> str:
        """Return the identifier of a section, or of an act (-1 - act)."""
        return self.sections[node] if node >= 0 else self.acts[-1 - node]

    def path_ids(self, node: int) -> list[str]:
        """Return the identifiers of `ancestors`."""
        return [self.node_id(above) for above in self.ancestors(node)]

    def parent(self, id: str) -> str | None:
        """Return the section or act that a section or an article stands in; None of an act."""
        article, section = self.article_position.get(id), self.section_position.get(id)
        if article is not None:
            return self.node_id(int(self.article_parent[article]))
        return None if section is None else self.node_id(int(self.section_parent[section]))

    def path_above(self, id: str) -> list[str]:
        """Return the identifiers of what stands above a section or an article, from the act down; none of an act."""
        parent = self.parent(id)
        return [] if parent is None else [*self.path_above(parent), parent]

    def beside(self, article: str, step: int) -> str | None:
        """Return the article of the present law that comes so many steps later; None beyond the ends of its act.

        Beside one that is not part of it, any other stands.
        """
        position = self.article_position[article]
        other = position + step
        while 0 <= other < len(self.articles) and self.article_act[other] == self.article_act[position]:
            if self.present[other] or not self.present[position]:
                return self.articles[other]
            other += step
        return None

    def level(self, section: int) -> int:
        """Return the depth of a section, 1 below its act."""
        return len(self.ancestors(section)) - 1

    def save(self, folder: Path) -> None:
        """Write the corpus into a folder, the same bytes for the same corpus."""
        names = {name: getattr(self, name) for name in _NAMES}
        (folder / "corpus.json").write_text(json.dumps(names, ensure_ascii=False), encoding="utf-8")
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name))

    @classmethod
    def load(cls, folder: Path) -> "Corpus":
        """Read a corpus that `save` wrote."""
        names = json.loads((folder / "corpus.json").read_text(encoding="utf-8"))
        return cls(**names, **{name: np.load(folder / f"{name}.npy") for name in _ARRAYS})


NAMES = ("id", "jurisdiction", "kind", "title", "language", "eli", "celex", "source_id", "short_title")
"""Properties of an act that tell what it is called."""
_NAMES = ("sha256", "acts", "sections", "articles", "kinds", "jurisdictions")
_ARRAYS = (
    "article_parent",
    "section_parent",
    "article_act",
    "stem",
    "valid_from",
    "valid_to",
    "present",
    "versions",
    "known",
    "stays",
    "cites",
    "authority",
)


@dataclass(frozen=True, slots=True)
class CorpusText:
    """The words of a corpus: texts and numbers of articles, headings of sections, titles of acts, by position.

    Attributes:
        languages: of the acts.
        article_headings: "" where an article has none.
        acts: what the acts are called; their preambles are left out.
        wordings: texts of the other wordings, by row of `Corpus.versions`; "" where only the days of one are known.
    """

    titles: list[str]
    headings: list[str]
    numbers: list[str]
    texts: list[str]
    languages: list[str]
    article_headings: list[str]
    acts: list[Act]
    wordings: list[str]

    def digest(self, article: int) -> str:
        """Return a short fingerprint of the words of an article."""
        return hashlib.sha256(f"{self.numbers[article]}\n{self.texts[article]}".encode()).hexdigest()[:16]

    def path(self, corpus: Corpus, parent: int) -> list[str]:
        """Return the headings above something whose parent is ``parent``, from the act's title down."""
        return [self.headings[node] if node >= 0 else self.titles[-1 - node] for node in corpus.ancestors(parent)]


def days_of(day: date | None, missing: int) -> int:
    """Return the days from 1970-01-01 to a day."""
    return missing if day is None else (day - date(1970, 1, 1)).days
