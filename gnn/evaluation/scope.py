"""Measure how well confidence tells questions that the law answers from those that it does not, and draw the curve."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from gnn.recipe import Recipe
from gnn.training.scope import LEAST, confidences, development_questions, evidence_of, has_scope, learn_scope, unlearnt
from gnn.versions.files import load_model
from gnn.workspace import Workspace
from schema.errors import BadSetting, MissingExtra, NotReady
from search.questions import TITLE, WITH_DESCRIPTION, of_split
from search.retrieval import Retriever


@dataclass(frozen=True, eq=False)
class ScopeFigures:
    """Confidence of the questions of one split, asked in one way.

    Attributes:
        inside: float64[questions], of questions with an answer; outside: of those without.
        threshold: confidence below which a question is called outside.
    """

    split: str
    asked: str
    inside: npt.NDArray[np.float64]
    outside: npt.NDArray[np.float64]
    threshold: float

    @property
    def area(self) -> float:
        """Area under the curve: the probability that a question with an answer has the higher confidence of two."""
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(*self._labelled))

    @property
    def called_outside(self) -> float:
        """Share, from 0 to 1, of the questions with an answer that are called outside."""
        return float((self.inside < self.threshold).mean())

    @property
    def found_outside(self) -> float:
        """Share, from 0 to 1, of the questions without an answer that are called outside."""
        return float((self.outside < self.threshold).mean())

    def curve(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return the shares, from 0 to 1, that are called outside threshold by threshold: with an answer, and without."""
        from sklearn.metrics import roc_curve

        answered, confidence = self._labelled
        wrongly, rightly, _ = roc_curve(~answered, -confidence)
        return wrongly, rightly

    @property
    def _labelled(self) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        answered = np.repeat([True, False], [len(self.inside), len(self.outside)])
        return answered, np.concatenate([self.inside, self.outside])


def measure_scope(workspace: Workspace, recipe: Recipe, most: int | None = None) -> Iterator[ScopeFigures]:
    """Yield the figures of each split of a recipe, of titles and of whole questions.

    They are those of the test questions, and of the half of the questions without an answer that nothing was learnt from.

    Args:
        most: questions of either kind that are asked, the first ones; None: all.

    Raises:
        NotReady: a version has not been trained, or there are too few questions with or without an answer.
        BadSetting: versions of the recipe have no confidence.
    """
    if not has_scope(recipe):
        chooser = recipe.chooser.name
        raise BadSetting(f"recipe {recipe.name}: {chooser}, which chose its epochs, embeds by another encoder: no confidence")
    for split in recipe.splits:
        inside, outside = development_questions(workspace, split)
        if min(len(inside), len(outside)) < LEAST:
            raise NotReady(f"fewer than {LEAST} development questions with an answer, or without: run `lexgraph ingest`")
        model = load_model(workspace.home, workspace.version_id(recipe, split), workspace.corpus, workspace.threads)
        retriever = Retriever(workspace.index, model)
        threads, progress = workspace.threads, workspace.progress
        scope = model.scope or learn_scope(
            unlearnt(workspace, recipe, split), inside, outside, threads=threads, progress=progress
        )
        parts = [of_split(questions, split, "test")[:most] for questions in (workspace.questions, workspace.outside)]
        found = [confidences(scope, evidence_of(retriever, part, threads=threads, progress=progress)) for part in parts]
        for number, asked in enumerate((TITLE, WITH_DESCRIPTION)):
            yield ScopeFigures(split, asked, found[0][:, number], found[1][:, number], scope.threshold)


def draw_scope(figures: Sequence[ScopeFigures], path: Path) -> None:
    """Draw the curves, with the place of the threshold on each, in the format that the ending of ``path`` names.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the picture needs matplotlib: pip install 'lexgraph[train]'") from None
    figure = Figure(figsize=(6.5, 6), layout="constrained")
    axes = figure.subplots()
    for one in figures:
        wrongly, rightly = one.curve()
        label = f"{one.split}, {one.asked}: area {one.area:.3f}"
        (line,) = axes.plot(100 * wrongly, 100 * rightly, label=label, linestyle="--" if one.asked == TITLE else "-")
        axes.plot(100 * one.called_outside, 100 * one.found_outside, marker="o", color=line.get_color())
    axes.axvline(5, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlabel="questions with an answer called outside, %", ylabel="questions without an answer called outside, %")
    axes.set_title("scope: test questions, and the other half of those without an answer")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, loc="lower right")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
