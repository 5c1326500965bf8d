"""PACRR: convolutions over the matrix of matches see word sequences; of each query piece the strongest matches are kept.

Hui, Yates, Berberich and de Melo, "PACRR: A Position-Aware Neural IR Model for Relevance Matching", EMNLP 2017, section 3; as a
reranker of law: Chalkidis et al., "Regulatory Compliance through Doc2Doc Information Retrieval", EACL 2021, section 4.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.options import ReadingOptions
from gnn.reading.matching import Matches


class Pacrr(nn.Module):
    """Scores of articles by the strongest matches of each piece of the query, alone and in sequences of 2, 3 … pieces.

    Shapes:
        matches: of c articles and q pieces, of which the first ``query_pieces`` are read; out: float32[c].
    """

    def __init__(self, options: ReadingOptions) -> None:
        """Make one convolution for each length of sequences from 2 on, and the perceptron over all that is kept."""
        super().__init__()
        self.pieces, self.highest = options.query_pieces, options.highest
        self.sizes = range(2, options.grams + 1)
        self.convolutions = nn.ModuleList(nn.Conv2d(1, options.filters, size) for size in self.sizes)
        kept = options.query_pieces * (options.grams * options.highest + 1)
        self.perceptron = nn.Sequential(nn.Linear(kept, options.hidden), nn.ReLU(), nn.Linear(options.hidden, 1))

    def forward(self, matches: Matches) -> Tensor:
        """Return ``out``."""
        similarity = matches.similarity[:, : self.pieces]
        begins = (matches.asked[:, : self.pieces, None] & matches.stands[:, None]).to(similarity.dtype)
        kept = [highest(functional.relu(similarity) * begins, self.highest)]
        for size, convolution in zip(self.sizes, self.convolutions, strict=True):
            padded = functional.pad(similarity[:, None], (0, size - 1, 0, size - 1))
            kept.append(highest(functional.relu(convolution(padded)).amax(1) * begins, self.highest))
        read = torch.cat([*kept, matches.gates()[:, : self.pieces, None]], -1)
        read = functional.pad(read, (0, 0, 0, self.pieces - read.shape[1]))  # pieces that a short query lacks
        return self.perceptron(read.flatten(1)).squeeze(-1)


def highest(strengths: Tensor, k: int) -> Tensor:
    """Return float32[c, q, k]: the k greatest of float32[c, q, t] along an article, greatest first; zeros where t is smaller."""
    found = strengths.topk(min(k, strengths.shape[-1]), dim=-1).values
    return functional.pad(found, (0, k - found.shape[-1]))
