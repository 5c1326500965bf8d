"""A bi-encoder: a transformer embeds questions, the same or another one the passages of articles.

Louis et al., "Finding the Law", EACL 2023, section 3.1, train two. With one passage and no layers over passages it is the plain
one (DPR: Karpukhin et al., "Dense Passage Retrieval for Open-Domain Question Answering", EMNLP 2020).
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.tuned import Marks, Pieces
from gnn.fine_tuning.article_encoder import ArticleEncoder
from gnn.fine_tuning.body import Body
from gnn.fine_tuning.padding import of_like_lengths
from gnn.options import BiEncoderOptions, FineTuningOptions
from schema.errors import BadSetting

_LARGE, _AT_ONCE = 1 << 13, 1 << 11
"""Word pieces, paddings counted, above which a processor reads texts in batches of like lengths, and those of such a batch: the
states of a layer of 128 texts of 256 stand in no cache, and a third of them are of paddings."""


class TextEncoder(nn.Module):
    """One vector of a text.

    Shapes:
        input_ids, attention_mask: int64[texts, t]; out: float32[texts, hidden].
    """

    def __init__(self, transformer: nn.Module, pooling: str) -> None:
        """Take a transformer; ``pooling`` is that of `BiEncoderOptions`."""
        super().__init__()
        self.transformer, self.pooling = transformer, pooling

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return ``out``."""
        return self.pooled(self.states(input_ids, attention_mask), attention_mask)

    def states(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Return float32[texts, t, hidden]: the last state of each word piece."""
        return self.transformer(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    def pooled(self, states: Tensor, attention_mask: Tensor) -> Tensor:
        """Return ``out`` of the last states."""
        if self.pooling == "cls":
            return states[:, 0]
        weights = attention_mask.unsqueeze(-1).to(states.dtype)
        return (states * weights).sum(1) / weights.sum(1)


class BiEncoder(nn.Module):
    """Both encoders, over one transformer or over two.

    Attributes:
        body: the transformer of queries; article_body: that of articles, the same or a copy of it.
        text: encoder of queries; passage: that of the passages of articles; article: what makes one vector of theirs.
    """

    def __init__(self, body: Body, options: BiEncoderOptions) -> None:
        """Put the encoders over a transformer.

        Raises:
            BadSetting: the transformer reads fewer word pieces than the options want, or its width has no such heads.
        """
        super().__init__()
        wanted = max(options.query_tokens, options.passage_tokens)
        if wanted > body.positions:
            raise BadSetting(f"the transformer reads {body.positions} word pieces at most: {wanted} are wanted")
        if options.passage_layers and body.hidden % options.passage_heads:
            raise BadSetting(f"passage_heads ({options.passage_heads}) must divide the width of the transformer ({body.hidden})")
        self.body, self.options = body, options
        self.article_body = body if options.shared else body.copied()
        self.text = TextEncoder(body.model, options.pooling)
        self.article = ArticleEncoder(body.hidden, options)
        self.passage = self.text if options.shared else TextEncoder(self.article_body.model, options.pooling)
        self.marks = marks_of(body, options)

    @property
    def device(self) -> torch.device:
        """The device of its parameters."""
        return next(self.parameters()).device

    def queries(self, pieces: Sequence[Pieces]) -> Tensor:
        """Return float32[queries, hidden], of word pieces with their marks."""
        return self._finished(self._embedded(self.text, pieces))

    def articles(self, passages: Sequence[Sequence[Pieces]]) -> Tensor:
        """Return float32[articles, hidden], of the passages of each, word pieces with their marks."""
        vectors = self._embedded(self.passage, list(chain.from_iterable(passages)))
        counts = torch.tensor([len(own) for own in passages])
        place = torch.arange(int(counts.max()))
        mask = (place < counts.unsqueeze(-1)).to(vectors.device)
        rows = vectors.new_zeros(*mask.shape, vectors.shape[-1])
        rows[mask] = vectors
        return self._finished(self.article(rows, mask.long()))

    def _embedded(self, encoder: TextEncoder, pieces: Sequence[Pieces]) -> Tensor:
        lengths = np.array([len(text) for text in pieces])
        if self.device.type != "cpu" or len(pieces) * int(lengths.max()) <= _LARGE:
            return self._read(encoder, pieces)
        batches = list(of_like_lengths(lengths, _AT_ONCE))
        read = torch.cat([self._read(encoder, [pieces[place] for place in batch]) for batch in batches])
        return read[torch.from_numpy(np.argsort(np.concatenate(batches)))]

    def _read(self, encoder: TextEncoder, pieces: Sequence[Pieces]) -> Tensor:
        tokens = self.body.batch(pieces).to(self.device)
        return encoder(tokens.ids, tokens.mask).float()

    def _finished(self, vectors: Tensor) -> Tensor:
        return functional.normalize(vectors, dim=-1) if self.options.similarity == "cosine" else vectors


def marks_of(body: Body, options: BiEncoderOptions) -> Marks:
    """Return the sizes and marks that texts are cut by."""
    query, passage = (body.pieces([""], kind)[0] for kind in ("query", "passage"))
    return Marks(
        body.begin,
        body.end,
        body.pad,
        query,
        passage,
        options.query_tokens,
        options.passage_tokens,
        options.passages,
        options.similarity == "cosine",
    )


def prepared(body: Body, options: FineTuningOptions) -> Body:
    """Return a transformer with the layers frozen that the options name, and states computed again where they say so."""
    body.freeze(options.frozen)
    if options.checkpointing:
        body.compute_again()
    return body
