"""Questions that recipes are asked, and the workspaces that they learn in: one part of a split, or each fifth in turn."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from gnn.recipe import Recipe
from gnn.training.cross_fitting import FOLDS, fold_of
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from schema.errors import BadQuery, NotReady
from schema.records import Question
from search.evaluation import Judged
from search.questions import PARTS, TITLE, WITH_DESCRIPTION, judged, of_split, part_name

CROSS_FITTED = "cross-fitted"
"""In place of a part: training and test questions, each fifth asked of models that learnt from the other four."""
Asked = Mapping[str, Sequence[Judged]]
"""Questions by the way of asking."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Questions that models are asked which learnt in one workspace.

    Attributes:
        trainers: by the further sources of questions that a recipe names.
    """

    workspace: Workspace
    asked: Asked
    trainers: dict[tuple[str, ...], Trainer] = field(default_factory=dict[tuple[str, ...], Trainer])

    def trainer(self, recipe: Recipe) -> Trainer:
        """Return the trainer of a recipe, which recipes share that learn from the same questions.

        Raises:
            BadSetting: a further source that the recipe names has no questions.
        """
        if recipe.more_questions not in self.trainers:
            self.trainers[recipe.more_questions] = Trainer(self.workspace.of_recipe(recipe))
        return self.trainers[recipe.more_questions]


def trials(workspace: Workspace, split: str, part: str, source: str) -> list[Trial]:
    """Return one trial for a part of the questions, or one for each fifth of all but those that models are chosen by.

    Raises:
        BadQuery: there is no such part.
        NotReady: it has no questions.
    """
    if part not in (*PARTS, CROSS_FITTED):
        raise BadQuery(f"no part {part!r} of the questions; there are: {', '.join((*PARTS, CROSS_FITTED))}")
    folded = list(_folds(workspace, split)) if part == CROSS_FITTED else [workspace]
    chosen = [of_split(one.questions, split, "test" if part == CROSS_FITTED else part) for one in folded]
    if not any(chosen):
        raise NotReady(f"no {part} questions of {source} in the {split} split: run `lexgraph ingest`")
    described = any(question.description for questions in chosen for question in questions)
    ways = (WITH_DESCRIPTION, TITLE) if described else (WITH_DESCRIPTION,)
    return [
        Trial(one, {way: judged(workspace.corpus, questions, way) for way in ways})
        for one, questions in zip(folded, chosen, strict=True)
        if questions
    ]


def _folds(workspace: Workspace, split: str) -> Iterator[Workspace]:
    """Yield the workspace once for each fifth of training and test questions: these are its test, all others train."""
    name = part_name(split)
    folds = [fold_of(workspace.corpus, question, split) for question in workspace.questions]

    def of_fold(question: Question, *, tested: bool) -> Question:
        kept = getattr(question, name) not in ("train", "test")
        return question if kept else replace(question, **{name: "test" if tested else "train"})

    for fold in range(FOLDS):
        questions = [of_fold(one, tested=own == fold) for one, own in zip(workspace.questions, folds, strict=True)]
        yield replace(workspace, questions=questions)
