"""Acts that are about the same: the national acts that may transpose a directive, and the other way round.

The task is the document-to-document retrieval of Chalkidis et al., "Regulatory Compliance through Doc2Doc Information
Retrieval", EACL 2021: a whole act asks (their section 3), and a tuned ensemble of lists answers (section 4). Numbers are
masked (`search.acts.masking`), and no known transposition is looked at.

An act is compared in three views, each with each: its title, its lead, the whole. A word weighs as its rarity on the side
where it is more common, so that neither the phrases of EU acts ("les États membres veillent à ce que") nor those of
national ones ("Mémorial", "Nous Henri") count.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy import sparse

from schema.errors import BadQuery, NotFound
from search.acts.views import VIEWS, ActTexts, View
from search.corpus.corpus import NO_START, Mask
from search.query.act_names import resolve_value
from search.ranking.fusion import Scores, standard_scores, top, weighted
from search.ranking.hits import Place
from search.text.bm25 import kept_length

COSINES: Mapping[str, tuple[View, View]] = MappingProxyType(
    {f"{asked}-{found}": (asked, found) for asked in VIEWS for found in VIEWS}
)
"""Lists by name: which view of the act that asks is held against which view of the others."""
BM25 = "bm25"
DATE = "date"
DAYS_A_YEAR = 365.25
AGE_EDGES = (0, 1, 2, 4, 6, 9, 13, 20)
"""Whole years between a directive and a national act that begin a new step of `Ensemble.ages`; the first is below all."""
MOST_ACTS = 1000
"""Acts that one answer gives."""


@dataclass(frozen=True, slots=True)
class LongQuery:
    """The making of a BM25 query from a whole act.

    Attributes:
        terms: words of highest tf·idf that ask, each once.
        denoised: idf² is the product of both sides' idf, and words that the other side lacks are dropped; else the idf of
            the acts that are searched.
        view: what the words are taken from; ``found`` what they are searched in.
    """

    terms: int = 30
    denoised: bool = True
    k1: float = 1.2
    b: float = 0.75
    view: View = "whole"
    found: View = "whole"


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The making of one list from several.

    Attributes:
        weights: of the lists, in standard scores (`search.ranking.fusion.standard_scores`).
        age: weight of ``ages``; 0 leaves them out.
        ages: float[len(AGE_EDGES) + 1], log odds that a national act transposes a directive by the whole years that it is
            younger.
    """

    weights: Mapping[str, float]
    age: float = 0.0
    ages: tuple[float, ...] = (0.0,) * (len(AGE_EDGES) + 1)


# Chosen by `search.acts.benchmark.tune` (coordinate search from lead-lead and BM25 on the mean of R@20, R@100, nDCG@20 and
# R-precision) on all five folds of the 228 pairs of 77 directives and 132 Luxembourg acts whose title names the directive;
# `lexgraph evaluate --benchmark eu-lu` prints them and what they are worth on folds that they were not chosen on.
FROM_DIRECTIVE = Ensemble(
    MappingProxyType(
        {
            "title-title": 0.5,
            "title-lead": 0.5,
            "lead-title": 0.25,
            "lead-lead": 0.5,
            "whole-title": 0.25,
            BM25: 1.0,
        }
    ),
    1.5,
    (-5.52, -1.01, 0.91, 1.4, 1.24, 0.94, 0.91, 0.5, 0.22),
)
TO_DIRECTIVE = Ensemble(
    MappingProxyType(
        {
            "title-title": 2.5,
            "title-lead": 0.5,
            "title-whole": 2.5,
            "lead-title": 0.1,
            "lead-lead": 0.75,
            "lead-whole": 0.1,
            "whole-title": 1.5,
            "whole-lead": 0.1,
            "whole-whole": 2.5,
            BM25: 1.0,
        }
    ),
    2.5,
    (-5.58, -1.72, 0.24, 0.87, 0.91, 0.94, 1.37, 1.41, 0.36),
)


@dataclass(frozen=True, slots=True)
class SimilarAct:
    """An act that answers, and its place in each list that has a weight."""

    id: str
    score: float
    places: dict[str, Place] = field(default_factory=dict[str, Place])


@dataclass(frozen=True, eq=False)
class _Collection:
    """Acts that words are rare or common among."""

    members: Mask
    documents: int
    frequency: npt.NDArray[np.float64]

    @property
    def idf(self) -> npt.NDArray[np.float64]:
        """Return float64[v]: ln((n + 1) / (df + 1)), 0 for a word that none of the acts has."""
        return np.where(self.frequency > 0, np.log((self.documents + 1) / (self.frequency + 1)), 0.0)


class SimilarActs:
    """Finds similar acts. Safe for several threads at once."""

    def __init__(
        self, texts: ActTexts, *, from_directive: Ensemble = FROM_DIRECTIVE, to_directive: Ensemble = TO_DIRECTIVE
    ) -> None:
        self.texts = texts
        self._from_eu, self._to_eu = from_directive, to_directive
        # 1 + ln tf: a word that stands a hundred times is not a hundred times as telling.
        self._tf = {view: _mapped(counts) for view, counts in texts.counts.items()}
        self._jurisdictions = np.array(texts.jurisdictions)
        self._kinds = np.array(texts.kinds)
        self._collections: dict[str | None, _Collection] = {}
        self._lengths: dict[tuple[View, str | None, str | None], npt.NDArray[np.float32]] = {}
        self._columns: dict[View, sparse.csc_array] = {}
        self._counted: dict[View, npt.NDArray[np.int64]] = {}
        self._lock = Lock()

    def similar(
        self,
        act: str,
        *,
        jurisdiction: str | None = None,
        kind: str | None = None,
        first: int = 20,
        years_before: float | None = None,
        years_after: float | None = None,
    ) -> list[SimilarAct]:
        """Return the acts most similar to one, best first, itself left out.

        Args:
            act: Identifier of the act that asks.
            jurisdiction: Jurisdiction of the acts that may answer.
            kind: Kind of the acts that may answer.
            first: Length of the list.
            years_before: Years that they may be older than the act; those without a date may not answer then.
            years_after: Years that they may be younger.

        Raises:
            NotFound: There is no such act.
            BadQuery: ``first`` or a number of years is out of bounds, or no act is of the kind or jurisdiction.
        """
        if act not in self.texts.position:
            raise NotFound(f"no such act: {act}")
        _check_bounds(first, years_before, years_after)
        asking = self.texts.position[act]
        jurisdiction = resolve_value(jurisdiction, self.texts.jurisdictions, "jurisdiction")
        kind = resolve_value(kind, self.texts.kinds, "kind of act")
        may = self.candidates(asking, jurisdiction, kind) & self.within(asking, years_before, years_after)
        if not may.any():
            return []
        return self._fused(asking, may, jurisdiction, first)

    def _fused(self, asking: int, may: Mask, jurisdiction: str | None, first: int) -> list[SimilarAct]:
        """Return the best of the acts that may answer, by the ensemble of the act that asks."""
        # Pairs of which none is of the EU have no labels to choose weights on: they take those of national acts.
        ensemble = self._from_eu if self.texts.jurisdictions[asking] == "eu" else self._to_eu
        names = [name for name, weight in ensemble.weights.items() if weight]
        lists = {name: np.where(may, self.scores(asking, name, jurisdiction), -np.inf) for name in names}
        standard = {name: standard_scores(scores) for name, scores in lists.items()}
        fused = weighted(standard, ensemble.weights)
        if ensemble.age:
            fused += np.float32(ensemble.age) * self.age_scores(asking, ensemble.ages)
        ranks = {name: _ranks(scores) for name, scores in lists.items()}
        return [
            SimilarAct(
                self.texts.acts[position],
                float(fused[position]),
                {name: Place(int(ranks[name][position]), float(lists[name][position])) for name in names},
            )
            for position in top(fused, first).tolist()
        ]

    def candidates(self, asking: int, jurisdiction: str | None, kind: str | None = None) -> Mask:
        """Return bool[a]: the acts of a jurisdiction and a kind, without the one that asks."""
        may = np.ones(len(self.texts.acts), bool)
        if jurisdiction is not None:
            may &= self._jurisdictions == jurisdiction
        if kind is not None:
            may &= self._kinds == kind
        may[asking] = False
        return may

    def within(self, asking: int, before: float | None, after: float | None) -> Mask:
        """Return bool[a]: the acts at most so many years older or younger than the one that asks; None is without limit."""
        days, own = self.texts.published.astype(np.int64), int(self.texts.published[asking])
        if before is None and after is None:
            return np.ones(len(days), bool)
        may = (days != NO_START) & (own != NO_START)
        if before is not None:
            may &= own - days <= before * DAYS_A_YEAR
        if after is not None:
            may &= days - own <= after * DAYS_A_YEAR
        return may

    def scores(self, asking: int, name: str, jurisdiction: str | None) -> Scores:
        """Return float32[a]: the scores of a list (of `COSINES`, or `BM25`), as if the acts of a jurisdiction were searched."""
        if name == BM25:
            return self.bm25(asking, LongQuery(), jurisdiction)
        view, found = COSINES[name]
        own = self.texts.jurisdictions[asking]
        weight = np.minimum(self._collection(own).idf, self._collection(jurisdiction).idf)
        row = self._tf[view][[asking], :]
        query = np.zeros(len(self.texts.words), np.float32)
        query[row.indices] = row.data * np.square(weight[row.indices])
        length = float(np.sqrt(np.dot(query[row.indices], row.data)))
        scores = (self._tf[found] @ query) / (self._length(found, own, jurisdiction) * max(length, 1e-9))
        return np.asarray(scores, np.float32)

    def bm25(self, asking: int, query: LongQuery, jurisdiction: str | None) -> Scores:
        """Return float32[a]: BM25 for the telling words of an act, counted over the acts of a jurisdiction (None: over all).

        "Long queries" of Chalkidis et al., section 4.1, cut to the words of highest tf·idf.
        """
        among = self._collection(jurisdiction)
        row = self.texts.counts[query.view][[asking], :]
        idf = among.idf[row.indices]
        if query.denoised:
            idf = idf * self._collection(self.texts.jurisdictions[asking]).idf[row.indices]
        telling = row.indices[np.argsort(-row.data * idf, kind="stable")[: query.terms]]
        lengths = self._words(query.found)
        norm = query.k1 * (
            1 - query.b + query.b * lengths / max(float(lengths[among.members].sum()) / max(among.documents, 1), 1e-9)
        )
        rarity = np.log1p((among.documents - among.frequency[telling] + 0.5) / (among.frequency[telling] + 0.5))
        having = self._by_word(query.found)[:, telling]
        parts = having.data / (having.data + norm[having.indices]) * np.repeat(rarity, np.diff(having.indptr))
        return np.bincount(having.indices, parts, minlength=len(self.texts.acts)).astype(np.float32)

    def age_scores(self, asking: int, ages: tuple[float, ...]) -> Scores:
        """Return float32[a]: log odds by the years that a national act is younger than an EU act; 0 between others."""
        days = self.texts.published.astype(np.float64)
        eu = self._jurisdictions == "eu"
        own_eu = bool(eu[asking])
        years = np.floor((days - days[asking]) / DAYS_A_YEAR) * (1 if own_eu else -1)
        dated = (self.texts.published != NO_START) & (self.texts.published[asking] != NO_START) & (eu != own_eu)
        steps = np.array(ages, np.float32)[np.searchsorted(AGE_EDGES, years, "right")]
        return np.where(dated, steps, np.float32(0))

    def _by_word(self, view: View) -> sparse.csc_array:
        with self._lock:
            if view not in self._columns:
                self._columns[view] = self.texts.counts[view].tocsc()
            return self._columns[view]

    def _words(self, view: View) -> npt.NDArray[np.int64]:
        """Return int64[a]: how many words the acts have in a view, as Lucene remembers lengths."""
        with self._lock:
            if view not in self._counted:
                self._counted[view] = kept_length(np.asarray(self.texts.counts[view].sum(1)).astype(np.int64))
            return self._counted[view]

    def _collection(self, jurisdiction: str | None) -> _Collection:
        with self._lock:
            found = self._collections.get(jurisdiction)
            if found is None:
                members = np.ones(len(self.texts.acts), bool) if jurisdiction is None else self._jurisdictions == jurisdiction
                having = self.texts.counts["whole"][np.flatnonzero(members), :].indices
                frequency = np.bincount(having, minlength=len(self.texts.words)).astype(np.float64)
                found = self._collections[jurisdiction] = _Collection(members, int(members.sum()), frequency)
            return found

    def _length(self, view: View, own: str, jurisdiction: str | None) -> npt.NDArray[np.float32]:
        """Return float32[a]: lengths of the vectors of a view under the weights of two collections."""
        key = (view, own, jurisdiction)
        found = self._lengths.get(key)
        if found is None:
            weight = np.minimum(self._collection(own).idf, self._collection(jurisdiction).idf)
            squared = self._tf[view].power(2) @ np.square(weight)
            found = self._lengths[key] = np.maximum(np.sqrt(squared), 1e-9).astype(np.float32)
        return found


def _check_bounds(first: int, *years: float | None) -> None:
    if not 1 <= first <= MOST_ACTS:
        raise BadQuery(f"first: {first} is not between 1 and {MOST_ACTS}")
    if not all(0 <= number < float("inf") for number in years if number is not None):  # nor "not a number"
        raise BadQuery("a number of years is negative, or none")


def _mapped(counts: sparse.csr_array) -> sparse.csr_array:
    mapped = counts.copy()
    mapped.data = 1 + np.log(mapped.data)
    return mapped


def _ranks(scores: Scores) -> npt.NDArray[np.int64]:
    """Return int64[a]: ranks from 1, ties by position."""
    ranks = np.empty(len(scores), np.int64)
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    return ranks
