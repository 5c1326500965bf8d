"""Nearest articles from a server's vector index, as the logits that the model's own files give.

A model scores an article by ``τ cos(q, d) + b``. An index knows cosines alone, so each article is stored with two more
coordinates that make the order of the cosines the order of these scores (Bachrach et al., "Speeding Up the Xbox
Recommender System Using a Euclidean Transformation for Inner-Product Spaces", RecSys 2014, section 3).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cypher.engines.neo4j_vectors import VectorStore, Where
from schema.filter import Filter
from search.arrays import Matrix, Positions, Scores
from search.corpus.corpus import NO_END, Corpus, days_of


def bound_of(bias: Scores, scale: float) -> float:
    """Return the largest bias, in units of cosine: the norm of every stored vector follows from it."""
    finite = bias[np.isfinite(bias)]
    return float(np.abs(finite).max(initial=0) / scale)


def for_cosine(articles: Matrix, bias: Scores, scale: float, bound: float) -> Matrix:
    """Return float32[n, d + 2]: articles as they are stored: ``[d, b / τ, √(B² - (b / τ)²)]``, all of the same norm."""
    share = np.clip(np.where(np.isfinite(bias), bias, 0) / scale, -bound, bound).astype(np.float32)
    rest = np.sqrt(np.maximum(np.float32(bound) ** 2 - share**2, 0))
    return np.concatenate([articles, share[:, None], rest[:, None]], axis=1, dtype=np.float32)


@dataclass(frozen=True, eq=False)
class ServedVectors:
    """The articles of one model version on a server.

    Attributes:
        bound: `bound_of` the version's bias, as it was trained.
    """

    store: VectorStore
    model: str
    corpus: Corpus
    scale: float
    bound: float

    def ask(self, query: npt.NDArray[np.float32], filter: Filter, k: int) -> Callable[[], tuple[Positions, Scores]]:
        """Ask for the k best articles that pass a filter: the result, when called, gives their positions and logits.

        The server works while the caller goes on; ServerUnavailable or QueryTimeout is raised when the result is called.
        """
        vector = np.concatenate([query, np.array([1, 0], np.float32)])
        waiting = self.store.ask_nearest(self.model, "Article", vector, k, self._where(filter))
        length = np.sqrt((float(query @ query) + 1) * (1 + self.bound**2))

        def answer() -> tuple[Positions, Scores]:
            neighbours = waiting()
            place = self.corpus.article_position
            positions = np.array([place.get(id, -1) for id in neighbours.ids], np.intp)
            ours = positions >= 0  # law may have come that the index of this process lacks
            return positions[ours], (self.scale * length * neighbours.cosines[ours]).astype(np.float32)

        return answer

    def _where(self, filter: Filter) -> Where:
        section = None
        if filter.section is not None:
            section = (filter.section, self.corpus.level(self.corpus.section_position[filter.section]))
        days = None if filter.across_time else self.corpus.present_days
        if filter.in_force_on is not None:
            day = days_of(filter.in_force_on, NO_END)
            days = day, day
        return Where(filter.act, filter.kind, filter.jurisdiction, section, days)


def filter_rows(corpus: Corpus) -> Iterator[dict[str, Any]]:
    """Return what articles are filtered by on the server (`cypher.engines.neo4j_vectors.VectorStore.write_filters`).

    An article that was out of force between two wordings passes there; the corpus knows (`Corpus.in_force_on`).
    """
    above: dict[int, list[str]] = {}
    first, last = corpus.span
    for position, id in enumerate(corpus.articles):
        act, parent = int(corpus.article_act[position]), int(corpus.article_parent[position])
        if parent not in above:
            above[parent] = corpus.path_ids(parent)[1:]
        yield {
            "id": id,
            "act_kind": corpus.kinds[act],
            "jurisdiction": corpus.jurisdictions[act],
            "first_day": int(first[position]),
            "end_day": int(last[position]),
            "above": above[parent],
        }
