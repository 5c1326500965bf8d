"""The workspace that training, retraining and evaluation are given."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from cypher.graph import CheckLock, Graph, Store
from gnn.further_questions import to_train_on
from gnn.recipe import Recipe
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.versions.serving import make_ready
from runtime.progress import Progress, silent
from schema.errors import BadSetting, GraphBusy
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from search.text.index import TextIndex

if TYPE_CHECKING:  # without torch, what is trained can still be evaluated
    from gnn.distributed import Process


@dataclass(frozen=True, eq=False)
class Workspace:
    """One law with its index and the questions on it, and the means to work on them.

    Attributes:
        graph: the store's, open for reading; index: of its law.
        questions: those that a recipe is trained on; outside: those that came with them and the law cannot answer.
        further: questions of other sources, by source, for the recipes that name these.
        shelf: shared place of model files (`gnn.versions.shared_folder`), or empty.
        threads: of this machine, for one job.
        check_lock: called before a version is written or made active; raises GraphBusy once the lock has gone.
        process: the leader of those that share the trainings; None: this one alone.
    """

    store: Store
    graph: Graph
    index: TextIndex
    questions: Sequence[Question]
    outside: Sequence[Question] = ()
    shelf: str = ""
    threads: int = 2
    check_lock: CheckLock = lambda: None
    progress: Progress = silent
    further: Mapping[str, Sequence[Question]] = field(default_factory=dict[str, Sequence[Question]])
    process: "Process | None" = None

    def of_recipe(self, recipe: Recipe) -> "Workspace":
        """Return this workspace with the questions of the further sources that a recipe names beside its own.

        Raises:
            BadSetting: such a source has no questions.
        """
        if not recipe.more_questions:
            return self
        for source in recipe.more_questions:
            if not self.further.get(source):
                raise BadSetting(f"recipe {recipe.name}: no questions from {source!r} in the graph: run `lexgraph ingest`")
        held = {(one.source, one.id) for one in self.questions}  # further ones too, of a recipe that names this one
        further = [one for name in recipe.more_questions for one in self.further[name] if (one.source, one.id) not in held]
        return replace(self, questions=[*self.questions, *to_train_on(self.corpus, further, self.questions)])

    def learnt_from(self, recipe: Recipe) -> Sequence[Question]:
        """Return all questions that a version of a recipe is made from.

        They are its own, those of the encoder that it names, and those of the recipe over which its trees learn.

        Raises:
            BadSetting: a source that the encoder's recipe names has no questions.
        """
        tuned = [recipe.other(recipe.encoder.tuned)] if recipe.encoder.tuned else []
        each = [self.of_recipe(one).questions for one in (*tuned, recipe)]
        if recipe.rerank.rounds and recipe.rerank.over:
            each.append(self.learnt_from(recipe.other(recipe.rerank.over)))
        every: dict[tuple[str, str], Question] = {}
        for one in chain.from_iterable(each):
            every.setdefault((one.source, one.id), one)
        return [*every.values()]

    def version_id(self, recipe: Recipe, split: str) -> str:
        """Return the identifier of a recipe's version: the same law, questions, options and seed give the same one.

        Raises:
            BadSetting: as `learnt_from`.
        """
        alone = recipe.model_copy(update={"compare": (), "splits": (split,)})
        return model_ids(alone, self.index.key, self.learnt_from(recipe))[RecipeSplit(recipe.name, split)]

    def make_ready(self, id: str) -> int:
        """Make a version fit to serve this law (`gnn.versions.serving.make_ready`); return how many embeddings were made."""
        store, graph, corpus = self.store, self.graph, self.corpus
        return make_ready(store, graph, corpus, self.text, id, threads=self.threads, progress=self.progress)

    @property
    def engines(self) -> str:
        """Names of what holds the words and the vectors: a server's figures are not those of the embedded engines."""
        words, vectors = type(self.index.lexical).__name__, self.graph.vectors
        return "-".join([words, "Embedded" if vectors is None else type(vectors).__name__]).lower()

    @property
    def home(self) -> Path:
        """Folder of models, features, and records of runs."""
        return self.store.home

    @property
    def corpus(self) -> Corpus:
        """Law that the index was made of."""
        return self.index.corpus

    @cached_property
    def text(self) -> CorpusText:
        """Words of the law, read when they are first needed.

        Raises:
            GraphBusy: the law has changed since the index was opened.
        """
        corpus, text = read_corpus(self.graph)
        if corpus.sha256 != self.corpus.sha256:
            raise GraphBusy("the law changed while it was read: try again")
        return text
