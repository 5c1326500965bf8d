"""The training loop: a temperature-scaled softmax over articles, uniform over the relevant ones of a question."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.curriculum import Curriculum, Places
from gnn.device import precision_of
from gnn.distributed import Process, alone
from gnn.encoders.features import Features
from gnn.encoders.joined import TowerWeights
from gnn.model.graph_layers import subgraph_data
from gnn.model.neighbours import Neighbourhoods
from gnn.model.subgraph import SubgraphEdges, attribute_width
from gnn.model.trained import Choice, State, Trained
from gnn.model.two_towers import TwoTowers
from gnn.recipe import Recipe
from gnn.training.epochs import Best, Epochs, Place
from gnn.training.memory import within_memory
from gnn.training.question_nodes import distillation, with_questions
from runtime.freed_memory import give_back_freed_memory, keep_freed_memory
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from schema.records import Question
from search.arrays import Matrix
from search.corpus.corpus import Corpus
from search.corpus.tree import act_means
from search.evaluation import measure, ranks_of
from search.questions import positions_of, query_text

Positions = Sequence[npt.NDArray[np.intp]]


@dataclass(frozen=True, eq=False)
class Examples:
    """The law and the questions that a recipe is trained on.

    Attributes:
        edges: of the subgraph, of the kinds that the recipe names.
        training: questions to learn from; development: to choose the epoch by.
    """

    corpus: Corpus
    features: Features
    edges: SubgraphEdges
    training: Sequence[Question]
    development: Sequence[Question]


@dataclass(frozen=True, slots=True)
class Means:
    """The means of a training.

    Attributes:
        threads: of one machine.
        process: the leader of those that share the work; None: this one alone.
        place: of its checkpoint and its curve; None: it keeps neither.
    """

    threads: int = 2
    process: Process | None = None
    progress: Progress = silent
    place: Place | None = None


def fit(
    recipe: Recipe,
    examples: Examples,
    *,
    start: State | None = None,
    chosen: Choice | None = None,
    means: Means = Means(),
) -> Trained:
    """Train the towers of a recipe; the epoch with the best sum of R@100 and MAP on the development questions is kept.

    Args:
        chosen: of another training, the epoch to end after, and the curve to keep; nothing is chosen then.
        start: parameters to begin with.

    The same recipe, law and questions give the same model, bit by bit, on the same kind of processor with the
    same number of threads; on a GPU, sums over neighbours come in no fixed order, and the last bits differ. A training that was
    stopped goes on from the end of an epoch, to the same model.

    Several processes take the steps that one takes. The recipe's ``batch`` is that of all together: each scores its share of
    the questions, and the gradients are added up. Each question has the negatives that it has with one process: all articles,
    or above ``full_softmax_limit`` the relevant ones of the whole batch and the same random ones. So the model is that of one
    process, but for the order in which floats are added. What is shared is the scoring: every process embeds all articles.

    Raises:
        BadSetting: there are no questions to train on or to choose by, a loss or a parameter is not a number, memory does
            not hold the training, or the checkpoint at its place is of something else.
        StorageFull: the disk is full; the last checkpoint stays.
    """
    if not examples.training or not examples.development:
        raise BadSetting(f"recipe {recipe.name}: no training or no development questions from {recipe.questions!r}")
    process, began = means.process or alone(), time.monotonic()
    inputs = _inputs(recipe, examples, start, means.threads)
    with within_memory(recipe, inputs.articles, process.device):
        if chosen is None:
            trained, before = _led(inputs, process, examples, means)
        else:
            run = TowerRun(process.from_leader(replace(inputs, last=chosen.best)), process)
            epochs = Epochs(run, means.place)
            trained = run.result(examples.corpus, epochs.train(None, means.progress))
            trained, before = replace(trained, curve=chosen.curve, best=chosen.best), epochs.seconds
    give_back_freed_memory()
    return replace(trained, seconds=before + time.monotonic() - began)


def _led(inputs: "TowerInputs", process: Process, examples: Examples, means: Means) -> tuple[Trained, float]:
    """Return what a training gives that this process leads, and its seconds before it was stopped, if it was.

    What it held meanwhile is let go.
    """
    run = TowerRun(process.from_leader(inputs), process)
    development = examples.development
    queries = torch.from_numpy(examples.features.queries.encode([query_text(question) for question in development]))
    queries, relevant = queries.to(process.device), [positions_of(examples.corpus, question) for question in development]
    epochs = Epochs(run, means.place)
    best = epochs.train(lambda model: run.measures(model, queries, relevant), means.progress)
    return run.result(examples.corpus, best), epochs.seconds


@dataclass(frozen=True, eq=False)
class TowerInputs:
    """All that every process of a training is given.

    Attributes:
        articles: n; nodes: float32[n + m, d], features of articles, then of sections; parents: float32[n + m, d], means of
            parent sections (of a section: its own features). Of questions, too, where these are nodes, behind the sections.
        queries, titles: float32[q, d], the training questions in full and their titles alone.
        relevant: positions of the relevant articles of each.
        places: of the articles, where negatives are drawn by them.
        last: epoch to end after and keep, from 0; None: the leader chooses.
    """

    recipe: Recipe
    articles: int
    nodes: Matrix
    parents: Matrix
    edges: SubgraphEdges
    queries: Matrix
    titles: Matrix
    relevant: Positions
    places: Places | None
    start: State | None
    threads: int
    last: int | None = None

    def join(self, process: Process) -> None:
        """Do this process's share of a training that another one leads."""
        with within_memory(self.recipe, self.articles, process.device):
            Epochs(TowerRun(self, process)).train(None, silent)


def _inputs(recipe: Recipe, examples: Examples, start: State | None, threads: int) -> TowerInputs:
    features, training, edges = examples.features, examples.training, examples.edges
    queries = features.queries.encode([query_text(question) for question in training])
    relevant = [positions_of(examples.corpus, question) for question in training]
    more = [queries] if recipe.document.question_nodes else []
    return TowerInputs(
        recipe,
        len(examples.corpus.articles),
        np.concatenate([features.articles, features.sections, *more]),
        np.concatenate([features.parents, features.sections, *more]),
        with_questions(edges, relevant) if recipe.document.question_nodes else edges,
        queries,
        features.queries.encode([question.text for question in training]),
        relevant,
        Places.of(examples.corpus) if recipe.curriculum.drawn else None,
        start,
        threads,
    )


class TowerRun:
    """The steps of one training in one process: the model, and its inputs on the device."""

    def __init__(self, inputs: TowerInputs, process: Process) -> None:
        keep_freed_memory()
        torch.set_num_threads(max(1, inputs.threads // process.neighbours))
        self.process, self.device = process, process.device
        self.recipe = recipe = inputs.recipe
        self.options = options = recipe.training
        # Every process draws the same numbers: dropout, candidates and the order of questions are those of one process.
        torch.manual_seed(options.seed)
        self.n = inputs.articles
        self.model = TwoTowers(
            inputs.nodes.shape[1], self.n, recipe.document, recipe.query, options.dropout, options.temperature
        ).to(self.device)
        self.first_question = self.n + inputs.edges.sections
        x, s = torch.from_numpy(inputs.nodes), torch.from_numpy(inputs.parents)
        self.neighbourhoods: Neighbourhoods | None = None
        if recipe.document.neighbours:
            graph = subgraph_data(inputs.edges, x, attribute_width(recipe.document.edges))
            graph.s = s
            degrees = recipe.document.layer == "gcn"
            self.neighbourhoods = Neighbourhoods(graph, recipe.document.neighbours, options.seed, degrees=degrees)
        else:
            self.inputs = tuple(tensor.to(self.device) for tensor in (x, s, *self._edges(inputs.edges, x)))
        self.queries = torch.from_numpy(inputs.queries).to(self.device)
        self.titles = torch.from_numpy(inputs.titles).to(self.device)
        self.relevant, self.questions, self.last = inputs.relevant, len(inputs.relevant), inputs.last
        # Sections are needed in training only as neighbours; without layers the articles suffice.
        self.rows = len(inputs.nodes) if recipe.document.layers else self.n
        self.draw = torch.Generator().manual_seed(options.seed)
        self.curriculum: Curriculum | None = None
        if inputs.places is not None:
            self.curriculum = Curriculum(inputs.places, inputs.relevant, recipe.curriculum, options.seed)
        if inputs.start:
            own = self.model.state_dict()
            other = [name for name, value in inputs.start.items() if name in own and own[name].shape != value.shape]
            if other:
                raise BadSetting(
                    f"recipe {recipe.name}: {recipe.training.start}, which it starts from, has another encoder or other sizes "
                    f"({', '.join(other)})"
                )
            self.model.load_state_dict({name: torch.from_numpy(value) for name, value in inputs.start.items()}, strict=False)

    def _edges(self, edges: SubgraphEdges, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return int64[2, e] and float32[e, kinds]; none where no layer reads them."""
        document = self.recipe.document
        width = attribute_width(document.edges, document.question_nodes)
        if not document.layers:
            return torch.zeros(2, 0, dtype=torch.long), torch.zeros(0, width)
        graph = subgraph_data(edges, x, width)
        return cast(Tensor, graph.edge_index), cast(Tensor, graph.edge_attr)

    def documents(self, model: TwoTowers, rows: slice | Tensor, silent: Tensor | None = None) -> Tensor:
        """Return embeddings of nodes; questions that are ``silent`` tell their articles nothing."""
        if self.neighbourhoods is not None:
            nodes = torch.arange(self.first_question)[rows]
            return self.neighbourhoods.all_embedded(model.document, nodes, self.device)
        x, s, edge_index, edge_attr = self.inputs
        if silent is not None:
            told = ~torch.isin(edge_index[0], silent + self.first_question)
            edge_index, edge_attr = edge_index[:, told], edge_attr[told]
        return model.document(x[rows], s[rows], edge_index, edge_attr)

    def random_state(self) -> dict[str, Any]:
        """Return where everything stands that is drawn from."""
        state: dict[str, Any] = {"torch": torch.get_rng_state(), "draw": self.draw.get_state()}
        if self.device.type == "cuda":
            state["cuda"] = torch.cuda.get_rng_state(self.device)
        # A checkpoint holds tensors and plain values, and numbers of 128 bits are neither.
        return state | {"numpy": json.dumps([one.bit_generator.state for one in self._drawn_by_numpy])}

    def draw_on(self, state: Mapping[str, Any]) -> None:
        """Draw on from such a state."""
        torch.set_rng_state(state["torch"])
        self.draw.set_state(state["draw"])
        if self.device.type == "cuda" and "cuda" in state:
            torch.cuda.set_rng_state(state["cuda"], self.device)
        for one, stored in zip(self._drawn_by_numpy, json.loads(state["numpy"]), strict=True):
            one.bit_generator.state = stored

    @property
    def _drawn_by_numpy(self) -> list[np.random.Generator]:
        return [one.random for one in (self.curriculum, self.neighbourhoods) if one is not None]

    @torch.inference_mode()
    def refresh(self) -> None:
        """Order the negatives of each question by the model as it is, where they are drawn so."""
        if self.curriculum is None:
            return
        self.model.eval()
        documents = self.documents(self.model, slice(self.rows))[: self.n]
        queries = self.model.log_scale.exp() * self.model.query(self.queries)
        self.curriculum.refresh(lambda i: (queries[i] @ documents.T + self.model.bias).float().cpu().numpy())

    def step(self, batch: Tensor, optimiser: torch.optim.Optimizer, done: float) -> float:
        """Take one step on questions, ``done`` being the share of the epochs before; return their loss."""
        # People ask in few words more often than in many: part of the queries are titles alone.
        short = torch.rand(len(batch), 1, generator=self.draw).to(self.device) < self.options.title_share
        chosen = batch.to(self.device)
        queries = torch.where(short, self.titles[chosen], self.queries[chosen])
        relevant = [self.relevant[i] for i in batch.tolist()]
        if self.recipe.document.question_nodes:
            loss = self._loss_with_questions(chosen, queries, relevant)
        elif self.curriculum is not None:  # what the leader draws: the order depends on how floats were added
            drawn = self.process.from_leader(self.curriculum.draw(batch.tolist(), done))
            loss = self._loss(queries, relevant, self._with_relevant(relevant, torch.from_numpy(drawn)))
        elif self.n > self.options.full_softmax_limit or self.neighbourhoods is not None:
            drawn = torch.randperm(self.n, generator=self.draw)[: self.options.negatives]
            loss = self._loss(queries, relevant, self._with_relevant(relevant, drawn))
        else:
            loss = self._loss(queries, relevant, None)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        total = self.process.add_up(self.model, loss)
        if self.options.largest_gradient:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.options.largest_gradient)
        optimiser.step()
        return total

    def _loss(self, queries: Tensor, relevant: Positions, candidates: Tensor | None) -> Tensor:
        """Return the mean over the batch of the part that this process scores.

        Args:
            candidates: positions that the softmax runs over; None: all.
        """
        bias = self.model.bias
        if candidates is not None:
            bias = bias[candidates]
            place = {int(position): i for i, position in enumerate(candidates.tolist())}
            relevant = [np.array([place[int(p)] for p in positions], np.intp) for positions in relevant]
        with precision_of(self.options, self.device):
            documents, asked = self._learning(candidates), self.model.query(queries)
        batch, mine = len(relevant), self.process.share(len(relevant))
        # The tower sees the whole batch, so that its dropout is that of one process; the scoring is what takes time.
        # Multiplied by the temperature, what bf16 rounds off a cosine would count.
        logits = self.model.log_scale.exp() * asked[mine].float() @ documents.float().T + bias
        return self._uniform_loss(logits, relevant[mine], batch)

    def _learning(self, candidates: Tensor | None) -> Tensor:
        """Return embeddings of articles to learn from, those of candidates or of all."""
        if candidates is None:
            return self.documents(self.model, slice(self.rows))[: self.n]
        if self.neighbourhoods is not None:
            return self.neighbourhoods.embedded(self.model.document, candidates, self.device)
        if self.recipe.document.layers:  # which need the neighbours of the candidates, and theirs
            return self.documents(self.model, slice(self.rows))[candidates]
        return self.documents(self.model, candidates)

    def _loss_with_questions(self, chosen: Tensor, queries: Tensor, relevant: Positions) -> Tensor:
        """Return the losses of the query tower and of the question nodes, and what these teach it.

        The questions of the batch tell their articles nothing: else an article would be known by its own question.
        """
        with precision_of(self.options, self.device):
            nodes, towered = self.documents(self.model, slice(self.rows), chosen), self.model.query(queries)
        mine, batch = self.process.share(len(relevant)), len(relevant)
        documents, scale = nodes[: self.n].float(), self.model.log_scale.exp()
        student, teacher = (
            scale * asked[mine].float() @ documents.T + self.model.bias
            for asked in (towered, nodes[chosen + self.first_question])
        )
        taught = distillation(student, teacher) * (len(student) / batch) if len(student) else student.sum()
        losses = (self._uniform_loss(logits, relevant[mine], batch) for logits in (student, teacher))
        return sum(losses, self.options.distillation * taught)

    def _uniform_loss(self, logits: Tensor, relevant: Positions, batch: int) -> Tensor:
        """Return the cross entropy with what is uniform over the relevant, of this process's questions of a batch."""
        log_p = functional.log_softmax(logits, -1)
        rows = np.repeat(np.arange(len(relevant)), [len(p) for p in relevant])
        # A process may have no question of a small batch.
        shares = np.concatenate([np.zeros(0, np.float32), *(np.full(len(p), 1 / len(p), np.float32) for p in relevant)])
        columns = np.concatenate([np.zeros(0, np.intp), *relevant])
        picked = log_p[torch.from_numpy(rows).to(self.device), torch.from_numpy(columns).to(self.device)]
        return -(picked * torch.from_numpy(shares).to(self.device)).sum() / batch

    def _with_relevant(self, relevant: Positions, drawn: Tensor) -> Tensor:
        """Return the relevant articles of the batch (negatives for each other) and those that were drawn."""
        own = torch.from_numpy(np.unique(np.concatenate(relevant)))
        return torch.unique(torch.cat([own, drawn])).to(self.device)

    @torch.inference_mode()
    def measures(self, model: TwoTowers, queries: Tensor, relevant: Positions) -> tuple[float, float]:
        """Return R@100 and MAP (0 to 1) over queries, float32[q, d] before their tower."""
        model.eval()
        documents = self.documents(model, slice(self.rows))[: self.n]
        scores = (model.log_scale.exp() * model.query(queries) @ documents.T + model.bias).float().cpu().numpy()
        rows = [measure(ranks_of(row, positions)) for row, positions in zip(scores, relevant, strict=True)]
        return float(np.mean([row["R@100"] for row in rows])), float(np.mean([row["MAP"] for row in rows]))

    @torch.inference_mode()
    def result(self, corpus: Corpus, best: Best) -> Trained:
        """Return what the parameters of the best epoch give of a corpus."""
        self.model.load_state_dict(best.state)
        self.model.eval()
        nodes = self.documents(self.model, slice(None)).float().cpu().numpy()
        tower = self.model.query
        layers = (tower.first.weight, tower.first.bias, tower.second.weight, tower.second.bias)
        arrays = [parameter.detach().float().cpu().numpy() for parameter in layers]
        w1, b1, w2, b2 = (np.ascontiguousarray(array.T) for array in arrays)
        articles, sections = nodes[: self.n], nodes[self.n : self.first_question]
        return Trained(
            articles,
            sections,
            act_means(corpus, articles),
            self.model.bias.detach().float().cpu().numpy(),
            float(self.model.log_scale.exp()),
            TowerWeights(w1, b1, w2, b2),
            curve=best.curve,
            best=best.epoch,
            state={name: value.float().cpu().numpy() for name, value in best.state.items()},
        )
