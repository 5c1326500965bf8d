"""Cross-fitting: each fifth of the training questions, asked of a model that was trained on the other four.

A reranker that learnt from questions which its model was trained on would trust that model too much.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from gnn.asking import side_by_side
from gnn.recipe import Recipe
from gnn.training.further_questions import topic_of
from gnn.training.lambdamart import Example
from runtime.progress import Progress, silent
from schema.records import Question
from search.corpus.corpus import Corpus
from search.questions import TITLE, WITH_DESCRIPTION, positions_of, query_text
from search.ranking.candidates import UNLEARNT
from search.ranking.reranker import Reranker
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import VectorModel

FOLDS = 5
ModelOf = Callable[[Sequence[Question]], VectorModel]
"""Trains a model on questions."""


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
    return Retriever(index, replace(model, reranker=Reranker(UNLEARNT, 1.0)))


def asked_of(retriever: Retriever, question: Question, fold: int = 0) -> list[Example]:
    """Return a question as examples, asked by title and as a whole, where there are candidates."""
    relevant, examples = positions_of(retriever.corpus, question), list[Example]()
    for asked in (TITLE, WITH_DESCRIPTION) if question.description else (WITH_DESCRIPTION,):
        query = query_text(question, asked)
        reranked = retriever.rank(query).reranked
        if reranked is not None:
            examples.append(Example(fold, asked, reranked.candidates, relevant, query))
    return examples


def cross_fitted(
    index: TextIndex,
    questions: Sequence[Question],
    split: str,
    model_of: ModelOf,
    *,
    threads: int = 2,
    progress: Progress = silent,
) -> Iterator[Example]:
    """Yield every question as an example, asked by title and as a whole, fold by fold.

    Args:
        model_of: trains a model on the questions of the other folds.
        threads: questions that are asked at a time.
    """
    folds = [fold_of(index.corpus, question, split) for question in questions]
    for fold in sorted(set(folds)):
        others = [question for question, of in zip(questions, folds, strict=True) if of != fold]
        if not others:
            continue
        retriever = gathering(index, model_of(others))
        own = [question for question, of in zip(questions, folds, strict=True) if of == fold]
        with progress(f"candidates, part {fold + 1} of {FOLDS}", len(own)) as advance:
            for examples in side_by_side(partial(asked_of, retriever, fold=fold), own, threads, advance):
                yield from examples
