"""Train the towers: a temperature-scaled softmax over articles, uniform over the relevant ones of a question."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from gnn.allocation import keep_freed_memory
from gnn.document_tower import DocumentWeights
from gnn.features import Features
from gnn.lsa import unit
from gnn.query_encoder import Matrix, TowerWeights
from gnn.recipe import Recipe
from gnn.subgraph import subgraph_data
from gnn.subgraph_edges import SubgraphEdges, subgraph_edges
from gnn.towers import TwoTowers
from schema.errors import BadSetting
from schema.progress import Progress, silent
from schema.records import Question
from search.corpus import Corpus
from search.evaluation import measure, ranks_of

State = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Epoch:
    """One epoch: mean loss of its batches, and R@100 and MAP on the development questions (0 to 1)."""

    loss: float
    recall: float
    average_precision: float


@dataclass(frozen=True, eq=False)
class Trained:
    """What training gives.

    Attributes:
        articles: float32[n, d], sections: float32[m, d], acts: float32[k, d], bias: float32[n], scale: as
            `search.retrieval.VectorModel` has them.
        tower: the query tower; None for an encoder that was not trained.
        seconds: what this training alone took.
        curve: one row an epoch; best: the one that was kept, from 0.
        state: parameters, for a recipe that starts from this one.
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
    state: State = field(default_factory=dict[str, Tensor])

    def document(self, heads: int) -> DocumentWeights:
        """The document tower, as it embeds new law without torch."""
        own = {name.removeprefix("document."): value for name, value in self.state.items() if name.startswith("document.")}
        return DocumentWeights({name: np.ascontiguousarray(value.float().numpy()) for name, value in own.items()}, heads)


def untrained(corpus: Corpus, features: Features) -> Trained:
    """The plain encoder as if it had been trained: cosine of the features."""
    n = len(corpus.articles)
    acts = _act_means(corpus, features.articles)
    return Trained(features.articles, features.sections, acts, np.zeros(n, np.float32), 1.0, None)


def query_text(question: Question) -> str:
    """What is asked: the title and the description of a question."""
    return f"{question.text} {question.description}".strip()


def train(
    recipe: Recipe,
    corpus: Corpus,
    features: Features,
    training: Sequence[Question],
    development: Sequence[Question],
    *,
    edges: SubgraphEdges | None = None,
    start: State | None = None,
    threads: int = 2,
    progress: Progress = silent,
) -> Trained:
    """Train a recipe; the epoch with the best sum of R@100 and MAP on the development questions is kept.

    Args:
        edges: of the subgraph, of the kinds that the recipe names; None: made of the corpus.

    The same recipe, law and questions give the same model, bit by bit, on the same kind of processor with the
    same number of threads; on a GPU, sums over neighbours come in no fixed order, and the last bits differ.

    Raises:
        BadSetting: there are no questions to train on or to choose by.
    """
    if not training or not development:
        raise BadSetting(f"recipe {recipe.name}: no training or no development questions from {recipe.questions!r}")
    keep_freed_memory()
    torch.set_num_threads(threads)
    torch.manual_seed(recipe.training.seed)
    began = time.monotonic()
    edges = edges or subgraph_edges(corpus, recipe.document.edges)
    run = _Run(recipe, corpus, features, edges, torch.device("cuda" if torch.cuda.is_available() else "cpu"))
    if start:
        run.model.load_state_dict(start, strict=False)
    return replace(run.train(training, development, progress), seconds=time.monotonic() - began)


class _Run:
    """One training run: the model, its inputs on the device, and the optimiser."""

    def __init__(self, recipe: Recipe, corpus: Corpus, features: Features, edges: SubgraphEdges, device: torch.device) -> None:
        self.recipe, self.corpus, self.features, self.device = recipe, corpus, features, device
        self.n = len(corpus.articles)
        self.model = TwoTowers(
            features.articles.shape[1],
            self.n,
            recipe.document,
            recipe.query,
            recipe.training.dropout,
            recipe.training.temperature,
        ).to(device)
        nodes = np.concatenate([features.articles, features.sections])
        parents = np.concatenate([features.parents, features.sections])
        x = torch.from_numpy(nodes)
        graph = subgraph_data(edges, x)
        tensors = (x, torch.from_numpy(parents), cast(Tensor, graph.edge_index), cast(Tensor, graph.edge_attr))
        self.inputs = tuple(tensor.to(device) for tensor in tensors)
        # Sections are needed in training only as neighbours; without layers the articles suffice.
        self.rows = len(nodes) if recipe.document.layers else self.n
        self.draw = torch.Generator().manual_seed(recipe.training.seed)

    def documents(self, model: TwoTowers, rows: int) -> Tensor:
        x, s, edge_index, edge_attr = self.inputs
        return model.document(x[:rows], s[:rows], edge_index, edge_attr)

    def train(self, training: Sequence[Question], development: Sequence[Question], progress: Progress) -> Trained:
        options = self.recipe.training
        queries = torch.from_numpy(self.features.encoder.encode([query_text(q) for q in training])).to(self.device)
        titles = torch.from_numpy(self.features.encoder.encode([q.text for q in training])).to(self.device)
        relevant = [self._positions(question) for question in training]
        chosen_by = torch.from_numpy(self.features.encoder.encode([query_text(q) for q in development])).to(self.device)
        judged = [self._positions(question) for question in development]
        batches = -(-len(training) // options.batch)
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=options.learning_rate, weight_decay=options.weight_decay)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, options.learning_rate, total_steps=options.epochs * batches)
        # Few questions make noisy steps: the average of the parameters along the way answers better than the last ones.
        averaged = AveragedModel(self.model, multi_avg_fn=get_ema_multi_avg_fn(options.averaging), use_buffers=True)
        curve: list[Epoch] = []
        best, best_score = -1, -1.0
        best_state: dict[str, Tensor] = {}
        with progress(f"training {self.recipe.name}", options.epochs * batches) as advance:
            for epoch in range(options.epochs):
                self.model.train()
                losses: list[float] = []
                for batch in torch.randperm(len(training), generator=self.draw).chunk(batches):
                    # People ask in few words more often than in many: part of the queries are titles alone.
                    short = torch.rand(len(batch), 1, generator=self.draw).to(self.device) < options.title_share
                    chosen = batch.to(self.device)
                    asked = torch.where(short, titles[chosen], queries[chosen])
                    loss = self._loss(asked, [relevant[i] for i in batch.tolist()])
                    optimiser.zero_grad(set_to_none=True)
                    loss.backward()
                    optimiser.step()
                    schedule.step()
                    averaged.update_parameters(self.model)
                    losses.append(loss.item())
                    advance(1)
                kept = cast(TwoTowers, averaged.module)
                recall, precision = self._measures(kept, chosen_by, judged)
                curve.append(Epoch(float(np.mean(losses)), recall, precision))
                if recall + precision > best_score:
                    best, best_score = epoch, recall + precision
                    best_state = {name: value.detach().clone() for name, value in kept.state_dict().items()}
                elif epoch - best >= options.patience:
                    break
        self.model.load_state_dict(best_state)
        return self._result(curve, best, best_state)

    def _positions(self, question: Question) -> npt.NDArray[np.intp]:
        return np.array([self.corpus.article_position[article] for article in question.relevant], np.intp)

    def _loss(self, queries: Tensor, relevant: Sequence[npt.NDArray[np.intp]]) -> Tensor:
        documents = self.documents(self.model, self.rows)[: self.n]
        bias = self.model.bias
        if self.n > self.recipe.training.full_softmax_limit:
            candidates = self._candidates(relevant)
            documents, bias = documents[candidates], bias[candidates]
            place = {int(position): i for i, position in enumerate(candidates.tolist())}
            relevant = [np.array([place[int(p)] for p in positions], np.intp) for positions in relevant]
        logits = self.model.log_scale.exp() * self.model.query(queries) @ documents.T + bias
        log_p = functional.log_softmax(logits, -1)
        rows = np.repeat(np.arange(len(relevant)), [len(p) for p in relevant])
        shares = np.concatenate([np.full(len(p), 1 / len(p), np.float32) for p in relevant])
        columns = np.concatenate(relevant)
        picked = log_p[torch.from_numpy(rows).to(self.device), torch.from_numpy(columns).to(self.device)]
        return -(picked * torch.from_numpy(shares).to(self.device)).sum() / len(relevant)

    def _candidates(self, relevant: Sequence[npt.NDArray[np.intp]]) -> Tensor:
        """The relevant articles of the batch (negatives for each other) and random ones."""
        own = torch.from_numpy(np.unique(np.concatenate(relevant)))
        drawn = torch.randperm(self.n, generator=self.draw)[: self.recipe.training.negatives]
        return torch.unique(torch.cat([own, drawn])).to(self.device)

    @torch.inference_mode()
    def _measures(self, model: TwoTowers, queries: Tensor, relevant: Sequence[npt.NDArray[np.intp]]) -> tuple[float, float]:
        model.eval()
        documents = self.documents(model, self.rows)[: self.n]
        scores = (model.log_scale.exp() * model.query(queries) @ documents.T + model.bias).float().cpu().numpy()
        rows = [measure(ranks_of(row, positions)) for row, positions in zip(scores, relevant, strict=True)]
        return float(np.mean([row["R@100"] for row in rows])), float(np.mean([row["MAP"] for row in rows]))

    @torch.inference_mode()
    def _result(self, curve: list[Epoch], best: int, state: State) -> Trained:
        self.model.eval()
        nodes = self.documents(self.model, len(self.inputs[0])).float().cpu().numpy()
        tower = self.model.query
        layers = (tower.first.weight, tower.first.bias, tower.second.weight, tower.second.bias)
        arrays = [parameter.detach().float().cpu().numpy() for parameter in layers]
        w1, b1, w2, b2 = (np.ascontiguousarray(array.T) for array in arrays)
        articles, sections = nodes[: self.n], nodes[self.n :]
        return Trained(
            articles,
            sections,
            _act_means(self.corpus, articles),
            self.model.bias.detach().float().cpu().numpy(),
            float(self.model.log_scale.exp()),
            TowerWeights(w1, b1, w2, b2),
            curve=curve,
            best=best,
            state={name: value.cpu() for name, value in state.items()},
        )


def _act_means(corpus: Corpus, articles: Matrix) -> Matrix:
    sums = np.zeros((len(corpus.acts), articles.shape[1]), np.float32)
    np.add.at(sums, corpus.article_act, articles)
    return unit(sums)
