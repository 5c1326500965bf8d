"""Bi-encoders of a law and its questions, trained once and kept on disk."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from gnn.cost import Cost
from gnn.curriculum import Places
from gnn.device import device_of_training, precision_of
from gnn.distributed import alone
from gnn.encoders.features import PASSAGES, Tuned
from gnn.encoders.kept_vectors import encoded, keep_encoded
from gnn.encoders.passages import passage
from gnn.encoders.tuned import LETTERS, ReadVectors, TunedEncoder
from gnn.fine_tuning.adaptation import adapted_body
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import begin_from, load_body
from gnn.fine_tuning.embedding import embedded, pieces_of_articles
from gnn.fine_tuning.export import export_bi_encoder
from gnn.fine_tuning.inlining import inlined
from gnn.fine_tuning.kept_run import BODY, keep_run, kept_folder, place_of, run_of
from gnn.fine_tuning.loop import Run, TunedEpoch, trained_parameters, tune
from gnn.options import GRAPH_FORMAT, FineTuningOptions
from gnn.recipe import TRANSFORMER_FORMAT, Recipe
from gnn.synthetic.questions import synthetic_questions
from gnn.workspace import Workspace
from schema.errors import BadSetting
from schema.filter import Filter
from schema.records import Question
from search.arrays import Matrix, Positions
from search.questions import of_split, positions_of, query_text
from search.ranking.fusion import top


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A bi-encoder that is wanted: its recipe, the split of its questions, and the name of its folders.

    Attributes:
        part: it learns from a part of the questions, for a reranker alone: nobody begins from its transformer.
        reads: positions of the articles that it will embed.
    """

    recipe: Recipe
    split: str
    key: str
    part: bool
    reads: Positions

    @property
    def name(self) -> str:
        return f"tuned-{self.recipe.name}-{self.split}-{self.key}"


def tuned_by(recipe: Recipe) -> Recipe:
    """Return the recipe of the bi-encoder among a recipe's encoders.

    Raises:
        BadSetting: the recipe that it names trains none, one for another similarity than the cosine, or one that learns from
            the development questions that this recipe chooses by.
    """
    if recipe.method == "bi-encoder":
        return recipe
    named = recipe.other(recipe.encoder.tuned)
    if named.method != "bi-encoder":
        raise BadSetting(f"recipe {recipe.name}: {named.name} trains no bi-encoder that features could be tuned by")
    if named.bi_encoder.similarity != "cosine":
        raise BadSetting(f"recipe {recipe.name}: features are compared by the cosine, {named.name} is trained for another")
    return _chosen_apart(recipe, named)


def read_by(recipe: Recipe) -> Recipe | None:
    """Return the recipe of the bi-encoder whose cosines a recipe's reranker learns; None where it learns none.

    Raises:
        BadSetting: there is no such recipe, it gives no vectors whose cosines could be compared beside others, or it learns
            from the development questions that this recipe chooses by.
    """
    if not recipe.rerank.tuned:
        return None
    named = recipe.unlearnt(recipe.rerank.tuned)
    if named.method != "bi-encoder" or named.bi_encoder.similarity != "cosine" or named.bi_encoder.inlined:
        raise BadSetting(
            f"recipe {recipe.name}: its reranker reads cosines of a bi-encoder of articles as they are: {named.name}"
        )
    return _chosen_apart(recipe, named)


def _chosen_apart(recipe: Recipe, named: Recipe) -> Recipe:
    """Return the bi-encoder of a recipe, which has not learnt from what this one chooses by."""
    if named.bi_encoder.refit and not recipe.training.refit:
        raise BadSetting(
            f"recipe {recipe.name} is not refit, and {named.name}, the bi-encoder that it names, learns from development "
            "questions: training.refit names the recipe that chooses its epochs"
        )
    return named


def read_vectors(
    workspace: Workspace,
    recipe: Recipe,
    split: str,
    training: Sequence[Question] | None = None,
    positions: Positions | None = None,
) -> ReadVectors:
    """Return the vectors of articles by the bi-encoder of a recipe, trained unless it was before.

    Args:
        recipe: of the bi-encoder.
        training: all that it learns from; unless given, as `tuned_encoder` has it.
        positions: of the articles that are read; others have zeros. Unless given, all are.

    Raises:
        BadSetting, StorageFull: as `tuned_encoder`.
    """
    corpus, progress = workspace.corpus, workspace.progress
    passages = [passage(corpus, workspace.text, position) for position in range(len(corpus.articles))]
    chosen = np.arange(len(passages)) if positions is None else positions
    tuned = tuned_encoder(workspace, recipe, split, passages, training, chosen)
    vectors = encoded(tuned.encoder, [passages[position] for position in chosen], tuned.folder / PASSAGES, progress)
    articles = np.zeros((len(passages), vectors.shape[1]), np.float32)
    articles[chosen] = vectors
    return ReadVectors(tuned.encoder, articles, tuned.cost)


def tuned_encoder(
    workspace: Workspace,
    recipe: Recipe,
    split: str,
    passages: Sequence[str],
    learnt: Sequence[Question] | None = None,
    reads: Positions | None = None,
) -> Tuned:
    """Return the bi-encoder of a recipe for the training questions of a split, trained unless it was before.

    Args:
        recipe: of the bi-encoder; where it is refit, development questions are learnt from too, and choose nothing.
        passages: texts of all articles below their headings.
        learnt: all that is learnt from, in place of those.
        reads: positions of the articles that it will embed; unless given, all.

    Raises:
        BadSetting: there are no questions to train on or to choose by, a single article, no such transformer, or a loss that is
            not a number.
        StorageFull: the disk is full; the last checkpoint stays.
    """
    training, development = (of_split(workspace.questions, split, part) for part in ("train", "development"))
    if learnt is not None:
        training = [*learnt]
    elif recipe.bi_encoder.refit:
        training = [*training, *development]
    key = _key(workspace, recipe, [*training, *development])
    wanted = _Wanted(recipe, split, key, learnt is not None, np.arange(len(passages)) if reads is None else reads)
    folder = kept_folder(workspace, wanted.name)
    texts = _with_citations(workspace, recipe, passages) if recipe.bi_encoder.inlined else passages
    cost = run_of(folder)
    if cost is None:
        if not training or not development:
            raise BadSetting(f"recipe {recipe.name}: no training or no development questions from {recipe.questions!r}")
        asked = training, [] if recipe.bi_encoder.refit else development
        cost = _train(workspace, wanted, texts, asked, passages)
    return Tuned(TunedEncoder(folder, workspace.threads), texts, folder, cost)


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
    parts = [recipe.fine_tuning.as_named(), recipe.bi_encoder.as_named()]
    parts += [recipe.adaptation.as_named()] if recipe.adaptation.steps else []
    parts += [recipe.synthetic.as_named()] if recipe.synthetic.per_article else []
    parts += [recipe.curriculum.as_named()] if recipe.curriculum.drawn else []
    parts += ["the words of whole articles"] if recipe.bi_encoder.inlined else []  # before, those of what was left of them
    made_from = [TRANSFORMER_FORMAT, GRAPH_FORMAT, workspace.index.key, asked, parts]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:12]


def _train(
    workspace: Workspace,
    wanted: _Wanted,
    texts: Sequence[str],
    questions: tuple[Sequence[Question], Sequence[Question]],
    passages: Sequence[str],
) -> Cost:
    """Train the bi-encoder that is wanted on questions to learn from and to choose by.

    Args:
        texts: what it reads of articles.
        passages: whole articles, whose words it is to know: a question may have those that are cut off.
    """
    recipe = wanted.recipe
    synthetic = _synthetic(workspace, recipe)
    read = [*passages, *(query_text(question) for part in (*questions, synthetic) for question in part)]
    model = _begun(workspace, recipe, read)
    begun = {name: value.detach().clone() for name, value in trained_parameters(model).items()}
    seconds, curve = 0.0, list[TunedEpoch]()
    for learnt, tuning, below in _stages(recipe, questions[0], synthetic):
        task = BiEncoderTask(model, _pairs(workspace, recipe, texts, (learnt, questions[1])), recipe)
        place = place_of(workspace, wanted.name) / below
        process = workspace.process or alone()
        curve = tune(task, Run(recipe.name, wanted.key, place, tuning, workspace.threads, workspace.progress, process))
        seconds += curve[-1].seconds
    go_part_of_the_way(model.cpu(), begun, recipe.bi_encoder.share)

    def write(part: Path) -> int:
        if embeds_itself(device_of_training()):
            own = [texts[int(position)] for position in wanted.reads]
            keep_encoded(own, _embedded_on(workspace, model, own, recipe.fine_tuning), part / PASSAGES)
        export_bi_encoder(model, part, [query_text(question) for question in (*questions[0], *synthetic)], texts)
        if not wanted.part:
            model.body.save(part / BODY)
        return sum(parameter.numel() for parameter in model.parameters())

    return keep_run(workspace, wanted.name, curve, seconds, write)


def _begun(workspace: Workspace, recipe: Recipe, read: Sequence[str]) -> BiEncoder:
    """Return the bi-encoder of a recipe as its training begins; what reads articles has been adapted to the law.

    Args:
        read: all texts that it will read.
    """
    options = recipe.fine_tuning
    body = load_body(options.body, read, layers=options.layers)
    adapted = adapted_body(workspace, recipe) if recipe.adaptation.steps else None
    torch.manual_seed(options.seed)  # of what is not there yet: the layers over passages
    model = BiEncoder(prepared(body, options), recipe.bi_encoder)
    if adapted is not None:
        begin_from(model.article_body, adapted)
    return model


def embeds_itself(device: torch.device) -> bool:
    """Return whether a device embeds articles right after a training; else the exported graph does, when they are asked for."""
    return device.type == "cuda"


def _embedded_on(workspace: Workspace, model: BiEncoder, texts: Sequence[str], options: FineTuningOptions) -> Matrix:
    """Return float32[texts, d]: articles, which the exported graph would take far longer for, on processors."""
    device = device_of_training()
    model.to(device).eval()
    with workspace.progress("encoding", len(texts)) as advance, precision_of(options, device):
        return embedded(model, pieces_of_articles(model, texts), advance).cpu().numpy()


def go_part_of_the_way(model: nn.Module, begun: Mapping[str, Tensor], share: float) -> None:
    """Leave a model between the parameters that it began with and those that it learnt (a share of 1: what it learnt).

    Half-way a transformer keeps more of what it knew of other questions (Wortsman et al., "Robust Fine-Tuning of Zero-Shot
    Models", CVPR 2022, section 3), and has learnt less of the questions by heart that towers are to be trained on after it.

    Args:
        begun: by name, of the parameters that were trained.
    """
    if share == 1:
        return
    with torch.no_grad():
        for name, value in trained_parameters(model).items():
            value.copy_(torch.lerp(begun[name], value, share))


def _synthetic(workspace: Workspace, recipe: Recipe) -> list[Question]:
    """Return the synthetic questions of a recipe as questions to train on; none where it has none."""
    if not recipe.synthetic.per_article:
        return []
    articles = workspace.corpus.articles
    return [one.as_question(number, articles) for number, one in enumerate(synthetic_questions(workspace, recipe))]


def _stages(
    recipe: Recipe, training: Sequence[Question], synthetic: Sequence[Question]
) -> Iterator[tuple[Sequence[Question], FineTuningOptions, str]]:
    """Yield what is learnt from, how, and the folder of its checkpoint: synthetic questions before real ones, or among them."""
    options, mixed = recipe.fine_tuning, recipe.synthetic.mixed
    if synthetic and not mixed:
        yield synthetic, options.model_copy(update={"epochs": recipe.synthetic.epochs}), "synthetic"
    yield [*training, *synthetic] if mixed else training, options, "."


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
    places = Places.of(workspace.corpus) if recipe.curriculum.drawn else None
    return Pairs(texts, training, relevant, first, development, answering, places)
