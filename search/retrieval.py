"""A query's way: analysis, BM25 and vectors side by side, fusion, filters, pooling over the tree, hits."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import Enum

import numpy as np
import numpy.typing as npt
from scipy import sparse

from schema.errors import BadQuery, NotReady
from search.analysis import query_tokens
from search.corpus import Corpus, Mask
from search.fusion import standard_scores, top, weighted
from search.hierarchy import HierarchicalSearch
from search.pooling import PoolingWeights, TreePooling
from search.text_index import TextIndex

Scores = npt.NDArray[np.float32]
Matrix = npt.NDArray[np.float32]
Encode = Callable[[Sequence[str]], Matrix]
"""Texts of queries to their embeddings, float32[queries, d]."""

LEXICAL_WEIGHTS: Mapping[str, float] = {"bm25": 1.0, "section": 1.0}
"""Fusion where no model is active."""
DEEPEST = 1000
"""Hits of one query that pages can reach."""
NEIGHBOURS = 10
"""Training questions nearest to a query that vote for their relevant articles."""


class Mode(Enum):
    """Which way a query takes."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    VECTOR = "vector"
    HIERARCHICAL = "hierarchical"


@dataclass(frozen=True, slots=True)
class QuestionMemory:
    """Training questions as embeddings, with their relevant articles.

    Attributes:
        vectors: float32[q, d], unit length.
        relevant: float32[q, n], each row the question's vote, summing to the square root of its articles.
    """

    vectors: Matrix
    relevant: sparse.csr_array

    def votes(self, query: npt.NDArray[np.float32], n: int) -> Scores:
        """float32[n]: votes of the nearest questions, weighted by the cube of their cosine."""
        similarity = self.vectors @ query
        nearest = np.argpartition(-similarity, min(NEIGHBOURS, len(similarity) - 1))[:NEIGHBOURS]
        weights = np.maximum(similarity[nearest], 0) ** 3
        votes = np.zeros(n, np.float32)
        for question, weight in zip(nearest.tolist(), weights, strict=True):
            row = slice(self.relevant.indptr[question], self.relevant.indptr[question + 1])
            votes[self.relevant.indices[row]] += weight * self.relevant.data[row]
        return votes


@dataclass(frozen=True, eq=False)
class VectorModel:
    """What retrieval needs of a model version, over the positions of one corpus.

    Attributes:
        articles: float32[n, d], sections: float32[m, d], acts: float32[k, d]; unit length.
        bias: float32[n], added to the scaled cosine; -inf for an article that the model has no embedding of.
        scale: the inverse temperature that the model was trained with.
        weights: fusion weights of the lists "vector", "bm25", "section" and "questions".
    """

    id: str
    encode: Encode
    articles: Matrix
    sections: Matrix
    acts: Matrix
    bias: Scores
    scale: float
    weights: Mapping[str, float]
    pooling: PoolingWeights = field(default_factory=PoolingWeights)
    questions: QuestionMemory | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where an article stands in one list: its rank, from 1, and its score there."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class Hit:
    """An article that answers, with its score and its place in each list that it was fused from."""

    id: str
    position: int
    score: float
    places: dict[str, Place]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which articles may answer: of one act, below one section, in force on one day."""

    act: str | None = None
    section: str | None = None
    in_force_on: date | None = None


class Retriever:
    """Answers queries over one text index and, where there is one, one model version. Holds no state of queries."""

    def __init__(self, index: TextIndex, model: VectorModel | None, *, max_query_characters: int = 2000) -> None:
        self.index = index
        self.model = model
        self._longest = max_query_characters
        self._pooling = TreePooling(index.corpus)
        self._hierarchy = HierarchicalSearch(index.corpus)

    @property
    def corpus(self) -> Corpus:
        return self.index.corpus

    def check_query(self, query: str) -> str:
        """The query without blanks around it.

        Raises:
            BadQuery: it is empty or longer than the limit.
        """
        query = query.strip()
        if not query:
            raise BadQuery("the query is empty")
        if len(query) > self._longest:
            raise BadQuery(f"the query has {len(query):,} characters; at most {self._longest:,} are answered")
        return query

    def scores(
        self, query: str, mode: Mode = Mode.HYBRID, *, mask: Mask | None = None, pooled: bool = True
    ) -> tuple[Scores, dict[str, Scores]]:
        """Final scores of all articles, and those of each list they were made from; -inf: not an answer.

        Raises:
            NotReady: the mode needs a model, and none is active.
        """
        if mode is Mode.BM25:
            found = self._bm25(query_tokens(query, self.index.languages))["bm25"]
            found = np.where(found > 0, found, np.float32(-np.inf))
            return _masked(found, mask), {"bm25": found}
        if mode is Mode.HYBRID:
            return self._hybrid(query, mask, pooled)
        model = self._need_model()
        vector = model.encode([query])[0]
        cosines = model.articles @ vector
        if mode is Mode.VECTOR:
            dense = model.scale * cosines + model.bias
            return _masked(dense, mask), {"vector": dense}
        reached = self._hierarchy(model.acts @ vector, model.sections @ vector, cosines, mask)
        return reached, {"hierarchical": reached}

    def _hybrid(self, query: str, mask: Mask | None, pooled: bool) -> tuple[Scores, dict[str, Scores]]:
        lists = self._bm25(query_tokens(query, self.index.languages))
        model = self.model
        weights: Mapping[str, float] = LEXICAL_WEIGHTS
        if model is not None:
            weights = model.weights
            vector = model.encode([query])[0]
            dense = model.articles @ vector
            dense *= np.float32(model.scale)
            dense += model.bias
            lists["vector"] = np.maximum(dense, dense[np.isfinite(dense)].min()) if np.isneginf(dense).any() else dense
            if model.questions is not None and weights.get("questions"):
                lists["questions"] = model.questions.votes(vector, len(self.corpus.articles))
        if model is None and not any((_masked(found, mask) > 0).any() for found in lists.values()):
            return np.full(len(self.corpus.articles), -np.inf, np.float32), lists  # no word of the query is there
        comparable = {
            name: _masked(scores, mask) if name == "questions" else standard_scores(_masked(scores, mask))
            for name, scores in lists.items()
            if weights.get(name)
        }
        fused = weighted(comparable, weights)
        if pooled:
            fused = self._pooling(fused, model.pooling if model else PoolingWeights())
        return fused, lists

    def _bm25(self, tokens: Sequence[str]) -> dict[str, Scores]:
        return {
            "bm25": self.index.articles.scores(tokens),
            "section": self.index.groups.scores(tokens)[self.corpus.group],
        }

    def search(
        self,
        query: str,
        mode: Mode = Mode.HYBRID,
        *,
        filter: Filter = Filter(),
        first: int = 10,
        offset: int = 0,
        pooled: bool = True,
    ) -> list[Hit]:
        """The page of ``first`` hits from ``offset`` on, best first; at most `DEEPEST` can be reached.

        Filters are applied before ranking: as long as an article that passes them answers, the page has it.

        Raises:
            BadQuery: the query is empty or too long, or the page is none.
            NotFound: a filter names no act or section.
            NotReady: the mode needs a model, and none is active.
        """
        query = self.check_query(query)
        if first < 0 or offset < 0:
            raise BadQuery(f"not a page: {first} hits from {offset} on")
        mask = self.corpus.mask(filter.act, filter.section, filter.in_force_on)
        scores, lists = self.scores(query, mode, mask=mask, pooled=pooled)
        page = top(scores, min(offset + first, DEEPEST))[offset:]
        places = {name: _places(values, page, mask) for name, values in lists.items()}
        return [
            Hit(
                self.corpus.articles[position],
                position,
                float(scores[position]),
                {name: found[i] for name, found in places.items() if found[i] is not None},  # pyright: ignore[reportArgumentType]
            )
            for i, position in enumerate(page.tolist())
        ]

    def _need_model(self) -> VectorModel:
        if self.model is None:
            raise NotReady("no model is active: run `lexgraph train`")
        return self.model


def _masked(scores: Scores, mask: Mask | None) -> Scores:
    return scores if mask is None else np.where(mask, scores, np.float32(-np.inf))


def _places(scores: Scores, page: npt.NDArray[np.intp], mask: Mask | None) -> list[Place | None]:
    """The place of each hit in a list, among the articles that pass the filter; None where it scores nothing."""
    among = scores if mask is None else scores[mask]
    return [
        Place(int((among > score).sum()) + 1, float(score)) if np.isfinite(score) and score != 0 else None
        for score in scores[page]
    ]
