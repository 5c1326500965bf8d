"""Questions of further sources, to learn from: kept apart from those that a model is chosen by and measured on."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from schema.identifiers import slug
from schema.records import Question
from search.corpus.corpus import Corpus
from search.questions import of_split, positions_of

_LEVELS = 2
_HELD_OUT = ("development", "test")


def topic_of(corpus: Corpus, question: Question) -> str:
    """Return the topic of a question: the place, two levels of headings below the act, that most of its articles share."""
    parents = [int(corpus.article_parent[position]) for position in positions_of(corpus, question)]
    places = Counter(corpus.path_ids(parent)[: _LEVELS + 1][-1] for parent in parents)
    return min(places, key=lambda place: (-places[place], place))


def to_train_on(corpus: Corpus, further: Sequence[Question], held: Sequence[Question]) -> list[Question]:
    """Return the training questions of further sources: in no split do they choose, or are measured on.

    Of the random split those are left out that share their words with a question which is held out there; of the split by
    dossier those whose topic (`topic_of`) is that of one which is.

    Args:
        held: the questions of the source that a model is chosen by and measured on.
    """
    titles = {slug(question.text) for part in _HELD_OUT for question in of_split(held, "random", part)}
    topics = {topic_of(corpus, question) for part in _HELD_OUT for question in of_split(held, "by-dossier", part)}
    kept: list[Question] = []
    for question in further:
        trains = question.split == "train" and slug(question.text) not in titles
        trains_apart = question.split_by_dossier == "train" and topic_of(corpus, question) not in topics
        if trains or trains_apart:
            parts = ("train" if part else "" for part in (trains, trains_apart))
            kept.append(replace(question, split=next(parts), split_by_dossier=next(parts)))
    return kept
