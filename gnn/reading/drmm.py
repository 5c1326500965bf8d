"""DRMM: for each word piece of a query, a histogram of its matches with an article; gates say how much each piece counts.

Guo, Fan, Ai and Croft, "A Deep Relevance Matching Model for Ad-hoc Retrieval", CIKM 2016, section 3; as a reranker of law:
Chalkidis et al., "Regulatory Compliance through Doc2Doc Information Retrieval", EACL 2021, section 4.
"""

import torch
from torch import Tensor, nn

from gnn.options import ReadingOptions
from gnn.reading.matching import Matches

_EXACT = 0.9999
"""Cosine from which a match is exact, and has the last bin to itself."""


class Drmm(nn.Module):
    """Scores of articles by the histograms of their matches.

    Shapes:
        matches: of c articles and q pieces; out: float32[c].
    """

    def __init__(self, options: ReadingOptions) -> None:
        """Make the perceptron over a histogram, and the weight of the idf in the gates."""
        super().__init__()
        self.bins = options.bins
        self.perceptron = nn.Sequential(
            nn.Linear(options.bins, options.hidden), nn.Tanh(), nn.Linear(options.hidden, 1), nn.Tanh()
        )
        self.gate = nn.Parameter(torch.ones(()))

    def forward(self, matches: Matches) -> Tensor:
        """Return ``out``."""
        said = self.perceptron(histograms(matches, self.bins).log1p()).squeeze(-1)
        return (said * matches.gates(self.gate)).sum(-1)


def histograms(matches: Matches, bins: int) -> Tensor:
    """Return float32[c, q, bins]: how many matches fall into each of equally wide bins from -1 to 1; exact ones have the last."""
    similarity = matches.similarity.clamp(-1, 1)
    places = ((similarity + 1) / 2 * (bins - 1)).long().clamp(max=bins - 2)
    places = torch.where(similarity >= _EXACT, bins - 1, places)
    counts = similarity.new_zeros((*similarity.shape[:2], bins))
    return counts.scatter_add_(2, places, matches.stands[:, None].expand_as(similarity).to(counts.dtype))
