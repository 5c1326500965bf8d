"""Recipes as what can be asked: one that is trained, or was, with every way of ranking by it."""

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gnn.comparison.reading import first_stage_of, reading_reranker
from gnn.cost import Cost
from gnn.model.subgraph import subgraph_edges
from gnn.options import RerankOptions
from gnn.recipe import LEXICAL, READERS, Recipe
from gnn.training.bm25_tuning import tuned_lexical
from gnn.training.cross_fitting import gathering
from gnn.training.expanded_bm25 import expanded_lexical
from gnn.training.graph_reranker import fit_graph_reranker
from gnn.training.learned_sparse import learned_lexical
from gnn.training.train import Trainer, check_questions
from gnn.versions.files import costs_of, load_model
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from schema.errors import BadQuery
from search.arrays import Scores
from search.corpus.corpus import Corpus
from search.modes import Mode
from search.ranking.tree_pooling import TreePooling
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import VectorModel

WAYS: Mapping[str, str] = {
    "alone": "the recipe's own list: embeddings, or the words of articles",
    "fused": "with the words of articles and sections and the nearest training questions, not pooled",
    "pooled": "fused, and pooled over the tree",
    "shuffled": "fused, and pooled over groups of the same sizes drawn at random",
    "feedback": "pooled, and what is like the first answers moved up",
    "served": "the search of the service: pooled, what is like the first answers moved up and, where the recipe says so, "
    "reranked and with several sections among the first",
}
"""Ways of ranking by a recipe."""
_SEED = 7
Score = Callable[[str], Scores]


@dataclass(frozen=True, slots=True)
class Entry:
    """One row that was asked for: a recipe, ranked by in one of `WAYS`.

    Attributes:
        once: trained with one seed, whatever others are.
    """

    name: str
    recipe: Recipe
    way: str
    once: bool = False

    @property
    def measured_way(self) -> str:
        """The way that its figures are of: where nothing comes behind it, what is served is the ranking with feedback."""
        return self.way if self.way != "served" or self.recipe.reranks or self.recipe.diversity else "feedback"


@dataclass(frozen=True, slots=True)
class Contender:
    """A recipe of one seed and one split, ready to be asked.

    Attributes:
        ways: the scores of all articles for a query, by way; without "served" where that is "feedback".
        cost: of its training, the tuning of the fusion and what reranks left out; the GPU is that of its bi-encoder.
        reranker: cost of what reranks; trees are no parameters.
    """

    ways: Mapping[str, Score]
    cost: Cost
    reranker: Cost = field(default_factory=Cost)

    def cost_of(self, way: str) -> Cost:
        """Return what a way of ranking took to train."""
        return self.cost + self.reranker if way == "served" else self.cost


def entry(name: str, load: Callable[[str], Recipe], once: Collection[str] = ()) -> Entry:
    """Return the row that ``RECIPE`` or ``RECIPE:WAY`` asks for; ``once`` names recipes that are trained with one seed.

    Raises:
        BadQuery: there is no such way.
        BadSetting: there is no such recipe.
    """
    recipe, _, way = name.partition(":")
    if way and way not in WAYS:
        raise BadQuery(f"no way {way!r} to rank by a recipe; there are: {', '.join(WAYS)}")
    return Entry(name, load(recipe), way or "served", recipe in once)


def seeds_of(recipe: Recipe, wanted: int) -> int:
    """Return how many seeds of those wanted make a difference to a recipe."""
    learns = recipe.method not in ("bm25", "bm25-tuned") and recipe.training.epochs > 0
    return wanted if learns or recipe.encoder.is_tuned else 1


def contender(trainer: Trainer, recipe: Recipe, split: str, ways: Collection[str] = tuple(WAYS)) -> Contender:
    """Return a recipe ready to be asked, trained unless its version is on disk with what its training took.

    Nothing is written but features of the law and the curves of trainings.

    Args:
        ways: those that it will be asked in; where nothing is fused, no weights are tuned for it.

    Raises:
        BadSetting: there are no questions to train on, or to choose by.
    """
    if recipe.method in LEXICAL:
        return _lexical(trainer.workspace, recipe, split)
    if recipe.method in READERS:
        return _reading(trainer, recipe, split)
    model, found = _towers(trainer, recipe, split, ways)
    return _reranking(trainer, recipe, split, model, found) if recipe.method == "graph-reranker" else found


def _towers(trainer: Trainer, recipe: Recipe, split: str, ways: Collection[str]) -> tuple[VectorModel, Contender]:
    workspace = trainer.workspace
    id = workspace.version_id(recipe, split)
    costs = costs_of(workspace.home, id) if model_folder(workspace.home, id).is_dir() else None
    if costs is not None:
        model = load_model(workspace.home, id, workspace.corpus, workspace.threads)
        cost, reranker = costs
    else:
        check_questions(recipe, workspace.questions, (split,))
        if set(ways) == {"alone"}:
            recipe = recipe.model_copy(update={"tune_fusion": False, "rerank": RerankOptions()})  # pyright: ignore[reportCallIssue]
        made = trainer.version(recipe, split, id)
        model, trained = made.model(), made.trained
        cost, reranker = trained.cost, trained.reranker
    return model, Contender(_ways(workspace.index, model, Mode.VECTOR), cost, reranker)


def _reading(trainer: Trainer, recipe: Recipe, split: str) -> Contender:
    """Return the first stage of a recipe, with its first answers in the order of the reranker as what is served."""
    own, first = first_stage_of(trainer, recipe)
    model, found = _towers(own, first, split, tuple(WAYS))
    began = trainer.clock.seconds
    reranker = reading_reranker(trainer, recipe, split, model)
    cost = Cost(trainer.clock.seconds - began, reranker.reader.parameters)
    retriever = gathering(trainer.workspace.index, model)

    def served(query: str) -> Scores:
        return reranker.reordered(query, retriever.whole_rank(query))

    return replace(found, ways={**found.ways, "served": served}, reranker=cost)


def _reranking(trainer: Trainer, recipe: Recipe, split: str, model: VectorModel, found: Contender) -> Contender:
    """Return a contender with the first candidates of its pooled ranking reranked over their subgraph, as it is served."""
    began, workspace = trainer.clock.seconds, trainer.workspace
    examples = trainer.examples(recipe, split, model.weights, model.pooling)
    edges = subgraph_edges(workspace.corpus, recipe.document.edges)
    options, seed = recipe.graph_rerank, recipe.training.seed
    threads, progress = workspace.threads, workspace.progress
    reranker = fit_graph_reranker(examples, edges, options, seed=seed, threads=threads, progress=progress)
    cost = Cost(trainer.clock.seconds - began, reranker.parameters)
    retriever = gathering(workspace.index, model)

    def served(query: str) -> Scores:
        return reranker.reordered(retriever.whole_rank(query))

    return replace(found, ways={**found.ways, "served": served}, reranker=cost)


def _lexical(workspace: Workspace, recipe: Recipe, split: str) -> Contender:
    """Return BM25 as it is set, over articles with synthetic questions, or with what questions have taught (`Recipe.method`)."""
    began = time.monotonic()
    index, parameters = workspace.index, 0
    if recipe.method == "bm25-expanded":
        index = expanded_lexical(workspace, recipe)
    elif recipe.method != "bm25":
        check_questions(recipe, workspace.questions, (split,))
        learnt = recipe.method == "learned-sparse"
        index, parameters = learned_lexical(workspace, recipe, split) if learnt else (tuned_lexical(workspace, split), 4)
    seconds = 0.0 if recipe.method == "bm25" else time.monotonic() - began
    return Contender(_ways(index, None, Mode.BM25), Cost(seconds, parameters))


def _ways(index: TextIndex, model: VectorModel | None, alone: Mode) -> dict[str, Score]:
    """Return the ways of ranking by a model, or by words alone."""
    bare = None if model is None else replace(model, reranker=None, diversity=0.0)
    plain, anyhow = (Retriever(index, bare, pooling=pooling, feedback=0) for pooling in (None, shuffled_pooling(index.corpus)))
    told = Retriever(index, bare)

    def by(retriever: Retriever, mode: Mode, *, pooled: bool = True) -> Score:
        return lambda query: retriever.scores(query, mode, pooled=pooled)[0]

    ways = {
        "alone": by(plain, alone),
        "fused": by(plain, Mode.HYBRID, pooled=False),
        "pooled": by(plain, Mode.HYBRID),
        "shuffled": by(anyhow, Mode.HYBRID),
        "feedback": by(told, Mode.HYBRID),
    }
    if model is not None and (model.reranker is not None or model.diversity):
        ways["served"] = by(Retriever(index, model), Mode.HYBRID)
    return ways


def shuffled_pooling(corpus: Corpus) -> TreePooling:
    """Return pooling over groups of the same sizes whose members are drawn at random, from a fixed seed."""
    draw = np.random.default_rng(_SEED)
    citing, cited = corpus.cites.T
    return TreePooling(
        replace(
            corpus,
            article_parent=draw.permutation(corpus.article_parent),
            stem=draw.permutation(corpus.stem),
            cites=np.stack([citing, draw.permutation(cited)], axis=1),
        )
    )
