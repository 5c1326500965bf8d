"""Masked language modelling (Devlin et al., "BERT", NAACL 2019, section 3.1): what is to be filled in, and the head for it."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.tuned import Pieces
from gnn.fine_tuning.body import Body
from search.arrays import Positions

_MASKED, _RANDOM = 0.8, 0.1
"""Shares of the chosen pieces that the mask stands for, and that any other piece does; the rest stay as they are."""


class Masked(NamedTuple):
    """A text with some of its word pieces to be filled in: their places in it, and what stood there."""

    pieces: Pieces
    places: list[int]
    answers: list[int]


def masked(pieces: Pieces, share: float, ordinary: Positions, mask: int, draw: np.random.Generator) -> Masked:
    """Return word pieces with a share of them to be filled in, one at least of any.

    Args:
        pieces: without marks.
        ordinary: the pieces of the vocabulary that are no marks; a random one is drawn from them.
        mask: place of the mask in the vocabulary.
    """
    count = min(len(pieces), max(1, round(share * len(pieces))))
    places: list[int] = np.sort(draw.permutation(len(pieces))[:count]).tolist()
    seen = list(pieces)
    for place, kind, other in zip(places, draw.random(count), draw.choice(ordinary, count), strict=True):
        if kind < _MASKED + _RANDOM:
            seen[place] = mask if kind < _MASKED else int(other)
    return Masked(seen, places, [pieces[place] for place in places])


class MaskedWords(nn.Module):
    """A transformer with the head of BERT: a map, GELU, layer norm, and the vectors of the words themselves with a bias.

    The map begins as the identity and the bias at zero: a few hundred steps are too few to learn them from nothing.
    """

    def __init__(self, body: Body) -> None:
        """Put the head over a transformer, whose word vectors it shares."""
        super().__init__()
        self.body, self.transformer = body, body.model
        self.transform, self.norm = nn.Linear(body.hidden, body.hidden), nn.LayerNorm(body.hidden)
        nn.init.eye_(self.transform.weight)
        nn.init.zeros_(self.transform.bias)
        self.bias = nn.Parameter(torch.zeros(len(self._words)))

    @property
    def _words(self) -> Tensor:
        return self.transformer.get_input_embeddings().weight  # pyright: ignore

    def forward(self, states: Tensor) -> Tensor:
        """Return float32[k, vocabulary], of float32[k, hidden]: how likely each piece is, up to softmax."""
        return self.norm(functional.gelu(self.transform(states))) @ self._words.T + self.bias

    def loss(self, texts: list[Masked]) -> Tensor:
        """Return the sum over the places of all texts of -log of the share that what stood there has, float32[]."""
        tokens = self.body.batch([text.pieces for text in texts]).to(self.bias.device)
        rows = [row for row, text in enumerate(texts) for _ in text.places]
        places = [place for text in texts for place in text.places]
        answers = torch.tensor([answer for text in texts for answer in text.answers], dtype=torch.long, device=self.bias.device)
        states = self.body.states(tokens)[rows, places]
        return functional.cross_entropy(self(states).float(), answers, reduction="sum")
