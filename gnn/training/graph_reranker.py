"""GATv2 over the subgraph of the first articles of a ranking, conditioned on the query: what attention is worth where it scores.

Nodes are the candidates of a query, with what the lists, the law and the query say of each (`search.ranking.candidates`), and
the sections above them; edges are those of the law among these (Brody et al., "How Attentive are Graph Attention Networks?",
ICLR 2022). The same network without edges, and over edges with other ends, says how much of what it earns is structure.
Learnt, as LambdaMART is, from questions that were asked of models which had not seen them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.model.graph_layers import graph_layer
from gnn.model.subgraph import READING_KINDS, SubgraphEdges, shuffled
from gnn.options import GraphRerankOptions
from gnn.training.lambdamart import Example
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from search.arrays import Positions, Scores
from search.ranking.hits import Ranking
from search.ranking.reranker import Candidates, new_order
from search.ranking.trees import Rows

_LEVELS = 2
"""Levels of sections above the candidates that are nodes."""


@dataclass(frozen=True, eq=False)
class Subgraph:
    """The subgraph of the candidates of one query: c candidates, then the sections above them.

    Attributes:
        ends: int64[2, e], places among these nodes; kinds: int64[e].
    """

    nodes: int
    ends: npt.NDArray[np.int64]
    kinds: npt.NDArray[np.int64]


class Subgraphs:
    """Cuts the subgraph of any candidates out of that of the law.

    Args:
        edges: of the law.
        as_: ``real``, ``none`` (no edges), or ``shuffled`` (other ends of the same edges, from a fixed seed).
    """

    def __init__(self, edges: SubgraphEdges, as_: str, seed: int) -> None:
        self.edges, self.as_, self.seed = edges, as_, seed
        tree = edges.kinds == READING_KINDS.index("contained")
        child, parent = edges.edges[:, tree]
        self.parent = np.full(edges.articles + edges.sections, -1, np.int64)
        self.parent[child] = parent

    def of(self, positions: Positions) -> Subgraph:
        """Return the subgraph of candidates by their positions."""
        above, sections = positions, [np.zeros(0, np.int64)]
        for _ in range(_LEVELS):
            above = np.unique(self.parent[above])
            above = above[above >= 0]
            sections.append(above)
        nodes = np.concatenate([positions, np.unique(np.concatenate(sections))])
        if self.as_ == "none":
            return Subgraph(len(nodes), np.zeros((2, 0), np.int64), np.zeros(0, np.int64))
        place = np.full(len(self.parent), -1, np.int64)
        place[nodes] = np.arange(len(nodes))
        ends = place[self.edges.edges]
        inside = (ends >= 0).all(0)
        own = SubgraphEdges(len(positions), len(nodes) - len(positions), ends[:, inside], self.edges.kinds[inside])
        own = shuffled(own, self.seed) if self.as_ == "shuffled" else own
        return Subgraph(len(nodes), own.edges, own.kinds)


class CandidateNetwork(nn.Module):
    """Scores of candidates, which are added to their share of the score so far.

    Shapes:
        rows: float32[c, features]; out: float32[c].
    """

    def __init__(self, features: int, options: GraphRerankOptions) -> None:
        """Make the layers; the last starts at zero, so that training starts from the order so far."""
        super().__init__()
        self.enter = nn.Linear(features, options.hidden)
        self.section = nn.Parameter(torch.zeros(options.hidden))
        width, heads = options.hidden, options.heads
        self.layers = nn.ModuleList(
            graph_layer("gatv2", width, heads, len(READING_KINDS), add_self_loops=True) for _ in range(options.layers)
        )
        self.leave = nn.Linear(options.hidden, 1)
        nn.init.zeros_(self.leave.weight)
        nn.init.zeros_(self.leave.bias)
        self.dropout = nn.Dropout(options.dropout)

    def forward(self, rows: Tensor, graph: Subgraph) -> Tensor:
        """Return ``out``."""
        h = torch.cat([functional.gelu(self.enter(rows)), self.section.expand(graph.nodes - len(rows), -1)])
        ends = torch.from_numpy(graph.ends)
        kinds = functional.one_hot(torch.from_numpy(graph.kinds), len(READING_KINDS)).float()
        for layer in self.layers:
            h = functional.gelu(cast(Tensor, layer(self.dropout(h), ends, kinds)))
        return self.leave(h[: len(rows)]).squeeze(-1)


@dataclass(frozen=True, eq=False)
class GraphReranker:
    """A network that was trained, with the means and deviations that its features are brought to one scale by."""

    network: CandidateNetwork
    subgraphs: Subgraphs
    options: GraphRerankOptions
    means: npt.NDArray[np.float64]
    deviations: npt.NDArray[np.float64]

    @property
    def parameters(self) -> int:
        """Number of parameters."""
        return sum(parameter.numel() for parameter in self.network.parameters())

    def learnt(self, candidates: Candidates) -> tuple[Tensor, Tensor]:
        """Return float32[c], the share of the score so far, and float32[c], what is added to it, of the first c candidates.

        There are at most ``options.depth`` of them.
        """
        rows, positions = candidates.rows[: self.options.depth], candidates.positions[: self.options.depth]
        scaled = torch.from_numpy(((rows - self.means) / self.deviations).astype(np.float32))
        before = torch.from_numpy(rows[:, 0].astype(np.float32))
        return self.options.share * before, self.network(scaled, self.subgraphs.of(positions))

    @torch.inference_mode()
    def order(self, candidates: Candidates) -> Positions:
        """Return the places so far of candidates in their new order; which the first ones are stays as it was.

        What was learnt counts less within the head and below it, as that of LambdaMART does (`search.ranking.reranker`).
        """
        self.network.eval()
        before, learnt = (part.double().numpy() for part in self.learnt(candidates))
        return np.concatenate([new_order(before, learnt), np.arange(len(before), len(candidates.positions))])

    def reordered(self, ranking: Ranking) -> Scores:
        """Return float32[n]: the scores of a ranking with its candidates in their new order (`Ranking.rearranged`)."""
        return ranking.scores if ranking.reranked is None else ranking.rearranged(self.order(ranking.reranked.candidates))


def fit_graph_reranker(
    examples: Sequence[Example],
    edges: SubgraphEdges,
    options: GraphRerankOptions,
    *,
    seed: int = 7,
    threads: int = 2,
    progress: Progress = silent,
) -> GraphReranker:
    """Train a network on the candidates of questions: a softmax over them, uniform over the relevant ones.

    The same examples and seed give the same network on one kind of processor with the same threads.

    Raises:
        BadSetting: no question has a relevant article among its candidates.
    """
    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    labels = [np.isin(example.candidates.positions[: options.depth], example.relevant) for example in examples]
    learnt = [(example.candidates, label) for example, label in zip(examples, labels, strict=True) if label.any()]
    if not learnt:
        raise BadSetting("no training question has an answer among its candidates: there is nothing to rerank")
    rows: Rows = np.concatenate([candidates.rows[: options.depth] for candidates, _ in learnt])
    network = CandidateNetwork(rows.shape[1], options)
    reranker = GraphReranker(network, Subgraphs(edges, options.edges, seed), options, rows.mean(0), np.maximum(rows.std(0), 1e-6))
    optimiser = torch.optim.AdamW(network.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
    draw = torch.Generator().manual_seed(seed)
    network.train()
    with progress("graph reranker", options.epochs * len(learnt)) as advance:
        for _ in range(options.epochs):
            for batch in torch.randperm(len(learnt), generator=draw).split(options.batch):
                losses = [_loss(reranker, *learnt[i]) for i in batch.tolist()]
                optimiser.zero_grad(set_to_none=True)
                torch.stack(losses).mean().backward()
                optimiser.step()
                advance(len(batch))
    return replace(reranker, network=network.eval())


def _loss(reranker: GraphReranker, candidates: Candidates, relevant: npt.NDArray[np.bool_]) -> Tensor:
    before, learnt = reranker.learnt(candidates)
    log_p = functional.log_softmax(before + learnt, -1)
    return -log_p[torch.from_numpy(relevant)].mean()
