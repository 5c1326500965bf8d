"""Retrieval over the law: analysis, BM25, vectors, the hierarchy, fusion, pooling, evaluation."""
