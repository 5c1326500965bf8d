"""Systems side by side on the same questions: one table, what each part of the hybrid earns."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from gnn.asking import side_by_side
from gnn.recipe import Recipe
from gnn.versions.active import served_model
from gnn.versions.files import encoder_of, read_card, read_run
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from schema.errors import BadQuery, NotReady
from schema.records import Question
from search.arrays import Matrix
from search.evaluation import UNRANKED, Judged, Measured, Ranks, Scores, measures_of, ranks_in_order, recall_curve, with_intervals
from search.modes import Mode
from search.questions import PARTS, TITLE, WITH_DESCRIPTION, judged, of_split
from search.retrieval import Retriever
from search.vectors.model import Encode

_TIMED = 32
"""Queries that are asked one after another, for their time; the others are asked side by side."""


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One row of the table: measures in percent, training time in seconds, median time of a query in milliseconds.

    Attributes:
        recall: at each of `search.evaluation.CURVE_CUTS`, in percent.
        ranks: of the relevant articles of each question, in their order.
        about: the system in a sentence.
    """

    measures: dict[str, Measured]
    recall: list[Measured]
    training_s: float | None
    query_ms: float
    ranks: list[Ranks]
    about: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table: the systems on n questions of one part of one split, asked in one way."""

    questions: str
    split: str
    part: str
    asked: str
    cases: Sequence[Question]
    systems: dict[str, SystemResult]

    @property
    def n(self) -> int:
        """Number of questions."""
        return len(self.cases)

    def as_json(self) -> dict[str, Any]:
        """Return the table as an object: plain means beside their intervals."""
        systems: dict[str, Any] = {}
        for name, result in self.systems.items():
            row: dict[str, Any] = {measure: round(value.mean, 2) for measure, value in result.measures.items()}
            row["intervals"] = {m: [round(v.low, 2), round(v.high, 2)] for m, v in result.measures.items()}
            row["recall_curve"] = [round(value.mean, 2) for value in result.recall]
            row["recall_curve_intervals"] = [[round(value.low, 2), round(value.high, 2)] for value in result.recall]
            row["training_s"] = result.training_s
            row["query_ms"] = round(result.query_ms, 2)
            systems[name] = row
        about = {name: getattr(self, name) for name in ("questions", "split", "part", "asked", "n")}
        return about | {"systems": systems}

    def per_question(self) -> Iterator[dict[str, Any]]:
        """Yield each question with the rank that each system gives to each relevant article; None where it was not found."""
        for n, question in enumerate(self.cases):
            ranks = {
                name: {
                    article: None if rank == UNRANKED else rank
                    for article, rank in zip(question.relevant, result.ranks[n].tolist(), strict=True)
                }
                for name, result in self.systems.items()
            }
            about = {name: getattr(self, name) for name in ("questions", "split", "part", "asked")}
            yield {"id": question.id, "text": question.text} | about | {"ranks": ranks}


def evaluate(
    workspace: Workspace, recipe: Recipe, questions: Sequence[Question], *, source: str, part: str = "test"
) -> dict[str, Comparison]:
    """Return every table of a source of questions, by name, the main one first.

    Questions of a ``.jsonl`` file make one table. Those of the graph make one for each split, and the same once more for
    titles that are asked alone.

    Raises:
        BadQuery: there is no such part of the questions.
        NotReady: a version has not been trained, or there are no questions.
    """
    if part not in PARTS:
        raise BadQuery(f"no part {part!r} of the questions; there are: {', '.join(PARTS)}")
    if source.endswith(".jsonl"):
        return {"": compare(workspace, recipe, questions, source=source, split=recipe.splits[0], part="all")}
    if not questions:
        raise NotReady(f"no questions from {source!r} in the graph: run `lexgraph ingest`, or name a .jsonl file")
    tables: dict[str, Comparison] = {}
    for asked in (WITH_DESCRIPTION, TITLE):
        for split in recipe.splits:
            name = split if asked == WITH_DESCRIPTION else f"{split}, {asked} alone"
            chosen = of_split(questions, split, part)
            tables[name] = compare(workspace, recipe, chosen, source=source, split=split, part=part, asked=asked)
    return tables


def compare(
    workspace: Workspace,
    recipe: Recipe,
    questions: Sequence[Question],
    *,
    source: str,
    split: str,
    part: str,
    asked: str = WITH_DESCRIPTION,
) -> Comparison:
    """Return one table: every system on the same questions.

    Args:
        split: whose versions are used; ``source`` and ``part`` only name the questions.

    Raises:
        NotReady: a version has not been trained, or there are no questions.
    """
    if not questions:
        raise NotReady(f"no {part} questions of {source} in the {split} split")
    queries = judged(workspace.corpus, questions, asked)
    systems = {system.name: _measured(workspace, system, queries) for system in _systems(workspace, recipe, split)}
    return Comparison(source, split, part, asked, questions, systems)


def curves(workspace: Workspace, recipe: Recipe) -> dict[str, list[dict[str, float]]]:
    """Return the training curves of a recipe's versions on its first split, by system."""
    ids = model_ids(recipe, workspace.index.key, workspace.learnt_from(recipe))
    cards = {row: read_card(workspace.home, ids[RecipeSplit(of, recipe.splits[0])]) for row, of in _rows(recipe).items()}
    return {row: card["curve"] for row, card in cards.items() if card["curve"]}


def _rows(recipe: Recipe) -> dict[str, str]:
    """Return the recipes of a table by the names of their rows: their systems, and where two share one, their own names."""
    systems = {name: recipe.other(name).system for name in (*recipe.compare, recipe.name)}
    shared = Counter(systems.values())
    return {system if shared[system] == 1 else name: name for name, system in systems.items()}


class _Encoder:
    """An encoder that reads a query once for all rows of a table that have it.

    Attributes:
        spared: seconds that reading queries again would have taken, in sum: part of the time of a search.
    """

    def __init__(self, encode: Encode) -> None:
        self._encode = encode
        self._kept: dict[tuple[str, ...], tuple[Matrix, float]] = {}
        self.spared = 0.0

    def __call__(self, texts: Sequence[str]) -> Matrix:
        key = tuple(texts)
        if key in self._kept:
            self.spared += self._kept[key][1]
        else:
            began = time.perf_counter()
            self._kept[key] = self._encode(texts), time.perf_counter() - began
        return self._kept[key][0]


@dataclass(frozen=True, slots=True)
class _System:
    """A row of the table before it is measured."""

    name: str
    retriever: Retriever
    mode: Mode
    about: str
    training_s: float | None = None
    pooled: bool = True
    encoder: _Encoder | None = None


def _systems(workspace: Workspace, recipe: Recipe, split: str) -> Iterator[_System]:
    """Yield the systems of a recipe, one after the other: each model is let go before the next is opened."""
    lexical = Retriever(workspace.index, None)
    yield _System("bm25", lexical, Mode.BM25, "The words of articles (BM25).")
    yield _System("bm25-hybrid", lexical, Mode.HYBRID, "The words of articles and of their sections, pooled over the tree.")
    ids = model_ids(recipe, workspace.index.key, workspace.learnt_from(recipe))
    home, corpus = workspace.home, workspace.corpus
    encoders: dict[str, _Encoder] = {}
    for row, name in _rows(recipe).items():
        id = ids[RecipeSplit(name, split)]
        if not model_folder(home, id).is_dir():
            raise NotReady(f"model {id} has not been trained: run `lexgraph train`")
        other = recipe.other(name)
        key = other.encoder.model_dump_json() + (name if other.encoder.is_tuned else "")
        if key not in encoders:
            encoders[key] = _Encoder(encoder_of(home, id, workspace.threads))
        model = served_model(home, workspace.graph, corpus, id, workspace.threads, encoders[key])
        retriever = Retriever(workspace.index, model)
        of_version = partial(_System, training_s=read_run(home, id)["training_s"], encoder=encoders[key])
        yield of_version(row, retriever, Mode.VECTOR, other.description)
        if name == recipe.name:
            down = f"From the acts down through the sections, by the embeddings of {row}."
            fused = f"{row}, words, and the nearest training questions, fused"
            plain = Retriever(workspace.index, retriever.model, reranks=False)
            yield of_version("hierarchical", retriever, Mode.HIERARCHICAL, down)
            yield of_version("hybrid-no-pooling", plain, Mode.HYBRID, f"{fused}.", pooled=False)
            served = "" if other.rerank.rounds else ": the search of the service"
            pooled = f"{fused} and pooled over the tree, what is like the first answers moved up{served}."
            yield of_version("hybrid", plain, Mode.HYBRID, pooled)
            if other.rerank.rounds:
                about = "As hybrid, the first thousand articles reranked: the search of the service."
                yield of_version("reranked", retriever, Mode.HYBRID, about)


def _measured(workspace: Workspace, system: _System, queries: Sequence[Judged]) -> SystemResult:
    times: list[float] = []

    def scores(query: str) -> Scores:
        return system.retriever.scores(query, system.mode, pooled=system.pooled)[0]

    def timed(query: str) -> Scores:
        spared = system.encoder.spared if system.encoder else 0.0
        began = time.perf_counter()
        found = scores(query)
        times.append(time.perf_counter() - began + (system.encoder.spared - spared if system.encoder else 0.0))
        return found

    with workspace.progress(system.name, len(queries)) as advance:
        ranks: list[Ranks] = []
        for query in queries[:_TIMED]:
            ranks.append(ranks_in_order(timed(query.query), query.relevant))
            advance(1)
        ranks += side_by_side(
            lambda query: ranks_in_order(scores(query.query), query.relevant), queries[_TIMED:], workspace.threads, advance
        )
    measured = with_intervals(measures_of(ranks))
    median_ms = 1000 * float(np.median(times))
    return SystemResult(measured, recall_curve(ranks), system.training_s, median_ms, ranks, " ".join(system.about.split()))
