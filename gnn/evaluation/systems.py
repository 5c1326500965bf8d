"""The systems of an evaluation: words alone, and every way in which a recipe and those that it is compared with rank."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from gnn.encoders.joined import JoinedEncoder
from gnn.recipe import Recipe
from gnn.versions.active import served_model
from gnn.versions.files import encoder_of, read_run
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from schema.errors import NotReady
from search.arrays import BeginIn, Matrix
from search.modes import Mode
from search.retrieval import Retriever
from search.vectors.model import VectorModel


class Encoder:
    """An encoder that reads a query once for all rows of a table that have it, opened when the first is asked.

    It reads before words rank, not beside them as a transformer does that serves, whose times of a search are shorter by that.

    Attributes:
        spared: seconds that reading queries again would have taken, in sum: part of the time of a search.
    """

    begin_in: BeginIn | None = None

    def __init__(self, open: Callable[[], JoinedEncoder]) -> None:
        self._open = cache(open)
        self._kept: dict[tuple[str | tuple[str, ...], ...], tuple[Matrix, float]] = {}
        self.spared = 0.0

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32[texts, d]: embeddings of queries."""
        return self._once(tuple(texts), lambda encoder: encoder.encode(texts))

    def encode_in(self, text: str, parts: Sequence[str]) -> Matrix:
        """Return float32[1 + parts, d]: embeddings of a query and of parts of it."""
        return self._once((text, tuple(parts)), lambda encoder: encoder.encode_in(text, parts))

    def _once(self, key: tuple[str | tuple[str, ...], ...], read: Callable[[JoinedEncoder], Matrix]) -> Matrix:
        if key in self._kept:
            self.spared += self._kept[key][1]
        else:
            encoder = self._open()
            began = time.perf_counter()
            self._kept[key] = read(encoder), time.perf_counter() - began
        return self._kept[key][0]


@dataclass(frozen=True, slots=True)
class System:
    """A row of the table before it is measured.

    Attributes:
        of: what stands for the training of its model, the index and the engines of both.
        open: opens its model, where it has one.
    """

    name: str
    of: str
    open: Callable[[], Retriever]
    mode: Mode
    about: str
    training_s: float | None = None
    pooled: bool = True
    encoder: Encoder | None = None


def rows_of(recipe: Recipe) -> dict[str, str]:
    """Return the recipes of a table by the names of their rows: their systems, and where two share one, their own names."""
    systems = {name: recipe.other(name).system for name in (*recipe.compare, recipe.name)}
    shared = Counter(systems.values())
    return {system if shared[system] == 1 else name: name for name, system in systems.items()}


def systems_of(workspace: Workspace, recipe: Recipe, split: str) -> Iterator[System]:
    """Yield the systems of a recipe, one after the other: each model is let go before the next is opened.

    Raises:
        NotReady: a version has not been trained.
    """
    engines = workspace.engines
    lexical = partial(Retriever, workspace.index, None)
    words = f"{workspace.index.key}-{engines}"
    yield System("bm25", words, lexical, Mode.BM25, "The words of articles (BM25).")
    pooled = "The words of articles and of their sections, pooled over the tree."
    yield System("bm25-hybrid", words, lexical, Mode.HYBRID, pooled)
    ids = model_ids(recipe, workspace.index.key, workspace.learnt_from(recipe))
    encoders: dict[str, Encoder] = {}
    for row, name in rows_of(recipe).items():
        id, other = ids[RecipeSplit(name, split)], recipe.other(name)
        if not model_folder(workspace.home, id).is_dir():
            raise NotReady(f"model {id} has not been trained: run `lexgraph train`")
        key = other.encoder.model_dump_json() + (name if other.encoder.is_tuned else "")
        if key not in encoders:
            encoders[key] = Encoder(partial(encoder_of, workspace.home, id, workspace.threads))
        yield from _of_version(workspace, (row, id, engines), other, encoders[key], served=name == recipe.name)


def _of_version(
    workspace: Workspace, named: tuple[str, str, str], recipe: Recipe, encoder: Encoder, *, served: bool
) -> Iterator[System]:
    """Yield the vectors of a version as a row, and, of the one that serves, the ways of searching with it."""
    row, id, engines = named
    run = read_run(workspace.home, id)
    trained = "".join(filter(str.isdigit, run["created"]))  # by other code the same version may be trained anew

    @cache
    def model() -> VectorModel:
        return served_model(workspace.home, workspace.graph, workspace.index.corpus, id, workspace.threads, encoder)

    def reranking() -> Retriever:
        return Retriever(workspace.index, model())

    def plain() -> Retriever:
        return Retriever(workspace.index, model(), reranks=False)

    system = partial(System, of=f"{id}-{trained}-{engines}", training_s=run["training_s"], encoder=encoder)
    yield system(row, open=reranking, mode=Mode.VECTOR, about=recipe.description)
    if not served:
        return
    fused = f"{row}, words, and the nearest training questions, fused"
    down = f"From the acts down through the sections, by the embeddings of {row}."
    yield system("hierarchical", open=reranking, mode=Mode.HIERARCHICAL, about=down)
    yield system("hybrid-no-pooling", open=plain, mode=Mode.HYBRID, about=f"{fused}.", pooled=False)
    last = "" if recipe.rerank.rounds else ": the search of the service"
    several = ", several sections among the first" if recipe.diversity else ""
    pooled = f"{fused} and pooled over the tree, what is like the first answers moved up{several}{last}."
    yield system("hybrid", open=plain, mode=Mode.HYBRID, about=pooled)
    if recipe.rerank.rounds:
        about = f"As hybrid, the first thousand articles reranked{several}: the search of the service."
        yield system("reranked", open=reranking, mode=Mode.HYBRID, about=about)
