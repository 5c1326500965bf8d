"""A model version as retrieval needs it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from runtime.background_call import in_background
from schema.filter import Filter
from search.arrays import Encode, Matrix, Scores
from search.query.terms import Terms
from search.ranking.reranker import Reranker
from search.ranking.scope import Scope
from search.ranking.tree_pooling import PoolingWeights
from search.vectors.encoding import Encoding

Nearest = Callable[[npt.NDArray[np.float32], Filter, int], Callable[[], tuple[npt.NDArray[np.intp], Scores]]]
"""``nearest(vector, filter, k)`` asks a server for up to k articles that pass the filter, those that score highest. What it
gives is called for the answer: their positions, and their scores as the model gives them (float32: the scaled cosine with
the vector, and the article's bias). That raises ServerUnavailable, QueryTimeout or NotReady."""
Read = Callable[[npt.NDArray[np.intp]], Scores]
"""Positions of articles to the cosines of a query with them, by fine-tuned vectors."""
NEIGHBOURS = 10
"""Training questions nearest to a query that vote for their relevant articles."""
_ON_TOPIC, _ALIKE = 5 / 16, 12.5
"""Shares of a question on the topic of a query and of one that is nearly the same. They and the powers of `nearness` were
chosen on training questions of both splits, each asked of a model that had been trained on four fifths of the others. Against
the cube of the cosine the whole search gains so, in points with paired 95 % intervals, MAP, nDCG@10, S@5: random +1.1 [0.6,
1.7], +0.7 [0.3, 1.3] and +1.1 [0.4, 2.1]; by dossier +0.3 [0.0, 0.7], +0.5 [0.1, 0.9] and +1.1 [0.0, 2.3]; titles between
-0.1 and +0.2; R@100 between -0.1 and +0.1. On the test questions alone, five seeds: MAP -0.3 and, by dossier, -0.1, of titles
+0.5 and +0.5. Powers of 8 to 15 beside one of 1 to 4 do nearly the same."""
_ANY_TWO, _ALIKE_ALL = 0.2, 0.99
"""Cosine of two questions, on average, up to which cosines are taken as they are: what the powers were chosen over has 0.09 to
0.14. A bi-encoder alone has 0.7; all of its neighbours would pass for the same question. Above the second number questions are
the same but for rounding, which is not to be blown up."""


def nearness(cosines: Scores) -> Scores:
    """Return the weights of the votes of questions by their cosines with a query, float32, at least 0.

    A question that is nearly the same says far more than one on the same topic, which a single power cannot tell.
    """
    near = np.maximum(cosines, 0)
    return np.asarray(near**2 * (_ON_TOPIC + _ALIKE * near**8), np.float32)


@dataclass(frozen=True, eq=False)
class QuestionMemory:
    """Training questions as embeddings, with their relevant articles.

    Attributes:
        vectors: float32[q, d], unit length.
        relevant: float32[q, n], each row the question's vote, summing to the square root of its articles.
    """

    vectors: Matrix
    relevant: sparse.csr_array

    @cached_property
    def crowding(self) -> float:
        """The share of what a cosine lacks to 1 that it is to lose, so that any two questions are no nearer than `_ANY_TWO`."""
        q, sums = len(self.vectors), self.vectors.sum(axis=0)
        any_two = float(sums @ sums - np.square(self.vectors).sum()) / (q * (q - 1)) if q > 1 else 0.0
        return (1 - _ANY_TWO) / (1 - min(max(any_two, _ANY_TWO), _ALIKE_ALL)) - 1

    def votes(self, query: npt.NDArray[np.float32], n: int) -> Scores:
        """Return float32[n]: votes of the nearest questions, weighted by `nearness`."""
        similarity = self.vectors @ query
        nearest = np.argpartition(-similarity, min(NEIGHBOURS, len(similarity) - 1))[:NEIGHBOURS]
        near = similarity[nearest]
        weights = nearness(np.asarray(near - self.crowding * (1 - near), np.float32))
        votes = np.zeros(n, np.float32)
        for question, weight in zip(nearest.tolist(), weights, strict=True):
            row = slice(self.relevant.indptr[question], self.relevant.indptr[question + 1])
            votes[self.relevant.indices[row]] += weight * self.relevant.data[row]
        return votes


@dataclass(frozen=True, eq=False)
class TunedVectors:
    """A bi-encoder that has learnt from the questions, beside the embeddings that rank: what its cosines say, rerankers learn.

    Attributes:
        encode: queries to unit vectors, float32[queries, d].
        articles: floating[n, d], unit length.
    """

    encode: Encode
    articles: Matrix

    def read(self, query: str) -> Read:
        """Begin to embed a query, on another processor where one is free; what this gives is called for its cosines."""
        embedded = in_background("reading", lambda: self.encode([query]))
        return lambda positions: np.asarray(self.articles[positions], np.float32) @ embedded()[0]


@dataclass(frozen=True, eq=False)
class VectorModel:
    """A model version as retrieval needs it, over the positions of one corpus.

    Attributes:
        encoding: of queries, the tower included.
        articles: float32[n, d], sections: float32[m, d], acts: float32[k, d]; unit length.
        bias: float32[n], added to the scaled cosine; -inf for an article that the model has no embedding of.
        scale: the inverse temperature that the model was trained with.
        weights: fusion weights of the lists "vector", "bm25", "section", "questions" and "authority".
        nearest: vector search on a server, used in place of ``articles`` where it is given.
        wordings: float32[v, d], embeddings by row of `Corpus.versions`; None where no text of one is known, or none was made.
        scope: the confidence of its answers, where questions were there to learn it from.
        reranker: of its first answers, where its recipe has one.
        sentences: weight of the sentences of a query beside the whole, in words (`search.ranking.in_sentences`) and in what
            embeddings are searched by (`search.ranking.rankers.Query.balanced`); 0: only the whole query is asked.
        diversity: what one of the first articles loses for each of its section before it (`search.ranking.diversity`).
        tuned: what the reranker reads beside the lists, where its recipe names a bi-encoder for it.
        terms: words of the law, by which a query in another language is asked, where an encoder knows several.
    """

    id: str
    encoding: Encoding
    articles: Matrix
    sections: Matrix
    acts: Matrix
    bias: Scores
    scale: float
    weights: Mapping[str, float]
    pooling: PoolingWeights = field(default_factory=PoolingWeights)
    questions: QuestionMemory | None = None
    nearest: Nearest | None = None
    wordings: Matrix | None = None
    scope: Scope | None = None
    reranker: Reranker | None = None
    tuned: TunedVectors | None = None
    sentences: float = 0.0
    diversity: float = 0.0
    terms: Terms | None = None

    @property
    def encode(self) -> Encode:
        """Queries to their embeddings, float32[queries, d]."""
        return self.encoding.encode
