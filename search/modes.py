"""Modes of a search."""

from enum import Enum


class Mode(Enum):
    """The lists that rank a query: all of them fused, words alone, vectors alone, or vectors from the acts down."""

    HYBRID = "hybrid"
    BM25 = "bm25"
    VECTOR = "vector"
    HIERARCHICAL = "hierarchical"
