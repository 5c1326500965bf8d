"""A trained model in arrays, without torch: what training gives, and what is written and served."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from gnn.cost import Cost
from gnn.encoders.features import Features
from gnn.encoders.joined import TowerWeights
from gnn.model.document_tower_numpy import DocumentWeights
from search.arrays import Matrix
from search.corpus.corpus import Corpus
from search.corpus.tree import act_means

State = Mapping[str, npt.NDArray[np.float32]]
"""Parameters of a model by name, as torch names them."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch: mean loss of its batches, and R@100 and MAP on the development questions (0 to 1)."""

    loss: float
    recall: float
    average_precision: float


class Choice(NamedTuple):
    """The curve of a training, one row an epoch, and the best epoch of it, from 0."""

    curve: list[Epoch]
    best: int


@dataclass(frozen=True, eq=False)
class Trained:
    """A trained model.

    Attributes:
        articles: float32[n, d], sections: float32[m, d], acts: float32[k, d], bias: float32[n], scale: as
            `search.vectors.model.VectorModel` has them.
        tower: the query tower; None for an encoder that was not trained.
        seconds: duration of the training of the towers alone.
        curve: one row an epoch; best: the one that was kept, from 0. Of a recipe that is refit, those of the training that chose
            the epoch: development questions, once learnt from, measure nothing.
        state: parameters, for a recipe that starts from this one.
        encoder: cost of a bi-encoder that was trained before, for its features; reranker: of what reranks, its trees no
            parameters.
    """

    articles: Matrix
    sections: Matrix
    acts: Matrix
    bias: npt.NDArray[np.float32]
    scale: float
    tower: TowerWeights | None
    seconds: float = 0.0
    curve: list[Epoch] = field(default_factory=list[Epoch])
    best: int = -1
    state: State = field(default_factory=dict[str, npt.NDArray[np.float32]])
    encoder: Cost = field(default_factory=Cost)
    reranker: Cost = field(default_factory=Cost)

    @property
    def cost(self) -> Cost:
        """Cost of all that was trained, but for the reranker."""
        return Cost(self.seconds, sum(value.size for value in self.state.values())) + self.encoder

    @property
    def whole_cost(self) -> Cost:
        """Cost of all that was trained, the reranker included."""
        return self.cost + self.reranker

    def document(self, heads: int) -> DocumentWeights:
        """Return the document tower, as it embeds new law without torch."""
        own = {name.removeprefix("document."): value for name, value in self.state.items() if name.startswith("document.")}
        return DocumentWeights({name: np.ascontiguousarray(value) for name, value in own.items()}, heads)


def untrained(corpus: Corpus, features: Features) -> Trained:
    """Return the plain encoder as if it had been trained: cosine of the features."""
    bias = np.zeros(len(corpus.articles), np.float32)
    return Trained(features.articles, features.sections, act_means(corpus, features.articles), bias, 1.0, None)


def compared_by(similarity: str, corpus: Corpus, features: Features) -> Trained:
    """Return a bi-encoder as it ranks: by cosine or inner product, or (``euclidean``) by the square of the distance."""
    plain = untrained(corpus, features)
    if similarity != "euclidean":
        return plain
    # |q - a|² = |q|² - 2 qa + |a|², and |q|² is the same for every article.
    return replace(plain, bias=-(features.articles**2).sum(1), scale=2.0)
