"""Hybrid search against its bare parts, query by query in one process.

Needs a trained model: ``make demo`` first. Bare parts are what no hybrid can do without: bm25s retrieving from the
two text indexes, and the product of the matrix of articles with one query vector.
"""

from collections.abc import Sequence
from dataclasses import replace

import bm25s
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from bench.reporting import Figures
from bench.timing import seconds_of
from cypher.engines.ladybug import open_graph
from gnn.versions.active import active_model
from ingest.loading.questions import read_questions
from schema.errors import NotReady
from schema.settings import load_settings
from search.questions import judged, of_split
from search.retrieval import Retriever
from search.text.analysis import query_tokens
from search.text.index import FOLDER, TextIndex, open_text_index
from search.text.options import Bm25Options, index_key
from search.vectors.model import VectorModel

HITS = 100
EXPLAINED = {
    "questions": "test questions, title + description",
    "hybrid_median_ms": "hybrid search, median",
    "hybrid_p95_ms": "hybrid search, 95th percentile",
    "bm25s_median_ms": "bm25s alone, both indexes, median",
    "product_median_ms": "matrix product alone, median",
    "encode_median_ms": "encoding of the query (inside hybrid), median",
    "whole_median_ms": "hybrid search of whole queries, their sentences not asked, median",
    "sentences_over_whole": "hybrid over the same of whole queries, median of the ratios",
    "hybrid_over_parts": "hybrid over the sum of its bare parts, median of the ratios",
}


def measure() -> Figures:
    """Measure."""
    settings = load_settings()
    with open_graph(settings.home) as graph:
        sha256 = graph.rows("graph_row")[0]["corpus_sha256"]
        options = Bm25Options()
        index = open_text_index(settings.home, sha256, options)
        model = active_model(settings.home, graph, index.corpus, settings.threads)
        questions = of_split(read_questions(graph, "service-public"), "random", "test")
    if model is None:
        raise NotReady("no model is active: run `lexgraph train`")
    folder = settings.home / FOLDER / index_key(sha256, options)
    bare = [bm25s.BM25.load(str(folder / name), mmap=True) for name in ("articles", "groups")]
    queries = [question.query for question in judged(index.corpus, questions)]
    with threadpool_limits(1, user_api="blas"):  # as the service has it
        hybrid, whole, text, product, encoding = _times(index, model, bare, queries)
    figures = {
        "questions": len(queries),
        "hybrid_median_ms": float(np.median(hybrid)),
        "hybrid_p95_ms": float(np.percentile(hybrid, 95)),
        "bm25s_median_ms": float(np.median(text)),
        "product_median_ms": float(np.median(product)),
        "encode_median_ms": float(np.median(encoding)),
        "whole_median_ms": float(np.median(whole)),
        "sentences_over_whole": float(np.median(hybrid / whole)),
        "hybrid_over_parts": float(np.median(hybrid / (text + product))),
    }
    return Figures("Hybrid search", figures, EXPLAINED)


def _times(index: TextIndex, model: VectorModel, bare: Sequence[bm25s.BM25], queries: Sequence[str]) -> npt.NDArray[np.float64]:
    """Return float64[5, queries], milliseconds: hybrid, the same of whole queries, words, the product of vectors, encoding."""
    retriever = Retriever(index, model, max_query_characters=1 << 20)
    of_whole = Retriever(index, replace(model, sentences=0.0), max_query_characters=1 << 20)
    times = np.zeros((5, len(queries)))
    for warm in (True, False):
        for i, query in enumerate(queries[:20] if warm else queries):
            tokens = query_tokens(query, index.languages)
            vector = model.encode([query])[0]
            query_tokens.cache_clear()
            times[0, i] = seconds_of(lambda q=query: retriever.search(q, first=HITS))
            query_tokens.cache_clear()
            times[1, i] = seconds_of(lambda q=query: of_whole.search(q, first=HITS))
            times[2, i] = sum(seconds_of(lambda r=r, t=tokens: _retrieve(r, t)) for r in bare)
            times[3, i] = seconds_of(lambda v=vector: model.articles @ v)
            query_tokens.cache_clear()
            times[4, i] = seconds_of(lambda q=query: model.encode([q]))
    return 1000 * times


def _retrieve(index: bm25s.BM25, tokens: tuple[str, ...]) -> object:
    return index.retrieve([list(tokens)], k=HITS, show_progress=False)
