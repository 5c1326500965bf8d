"""Learning to read: relevant articles of training questions, each beside others that the first stage found for the same."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from gnn.distributed import Process
from gnn.fine_tuning.loop import Run, tune
from gnn.reading.first_stage import Found, answerable, standard
from gnn.reading.reader import Reader, ReadingReranker, chosen_share, ranks_among
from gnn.recipe import Recipe
from runtime.progress import Progress, silent
from schema.errors import BadSetting
from search.evaluation import average_precision, ndcg

_TO_JUDGE_BY = 48
"""Development questions, at most, that an epoch is judged by: reading takes its time."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A query with one relevant article among those found for it, and others: places among these."""

    found: Found
    relevant: int
    others: tuple[int, ...]

    @property
    def places(self) -> list[int]:
        """The relevant one, then the others."""
        return [self.relevant, *self.others]


class Learner(Reader, Protocol):
    """A reader that is still to be trained."""

    @property
    def model(self) -> nn.Module:
        """The parameters."""
        ...

    def loss(self, drawn: Sequence[Drawn]) -> Tensor:
        """Return the mean loss of what was drawn, float32[]."""
        ...


class ReadingTask:
    """A learner with its questions, as the loop of fine-tuning takes it (`gnn.fine_tuning.loop.Task`).

    Args:
        found: training questions; development: those that epochs are judged by; both with their first articles alone.
    """

    def __init__(self, learner: Learner, recipe: Recipe, found: Sequence[Found], development: Sequence[Found]) -> None:
        self.learner, self.options, self.seed = learner, recipe.reading, recipe.fine_tuning.seed
        self.found = list(found)
        # Spread evenly, not by a stride: titles and whole questions take turns.
        places = np.linspace(0, len(development) - 1, min(len(development), _TO_JUDGE_BY)).astype(int)
        self.development = [development[place] for place in places]
        self.drawn: list[Drawn] = []

    @property
    def model(self) -> nn.Module:
        """The parameters of the learner."""
        return self.learner.model

    @property
    def examples(self) -> int:
        """Number of examples of an epoch."""
        return len(self.found) * self.options.draws

    def begin(self, epoch: int, process: Process, progress: Progress = silent) -> None:
        """Draw the relevant articles of an epoch, and the others beside them."""
        draw = np.random.default_rng((self.seed, epoch))
        self.drawn = [one for found in self.found for one in drawn_from(found, self.options.draws, self.options.negatives, draw)]

    def loss(self, examples: Sequence[int], process: Process) -> Tensor:
        """Return the mean loss of examples by their numbers; one process reads them all."""
        return self.learner.loss([self.drawn[number] for number in examples])

    def quality(self) -> Mapping[str, float]:
        """Return measures of development questions where what is read weighs as much as the score so far."""
        learnt = [(found, found.before + standard(self.learner.scores(found))) for found in self.development]
        ranks = [ranks_among(found, scores) for found, scores in learnt]
        measured = {"MAP": [average_precision(rank) for rank in ranks], "nDCG@10": [ndcg(rank, 10) for rank in ranks]}
        return {name: float(np.mean(values)) if values else 0.0 for name, values in measured.items()}


def drawn_from(found: Found, draws: int, negatives: int, draw: np.random.Generator) -> Iterator[Drawn]:
    """Yield a query ``draws`` times with a relevant article and as many others as there are, at most ``negatives``."""
    right = np.isin(found.positions, found.relevant)
    relevant, others = np.flatnonzero(right), np.flatnonzero(~right)
    for _ in range(draws):
        beside: npt.NDArray[np.intp] = draw.choice(others, min(negatives, len(others)), replace=False)
        yield Drawn(found, int(draw.choice(relevant)), tuple(beside.tolist()))


@dataclass(frozen=True, slots=True)
class ToLearnFrom:
    """Questions with all articles that the first stage found: those to train on, and those to choose by."""

    training: Sequence[Found]
    development: Sequence[Found]


def learn(learner: Learner, recipe: Recipe, asked: ToLearnFrom, run: Run) -> ReadingReranker:
    """Train a reader, and choose its share on development questions.

    Args:
        run: of the training, which goes on from its checkpoint where it was stopped.

    Raises:
        BadSetting: no training question has an answer among its first articles; or as `gnn.fine_tuning.loop.tune`.
        StorageFull: the disk is full.
    """
    depth = recipe.reading.depth
    training = answerable(asked.training, depth)
    if not training:
        raise BadSetting(
            f"recipe {recipe.name}: no training question has an answer, and another article, among its first {depth}: "
            "there is nothing to rerank"
        )
    task = ReadingTask(learner, recipe, training, [found.first(depth) for found in asked.development])
    curve, began = tune(task, run), time.monotonic()
    with run.progress("share of what is read", 1) as advance:
        share = chosen_share(learner, asked.development, depth)
        advance(1)
    return ReadingReranker(learner, depth, share, curve[-1].seconds + time.monotonic() - began)
