"""Systems side by side on the same questions: one table, what each part of the hybrid earns."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnn.asking import side_by_side
from gnn.evaluation.systems import System, rows_of, systems_of
from gnn.kept_answers import Answers, keep_answers, kept_answers, kept_file
from gnn.recipe import Recipe
from gnn.versions.files import read_card
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.workspace import Workspace
from schema.errors import BadQuery, NotReady
from schema.records import Question
from search.evaluation import UNRANKED, Judged, Measured, Ranks, Scores, measures_of, ranks_in_order, recall_curve, with_intervals
from search.questions import PARTS, TITLE, WITH_DESCRIPTION, judged, of_split

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
    ranks: Sequence[Ranks]
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
        StorageFull: the disk is full; rows that were measured before stay.
    """
    if not questions:
        raise NotReady(f"no {part} questions of {source} in the {split} split")
    queries = judged(workspace.corpus, questions, asked)
    systems = {one.name: _measured(workspace, one, asked, queries) for one in systems_of(workspace, recipe, split)}
    return Comparison(source, split, part, asked, questions, systems)


def curves(workspace: Workspace, recipe: Recipe) -> dict[str, list[dict[str, float]]]:
    """Return the training curves of a recipe's versions on its first split, by system."""
    ids = model_ids(recipe, workspace.index.key, workspace.learnt_from(recipe))
    cards = {row: read_card(workspace.home, ids[RecipeSplit(of, recipe.splits[0])]) for row, of in rows_of(recipe).items()}
    return {row: card["curve"] for row, card in cards.items() if card["curve"]}


def _measured(workspace: Workspace, system: System, asked: str, queries: Sequence[Judged]) -> SystemResult:
    """Return a row, measured now where the same version, ranked by the same code, was not asked the same before."""
    file = kept_file(workspace.home, f"evaluated-{system.of}", {asked: queries})
    before, _ = kept_answers(file)
    if system.name in before:
        answers = before[system.name][asked]
    else:
        answers = _answers(workspace, system, queries)
        keep_answers(file, {**before, system.name: {asked: answers}}, {})
    measured = with_intervals(measures_of(answers.ranks))
    about = " ".join(system.about.split())
    return SystemResult(measured, recall_curve(answers.ranks), system.training_s, answers.query_ms, answers.ranks, about)


def _answers(workspace: Workspace, system: System, queries: Sequence[Judged]) -> Answers:
    retriever, times = system.open(), list[float]()

    def scores(query: str) -> Scores:
        return retriever.scores(query, system.mode, pooled=system.pooled)[0]

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
    return Answers(ranks, 1000 * float(np.median(times)))
