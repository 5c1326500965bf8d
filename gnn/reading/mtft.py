"""MTFT-BERT: a cross-encoder that also learns to set the documents of a query apart when it encodes them alone.

Abolghasemi, Verberne and Azzopardi, "Improving BERT-based Query-by-Document Retrieval with Multi-Task Optimization", ECIR 2022,
section 3. One encoder does both: the pair [query; article] gets its score from the state of the first mark (or, where a
transformer was trained so, from the mean of the states), by a pairwise softmax; query and articles that are encoded separately
give a triplet loss of Euclidean distances with a margin; the two are added, the second with the weight λ.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.tuned import Pieces
from gnn.fine_tuning.body import Body, Tokens
from gnn.options import ReadingOptions
from gnn.reading.first_stage import Found
from gnn.reading.learning import Drawn
from gnn.reading.passages import ReadableLaw
from schema.errors import LexgraphError

_AT_ONCE = 64
"""Pairs that are scored at once."""


class CrossEncoder(nn.Module):
    """A transformer with one linear output over the state of a text.

    Args:
        pooling: ``first`` takes the state of the first mark, ``mean`` that of all pieces.

    Shapes:
        tokens: int64[texts, t]; out: float32[texts].
    """

    def __init__(self, body: Body, pooling: str) -> None:
        super().__init__()
        self.body, self.pooling = body, pooling
        self.transformer = body.model
        self.head = nn.Linear(body.hidden, 1)

    def encoded(self, tokens: Tokens) -> Tensor:
        """Return float32[texts, hidden]: the state of each text."""
        states = self.body.states(tokens)
        if self.pooling == "first":
            return states[:, 0]
        weights = tokens.mask.unsqueeze(-1).to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)

    def forward(self, tokens: Tokens) -> Tensor:
        """Return ``out``."""
        return self.head(self.encoded(tokens)).squeeze(-1)


class MtftBert:
    """The cross-encoder as a learner (`gnn.reading.learning.Learner`)."""

    def __init__(self, body: Body, law: ReadableLaw, options: ReadingOptions) -> None:
        self.body, self.law, self.options = body, law, options
        self.model = CrossEncoder(body, options.pooling)

    @property
    def parameters(self) -> int:
        """Number of parameters that are trained."""
        return sum(value.numel() for value in self.model.parameters() if value.requires_grad)

    def loss(self, drawn: Sequence[Drawn]) -> Tensor:
        """Return the mean of both losses; a query that has fewer other articles than others has none in their places."""
        queries = [self._query(one.found) for one in drawn]
        texts = [self._texts(one.found, one.places) for one in drawn]
        limit = self.options.pieces
        pairs = [self.body.pair(query, text, limit) for query, of in zip(queries, texts, strict=True) for text in of]
        scores = self.model(self._batch(pairs)).float()
        ranking = torch.stack([pairwise_softmax(of) for of in scores.split([len(of) for of in texts])]).mean()
        if not self.options.triplet:
            return ranking
        alone = [*queries, *(of[0] for of in texts), *(of[1] for of in texts)]
        encoded = self.model.encoded(self._batch([self.body.one(text, limit) for text in alone])).float()
        query, relevant, other = encoded.chunk(3)
        return ranking + self.options.triplet * triplet(query, relevant, other, self.options.margin)

    @torch.inference_mode()
    def scores(self, found: Found) -> npt.NDArray[np.float32]:
        """Return float32[c]: the score of each article.

        Raises:
            LexgraphError: a score is not a number.
        """
        self.model.eval()
        query = self._query(found)
        texts = self._texts(found, range(len(found.positions)))
        pairs = [self.body.pair(query, text, self.options.pieces) for text in texts]
        order = sorted(range(len(pairs)), key=lambda n: len(pairs[n]))  # alike in length: little padding
        scores = np.zeros(len(pairs), np.float32)
        for start in range(0, len(order), _AT_ONCE):
            chosen = order[start : start + _AT_ONCE]
            scores[chosen] = self.model(self._batch([pairs[n] for n in chosen])).float().cpu().numpy()
        if not np.isfinite(scores).all():
            raise LexgraphError("the cross-encoder gave a score that is not a finite number")
        return scores

    def _query(self, found: Found) -> Pieces:
        return self.body.pieces([self.law.reduced(found.query)], "query", self.options.query_pieces)[0]

    def _texts(self, found: Found, places: Sequence[int]) -> list[Pieces]:
        texts = [self.law.passage(int(found.positions[place])) for place in places]
        return self.body.pieces(texts, "passage", self.options.pieces)

    def _batch(self, texts: Sequence[Pieces]) -> Tokens:
        return self.body.batch(texts).to(self.model.head.weight.device)


def pairwise_softmax(scores: Tensor) -> Tensor:
    """Return the mean over the others of -log(eˢ⁺ / (eˢ⁺ + eˢ⁻)), where the first score is that of the relevant one.

    Shapes:
        scores: float32[1 + others].
    """
    return functional.softplus(scores[1:] - scores[0]).mean()


def triplet(query: Tensor, relevant: Tensor, other: Tensor, margin: float) -> Tensor:
    """Return the mean of max(0, |q - d⁺| - |q - d⁻| + margin), of Euclidean distances.

    Shapes:
        query, relevant, other: float32[n, hidden].
    """
    near, far = (torch.linalg.vector_norm(query - text, dim=-1) for text in (relevant, other))
    return functional.relu(near - far + margin).mean()
