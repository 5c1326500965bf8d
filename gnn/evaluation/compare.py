"""Systems side by side on the same questions: one table, what each part of the hybrid earns."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cypher.graph import Graph
from gnn.recipe import Recipe
from gnn.versions.active import served_model
from gnn.versions.files import read_card, read_run
from gnn.versions.identity import Version
from gnn.versions.shared_folder import model_folder
from runtime.progress import Progress, silent
from schema.errors import NotReady
from schema.records import Question
from search.evaluation import Judged, Measured, all_ranks, measures_of, recall_curve, with_intervals
from search.questions import WITH_DESCRIPTION, judged
from search.retrieval import Mode, Retriever
from search.text.index import TextIndex

Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class SystemResult:
    """One row of the table: measures in percent, training time in seconds, median time of a query in milliseconds.

    ``recall`` is the mean recall at each of `search.evaluation.CURVE_CUTS`, in percent.
    """

    measures: dict[str, Measured]
    recall: list[float]
    training_s: float | None
    query_ms: float


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table: the systems on n questions of one part of one split, asked in one way."""

    questions: str
    split: str
    part: str
    asked: str
    n: int
    systems: dict[str, SystemResult]

    def as_json(self) -> dict[str, Any]:
        """The table as an object: plain means beside their intervals."""
        systems: dict[str, Any] = {}
        for name, result in self.systems.items():
            row: dict[str, Any] = {measure: round(value.mean, 2) for measure, value in result.measures.items()}
            row["intervals"] = {m: [round(v.low, 2), round(v.high, 2)] for m, v in result.measures.items()}
            row["recall_curve"] = [round(value, 2) for value in result.recall]
            row["training_s"] = result.training_s
            row["query_ms"] = round(result.query_ms, 2)
            systems[name] = row
        about = asdict(self)
        del about["systems"]
        return about | {"systems": systems}


def compare(
    home: Path,
    graph: Graph,
    index: TextIndex,
    recipe: Recipe,
    versions: Mapping[Version, str],
    questions: Sequence[Question],
    *,
    source: str,
    split: str,
    part: str,
    asked: str = WITH_DESCRIPTION,
    threads: int = 2,
    progress: Progress = silent,
) -> Comparison:
    """Run every system on the same questions.

    Args:
        versions: identifiers of the recipe's versions (`model_ids`).
        split: whose versions are used; ``part`` only names what was asked.

    Raises:
        NotReady: a version has not been trained, or there are no questions.
    """
    if not questions:
        raise NotReady(f"no {part} questions of {source} in the {split} split")
    queries = judged(index.corpus, questions, asked)
    systems: dict[str, SystemResult] = {}

    def run(name: str, retriever: Retriever, mode: Mode, training_s: float | None = None, pooled: bool = True) -> None:
        def score(query: str) -> Scores:
            return retriever.scores(query, mode, pooled=pooled)[0]

        systems[name] = _timed(score, queries, training_s, progress, name)

    lexical = Retriever(index, None)
    run("bm25", lexical, Mode.BM25)
    run("bm25-hybrid", lexical, Mode.HYBRID)
    for name in (*recipe.compare, recipe.name):
        id = versions[Version(name, split)]
        if not model_folder(home, id).is_dir():
            raise NotReady(f"model {id} has not been trained: run `lexgraph train`")
        retriever = Retriever(index, served_model(home, graph, index.corpus, id, threads))
        seconds = read_run(home, id)["training_s"]
        run(recipe.other(name).system, retriever, Mode.VECTOR, seconds)
        if name == recipe.name:
            run("hierarchical", retriever, Mode.HIERARCHICAL, seconds)
            run("hybrid-no-pooling", retriever, Mode.HYBRID, seconds, pooled=False)
            run("hybrid", retriever, Mode.HYBRID, seconds)
    return Comparison(source, split, part, asked, len(queries), systems)


def curves(home: Path, recipe: Recipe, versions: Mapping[Version, str]) -> dict[str, list[dict[str, float]]]:
    """The training curves of a recipe's versions on its first split, by system."""
    found: dict[str, list[dict[str, float]]] = {}
    for name in (*recipe.compare, recipe.name):
        card = read_card(home, versions[Version(name, recipe.splits[0])])
        if card["curve"]:
            found[card["recipe"]["system"]] = card["curve"]
    return found


def _timed(
    score: Callable[[str], Scores], queries: Sequence[Judged], training_s: float | None, progress: Progress, name: str
) -> SystemResult:
    times: list[float] = []

    def timed(query: str) -> Scores:
        began = time.perf_counter()
        scores = score(query)
        times.append(time.perf_counter() - began)
        return scores

    ranks = all_ranks(timed, queries, progress=progress, label=name)
    measured = with_intervals(measures_of(ranks))
    return SystemResult(measured, recall_curve(ranks), training_s, 1000 * float(np.median(times)))
