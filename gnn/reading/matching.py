"""Matches between the word pieces of a query and of articles, by frozen vectors, as DRMM and PACRR take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.utils.rnn import pad_sequence

from gnn.device import device_of_training
from gnn.encoders.static import StaticEncoder
from gnn.encoders.tuned import LETTERS, Pieces
from gnn.fine_tuning.body import Body
from gnn.options import ReadingOptions
from gnn.reading.passages import ReadableLaw
from search.arrays import Positions

_KEPT = 1 << 15
"""Articles whose word pieces are kept at hand."""
_AT_ONCE = 256
"""Articles that are split at once."""
_STATES_KEPT = 1 << 13
"""Articles whose states are kept at hand, in half precision: 1.3 GB, of 200 pieces each."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Cosines of the q word pieces of a query with the word pieces of c articles; or of each article with its own query.

    Attributes:
        similarity: float32[c, q, t], zero where there is no piece.
        stands: bool[c, t], where an article has one; asked: bool[c, q], where its query has.
        idf: float32[c, q], of the query's pieces.
    """

    similarity: Tensor
    stands: Tensor
    asked: Tensor
    idf: Tensor

    def to(self, device: torch.device) -> "Matches":
        """Return the matches on a device."""
        return Matches(*(tensor.to(device) for tensor in (self.similarity, self.stands, self.asked, self.idf)))

    def gates(self, weight: Tensor | float = 1.0) -> Tensor:
        """Return float32[c, q]: a softmax of the idf times a weight over the pieces of each query."""
        return torch.softmax(torch.where(self.asked, weight * self.idf, -torch.inf), -1)


def beside(matches: Sequence[Matches]) -> Matches:
    """Return the matches of several queries, padded, the articles of the first query first."""
    pieces, words = (max(each.similarity.shape[axis] for each in matches) for axis in (1, 2))

    def padded(tensor: Tensor, *missing: int) -> Tensor:
        return functional.pad(tensor, missing)

    rows = [(each, words - each.similarity.shape[2], pieces - each.similarity.shape[1]) for each in matches]
    return Matches(
        torch.cat([padded(each.similarity, 0, t, 0, q) for each, t, q in rows]),
        torch.cat([padded(each.stands, 0, t) for each, t, _ in rows]),
        torch.cat([padded(each.asked, 0, q) for each, _, q in rows]),
        torch.cat([padded(each.idf, 0, q) for each, _, q in rows]),
    )


class TokenVectors(Protocol):
    """Frozen vectors of word pieces."""

    def matches(self, query: str, positions: Positions) -> Matches:
        """Return the matches of a query with articles."""
        ...


def matches_of(query: Tensor, idf: Tensor, articles: Sequence[Tensor]) -> Matches:
    """Return the cosines of float32[q, d] with float32[t, d] of each article; of no pieces, those of one that matches nothing."""
    if not len(query):
        query, idf = torch.zeros(1, articles[0].shape[-1]), torch.ones(1)
    lengths = torch.tensor([max(len(article), 1) for article in articles])
    padded = pad_sequence([article if len(article) else article.new_zeros(1, query.shape[-1]) for article in articles], True)
    similarity = functional.normalize(query, dim=-1) @ functional.normalize(padded, dim=-1).transpose(1, 2)
    stands = torch.arange(padded.shape[1]) < lengths[:, None]
    stands &= torch.tensor([bool(len(article)) for article in articles])[:, None]
    shape = len(articles), len(query)
    return Matches(similarity * stands[:, None], stands, torch.ones(shape, dtype=torch.bool), idf.expand(shape))


class StaticVectors:
    """Vectors that were distilled from a transformer (`gnn.encoders.static`): a piece has one, whatever stands around it.

    Of a query with more pieces than are read, those with the greatest idf are.
    """

    def __init__(self, encoder: StaticEncoder, law: ReadableLaw, options: ReadingOptions) -> None:
        self.encoder, self.law, self.options = encoder, law, options
        self.vectors = torch.from_numpy(np.array(encoder.vectors, np.float32))
        self._of_article = lru_cache(_KEPT)(self._pieces)

    def matches(self, query: str, positions: Positions) -> Matches:
        """Return the matches of a query with articles."""
        pieces = np.array(self.encoder.pieces.of_text(self.law.reduced(query)), np.int64)
        weights = self.encoder.weights[pieces] if len(pieces) else np.zeros(0, np.float32)
        kept = np.sort(np.argsort(-weights, kind="stable")[: self.options.query_pieces])
        articles = [self.vectors[self._of_article(position)] for position in positions.tolist()]
        return matches_of(self.vectors[pieces[kept]], torch.from_numpy(weights[kept].astype(np.float32)), articles)

    def _pieces(self, position: int) -> npt.NDArray[np.int64]:
        text = self.law.passage(position)[: LETTERS * self.options.pieces]
        return np.array(self.encoder.pieces.of_text(text)[: self.options.pieces], np.int64)


class ContextualVectors:
    """The last states of a frozen transformer: a piece's vector depends on what stands around it.

    Each article is read by itself, and once: read beside others, its last bits would depend on them, and a training that goes on
    from its checkpoint would end otherwise. Of a longer query the first pieces are read.

    Attributes:
        idf: float32[v], of the body's pieces over the law.
    """

    def __init__(self, body: Body, law: ReadableLaw, options: ReadingOptions) -> None:
        self.body, self.law, self.options, self.device = body, law, options, device_of_training()
        body.model.requires_grad_(False)
        body.model.eval().to(self.device)
        self._prefix = {kind: body.length_of_prefix(kind) for kind in ("query", "passage")}
        self.idf = self._inverse_frequencies()
        self._of_article = lru_cache(_STATES_KEPT)(self._article)

    def matches(self, query: str, positions: Positions) -> Matches:
        """Return the matches of a query with articles."""
        (own,) = self._pieces([self.law.reduced(query)], "query", self.options.query_pieces)
        articles = [self._of_article(position).float() for position in positions.tolist()]
        return matches_of(self._states(own, "query"), self.idf[own[self._prefix["query"] :]], articles)

    def _article(self, position: int) -> Tensor:
        (pieces,) = self._pieces([self.law.passage(position)], "passage", self.options.pieces)
        return self._states(pieces, "passage").half()

    def _pieces(self, texts: Sequence[str], kind: str, most: int) -> list[Pieces]:
        """Return the word pieces of texts, at most so many and their prefix, or what the body reads."""
        return self.body.pieces(texts, kind, min(most + self._prefix[kind], self.body.positions - 2))

    @torch.no_grad()
    def _states(self, pieces: Pieces, kind: str) -> Tensor:
        """Return float32[t, hidden] of a text, its marks and its prefix left out."""
        tokens = self.body.batch([self.body.one(pieces, len(pieces) + 2)])
        states = self.body.states(tokens.to(self.device))[0, 1 : 1 + len(pieces)]
        return states[self._prefix[kind] :].cpu()

    def _inverse_frequencies(self) -> Tensor:
        n = len(self.law.corpus.articles)
        articles = torch.zeros(self.body.tokenizer.get_vocab_size())
        for start in range(0, n, _AT_ONCE):
            passages = [self.law.passage(position) for position in range(start, min(start + _AT_ONCE, n))]
            for pieces in self._pieces(passages, "passage", self.options.pieces):
                articles[sorted(set(pieces[self._prefix["passage"] :]))] += 1
        return torch.log((1 + n) / (1 + articles)) + 1
