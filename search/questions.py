"""Questions as judged queries, by split and part."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from schema.records import Question
from search.corpus.corpus import Corpus
from search.evaluation import Judged

PARTS = ("train", "development", "test")
TITLE, WITH_DESCRIPTION = "title", "title + description"


def of_split(questions: Iterable[Question], split: str, part: str) -> list[Question]:
    """Return the questions of one part (train, development, test) of a split (random, by-dossier)."""
    name = part_name(split)
    return [question for question in questions if getattr(question, name) == part]


def part_name(split: str) -> str:
    """Return the name of the attribute of questions that has their part of a split."""
    return "split" if split == "random" else "split_by_dossier"


def query_text(question: Question, asked: str = WITH_DESCRIPTION) -> str:
    """Return a question as a query: its title, with the description on a line of its own unless the title is asked alone."""
    return f"{question.text}\n{question.description}".strip() if asked == WITH_DESCRIPTION else question.text


def positions_of(corpus: Corpus, question: Question) -> npt.NDArray[np.intp]:
    """Return the positions of the relevant articles of a question."""
    return np.array([corpus.article_position[article] for article in question.relevant], np.intp)


def judged(corpus: Corpus, questions: Iterable[Question], asked: str = WITH_DESCRIPTION) -> list[Judged]:
    """Return questions as queries with the positions of their relevant articles."""
    return [Judged(query_text(question, asked), positions_of(corpus, question)) for question in questions]
