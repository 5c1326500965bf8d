"""Train the towers: a temperature-scaled softmax over articles, uniform over the relevant ones of a question."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from gnn.allocation import keep_freed_memory
from gnn.encoders.features import Features
from gnn.encoders.joined import Matrix, TowerWeights
from gnn.model.document_tower_numpy import DocumentWeights
from gnn.model.subgraph import SubgraphEdges, subgraph_edges
from gnn.model.two_towers import TwoTowers
from gnn.recipe import Recipe
from gnn.subgraph import subgraph_data
from gnn.training.distributed import Ranks, alone
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from schema.records import Question
from search.arrays import unit
from search.corpus.corpus import Corpus
from search.evaluation import measure, ranks_of

State = Mapping[str, Tensor]
Judge = Callable[[TwoTowers], tuple[float, float]]
"""R@100 and MAP of a model on the development questions, 0 to 1."""


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
            `search.vectors.model.VectorModel` has them.
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


@dataclass(frozen=True, eq=False)
class Inputs:
    """All that a training is made from, but for the questions that its epochs are chosen by.

    Attributes:
        articles: n; nodes: float32[n + m, d], features of articles, then of sections; parents: float32[n + m, d], means of
            parent sections (of a section: its own features).
        queries, titles: float32[q, d], the training questions in full and their titles alone.
        relevant: positions of the relevant articles of each.
        threads: of one machine.
    """

    recipe: Recipe
    articles: int
    nodes: Matrix
    parents: Matrix
    edges: SubgraphEdges
    queries: Matrix
    titles: Matrix
    relevant: Sequence[npt.NDArray[np.intp]]
    start: State | None
    threads: int


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
    ranks: Ranks | None = None,
    progress: Progress = silent,
) -> Trained:
    """Train a recipe; the epoch with the best sum of R@100 and MAP on the development questions is kept.

    Args:
        edges: of the subgraph, of the kinds that the recipe names; None: made of the corpus.
        ranks: the processes that share the work, of which this one leads (the others `follow`); None: this one alone.

    The same recipe, law and questions give the same model, bit by bit, on the same kind of processor with the
    same number of threads; on a GPU, sums over neighbours come in no fixed order, and the last bits differ.

    Several processes take the steps that one takes. The recipe's ``batch`` is that of all together: each scores its share of
    the questions, and the gradients are added up. Each question has the negatives that it has with one process: all articles,
    or above ``full_softmax_limit`` the relevant ones of the whole batch and the same random ones. So the model is that of one
    process, but for the order in which floats are added. What is shared is the scoring: every process embeds all articles.

    Raises:
        BadSetting: there are no questions to train on or to choose by.
    """
    if not training or not development:
        raise BadSetting(f"recipe {recipe.name}: no training or no development questions from {recipe.questions!r}")
    ranks = ranks or alone()
    began = time.monotonic()

    def positions(questions: Sequence[Question]) -> list[npt.NDArray[np.intp]]:
        return [np.array([corpus.article_position[id] for id in question.relevant], np.intp) for question in questions]

    def encoded(texts: Sequence[str]) -> Matrix:
        return features.encoder.encode(texts)

    inputs = Inputs(
        recipe,
        len(corpus.articles),
        np.concatenate([features.articles, features.sections]),
        np.concatenate([features.parents, features.sections]),
        edges or subgraph_edges(corpus, recipe.document.edges),
        encoded([query_text(question) for question in training]),
        encoded([question.text for question in training]),
        positions(training),
        start,
        threads,
    )
    run = _Run(ranks.from_leader(inputs), ranks)
    asked = torch.from_numpy(encoded([query_text(question) for question in development])).to(ranks.device)
    judged = positions(development)
    curve, best, state = run.train(lambda model: run.measures(model, asked, judged), progress)
    return replace(run.result(corpus, curve, best, state), seconds=time.monotonic() - began)


def follow(ranks: Ranks) -> None:
    """Do this process's share of every training that the leader begins, until it dismisses its followers."""
    while (inputs := ranks.from_leader(cast(Inputs | None, None))) is not None:
        _Run(inputs, ranks).train(None, silent)


def dismiss(ranks: Ranks) -> None:
    """End `follow` in the other processes."""
    ranks.from_leader(None)


class _Run:
    """One training run in one process: the model, its inputs on the device, and the optimiser."""

    def __init__(self, inputs: Inputs, ranks: Ranks) -> None:
        keep_freed_memory()
        torch.set_num_threads(max(1, inputs.threads // ranks.neighbours))
        self.recipe, self.ranks, self.device = inputs.recipe, ranks, ranks.device
        recipe = inputs.recipe
        # Every process draws the same numbers: dropout, candidates and the order of questions are those of one process.
        torch.manual_seed(recipe.training.seed)
        self.given = inputs
        self.n = inputs.articles
        self.model = TwoTowers(
            inputs.nodes.shape[1],
            self.n,
            recipe.document,
            recipe.query,
            recipe.training.dropout,
            recipe.training.temperature,
        ).to(self.device)
        x = torch.from_numpy(inputs.nodes)
        graph = subgraph_data(inputs.edges, x)
        tensors = (x, torch.from_numpy(inputs.parents), cast(Tensor, graph.edge_index), cast(Tensor, graph.edge_attr))
        self.inputs = tuple(tensor.to(self.device) for tensor in tensors)
        # Sections are needed in training only as neighbours; without layers the articles suffice.
        self.rows = len(inputs.nodes) if recipe.document.layers else self.n
        self.draw = torch.Generator().manual_seed(recipe.training.seed)
        if inputs.start:
            self.model.load_state_dict(inputs.start, strict=False)

    def documents(self, model: TwoTowers, rows: int) -> Tensor:
        x, s, edge_index, edge_attr = self.inputs
        return model.document(x[:rows], s[:rows], edge_index, edge_attr)

    def train(self, judge: Judge | None, progress: Progress) -> tuple[list[Epoch], int, State]:
        """The curve, the epoch that was kept and its parameters; without a judge, which the leader has, none of these."""
        options = self.recipe.training
        queries = torch.from_numpy(self.given.queries).to(self.device)
        titles = torch.from_numpy(self.given.titles).to(self.device)
        relevant = self.given.relevant
        batches = -(-len(relevant) // options.batch)
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
                for batch in torch.randperm(len(relevant), generator=self.draw).chunk(batches):
                    # People ask in few words more often than in many: part of the queries are titles alone.
                    short = torch.rand(len(batch), 1, generator=self.draw).to(self.device) < options.title_share
                    chosen = batch.to(self.device)
                    asked = torch.where(short, titles[chosen], queries[chosen])
                    loss = self._loss(asked, [relevant[i] for i in batch.tolist()])
                    optimiser.zero_grad(set_to_none=True)
                    loss.backward()
                    losses.append(self.ranks.add_up(self.model, loss))
                    optimiser.step()
                    schedule.step()
                    averaged.update_parameters(self.model)
                    advance(1)
                ends = False
                if judge is not None:
                    kept = cast(TwoTowers, averaged.module)
                    recall, precision = judge(kept)
                    curve.append(Epoch(float(np.mean(losses)), recall, precision))
                    if recall + precision > best_score:
                        best, best_score = epoch, recall + precision
                        best_state = {name: value.detach().clone() for name, value in kept.state_dict().items()}
                    ends = epoch - best >= options.patience
                if self.ranks.from_leader(ends):
                    break
        return curve, best, best_state

    def _loss(self, queries: Tensor, relevant: Sequence[npt.NDArray[np.intp]]) -> Tensor:
        """The mean over the batch of the part that this process scores."""
        documents = self.documents(self.model, self.rows)[: self.n]
        bias = self.model.bias
        if self.n > self.recipe.training.full_softmax_limit:
            candidates = self._candidates(relevant)
            documents, bias = documents[candidates], bias[candidates]
            place = {int(position): i for i, position in enumerate(candidates.tolist())}
            relevant = [np.array([place[int(p)] for p in positions], np.intp) for positions in relevant]
        batch, mine = len(relevant), self.ranks.share(len(relevant))
        relevant = relevant[mine]
        # The tower sees the whole batch, so that its dropout is that of one process; the scoring is what takes time.
        logits = self.model.log_scale.exp() * self.model.query(queries)[mine] @ documents.T + bias
        log_p = functional.log_softmax(logits, -1)
        rows = np.repeat(np.arange(len(relevant)), [len(p) for p in relevant])
        # A process may have no question of a small batch.
        shares = np.concatenate([np.zeros(0, np.float32), *(np.full(len(p), 1 / len(p), np.float32) for p in relevant)])
        columns = np.concatenate([np.zeros(0, np.intp), *relevant])
        picked = log_p[torch.from_numpy(rows).to(self.device), torch.from_numpy(columns).to(self.device)]
        return -(picked * torch.from_numpy(shares).to(self.device)).sum() / batch

    def _candidates(self, relevant: Sequence[npt.NDArray[np.intp]]) -> Tensor:
        """The relevant articles of the batch (negatives for each other) and random ones."""
        own = torch.from_numpy(np.unique(np.concatenate(relevant)))
        drawn = torch.randperm(self.n, generator=self.draw)[: self.recipe.training.negatives]
        return torch.unique(torch.cat([own, drawn])).to(self.device)

    @torch.inference_mode()
    def measures(self, model: TwoTowers, queries: Tensor, relevant: Sequence[npt.NDArray[np.intp]]) -> tuple[float, float]:
        model.eval()
        documents = self.documents(model, self.rows)[: self.n]
        scores = (model.log_scale.exp() * model.query(queries) @ documents.T + model.bias).float().cpu().numpy()
        rows = [measure(ranks_of(row, positions)) for row, positions in zip(scores, relevant, strict=True)]
        return float(np.mean([row["R@100"] for row in rows])), float(np.mean([row["MAP"] for row in rows]))

    @torch.inference_mode()
    def result(self, corpus: Corpus, curve: list[Epoch], best: int, state: State) -> Trained:
        self.model.load_state_dict(state)
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
            _act_means(corpus, articles),
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
