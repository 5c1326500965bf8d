"""Scope: the confidence of a version's answers, learnt from development questions with and without an answer in the law."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np
import numpy.typing as npt

from gnn.asking import side_by_side
from gnn.recipe import Recipe
from gnn.versions.files import load_model, read_scope, write_scope
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from runtime.progress import Progress, silent
from schema.errors import NotReady
from schema.records import Question
from search.questions import TITLE, WITH_DESCRIPTION, of_split, query_text
from search.ranking.scope import EVIDENCE, Scope
from search.retrieval import Retriever

Evidences = npt.NDArray[np.float64]
LEAST = 20
"""Fewest questions with an answer, and fewest without, to learn from: of fewer, one is more than a twentieth."""
CALLED_OUTSIDE = 0.025
"""Share of the development questions with an answer that are called outside: half of the twentieth that is promised, as other
questions do worse."""
_OUTSIDE_FOR_ONE = 4
"""Questions without an answer that are asked for each one with: more take time and change little."""
_FOLDS = 5


def complete_scope(workspace: Workspace, recipe: Recipe, id: str) -> bool:
    """Learn the confidence of the version that serves, unless that was done from the same questions; whether it was now.

    That of a recipe that is refit is learnt from the version of its chooser, which the development questions are new to. Where
    the two embed by other encoders it has none: part of the evidence would have another scale. Without questions that the law
    cannot answer, or with fewer than `LEAST` of either, it has none either.

    Raises:
        GraphBusy: the lock has gone to another job.
        NotReady: the version of the chooser has not been trained.
        StorageFull: the disk is full; the version serves as before.
    """
    inside, outside = development_questions(workspace, recipe.splits[0])
    if min(len(inside), len(outside)) < LEAST or not has_scope(recipe):
        return False
    made_from = _fingerprint(workspace, [*inside, *outside], recipe.sentences)
    if read_scope(workspace.home, id)[1] == made_from:
        return False
    retriever = unlearnt(workspace, recipe, recipe.splits[0])
    scope = learn_scope(retriever, inside, outside, threads=workspace.threads, progress=workspace.progress)
    workspace.check_lock()
    write_scope(workspace.home, id, scope, made_from)
    return True


def has_scope(recipe: Recipe) -> bool:
    """Return whether versions of a recipe can have a confidence: not where its epochs were chosen over another encoder."""
    return recipe.chooser.encoder == recipe.encoder


def unlearnt(workspace: Workspace, recipe: Recipe, split: str) -> Retriever:
    """Return a retriever over the version of a recipe's chooser on a split: it has not learnt from development questions.

    Sentences have the say that they have in the recipe: what vectors find depends on it, and confidence on that.

    Raises:
        NotReady: that version is not under the home.
    """
    id = workspace.version_id(recipe.chooser, split)
    if not model_folder(workspace.home, id).is_dir():
        raise NotReady(f"model {id}, which {recipe.name} was chosen by, is not there: run `lexgraph train`")
    model = load_model(workspace.home, id, workspace.corpus, workspace.threads)
    return Retriever(workspace.index, replace(model, sentences=recipe.sentences))


def development_questions(workspace: Workspace, split: str) -> tuple[list[Question], list[Question]]:
    """Return the development questions of a split: those with an answer, and some of those without."""
    inside = of_split(workspace.questions, split, "development")
    outside = of_split(workspace.outside, split, "development")
    step = max(len(outside) // max(_OUTSIDE_FOR_ONE * len(inside), 1), 1)
    return inside, outside[::step]


def learn_scope(
    retriever: Retriever,
    inside: Sequence[Question],
    outside: Sequence[Question],
    *,
    threads: int = 2,
    progress: Progress = silent,
) -> Scope:
    """Return the confidence that tells questions with an answer from those without, each asked by title and as a whole.

    The threshold is taken from confidences that each fifth of the questions has from the other four, of titles and whole
    questions the lower one.
    """
    found = [evidence_of(retriever, questions, threads=threads, progress=progress) for questions in (inside, outside)]
    confidence = [np.zeros(each.shape[:2]) for each in found]
    folds = [np.arange(len(each)) % _FOLDS for each in found]
    for fold in range(_FOLDS):
        with_answer, without = (each[of != fold] for each, of in zip(found, folds, strict=True))
        scope = _fitted(with_answer, without)
        for each, of, values in zip(found, folds, confidence, strict=True):
            values[of == fold] = confidences(scope, each[of == fold])
    threshold = float(np.quantile(confidence[0], CALLED_OUTSIDE, axis=0).min())
    return _fitted(found[0], found[1], threshold)


def evidence_of(
    retriever: Retriever, questions: Sequence[Question], *, threads: int = 2, progress: Progress = silent
) -> Evidences:
    """Return the evidence of questions, asked by title and as a whole: float64[questions, 2, evidence].

    One that only names articles is left out: it has no words to rank by, and is sure to be answered.

    Raises:
        ServerUnavailable, QueryTimeout: the text index or the vector search did not answer.
    """

    def evidence(question: Question) -> list[tuple[float, ...]]:
        texts = (query_text(question, asked) for asked in (TITLE, WITH_DESCRIPTION))
        found = (retriever.whole_rank(text, pooled=False).evidence for text in texts)
        return [one for one in found if one is not None]

    with progress("scope", len(questions)) as advance:
        rows = [row for row in side_by_side(evidence, questions, threads, advance) if len(row) == 2]
    return np.array(rows, np.float64).reshape(-1, 2, len(EVIDENCE))


def confidences(scope: Scope, evidence: Evidences) -> npt.NDArray[np.float64]:
    """Return the confidence of each evidence: float64, of the shape of ``evidence`` without its last axis."""
    rows = evidence.reshape(-1, len(EVIDENCE)).tolist()
    return np.array([scope.confidence(row) for row in rows]).reshape(evidence.shape[:-1])


def _fitted(inside: Evidences, outside: Evidences, threshold: float = 0.0) -> Scope:
    """Return the logistic regression over the evidence of questions; both kinds weigh the same together."""
    from sklearn.linear_model import LogisticRegression

    rows = np.concatenate([inside, outside]).reshape(-1, len(EVIDENCE))
    answered = np.repeat([True, False], [inside[..., 0].size, outside[..., 0].size])
    means, spreads = rows.mean(0), np.maximum(rows.std(0), 1e-9)
    fitted = LogisticRegression(class_weight="balanced").fit((rows - means) / spreads, answered)
    return Scope(
        means=tuple(means.tolist()),
        spreads=tuple(spreads.tolist()),
        weights=tuple(fitted.coef_[0].tolist()),
        bias=float(fitted.intercept_[0]),
        threshold=threshold,
    )


def _fingerprint(workspace: Workspace, questions: Sequence[Question], sentences: float) -> str:
    """Return the fingerprint of what is learnt from: the index, the questions, how they are asked, the evidence that is taken."""
    asked = [workspace.index.key, EVIDENCE, CALLED_OUTSIDE, sentences, [asdict(question) for question in questions]]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()
