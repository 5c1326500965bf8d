"""Known transpositions as a collection of documents and queries: any recipe can be asked what similar acts are asked.

A whole act asks, as in Chalkidis et al., "Regulatory Compliance through Doc2Doc Information Retrieval", EACL 2021, section 3:
by its title, or by that and its lead. Numbers are masked on both sides (`search.acts.masking`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cypher.graph import Row
from schema.records import Question
from search.acts.benchmark import Direction, Pair, folds_of, relevant_of
from search.acts.masking import masked
from search.acts.views import LEAD_WORDS, act_parts
from search.corpus.corpus import Corpus, CorpusText

SOURCE = "eu-lu"
COLLECTIONS: tuple[tuple[str, Direction, str], ...] = (("directive-to-act", "down", "lu"), ("act-to-directive", "up", "eu"))
"""Name, direction of what is asked, and jurisdiction of the acts that answer."""
_DEVELOPMENT = 0
"""The fold of directives that development queries are about."""


class MaskedAct(NamedTuple):
    """An act as it asks and as it is found: without its numbers."""

    id: str
    jurisdiction: str
    language: str
    title: str
    text: str

    @property
    def lead(self) -> str:
        """The first words of its headings and its text."""
        return " ".join(self.text.split()[:LEAD_WORDS])


def masked_acts(corpus: Corpus, text: CorpusText, acts: Sequence[Row]) -> Iterator[MaskedAct]:
    """Yield every act of a law, in the order of its corpus; ``acts`` as in `search.acts.views.act_parts`."""
    parts = act_parts(corpus, text, acts)
    for id, jurisdiction, part in zip(corpus.acts, corpus.jurisdictions, parts, strict=True):
        yield MaskedAct(id, jurisdiction, part.language, masked(part.title), masked(f"{part.headings}\n{part.body}"))


def queries_of(acts: Sequence[MaskedAct], pairs: Sequence[Pair], weak: Sequence[Pair], direction: Direction) -> list[Question]:
    """Return the acts that ask in a direction, each with the acts that answer it.

    Args:
        acts: of the law, in the order that pairs count in.
        pairs: asked for a test.
        weak: learnt from, a fifth of their directives as development queries; those with an act of ``pairs`` are left out.
        direction: from directives to national acts, or back.
    """
    tested = {position for pair in pairs for position in pair}
    learnt = [pair for pair in weak if tested.isdisjoint(pair)]
    fold = folds_of(pair.directive for pair in learnt)
    development = [pair for pair in learnt if fold[pair.directive] == _DEVELOPMENT]
    # An act of several directives asks once, for all of them: those that it is also developed by would else count as wrong.
    answers = relevant_of(learnt, direction)
    develops = relevant_of(development, direction).keys()
    asked = {asking: found for asking, found in answers.items() if asking in develops}
    train = {asking: found for asking, found in answers.items() if asking not in develops}
    parts = {"test": relevant_of(pairs, direction), "development": asked, "train": train}
    return [
        Question(
            acts[asking].id, acts[asking].title, acts[asking].lead, SOURCE, tuple(acts[answer].id for answer in found), part, part
        )
        for part, of_part in parts.items()
        for asking, found in of_part.items()
    ]
