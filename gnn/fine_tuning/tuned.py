"""Bi-encoders of a law and its questions, trained once and kept on disk."""

import hashlib
import json
import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from gnn.encoders.features import FOLDER, Tuned
from gnn.encoders.tuned import LETTERS, TunedEncoder
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.export import export_bi_encoder
from gnn.fine_tuning.inlining import inlined
from gnn.fine_tuning.loop import CHECKPOINT, CURVE, Run, tune
from gnn.recipe import FORMAT, Recipe
from gnn.workspace import Workspace
from runtime.atomic_folder import whole_folder
from schema.errors import BadSetting, StorageFull
from schema.filter import Filter
from schema.records import Question
from search.arrays import Positions
from search.questions import of_split, positions_of, query_text
from search.ranking.fusion import top

RUNS = "fine-tuning"
"""Folder of the home where trainings that are under way keep their checkpoints, and all of them their curves."""
RUN_FILE, BODY = "run.json", "body"


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A bi-encoder that is wanted: its recipe, the split of its questions, and the name of its folders."""

    recipe: Recipe
    split: str
    key: str

    @property
    def name(self) -> str:
        return f"tuned-{self.recipe.name}-{self.split}-{self.key}"


def tuned_by(recipe: Recipe) -> Recipe:
    """Return the recipe of the bi-encoder among a recipe's encoders.

    Raises:
        BadSetting: the recipe that it names trains none, or one for another similarity than the cosine.
    """
    if recipe.method == "bi-encoder":
        return recipe
    named = recipe.other(recipe.encoder.tuned)
    if named.method != "bi-encoder":
        raise BadSetting(f"recipe {recipe.name}: {named.name} trains no bi-encoder that features could be tuned by")
    if named.bi_encoder.similarity != "cosine":
        raise BadSetting(f"recipe {recipe.name}: features are compared by the cosine, {named.name} is trained for another")
    return named


def tuned_encoder(workspace: Workspace, recipe: Recipe, split: str, passages: Sequence[str]) -> Tuned:
    """Return the bi-encoder of a recipe for the training questions of a split, trained unless it was before.

    Args:
        recipe: of the bi-encoder.
        passages: texts of all articles below their headings.

    Raises:
        BadSetting: there are no questions to train on or to choose by, a single article, no such transformer, or a loss that is
            not a number.
        StorageFull: the disk is full; the last checkpoint stays.
    """
    training, development = (of_split(workspace.questions, split, part) for part in ("train", "development"))
    wanted = _Wanted(recipe, split, _key(workspace, recipe, [*training, *development]))
    folder = workspace.home / FOLDER / wanted.name
    texts = _with_citations(workspace, recipe, passages) if recipe.bi_encoder.inlined else passages
    if not (folder / RUN_FILE).exists():
        if not training or not development:
            raise BadSetting(f"recipe {recipe.name}: no training or no development questions from {recipe.questions!r}")
        _train(workspace, wanted, texts, (training, development))
    run: dict[str, Any] = json.loads((folder / RUN_FILE).read_text("utf-8"))
    return Tuned(TunedEncoder(folder, workspace.threads), texts, folder, run["seconds"], run["parameters"])


def _with_citations(workspace: Workspace, recipe: Recipe, passages: Sequence[str]) -> Sequence[str]:
    options = recipe.bi_encoder
    found = inlined(workspace.corpus, passages, LETTERS * options.passage_tokens * options.passages)
    label = f"inlining {found.citations:,} citations; {found.cut:,} that close a circle are cut"
    with workspace.progress(label, len(passages)) as advance:
        advance(len(passages))
    return found.texts


def _key(workspace: Workspace, recipe: Recipe, questions: Sequence[Question]) -> str:
    """Return a digest of all that a bi-encoder is made from, and of nothing that is done with it later."""
    asked = [asdict(question) for question in sorted(questions, key=lambda question: question.id)]
    parts = (recipe.fine_tuning, recipe.bi_encoder)
    made_from = [FORMAT, workspace.index.key, asked, [part.model_dump(mode="json") for part in parts]]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:12]


def _train(
    workspace: Workspace, wanted: _Wanted, texts: Sequence[str], questions: tuple[Sequence[Question], Sequence[Question]]
) -> None:
    recipe = wanted.recipe
    options = recipe.fine_tuning
    read = [*texts, *(query_text(question) for part in questions for question in part)]
    torch.manual_seed(options.seed)  # of what is not there yet: the layers over passages
    model = BiEncoder(prepared(load_body(options.body, read, layers=options.layers), options), recipe.bi_encoder)
    task = BiEncoderTask(model, _pairs(workspace, recipe, texts, questions), recipe)
    place = workspace.home / RUNS / wanted.name
    curve = tune(task, Run(recipe.name, wanted.key, place, options, workspace.threads, workspace.progress))
    workspace.check_lock()
    folder = workspace.home / FOLDER / wanted.name
    try:
        with whole_folder(folder) as part:
            export_bi_encoder(model, part)
            model.body.save(part / BODY)
            shutil.copyfile(place / CURVE, part / CURVE)
            parameters = sum(parameter.numel() for parameter in model.parameters())
            run = {"seconds": curve[-1].seconds, "parameters": parameters, "curve": [asdict(epoch) for epoch in curve]}
            (part / RUN_FILE).write_text(json.dumps(run, indent=1), "utf-8")
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; the last checkpoint stays") from None
    (place / CHECKPOINT).unlink(missing_ok=True)


def _pairs(
    workspace: Workspace,
    recipe: Recipe,
    texts: Sequence[str],
    questions: tuple[Sequence[Question], Sequence[Question]],
) -> Pairs:
    training, development = questions
    relevant, answering = ([positions_of(workspace.corpus, question) for question in part] for part in questions)
    first: list[Positions] = [np.zeros(0, np.intp) for _ in training]
    if recipe.bi_encoder.bm25_negatives:
        with workspace.progress("negatives of BM25", len(training)) as advance:
            for place, question in enumerate(training):
                scores = workspace.index.lexical.lists(query_text(question), Filter(), sections=False)["bm25"]
                best = top(scores, recipe.bi_encoder.bm25_depth + len(relevant[place]))
                first[place] = best[~np.isin(best, relevant[place])][: recipe.bi_encoder.bm25_depth]
                advance(1)
    return Pairs(texts, training, relevant, first, development, answering)
