"""The first stage of rerankers that read: queries with the first articles that a trained recipe finds for them."""

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.asking import side_by_side
from gnn.recipe import Recipe
from gnn.training.cross_fitting import asked_of
from gnn.training.lambdamart import Example
from gnn.training.train import Trainer
from runtime.progress import Progress
from schema.errors import LexgraphError, StorageFull
from schema.records import Question
from search.arrays import Positions
from search.corpus.corpus import Corpus
from search.questions import WITH_DESCRIPTION
from search.ranking.reranker import Candidates
from search.retrieval import Retriever
from search.vectors.model import VectorModel

DEEPEST = 400
"""Articles of a query that are kept."""
_SMALLEST_DEVIATION = 1e-6
Relevant = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Found:
    """A query with the first c articles found for it.

    Attributes:
        positions: best first; before: float64[c], their scores so far, as standard scores (`standard`).
        relevant: positions of the articles that answer it; empty where that is not known.
        asked: title alone, or with its description.
    """

    query: str
    positions: Positions
    before: npt.NDArray[np.float64]
    relevant: Relevant
    asked: str = WITH_DESCRIPTION

    def first(self, depth: int) -> "Found":
        """Return the first articles alone."""
        return replace(self, positions=self.positions[:depth], before=standard(self.before[:depth]))


def standard(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """Return scores less their mean, over their deviation; zeros where all are alike.

    Raises:
        LexgraphError: one is not a finite number.
    """
    if not np.isfinite(scores).all():
        raise LexgraphError("a score of an article that is to be reranked is not a finite number")
    scores = np.asarray(scores, np.float64)
    deviation = float(scores.std()) if len(scores) else 0.0
    return (scores - scores.mean()) / deviation if deviation > _SMALLEST_DEVIATION else np.zeros(len(scores))


def found_by(example: Example) -> Found:
    """Return the query of an example with the first of its candidates."""
    return found_in(example.query, example.candidates, example.relevant, example.asked)


def found_in(query: str, candidates: Candidates, relevant: Relevant, asked: str = WITH_DESCRIPTION) -> Found:
    """Return a query with the first of its candidates, of which the first feature is the score so far."""
    positions = candidates.positions[:DEEPEST]
    return Found(query, positions, standard(candidates.rows[:DEEPEST, 0]), relevant, asked)


def ask(retriever: Retriever, questions: Sequence[Question], threads: int, progress: Progress, label: str) -> Iterator[Found]:
    """Yield questions, asked by title and as a whole, with what a retriever finds that was not trained on them."""
    with progress(label, len(questions)) as advance:
        for examples in side_by_side(partial(asked_of, retriever), questions, threads, advance):
            yield from map(found_by, examples)


@dataclass(frozen=True, slots=True)
class KeptFound:
    """Queries with what was found for them, and the seconds that this took."""

    each: Sequence[Found]
    seconds: float


def to_learn_from(trainer: Trainer, first: Recipe, split: str, whole: Callable[[], VectorModel], file: Path) -> KeptFound:
    """Return the training questions of a first stage, each asked of a model of it that had not seen it; kept in a file.

    Args:
        trainer: over the questions of its own source; whole: gives the model that was trained on all of these, whose weights
            and pooling rank.
        file: where they are kept, for the next reranker over the same first stage.

    Raises:
        StorageFull: the disk is full.
    """
    if not file.exists():
        began, model = trainer.clock.seconds, whole()
        examples = trainer.examples(first, split, model.weights, model.pooling)
        _write(file, KeptFound([found_by(example) for example in examples], trainer.clock.seconds - began))
    return _read(file)


def own_questions(questions: Sequence[Question], recipe: Recipe) -> list[Question]:
    """Return the questions of a recipe's own source; all, where none is of it."""
    return [question for question in questions if question.source == recipe.questions] or list(questions)


def answerable(found: Sequence[Found], depth: int) -> list[Found]:
    """Return the queries that have a relevant article and another among their first ones, with these alone."""
    first = [one.first(depth) for one in found]
    right = [np.isin(one.positions, one.relevant) for one in first]
    return [one for one, relevant in zip(first, right, strict=True) if relevant.any() and not relevant.all()]


def check_law(corpus: Corpus, recipe: Recipe) -> None:
    """Raise LexgraphError where there are not two articles, of which one could stand before the other."""
    if len(corpus.articles) < 2:
        raise LexgraphError(f"recipe {recipe.name}: the law has {len(corpus.articles)} article: there is nothing to rerank")


def _write(file: Path, found: KeptFound) -> None:
    rows = [[f.query, f.positions.tolist(), f.before.tolist(), f.relevant.tolist(), f.asked] for f in found.each]
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps({"seconds": found.seconds, "found": rows}), "utf-8")
        part.replace(file)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageFull(f"{file}: {error.strerror}") from None


def _read(file: Path) -> KeptFound:
    kept = json.loads(file.read_text("utf-8"))
    found = [Found(q, np.array(p, np.intp), np.array(b), np.array(r, np.intp), a) for q, p, b, r, a in kept["found"]]
    return KeptFound(found, kept["seconds"])
