"""Questions as judged queries, by split and part."""

from collections.abc import Iterable

import numpy as np

from schema.records import Question
from search.corpus.corpus import Corpus
from search.evaluation import Judged

PARTS = ("train", "development", "test")
TITLE, WITH_DESCRIPTION = "title", "title + description"


def of_split(questions: Iterable[Question], split: str, part: str) -> list[Question]:
    """The questions of one part (train, development, test) of a split (random, by-dossier)."""
    name = "split" if split == "random" else "split_by_dossier"
    return [question for question in questions if getattr(question, name) == part]


def judged(corpus: Corpus, questions: Iterable[Question], asked: str = WITH_DESCRIPTION) -> list[Judged]:
    """Questions as queries with the positions of their relevant articles."""
    return [
        Judged(
            f"{q.text} {q.description}".strip() if asked == WITH_DESCRIPTION else q.text,
            np.array([corpus.article_position[article] for article in q.relevant], np.intp),
        )
        for q in questions
    ]
