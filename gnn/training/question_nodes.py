"""Training questions as nodes of the graph, and what their scores teach the query tower.

Santosh et al., "QABISAR: Query-Article Bipartite Interactions for Statutory Article Retrieval", COLING 2025, section 3. Each
training question stands beside articles and sections, joined to the articles that answer it. Its node, which attention has
shown these, scores the articles too; the query tower, which no edge leads to, learns to give the same scores.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from torch import Tensor
from torch.nn import functional

from gnn.model.subgraph import ALL_KINDS, SubgraphEdges
from search.arrays import Positions

ASKS, ASKED = ALL_KINDS.index("asks"), ALL_KINDS.index("asked")


def with_questions(edges: SubgraphEdges, relevant: Sequence[Positions]) -> SubgraphEdges:
    """Return edges with one more node a question, behind the sections, joined both ways to its relevant articles."""
    first = edges.articles + edges.sections
    asked = np.concatenate([np.zeros(0, np.intp), *relevant]).astype(np.int64)
    asking = np.repeat(np.arange(first, first + len(relevant)), [len(positions) for positions in relevant])
    ends = np.stack([asking, asked]).reshape(2, -1)
    kinds = np.repeat([ASKS, ASKED], ends.shape[1])
    return replace(edges, edges=np.concatenate([edges.edges, ends, ends[::-1]], 1), kinds=np.concatenate([edges.kinds, kinds]))


def distillation(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean over questions of the Kullback-Leibler divergence of the student's scores from the teacher's.

    No gradient flows into the teacher.

    Shapes:
        student, teacher: float32[questions, articles], before the softmax; out: float32[].
    """
    target = functional.log_softmax(teacher.detach(), -1)
    return functional.kl_div(functional.log_softmax(student, -1), target, reduction="batchmean", log_target=True)
