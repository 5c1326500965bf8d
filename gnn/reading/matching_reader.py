"""Readers over matches of frozen word pieces: what a small network says, with the score so far.

Chalkidis et al., "Regulatory Compliance through Doc2Doc Information Retrieval", EACL 2021, section 4: the score of an article is
w_r · s_r + w_p · s_p, of the reranker and of what was there before it, learnt by a hinge loss.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.reading.first_stage import Found
from gnn.reading.learning import Drawn
from gnn.reading.matching import Matches, TokenVectors, beside
from schema.errors import LexgraphError


class WeighedNetwork(nn.Module):
    """The scores of a network over matches, weighed with those so far.

    Shapes:
        before, out: float32[c].
    """

    def __init__(self, network: nn.Module) -> None:
        """Weigh both alike to begin with."""
        super().__init__()
        self.network = network
        self.read = nn.Parameter(torch.ones(()))
        self.prior = nn.Parameter(torch.ones(()))

    def forward(self, matches: Matches, before: Tensor) -> Tensor:
        """Return ``out``."""
        return self.read * self.network(matches) + self.prior * before


class MatchingReader:
    """A network over matches as a learner (`gnn.reading.learning.Learner`)."""

    def __init__(self, network: nn.Module, vectors: TokenVectors, margin: float) -> None:
        self.model, self.vectors, self.margin = WeighedNetwork(network), vectors, margin

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(value.numel() for value in self.model.parameters())

    def loss(self, drawn: Sequence[Drawn]) -> Tensor:
        """Return the mean hinge loss of what was drawn."""
        read = [self.vectors.matches(one.found.query, one.found.positions[one.places]) for one in drawn]
        before = np.concatenate([one.found.before[one.places] for one in drawn])
        said = self._said(beside(read), before).split([len(one.places) for one in drawn])
        return torch.stack([hinge(scores, self.margin) for scores in said]).mean()

    @torch.inference_mode()
    def scores(self, found: Found) -> npt.NDArray[np.float32]:
        """Return float32[c]: the score of each article.

        Raises:
            LexgraphError: a score is not a number.
        """
        self.model.eval()
        scores = self._said(self.vectors.matches(found.query, found.positions), found.before).cpu().numpy()
        if not np.isfinite(scores).all():
            raise LexgraphError("the reranker gave a score that is not a finite number")
        return scores

    def _said(self, matches: Matches, before: npt.NDArray[np.float64]) -> Tensor:
        device = self.model.read.device
        return self.model(matches.to(device), torch.from_numpy(before.astype(np.float32)).to(device))


def hinge(scores: Tensor, margin: float) -> Tensor:
    """Return the mean over the others of max(0, margin - s⁺ + s⁻), where the first score is that of the relevant one."""
    return functional.relu(margin - scores[0] + scores[1:]).mean()
