"""Seconds an epoch of the graph stage takes, beside a straightforward loop over PyTorch Geometric's NeighborLoader.

Both train three GATv2 layers over the tree, the recipe ``g-dsr``, on the same made-up law, of the size of four French codes, and
on the same pairs of a question and an article. The loop does as G-DSR says (Louis et al., EACL 2023, section 3.2): for every 512
pairs it embeds the articles and as many negatives from all neighbours within three edges, and the articles of a batch are
negatives for each other. Ours (`gnn.training.loop`) embeds the whole tree once a step, scores each question with all articles,
and takes all pairs of 128 questions in one, so that its epoch has fewer steps: `ours_steps` and `loader_steps` say how many.
NeighborLoader draws by `gnn.model.neighbours`, its own samplers being in no package index.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from bench.reporting import Figures
from bench.timing import seconds_of
from gnn.distributed import alone
from gnn.model.graph_layers import subgraph_data
from gnn.model.neighbours import ALL, neighbour_loader
from gnn.model.subgraph import EDGE_KINDS, SubgraphEdges
from gnn.model.two_towers import TwoTowers
from gnn.recipe import load_recipe
from gnn.training.epochs import Epochs
from gnn.training.loop import TowerInputs, TowerRun
from runtime.progress import silent

_PAIRS = 512
_EXPLAINED = {
    "ours_s": "an epoch of ours, seconds",
    "loader_s": "an epoch of the loop over NeighborLoader, seconds",
    "ratio": "the latter over the former",
    "ours_steps": "steps of an epoch of ours",
    "loader_steps": "steps of an epoch of the loop",
    "pairs": "pairs of a question and an article in an epoch of both",
    "ours_memory_gib": "most GPU memory of ours, GiB",
    "loader_memory_gib": "most GPU memory of the loop, GiB",
}


@dataclass(frozen=True, slots=True)
class _Size:
    """Articles, sections and questions that are made up, articles that answer each, and dimensions of features."""

    articles: int
    sections: int
    questions: int
    answers: int
    dimensions: int


_CODES = _Size(articles=29_115, sections=11_020, questions=526, answers=12, dimensions=768)
_QUICK = _Size(articles=300, sections=60, questions=64, answers=3, dimensions=16)


def measure(*, quick: bool) -> Figures:
    """Measure; ``quick`` takes a small law."""
    size = _QUICK if quick else _CODES
    inputs = _made_up(size)
    ours = TowerRun(inputs, alone())
    own_s, own_memory = _epoch(lambda: Epochs(ours).train(None, silent))
    stage = _LoaderStage(inputs)
    their_s, their_memory = _epoch(stage.train)
    values = {"ours_s": own_s, "loader_s": their_s, "ratio": their_s / own_s, "pairs": float(size.questions * size.answers)}
    values |= {"ours_steps": float(-(-size.questions // inputs.recipe.training.batch))}
    values |= {"loader_steps": float(-(-len(stage.pairs) // _PAIRS))}
    if torch.cuda.is_available():
        values |= {"ours_memory_gib": own_memory, "loader_memory_gib": their_memory}
    return Figures("Graph stage", values, _EXPLAINED)


def _epoch(train: Callable[[], object]) -> tuple[float, float]:
    """Return the seconds of the faster of two epochs, the first of which warms up, and the most GPU memory in GiB."""
    if not torch.cuda.is_available():
        return min(seconds_of(train) for _ in range(2)), 0.0
    torch.cuda.reset_peak_memory_stats()

    def finished() -> None:
        train()
        torch.cuda.synchronize()

    return min(seconds_of(finished) for _ in range(2)), torch.cuda.max_memory_allocated() / (1 << 30)


class _LoaderStage:
    """The straightforward loop: neighbourhoods of the articles of 512 pairs, embedded anew for each batch of them."""

    def __init__(self, inputs: TowerInputs) -> None:
        """Put the towers on the device; the law and its features stay on the CPU, as NeighborLoader has it."""
        recipe = inputs.recipe
        self.device = alone().device
        torch.manual_seed(recipe.training.seed)
        options = recipe.training
        dimensions = inputs.nodes.shape[1]
        self.model = TwoTowers(
            dimensions, inputs.articles, recipe.document, recipe.query, options.dropout, options.temperature
        ).to(self.device)
        graph = subgraph_data(inputs.edges, torch.from_numpy(inputs.nodes))
        graph.s = torch.from_numpy(inputs.parents)
        self.loader = neighbour_loader(graph, [ALL] * recipe.document.layers, options.seed)
        self.queries = torch.from_numpy(inputs.queries).to(self.device)
        self.pairs = torch.tensor([(q, int(a)) for q, own in enumerate(inputs.relevant) for a in own])
        self.articles = inputs.articles
        self.optimiser = torch.optim.AdamW(self.model.parameters(), lr=options.learning_rate)

    def train(self) -> None:
        """Run an epoch."""
        self.model.train()
        for batch in torch.randperm(len(self.pairs)).split(_PAIRS):
            asked, own = self.pairs[batch].T
            negatives = torch.randint(self.articles, own.shape)
            nodes, place = torch.unique(torch.cat([own, negatives]), return_inverse=True)
            part: Any = self.loader(nodes)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
                x, s, edge_index, edge_attr = (v.to(self.device) for v in (part.x, part.s, part.edge_index, part.edge_attr))
                embedded = self.model.document(x, s, edge_index, edge_attr)[place.to(self.device)]
                scores = self.model.log_scale.exp() * self.model.query(self.queries[asked.to(self.device)]) @ embedded.T
                loss = functional.cross_entropy(scores.float(), torch.arange(len(own), device=self.device))
            self.optimiser.zero_grad(set_to_none=True)
            loss.backward()
            self.optimiser.step()


def _made_up(size: _Size) -> TowerInputs:
    """Return a law of articles in sections in sections, of random features, and questions that random articles answer."""
    draw = np.random.default_rng(1)
    nodes = size.articles + size.sections
    features = draw.standard_normal((nodes, size.dimensions), np.float32)
    features /= np.linalg.norm(features, axis=1, keepdims=True)
    parents = np.concatenate([draw.integers(size.sections, size=size.articles), np.arange(1, size.sections) // 4])
    children = np.concatenate([np.arange(size.articles), size.articles + np.arange(1, size.sections)])
    down = np.stack([size.articles + parents, children])
    kinds = np.repeat([EDGE_KINDS.index("contains"), EDGE_KINDS.index("contained")], len(children))
    edges = SubgraphEdges(size.articles, size.sections, np.concatenate([down, down[::-1]], 1), kinds)
    asked = draw.standard_normal((size.questions, size.dimensions), np.float32)
    relevant = [np.sort(draw.permutation(size.articles)[: size.answers]) for _ in range(size.questions)]
    recipe = load_recipe("g-dsr")
    recipe = recipe.model_copy(update={"training": recipe.training.model_copy(update={"epochs": 1})})
    return TowerInputs(
        recipe, size.articles, features, features, edges, asked, asked, relevant, None, None, torch.get_num_threads()
    )
