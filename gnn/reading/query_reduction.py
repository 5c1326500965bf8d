"""A long query reduced to its most informative terms, by Kullback-Leibler divergence from the collection.

Abolghasemi, Verberne and Azzopardi, "Improving BERT-based Query-by-Document Retrieval with Multi-Task Optimization", ECIR 2022,
section 3: a query that is a document itself keeps a tenth of its terms (after Verberne et al., "Evaluation and analysis of term
scoring methods for term extraction", 2016).
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

_WORD = re.compile(r"\w+")


def terms_of(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())


class QueryReduction:
    """Reduces queries of more than so many words, by the counts of words in a collection.

    Args:
        texts: of the collection, read when the first long query comes.
        longest: words of a query that is left as it is.
        share: of its terms that are left of a longer one.
    """

    def __init__(self, texts: Iterable[str], longest: int, share: float) -> None:
        self._texts, self.longest, self.share = texts, longest, share
        self._counts: Mapping[str, int] | None = None

    def __call__(self, query: str) -> str:
        """Return a query, or the terms that are left of it, in the order they first stand in it."""
        words = terms_of(query)
        if len(words) <= self.longest:
            return query
        if self._counts is None:
            self._counts = Counter(word for text in self._texts for word in terms_of(text))
        kept = most_informative(words, self._counts, self.share)
        return " ".join(dict.fromkeys(word for word in words if word in kept))


def divergences(words: Iterable[str], counts: Mapping[str, int]) -> dict[str, float]:
    """Return what each term adds to the divergence of a text from a collection: P(t|q) · log(P(t|q) / P(t|C)).

    A term that the collection lacks counts as one that it has once.
    """
    own = Counter(words)
    length, size = sum(own.values()), max(sum(counts.values()), 1)
    return {t: n / length * math.log((n / length) / (max(counts.get(t, 0), 1) / size)) for t, n in own.items()}


def most_informative(words: Iterable[str], counts: Mapping[str, int], share: float) -> set[str]:
    """Return the share of the terms that adds most to the divergence, at least one; of equal ones the first in the text."""
    scores = divergences(words, counts)
    ranked = sorted(scores, key=lambda term: -scores[term])
    return set(ranked[: max(1, math.ceil(share * len(ranked)))])
