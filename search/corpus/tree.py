"""Walks and sums over the tree of the law."""

import numpy as np
import numpy.typing as npt

from search.arrays import Matrix, unit
from search.corpus.corpus import Corpus


def group_sums(group: npt.NDArray[np.int32], rows: Matrix) -> Matrix:
    """Return float32[groups, d]: sums of the rows of each group."""
    sums = np.zeros((int(group.max(initial=-1)) + 1, rows.shape[1]), np.float32)
    np.add.at(sums, group, rows)
    return sums


def sums_below(corpus: Corpus, articles: Matrix) -> Matrix:
    """Return float32[m, d]: for each section, the sum over all articles below it."""
    sums = np.zeros((len(corpus.sections), articles.shape[1]), np.float32)
    inside = corpus.article_parent >= 0
    np.add.at(sums, corpus.article_parent[inside], articles[inside])
    for section in range(len(corpus.sections) - 1, -1, -1):  # children come after their parents
        parent = corpus.section_parent[section]
        if parent >= 0:
            sums[parent] += sums[section]
    return sums


def act_means(corpus: Corpus, articles: Matrix) -> Matrix:
    """Return float32[k, d]: for each act, the mean of its articles at unit length."""
    sums = np.zeros((len(corpus.acts), articles.shape[1]), np.float32)
    np.add.at(sums, corpus.article_act, articles)
    return unit(sums)
