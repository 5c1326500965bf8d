"""BM25 with k1 and b chosen on development questions (Louis et al., "Finding the Law", EACL 2023, section 4.2, table 2)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gnn.workspace import Workspace
from search.arrays import Positions
from search.coordinate_search import PASSES, Point, coordinate_search
from search.evaluation import Judged, measure, ranks_of
from search.questions import judged, of_split
from search.text.analysis import query_tokens
from search.text.bm25 import Bm25Index
from search.text.index import TextIndex
from search.text.options import Bm25Options
from search.text.protocol import EmbeddedLexical
from search.text.words import group_documents, tokenised

GRID = {"k1": (0.4, 0.8, 1.2, 1.6, 2.0, 2.5, 3.0, 4.0, 6.0), "b": (0.0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.0)}
_OBJECTIVE = ("R@100", "MAP")
_OTHER = "…"
"""Stands for every word that no question has; no analysis gives it."""


def tuned_lexical(workspace: Workspace, split: str) -> TextIndex:
    """Return the text index with BM25 over articles and over sections as development questions of a split like it best.

    Each is tuned by itself, for the sum of R@100 and MAP that it reaches alone.
    """
    index, corpus = workspace.index, workspace.corpus
    questions = judged(corpus, of_split(workspace.questions, split, "development"))
    words, above = tokenised(corpus, workspace.text, workspace.progress)
    usual = Bm25Options()
    everyone = np.arange(len(corpus.articles))
    starts = {"k1": usual.k1, "b": usual.b}, {"k1": usual.section_k1, "b": usual.section_b}
    documents = (words, everyone), (list(group_documents(corpus, words, above)), corpus.group.astype(np.intp))
    tuned: list[Bm25Index] = []
    for start, (texts, place) in zip(starts, documents, strict=True):
        with workspace.progress("k1 and b of BM25", PASSES * len(GRID)) as advance:
            tuning = _Tuning(texts, place, [query_tokens(q.query, index.languages) for q in questions], questions)
            best = coordinate_search(start, GRID, tuning.quality, advance)
        tuned.append(Bm25Index.build(texts, k1=best["k1"], b=best["b"]))
    return replace(index, lexical=EmbeddedLexical(tuned[0], tuned[1], corpus.group, index.languages))


class _Tuning:
    """Development questions over one kind of document.

    Args:
        documents: words of each.
        place: int[n], the document of each article.
        queries: words of each question.
    """

    def __init__(
        self,
        documents: Sequence[Sequence[str]],
        place: Positions,
        queries: Sequence[Sequence[str]],
        questions: Sequence[Judged],
    ) -> None:
        # Words that no question has leave the ranking as it is, but for the lengths that they make.
        asked = {word for query in queries for word in query}
        self.documents = [[word if word in asked else _OTHER for word in document] for document in documents]
        self.place, self.queries, self.questions = place, queries, questions

    def quality(self, point: Point) -> float:
        """Return the mean over questions of R@100 and MAP, added up."""
        index = Bm25Index.build(self.documents, k1=point["k1"], b=point["b"])
        scores = (index.scores(query)[self.place] for query in self.queries)
        rows = [measure(ranks_of(one, question.relevant)) for one, question in zip(scores, self.questions, strict=True)]
        return float(np.mean([sum(row[name] for name in _OBJECTIVE) for row in rows]))
