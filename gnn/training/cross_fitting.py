"""Cross-fitting: each fifth of the training questions, asked of a model that was trained on the other four.

A reranker that learnt from questions which its model was trained on would trust that model too much.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from gnn.asking import side_by_side
from gnn.further_questions import topic_of
from gnn.recipe import Recipe
from gnn.training.lambdamart import Example
from runtime.progress import Progress, silent
from schema.records import Question
from search.arrays import Positions
from search.corpus.corpus import Corpus
from search.questions import TITLE, WITH_DESCRIPTION, positions_of, query_text
from search.ranking.candidates import columns
from search.ranking.reranker import Reranker
from search.ranking.trees import no_trees
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import TunedVectors, VectorModel

FOLDS = 5
ModelOf = Callable[[int, Sequence[Question]], VectorModel]
"""Trains a model, of the number of a part, on the questions of all others."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The bi-encoder whose cosines are features too.

    Attributes:
        vectors_of: trains one that has not seen the questions of a part, and gives its vectors of some articles; others may
            have zeros.
        first: candidates of a question that it reads, at least `search.ranking.candidates.COMPARED`; others are left out.
    """

    vectors_of: Callable[[int, Positions], TunedVectors]
    first: int


def fold_of(corpus: Corpus, question: Question, split: str) -> int:
    """Return the part of a question, from 0: by its identifier, or by its topic where the split keeps topics apart."""
    topic = topic_of(corpus, question) if split == "by-dossier" else question.id
    return int.from_bytes(hashlib.sha256(topic.encode()).digest()[:4]) % FOLDS


def sampled(recipe: Recipe, negatives: int) -> Recipe:
    """Return a recipe with fewer negatives: the model of a fold need only be like the whole one, and is let go again."""
    training = recipe.training.model_copy(update={"full_softmax_limit": 1, "negatives": negatives})
    return recipe.model_copy(update={"training": training})


def gathering(index: TextIndex, model: VectorModel) -> Retriever:
    """Return a retriever that gathers candidates of the pooled ranking and leaves them in their order."""
    return Retriever(
        index, replace(model, diversity=0.0, reranker=Reranker(no_trees(columns(tuned=model.tuned is not None)), 1.0))
    )


def asked_of(retriever: Retriever, question: Question, fold: int = 0) -> list[Example]:
    """Return a question as examples, asked by title and as a whole, where there are candidates."""
    relevant, examples = positions_of(retriever.corpus, question), list[Example]()
    for asked in (TITLE, WITH_DESCRIPTION) if question.description else (WITH_DESCRIPTION,):
        query = query_text(question, asked)
        reranked = retriever.whole_rank(query).reranked
        if reranked is not None:
            examples.append(Example(fold, asked, reranked.candidates, relevant, query))
    return examples


def cross_fitted(
    index: TextIndex,
    questions: Sequence[Question],
    split: str,
    model_of: ModelOf,
    reading: Reading | None = None,
    *,
    threads: int = 2,
    progress: Progress = silent,
) -> Iterator[Example]:
    """Yield every question as an example, asked by title and as a whole, fold by fold.

    Args:
        model_of: trains a model on the questions of the other folds; reading: trains a bi-encoder on them, too.
        threads: questions that are asked at a time.
    """
    folds = [fold_of(index.corpus, question, split) for question in questions]
    for fold in sorted(set(folds)):
        others = [question for question, of in zip(questions, folds, strict=True) if of != fold]
        if not others:
            continue
        model = model_of(fold, others)
        own = [question for question, of in zip(questions, folds, strict=True) if of == fold]
        ask = partial(_asked, index, questions=own, fold=fold, threads=threads, progress=progress)
        examples = ask(model)
        if reading is not None and examples:
            first = np.unique(np.concatenate([example.candidates.positions[: reading.first] for example in examples]))
            read = ask(replace(model, tuned=reading.vectors_of(fold, first)))
            examples = [replace(example, candidates=example.candidates.first(reading.first)) for example in read]
        yield from examples


def _asked(
    index: TextIndex, model: VectorModel, *, questions: Sequence[Question], fold: int, threads: int, progress: Progress
) -> list[Example]:
    """Return the questions of a part as examples, asked of a model."""
    with progress(f"candidates, part {fold + 1} of {FOLDS}", len(questions)) as advance:
        ask = partial(asked_of, gathering(index, model), fold=fold)
        return [example for examples in side_by_side(ask, questions, threads, advance) for example in examples]
