"""Scope: how sure an answer is that the law at hand has it, from the scores of its lists and the words of the query."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log1p
from typing import Any

import numpy as np
import numpy.typing as npt

from search.arrays import Positions
from search.ranking.fusion import top
from search.ranking.hits import RankingList
from search.text.vocabulary import Vocabulary, words_of

EVIDENCE = (
    "rarity of words in headings",
    "frequency of words in the law",
    "nearness to the mean of the acts",
    "highest of vector",
    "highest of bm25",
    "share of one act in the lists' first",
    "lead of the lists' first",
)
"""What `Evidence` gives, in its order."""
_AGREEING = ("bm25", "section", "vector")
"""Lists whose sum says how far words and embeddings agree; votes of training questions would tell topics that are known."""
_FROM_ONE_ACT, _LEADING, _LED = 500, 10, 100
"""Articles, the best by that sum, whose commonest act counts; and those whose mean is compared with the one at the last place. By
cross-validation over development questions, of titles and of whole ones, the area under the curve is 0.893 and 0.913 on the
random split and 0.870 and 0.915 by dossier without these two, 0.913, 0.923, 0.898 and 0.934 with them; 100 or 200 articles
in place of 500 do nearly as well."""
_SHORTEST = 4
"""Letters of a word whose frequency counts: most that have fewer are articles and prepositions."""


class Evidence:
    """Evidence that the law has the answer to a query, over one law.

    Args:
        vocabulary: the law's words, and the headings of its sections.
        acts: float32[k, d], embeddings of its acts.
        act_of: int[n], the act of each article.
    """

    def __init__(self, vocabulary: Vocabulary, acts: npt.NDArray[np.float32], act_of: npt.NDArray[Any]) -> None:
        self._vocabulary = vocabulary
        self._act_of = act_of
        self._centre = acts.mean(0) if len(acts) else np.zeros(acts.shape[1], np.float32)

    def __call__(
        self, query: str, tokens: Sequence[str], vector: npt.NDArray[np.float32], lists: Mapping[str, RankingList]
    ) -> tuple[float, ...]:
        """Return `EVIDENCE` of a query: its text, its tokens, its embedding (float32[d]), and the lists it was answered from.

        The highest score of BM25 is a sum over the words of the query: it is divided by the square root of their number.
        """
        words = set(tokens)
        return (
            self._vocabulary.headings.rarity(words),
            self._frequency(query),
            float(self._centre @ vector),
            _highest(lists, "vector"),
            _highest(lists, "bm25") / max(len(words), 1) ** 0.5,
            *self._agreement([lists[name] for name in _AGREEING if name in lists]),
        )

    def _agreement(self, lists: Sequence[RankingList]) -> tuple[float, float]:
        """Return the share of the commonest act among the first of the sum of lists, and their lead; 0 of no list."""
        if not lists:
            return 0.0, 0.0
        scores = np.sum([each.standard for each in lists], axis=0)
        first: Positions = top(scores, _FROM_ONE_ACT)
        if not len(first):
            return 0.0, 0.0
        ordered = scores[first[:_LED]]
        share = np.bincount(self._act_of[first]).max() / len(first)
        return float(share), float(ordered[:_LEADING].mean() - ordered[-1])

    def _frequency(self, query: str) -> float:
        """Return the mean of ln(1 + n) over the words of a query, each n times in the law; 0 where it has no words."""
        logs = [log1p(self._vocabulary.words.get(word, 0)) for word in words_of([query]) if len(word) >= _SHORTEST]
        return sum(logs) / len(logs) if logs else 0.0


def _highest(lists: Mapping[str, RankingList], name: str) -> float:
    ranked = lists.get(name)
    return float(ranked.head[-1]) if ranked is not None and len(ranked.head) else 0.0


@dataclass(frozen=True, slots=True)
class Scope:
    """The confidence of answers, as it was learnt for one model version (logistic regression over standardised evidence).

    Attributes:
        means, spreads, weights: of `EVIDENCE`, in its order.
        bias: added to the weighted sum.
        threshold: confidence below which an answer is probably not in the law.
    """

    means: tuple[float, ...]
    spreads: tuple[float, ...]
    weights: tuple[float, ...]
    bias: float
    threshold: float

    def confidence(self, evidence: Sequence[float]) -> float:
        """Return the probability, from 0 to 1, that the law has the answer, where as many questions have one there as not."""
        terms = zip(evidence, self.means, self.spreads, self.weights, strict=True)
        total = self.bias + sum(weight * (value - mean) / spread for value, mean, spread, weight in terms)
        return float(1 / (1 + np.exp(-np.clip(total, -50, 50))))
