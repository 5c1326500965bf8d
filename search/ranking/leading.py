"""Articles that state a rule, before those that apply it: what is known of an article whatever the query.

Statute goes before decree, the beginning of a section before its end, what many cite before what nobody does. The weights
put the head of a list in order and no more (`search.ranking.fusion.HEAD`). Over the titles and the whole questions of development
(random split, 244), MRR@10 is 52.5, the share answered in the first five 59.4, nDCG@10 45.1 and MAP 41.1 without them; 53.1,
61.5, 45.8 and 41.0 with them.
"""

import numpy as np

from search.arrays import Scores
from search.corpus.corpus import Corpus

STATUTE, BEGINNING, CITED = 0.8, 0.4, 0.4
_WITHIN = 3.0
"""Articles of a section over which its beginning fades, by a factor of e."""


def leading(corpus: Corpus) -> Scores:
    """Return float32[n]: how much each article leads."""
    n = len(corpus.articles)
    acts = [len(act) + 1 for act in corpus.acts]
    letters = (id[acts[act]] for id, act in zip(corpus.articles, corpus.article_act.tolist(), strict=True))
    statute = np.fromiter((letter == "L" for letter in letters), np.float32, n)
    cited = np.log1p(np.bincount(corpus.cites[:, 1], minlength=n))
    return (STATUTE * statute + BEGINNING * np.exp(-_places(corpus) / _WITHIN) + CITED * cited).astype(np.float32)


def _places(corpus: Corpus) -> Scores:
    """Return float32[n]: the place of each article among those of its section or act, from 0."""
    order = np.argsort(corpus.group, kind="stable")
    grouped = corpus.group[order]
    starts = np.flatnonzero(np.r_[True, grouped[1:] != grouped[:-1]]) if len(order) else np.empty(0, np.intp)
    places = np.empty(len(order), np.float32)
    places[order] = np.arange(len(order)) - np.repeat(starts, np.diff(np.r_[starts, len(order)]))
    return places
