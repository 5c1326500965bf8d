"""Feedback: articles that are like the first answers move up (pseudo-relevance feedback over embeddings).

Rocchio's idea ("Relevance feedback in information retrieval", 1971) for dense vectors, as in Li et al., "Pseudo Relevance
Feedback with Deep Language Models and Dense Retrievers" (TOIS 2023, section 3.3). The embeddings of the first answers are
averaged, the better the answer the more it counts, and that mean is compared with the embeddings of all candidates. Measured by
cross-fitting on training questions, by dossier, in points with paired 95 % intervals: R@100 +0.4 [0.0, 0.7], R@200 +0.8 [0.0,
1.7], R@500 +0.1 [-0.3, 0.5]; of titles +0.5 [0.1, 1.0], +0.3 [-0.3, 1.0] and +0.5 [0.1, 0.9]. In the order of the first answers
it has no say: there it costs questions that are answered in the first five.
"""

import numpy as np

from search.arrays import Matrix, Scores
from search.ranking.fusion import standard_scores, top

WEIGHT = 0.8
"""Of the likeness, beside the pooled scores."""
FIRST = 10
"""Answers that are taken to be right. With 5 or 20 measures are the same."""
CANDIDATES = 1000
"""Articles that are compared; what stands below them stays there."""


def likeness(scores: Scores, articles: Matrix, embedded: Scores) -> Scores:
    """Return float32[n], standard scores of the candidates' likeness to the first answers; the lowest of them for all others.

    Args:
        scores: float32[n], the ranking so far; -inf: no answer, and it stays so.
        articles: float32[n, d], unit length.
        embedded: float32[n], -inf where an article has no embedding: it is neither like the others nor unlike them.
    """
    candidates = top(scores, CANDIDATES)
    candidates = candidates[np.isfinite(embedded[candidates])]
    result = np.where(np.isfinite(scores), np.float32(0), np.float32(-np.inf))
    first = candidates[:FIRST]
    if not len(first):
        return result
    shares = np.exp(scores[first] - scores[first[0]])
    alike = standard_scores(np.asarray(articles.take(candidates, axis=0) @ (shares @ articles[first]), np.float32))
    result[np.isfinite(embedded) & np.isfinite(scores)] = alike.min()
    result[candidates] = alike
    return result
