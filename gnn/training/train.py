"""Train a recipe and those it is compared with, on every split, write the versions, and make one active."""

import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import torch

from cypher.graph import CheckLock, Graph, Store
from gnn.encoders.features import Features, make_features
from gnn.model.subgraph import SubgraphEdges, exported_edges, subgraph_edges
from gnn.recipe import Recipe
from gnn.training.distributed import Ranks, alone
from gnn.training.fusion_tuning import START, Tuned, tune_weights
from gnn.training.loop import State, Trained, query_text, train, untrained
from gnn.versions.active import Entry, active_id, register
from gnn.versions.files import encoding, question_memory, read_card, read_run, write_model
from gnn.versions.identity import Version, model_ids
from gnn.versions.serving import make_ready
from gnn.versions.shared_folder import model_folder, share_model
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import judged, of_split
from search.ranking.tree_pooling import PoolingWeights
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import QuestionMemory, VectorModel

_VERSIONS = ("torch", "torch-geometric", "numpy", "scipy", "scikit-learn", "bm25s", "transformers", "onnxruntime", "ladybug")


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What a training did: the active version, versions trained now, versions that were there already."""

    active: str
    trained: list[str]
    kept: list[str]


def train_recipe(
    store: Store,
    graph: Graph,
    index: TextIndex,
    text: CorpusText,
    questions: Sequence[Question],
    recipe: Recipe,
    *,
    shelf: str = "",
    threads: int = 2,
    ranks: Ranks | None = None,
    check_lock: CheckLock = lambda: None,
    progress: Progress = silent,
) -> TrainingReport:
    """Train what is missing of a recipe's versions and make its version on the random split active.

    A version is named by its recipe, the law and the questions: what is there already is not trained again.

    Args:
        ranks: the processes that share the training, of which this one leads (`gnn.training.loop.train`).
        check_lock: called before each version is written, and before one is made active.

    Raises:
        GraphBusy: the lock has gone to another job; the version at hand was not written.
        BadSetting: a recipe is not there, or there are no questions to train on.
        StorageFull: the disk is full; versions written before stay.
    """
    _check_questions(recipe, questions, recipe.splits)
    home = store.home
    session = _Session(home, graph, index, text, questions, threads, ranks or alone(), check_lock, progress)
    wanted = model_ids(recipe, index.key, questions)
    for name, id in wanted.items():
        if not model_folder(home, id).is_dir():
            session.make(recipe.other(name.recipe), name.split, id)
    active = wanted[next(name for name in wanted if name.recipe == recipe.name and name.split == recipe.splits[0])]
    known = {row["id"] for row in graph.rows("models")}
    ids = list(wanted.values())
    share_model(home, shelf, active)
    make_ready(store, graph, index.corpus, text, active, threads=threads, progress=progress)
    if active_id(graph) != active or not known.issuperset(ids):
        entries = [Entry(read_card(home, id), read_run(home, id)["created"], development_metrics(home, id)) for id in ids]
        check_lock()
        register(store, entries, active)
    return TrainingReport(active, session.trained, [id for id in ids if id not in session.trained])


def serving_version(recipe: Recipe, index_key: str, questions: Sequence[Question]) -> str:
    """The version that serves: of the recipe itself, on its first split."""
    return model_ids(recipe, index_key, questions)[Version(recipe.name, recipe.splits[0])]


def train_version(
    store: Store,
    graph: Graph,
    index: TextIndex,
    text: CorpusText,
    questions: Sequence[Question],
    recipe: Recipe,
    id: str,
    *,
    threads: int = 2,
    ranks: Ranks | None = None,
    check_lock: CheckLock = lambda: None,
    progress: Progress = silent,
) -> None:
    """Train the version that serves, and no other, unless its files are there.

    Args:
        ranks, check_lock: as `train_recipe` has them.

    Raises:
        GraphBusy: the lock has gone to another job; nothing was written.
        BadSetting: there are no questions to train on.
        StorageFull: the disk is full.
    """
    _check_questions(recipe, questions, recipe.splits[:1])
    if not model_folder(store.home, id).is_dir():
        session = _Session(store.home, graph, index, text, questions, threads, ranks or alone(), check_lock, progress)
        session.make(recipe, recipe.splits[0], id)


def _check_questions(recipe: Recipe, questions: Sequence[Question], splits: Sequence[str]) -> None:
    for split in splits:
        for part in ("train", "development"):
            if not of_split(questions, split, part):
                raise BadSetting(f"recipe {recipe.name}: no {part} questions from {recipe.questions!r} in the {split} split")


def development_metrics(home: Path, id: str) -> dict[str, float]:
    """R@100 and MAP of the epoch that was kept, in percent; empty for an encoder that was not trained."""
    card = read_card(home, id)
    if card["best_epoch"] < 0:
        return {}
    epoch = card["curve"][card["best_epoch"]]
    return {"development R@100": round(100 * epoch["recall"], 2), "development MAP": round(100 * epoch["average_precision"], 2)}


class _Session:
    """Makes model versions; features and the states that others start from are made once."""

    def __init__(
        self,
        home: Path,
        graph: Graph,
        index: TextIndex,
        text: CorpusText,
        questions: Sequence[Question],
        threads: int,
        ranks: Ranks,
        check_lock: CheckLock,
        progress: Progress,
    ) -> None:
        self.home, self.graph, self.index, self.text, self.questions = home, graph, index, text, questions
        self.threads, self.progress = threads, progress
        self.ranks, self.check_lock = ranks, check_lock
        self.trained: list[str] = []
        self._features: dict[str, Features] = {}
        self._states: dict[tuple[str, str], State] = {}

    @property
    def corpus(self) -> Corpus:
        return self.index.corpus

    def make(self, recipe: Recipe, split: str, id: str) -> None:
        """Train one version and write it."""
        result = self._result(recipe, split)
        features = self._features_of(recipe)
        training = of_split(self.questions, split, "train")
        vectors = features.encoder.encode([query_text(question) for question in training])
        if result.tower is not None:
            vectors = result.tower(vectors)
        memory = question_memory(self.corpus, vectors, training)
        run = {
            "created": datetime.now(UTC).isoformat(timespec="seconds"),
            "training_s": round(result.seconds, 1),
            "device": torch.cuda.get_device_name() if torch.cuda.is_available() else platform.machine(),
            "threads": self.threads,
            "processes": self.ranks.size,
            "versions": dict(_versions()),
        }
        tuned = Tuned(dict(START), PoolingWeights())
        if recipe.document.layers:  # the one that serves; the others are there to be compared list by list
            tuned = self._tuned(id, split, features, result, memory)
        self.check_lock()
        write_model(self.home, id, self.corpus, self.text, features, result, recipe, memory, tuned, run)
        self.trained.append(id)

    def _tuned(self, id: str, split: str, features: Features, result: Trained, memory: QuestionMemory) -> Tuned:
        model = VectorModel(
            id=id,
            encode=encoding(features.encoder, result.tower),
            articles=result.articles,
            sections=result.sections,
            acts=result.acts,
            bias=result.bias,
            scale=result.scale,
            weights=START,
            questions=memory,
        )
        retriever = Retriever(self.index, model, max_query_characters=1 << 20)
        development = judged(self.corpus, of_split(self.questions, split, "development"))
        return tune_weights(retriever, development, progress=self.progress)

    def _result(self, recipe: Recipe, split: str) -> Trained:
        features = self._features_of(recipe)
        if not recipe.training.epochs:
            return untrained(self.corpus, features)
        start: State | None = None
        if recipe.training.start:
            first = recipe.other(recipe.training.start)
            start = self._states.get((first.name, split)) or self._result(first, split).state
        result = train(
            recipe,
            self.corpus,
            features,
            of_split(self.questions, split, "train"),
            of_split(self.questions, split, "development"),
            edges=self._edges(recipe),
            start=start,
            threads=self.threads,
            ranks=self.ranks,
            progress=self.progress,
        )
        # Only the parameters are kept: the embeddings of many versions would fill the memory.
        self._states[recipe.name, split] = result.state
        return result

    def _edges(self, recipe: Recipe) -> SubgraphEdges:
        """From the server where the graph is on one: through a projection of GDS, else by statements."""
        kinds = recipe.document.edges
        return (
            subgraph_edges(self.corpus, kinds) if self.graph.vectors is None else exported_edges(self.graph, self.corpus, kinds)
        )

    def _features_of(self, recipe: Recipe) -> Features:
        key = recipe.encoder.model_dump_json()
        if key not in self._features:
            self._features[key] = make_features(
                self.home, self.corpus, self.text, recipe.encoder, threads=self.threads, progress=self.progress
            )
        return self._features[key]


def _versions() -> Iterable[tuple[str, str]]:
    yield "python", platform.python_version()
    for package in _VERSIONS:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
