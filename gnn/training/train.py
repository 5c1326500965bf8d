"""Training: every missing version of a recipe, from the features of the law to its files, then the one that serves."""

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

import numpy as np
from scipy import sparse

from gnn.cost import Cost, TrainingClock
from gnn.distributed import gpu_name
from gnn.encoders.features import Features, Tuned, make_features, with_shuffled_parents
from gnn.encoders.tuned import ReadVectors
from gnn.fine_tuning.kept_run import place_of
from gnn.fine_tuning.tuned import read_by, read_vectors, tuned_by, tuned_encoder
from gnn.model.subgraph import SubgraphEdges, exported_edges, shuffled, subgraph_edges
from gnn.model.trained import Choice, State, Trained, compared_by, untrained
from gnn.recipe import Recipe
from gnn.training.cross_fitting import Reading, cross_fitted, sampled
from gnn.training.epochs import Place
from gnn.training.fusion_tuning import POOLING, tune_weights, weights_of
from gnn.training.lambdamart import Example, fit_trees
from gnn.training.loop import Examples, Means, fit
from gnn.training.parts import Parts
from gnn.training.scope import complete_scope
from gnn.training.terms import complete_terms
from gnn.versions.active import active_id, model_rows, register
from gnn.versions.files import Card, NewVersion, choice_of, write_model
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.versions.shared_folder import model_folder, share_model
from gnn.workspace import Workspace
from schema.errors import BadSetting
from schema.records import Question
from search.arrays import Matrix, Positions
from search.corpus.corpus import Corpus
from search.questions import judged, of_split, positions_of, query_text
from search.ranking.candidates import COMPARED, MOST, columns
from search.ranking.reranker import Reranker
from search.ranking.tree_pooling import PoolingWeights
from search.retrieval import Retriever
from search.vectors.model import QuestionMemory, TunedVectors, VectorModel

_PACKAGES = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "bm25s", "transformers", "onnxruntime", "ladybug")

_Costly = TypeVar("_Costly", Features, ReadVectors)
TaughtBy = Callable[[Recipe, Sequence[str]], Tuned]
"""Gives the bi-encoder of a recipe, for the texts of all articles below their headings."""


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """The active version, the versions that were trained, and those that had been before.

    Attributes:
        scoped: the confidence of the active version was learnt now.
        termed: the terms that it is asked by in other languages were embedded now.
    """

    active: str
    trained: list[str]
    kept: list[str]
    scoped: bool = False
    termed: bool = False


def train(workspace: Workspace, recipe: Recipe) -> TrainingReport:
    """Train what is missing of a recipe's versions and make its version on the first split active.

    A version is named by its recipe, the law and the questions: one that exists is not trained again.

    Raises:
        GraphBusy: the lock has gone to another job; the version at hand was not written.
        BadSetting: a recipe is missing, or there are no questions to train on.
        StorageFull: the disk is full; versions written before stay.
    """
    _check_serves(recipe)
    check_questions(recipe, workspace.questions, recipe.splits)
    if recipe.chooser.name not in (recipe.name, *recipe.compare):
        recipe = recipe.model_copy(update={"compare": (*recipe.compare, recipe.chooser.name)})
    ids = model_ids(recipe, workspace.index.key, workspace.learnt_from(recipe))
    active = ids[RecipeSplit(recipe.name, recipe.splits[0])]
    trainer = Trainer(workspace)
    trained = [id for of, id in ids.items() if trainer.make(recipe.other(of.recipe), of.split, id)]
    scoped, termed = complete_scope(workspace, recipe, active), complete_terms(workspace, active)
    share_model(workspace.home, workspace.shelf, active)
    workspace.make_ready(active)
    stored = {row["id"] for row in model_rows(workspace.graph)}
    if active_id(workspace.graph) != active or not stored.issuperset(ids.values()) or scoped or termed:
        workspace.check_lock()
        register(workspace.store, list(ids.values()), active)
    return TrainingReport(active, trained, [id for id in ids.values() if id not in trained], scoped, termed)


def train_serving_version(workspace: Workspace, recipe: Recipe) -> list[str]:
    """Train the version that serves, and where it is refit, that of its chooser, unless their files exist; return both.

    Raises:
        GraphBusy, BadSetting, StorageFull: as `train`.
    """
    _check_serves(recipe)
    check_questions(recipe, workspace.questions, recipe.splits[:1])
    trainer, split = Trainer(workspace), recipe.splits[0]
    recipes = (recipe.chooser, recipe) if recipe.training.refit else (recipe,)
    ids = [workspace.version_id(one, split) for one in recipes]
    for one, id in zip(recipes, ids, strict=True):
        trainer.make(one, split, id)
    complete_scope(workspace, recipe, ids[-1])
    complete_terms(workspace, ids[-1])
    return ids


def _check_serves(recipe: Recipe) -> None:
    document = recipe.document
    shuffled = document.shuffled_edges or document.shuffled_mean
    # New law would be encoded without its citations, or with its headings.
    otherwise = not recipe.encoder.headings or (recipe.encoder.is_tuned and tuned_by(recipe).bi_encoder.inlined)
    if recipe.method != "towers" or shuffled or document.question_nodes or otherwise:
        raise BadSetting(f"recipe {recipe.name} gives no model that serves: `lexgraph compare {recipe.name}` measures it")


def check_questions(recipe: Recipe, questions: Sequence[Question], splits: Sequence[str]) -> None:
    """Raise BadSetting where a split has no questions to train on, or none to choose by."""
    for split in splits:
        for part in ("train", "development"):
            if not of_split(questions, split, part):
                raise BadSetting(f"recipe {recipe.name}: no {part} questions from {recipe.questions!r} in the {split} split")


class Trainer:
    """Makes model versions; features, and the parameters that other recipes start from, are made once.

    The last version is at hand for whoever asks for the same again, as rerankers over one first stage do.

    Args:
        clock: of the trainings; unless given, one of its own.
    """

    def __init__(self, workspace: Workspace, clock: TrainingClock | None = None) -> None:
        self.workspace, self.clock = workspace, clock or TrainingClock()
        self._features: dict[tuple[str, ...], Features] = {}
        self._states: dict[tuple[str, str], State] = {}
        self._choices: dict[tuple[str, str], Choice] = {}
        self._last: tuple[Recipe, NewVersion] | None = None

    def make(self, recipe: Recipe, split: str, id: str) -> bool:
        """Train one version and write it; return False where its files exist."""
        workspace = self.workspace
        if model_folder(workspace.home, id).is_dir():
            return False
        made = self.version(recipe, split, id)
        run = self._run(made.trained)
        workspace.check_lock()
        write_model(workspace.home, workspace.corpus, workspace.text, made, run)
        return True

    def version(self, recipe: Recipe, split: str, id: str) -> NewVersion:
        """Return one version, trained; nothing of it is written."""
        if self._last is not None and id and self._last[0] == recipe and self._last[1].id == id:
            return self._last[1]
        made = self._version(recipe, split, id)
        self._last = recipe, made
        return made

    def _version(self, recipe: Recipe, split: str, id: str) -> NewVersion:
        workspace, corpus = self.workspace, self.workspace.corpus
        reader = read_by(recipe)  # what does not fit is told before anything is trained
        for one in (recipe, recipe.chooser, _learnt_over(recipe)):
            if one.encoder.is_tuned:
                tuned_by(one)
        trained, features = self._trained(recipe, split), self._features_of(recipe, split)
        trained = replace(trained, encoder=features.cost)
        memory = _question_memory(corpus, features, trained, self._learnt_from(recipe, split))
        made = NewVersion(id, recipe, features, trained, memory, weights_of(recipe), POOLING)
        if recipe.tune_fusion:
            retriever = Retriever(workspace.index, made.model())
            development = judged(corpus, of_split(workspace.questions, split, "development"))
            tuned = tune_weights(retriever, development, made.weights, progress=workspace.progress)
            made = replace(made, weights=tuned.weights, pooling=tuned.pooling)
        if recipe.rerank.rounds:
            made = self._reranking(made, split, reader)
        return made

    def _reranking(self, made: NewVersion, split: str, reader: Recipe | None) -> NewVersion:
        """Return a version with the reranker that its recipe asks for."""
        recipe, workspace, began = made.recipe, self.workspace, self.clock.seconds
        examples = self.examples(_learnt_over(recipe), split, made.weights, made.pooling, reader=reader)
        read = None if reader is None else self._counting(lambda: read_vectors(workspace, reader, split))
        trees = fit_trees(examples, columns(tuned=read is not None), recipe.rerank, threads=workspace.threads)
        cost = replace(Cost() if read is None else read.cost, seconds=self.clock.seconds - began)
        trained = replace(made.trained, reranker=cost)
        return replace(made, trained=trained, reranker=Reranker(trees, recipe.rerank.share), read=read)

    def _trained(self, recipe: Recipe, split: str) -> Trained:
        workspace, features = self.workspace, self._features_of(recipe, split)
        if recipe.method == "bi-encoder":
            return compared_by(recipe.bi_encoder.similarity, workspace.corpus, features)
        if not recipe.training.epochs:
            return untrained(workspace.corpus, features)
        start: State | None = None
        if recipe.training.start:
            first = recipe.unlearnt(recipe.training.start)
            start = self._states.get((first.key(), split)) or self._trained(first, split).state
        development = of_split(workspace.questions, split, "development")
        if recipe.document.shuffled_mean:
            features = with_shuffled_parents(features, workspace.corpus, recipe.training.seed)
        asked = self._learnt_from(recipe, split)
        examples = Examples(workspace.corpus, features, self._edges(recipe), asked, development)
        chosen = self._chosen(recipe.chooser, split) if recipe.training.refit else None
        id = workspace.version_id(recipe, split)
        trained = fit(
            recipe, examples, start=start, chosen=chosen, means=self._means(Place(place_of(workspace, f"towers-{id}"), id))
        )
        # Only the parameters are kept: the embeddings of many versions would fill the memory.
        self._states[recipe.key(), split] = trained.state
        self._choices[recipe.key(), split] = Choice(trained.curve, trained.best)
        return trained

    def _chosen(self, chooser: Recipe, split: str) -> Choice:
        """Return what the training of a recipe chose: one at hand, one on disk, or one that is done for it."""
        key = chooser.key(), split
        if key not in self._choices:
            home, id = self.workspace.home, self.workspace.version_id(chooser, split)
            if model_folder(home, id).is_dir():
                self._choices[key] = choice_of(home, id)
            else:
                self._trained(chooser, split)
        return self._choices[key]

    def _learnt_from(self, recipe: Recipe, split: str) -> list[Question]:
        """Return the questions that towers learn from and that vote; those of development are among them where it is refit."""
        parts = ("train", "development") if recipe.training.refit else ("train",)
        return [question for part in parts for question in of_split(self.workspace.questions, split, part)]

    def examples(
        self,
        recipe: Recipe,
        split: str,
        weights: Mapping[str, float],
        pooling: PoolingWeights,
        asked: Sequence[Question] | None = None,
        reader: Recipe | None = None,
    ) -> list[Example]:
        """Return what a reranker learns from: questions, each asked of a model that had not seen it.

        A bi-encoder among the encoders is trained anew for each part, on the other parts: one that has learnt from all of the
        questions knows these by heart, and trees would trust it too much.

        Args:
            weights, pooling: of the fusion that is reranked.
            asked: the questions; unless given, those to train on.
            reader: of the bi-encoder whose cosines are features too; of all candidates where the questions are given, else of
                those that are learnt from.

        Raises:
            BadSetting, StorageFull: as `gnn.fine_tuning.tuned.tuned_encoder`, where bi-encoders are trained.
        """
        workspace = self.workspace
        first = sampled(recipe.other(recipe.training.start) if recipe.training.start else recipe, recipe.rerank.negatives)
        development = of_split(workspace.questions, split, "development")
        most = max(COMPARED, recipe.rerank.depth) if asked is None else MOST
        asked = of_split(workspace.questions, split, "train") if asked is None else asked
        chosen = self._chosen(recipe.chooser, split) if first.training.refit else None
        parts = Parts(workspace, split, asked)

        def model_of(part: int, questions: Sequence[Question]) -> VectorModel:
            features = self._counting(lambda: self._features_of(recipe, split, partial(parts.encoder, part)))
            examples = Examples(workspace.corpus, features, self._edges(first), questions, development)
            trained = fit(first, examples, chosen=chosen, means=self._means())
            memory = _question_memory(workspace.corpus, features, trained, questions)
            return NewVersion("", first, features, trained, memory, weights, pooling).model(features.queries)

        def vectors_of(reader: Recipe, part: int, positions: Positions) -> TunedVectors:
            learnt = parts.without(part, reader)
            return self._counting(lambda: read_vectors(workspace, reader, split, learnt, positions)).model()

        reading = None if reader is None else Reading(partial(vectors_of, reader), most)
        threads, progress = workspace.threads, workspace.progress
        return list(cross_fitted(workspace.index, asked, split, model_of, reading, threads=threads, progress=progress))

    def _counting(self, make: Callable[[], _Costly]) -> _Costly:
        """Return what has a bi-encoder, whose training counts, whenever it was; what it embeds does not."""
        return self.clock.counting(make, lambda made: made.cost.seconds)

    def _means(self, place: Place | None = None) -> Means:
        return Means(self.workspace.threads, self.workspace.process, self.workspace.progress, place)

    def _edges(self, recipe: Recipe) -> SubgraphEdges:
        """Return the subgraph; where the graph is on a server, from there: by a projection of GDS, else by statements."""
        graph, corpus, kinds = self.workspace.graph, self.workspace.corpus, recipe.document.edges
        edges = subgraph_edges(corpus, kinds) if graph.vectors is None else exported_edges(graph, corpus, kinds)
        return shuffled(edges, recipe.training.seed) if recipe.document.shuffled_edges else edges

    def _features_of(self, recipe: Recipe, split: str, taught: TaughtBy | None = None) -> Features:
        """Return the features of the law by a recipe's encoders; those of a bi-encoder are of a split and a seed.

        Args:
            taught: gives a bi-encoder that has learnt from other questions than those of the split; its features are not held.
        """
        options, workspace = recipe.encoder, self.workspace
        bi_encoder = tuned_by(recipe) if options.is_tuned else None
        key = (options.model_dump_json(), *((bi_encoder.key(), split) if bi_encoder else ()))
        held = taught is None or bi_encoder is None
        if held and key in self._features:
            return self._features[key]
        made = make_features(
            workspace.home,
            workspace.corpus,
            workspace.text,
            options,
            tuned_by=partial(taught or partial(self._taught, split), bi_encoder) if bi_encoder else None,
            threads=workspace.threads,
            progress=workspace.progress,
        )
        if held:
            self._features[key] = made
        return made

    def _taught(self, split: str, bi_encoder: Recipe, passages: Sequence[str]) -> Tuned:
        return tuned_encoder(self.workspace.of_recipe(bi_encoder), bi_encoder, split, passages)

    def _run(self, trained: Trained) -> Card:
        whole = trained.whole_cost
        return {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "training_s": round(whole.seconds, 3),
            "encoder_parameters": trained.encoder.parameters,
            "encoder_gpu": trained.encoder.gpu,
            "reranker": asdict(trained.reranker),
            "device": gpu_name() or platform.machine(),
            "threads": self.workspace.threads,
            "processes": 1 if self.workspace.process is None else self.workspace.process.size,
            "versions": dict(_package_versions()),
        }


def _learnt_over(recipe: Recipe) -> Recipe:
    """Return the recipe whose models find the candidates that a reranker learns from.

    Raises:
        BadSetting: that recipe trains no towers.
    """
    if not recipe.rerank.rounds or not recipe.rerank.over:
        return recipe
    over = recipe.other(recipe.rerank.over)
    if over.method != "towers" or not over.training.epochs:
        raise BadSetting(f"recipe {recipe.name}: rerank.over names {over.name}, which trains no towers")
    return over


def _question_memory(corpus: Corpus, features: Features, trained: Trained, questions: Sequence[Question]) -> QuestionMemory:
    """Return training questions with their votes: each of n relevant articles gets 1 / √n."""
    vectors: Matrix = features.queries.encode([query_text(question) for question in questions])
    if trained.tower is not None:
        vectors = trained.tower(vectors)
    positions = [np.sort(positions_of(corpus, question)) for question in questions]
    sizes = [len(row) for row in positions]
    votes = sparse.csr_array(
        (
            np.concatenate([np.full(size, size**-0.5, np.float32) for size in sizes]),
            np.concatenate(positions).astype(np.int32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        ),
        shape=(len(questions), len(corpus.articles)),
    )
    return QuestionMemory(vectors, votes)


def _package_versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
