"""Bytes and milliseconds of each part at one and at seven copies of the four French codes (29,115 and 203,805 articles).

Starts servers of its own (Maven and a JDK are needed). Embeddings are made up: what is measured does not depend on them.
"""

import tempfile
import time
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.reporting import Figures
from bench.reranking import added_ms
from bench.timing import seconds_of
from cypher.engines.ladybug import EmbeddedStore
from cypher.engines.neo4j import Neo4jStore
from cypher.engines.neo4j_errors import Server as Neo4jAddress
from cypher.graph import Store
from docker.elasticsearch_server import ElasticsearchServer
from docker.maven import NEO4J_2026
from docker.neo4j_server import Neo4jServer
from ingest.fetching.npm import LEGI_DATA, fetch
from ingest.loading.load import LoadOptions, load_acts
from ingest.readers.legi import FILE_PATTERN, read_act
from schema.filter import Filter
from schema.records import ActTree, SourceFile
from schema.settings import Settings, load_settings
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.retrieval import Retriever
from search.text.elasticsearch_build import load_law
from search.text.index import build_text_index, open_text_index
from search.text.open import text_server
from search.text.options import Bm25Options
from search.vectors.encoding import Encoding
from search.vectors.model import VectorModel
from search.vectors.neo4j import ServedVectors, bound_of, filter_rows, for_cosine

DIMENSIONS = 512
QUESTIONS: tuple[str, ...] = (
    "licenciement pendant un arrêt maladie",
    "congé parental d'éducation à temps partiel",
    "prime d'activité conditions de ressources",
    "allocation logement étudiant",
    "rupture conventionnelle indemnité minimale",
    "accident du travail déclaration délai",
    "pension de réversion conjoint divorcé",
    "durée maximale du travail de nuit",
)
_PARTS = {
    "load_ms": "load, milliseconds an article",
    "graph_bytes": "graph on disk, bytes an article",
    "text_ms": "text index made, milliseconds an article",
    "text_bytes": "text index on disk, bytes an article",
    "hybrid_ms": "hybrid query, milliseconds, median",
    "reranking_ms": "what reranking adds to it, milliseconds, median",
}


def measure(copies: Sequence[int], *, quick: bool, vectors: bool, servers: bool) -> Figures:
    """Measure.

    Args:
        copies: of the law, size by size.
        quick: one copy of the smallest code alone, on servers that compile less.
        vectors: whether vectors are written to Neo4j, which takes longest.
        servers: whether servers are measured beside the embedded engine.
    """
    folder = fetch(LEGI_DATA, load_settings().home / "sources")
    paths = sorted(folder.glob(FILE_PATTERN), key=lambda path: path.stat().st_size)
    trees = [read_act(path) for path in (paths[:1] if quick else paths)]
    figures: dict[str, float] = {}
    explained: dict[str, str] = {}
    for n in [1] if quick else copies:
        for engine, measured in _measured(
            [copy for k in range(n) for copy in _copies(trees, k)], vectors, servers, quick=quick
        ).items():
            for name, value in measured.items():
                figures[f"{n}x_{engine}_{name}"] = value
                explained[f"{n}x_{engine}_{name}"] = f"{engine}: {_PARTS.get(name, name.replace('_', ' '))}"
    return Figures("Scale", figures, explained)


def _copies(trees: list[ActTree], number: int) -> Iterator[ActTree]:
    """The acts under other identifiers, citing each other as the originals do."""
    mark = f"-{number}"

    def own(id: str) -> str:
        head, _, rest = id.partition("/")
        act, slash, below = rest.partition("/")
        return f"{head}/{act}{mark}{slash}{below}"

    for tree in trees:
        yield ActTree(
            replace(tree.act, id=own(tree.act.id), source_id=tree.act.source_id + mark),
            tuple(
                replace(
                    s,
                    id=own(s.id),
                    act_id=own(s.act_id),
                    parent_id=own(s.parent_id),
                    source_ids=tuple(x + mark for x in s.source_ids),
                )
                for s in tree.sections
            ),
            tuple(
                replace(
                    a,
                    id=own(a.id),
                    act_id=own(a.act_id),
                    parent_id=own(a.parent_id),
                    source_ids=tuple(x + mark for x in a.source_ids),
                )
                for a in tree.articles
            ),
            tuple(replace(c, article_id=own(c.article_id), target=c.target + mark) for c in tree.citations),
            wordings=tuple(replace(v, article_id=own(v.article_id), source_id=v.source_id + mark) for v in tree.wordings),
        )


def _measured(trees: list[ActTree], vectors: bool, servers: bool, *, quick: bool) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        embedded = _embedded(place / "embedded", trees)
        if not servers:
            return {"embedded": embedded}
        with _served(place, quick=quick) as (server, elastic):
            settings = Settings(home=place / "servers", text=elastic.http_address)  # pyright: ignore[reportCallIssue]
            store = Neo4jStore(settings.home, Neo4jAddress(server.address, "neo4j", server.password))
            return {"embedded": embedded, "servers": _on_servers(store, settings, place, trees, vectors)}


@contextmanager
def _served(place: Path, *, quick: bool) -> Generator[tuple[Neo4jServer, ElasticsearchServer]]:
    server = Neo4jServer(NEO4J_2026, place / "neo4j", short_lived=quick)
    elastic = ElasticsearchServer(home=place / "elasticsearch", short_lived=quick)
    try:
        server.start()
        elastic.start()
        yield server, elastic
    finally:
        server.kill()
        elastic.kill()


def _embedded(home: Path, trees: list[ActTree]) -> dict[str, float]:
    n = sum(len(tree.articles) for tree in trees)
    store = EmbeddedStore(home, memory_mb=2048)
    figures = {"articles": float(n), "load_ms": 1000 * seconds_of(lambda: _load(store, trees)) / n}
    figures["graph_bytes"] = _bytes(home) / n
    with store.reading() as graph:
        corpus, text = read_corpus(graph)
    began = time.perf_counter()
    folder = build_text_index(home, corpus, text, Bm25Options())
    figures["text_ms"] = 1000 * (time.perf_counter() - began) / n
    figures["text_bytes"] = _bytes(folder) / n
    index = open_text_index(home, corpus.sha256, Bm25Options())
    model = made_up(corpus)
    figures["model_bytes"] = (model.articles.nbytes + model.sections.nbytes + model.bias.nbytes) / n
    figures["hybrid_ms"] = median_ms(Retriever(index, model))
    figures["reranking_ms"] = added_ms(index, model, QUESTIONS)
    return figures


def _on_servers(store: Neo4jStore, settings: Settings, place: Path, trees: list[ActTree], vectors: bool) -> dict[str, float]:
    n = sum(len(tree.articles) for tree in trees)
    figures = {"load_ms": 1000 * seconds_of(lambda: _load(store, trees)) / n}
    server = text_server(settings)
    with store.reading() as graph:
        corpus, text = read_corpus(graph)
        began = time.perf_counter()
        assert server is not None
        load_law(server, corpus, text, Bm25Options())
        build_text_index(settings.home, corpus, text, Bm25Options(), server=server)
        figures["text_ms"] = 1000 * (time.perf_counter() - began) / n
        index = open_text_index(settings.home, corpus.sha256, Bm25Options(), server=server)
        model = made_up(corpus)
        if vectors:
            indexes, bound = graph.vectors, bound_of(model.bias, model.scale)
            stored = for_cosine(model.articles, model.bias, model.scale, bound)
            indexes.write_filters(filter_rows(corpus))
            figures["vectors_ms"] = 1000 * seconds_of(lambda: indexes.write("made-up", "Article", corpus.articles, stored)) / n
            seconds = seconds_of(lambda: indexes.build("made-up", "Article", stored.shape[1]))
            figures["vector_index_ms"] = 1000 * seconds / n
            model = replace(model, nearest=ServedVectors(indexes, "made-up", corpus, model.scale, bound).ask)
        figures["hybrid_ms"] = median_ms(Retriever(index, model))
    figures["graph_bytes"] = _bytes(place / "neo4j" / "data" / "databases") / n
    figures["text_bytes"] = _bytes(place / "elasticsearch" / "data") / n
    return figures


def _load(store: Store, trees: list[ActTree]) -> None:
    by_path = {Path(f"{tree.act.id}.json"): tree for tree in trees}
    with tempfile.TemporaryDirectory() as folder:
        sources: list[SourceFile] = []
        for number, path in enumerate(by_path):
            stand_in = Path(folder) / f"{number}.json"
            stand_in.write_text(str(path))
            sources.append(SourceFile(f"copies/{path}", stand_in, "bench"))
        trees_of = {source.path: tree for source, tree in zip(sources, by_path.values(), strict=True)}
        load_acts(store, sources, lambda path: [trees_of[path]], LoadOptions(workers=1))


def made_up(corpus: Corpus) -> VectorModel:
    """Return a model of random embeddings."""
    random = np.random.default_rng(1)

    def rows(n: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        made = random.standard_normal((n, DIMENSIONS), np.float32)
        return made / np.linalg.norm(made, axis=1, keepdims=True)

    made = rows(len(QUESTIONS))
    return VectorModel(
        id="made-up",
        # Any text has one of them: what is searched may be spelt otherwise than what was asked.
        encoding=Encoding(lambda texts: np.stack([made[zlib.crc32(text.encode()) % len(made)] for text in texts])),
        articles=rows(len(corpus.articles)),
        sections=rows(len(corpus.sections)),
        acts=rows(len(corpus.acts)),
        bias=random.standard_normal(len(corpus.articles), np.float32),
        scale=20.0,
        weights={"vector": 1.0, "bm25": 0.25, "section": 0.75},
    )


def median_ms(retriever: Retriever) -> float:
    """Return the median time of a hybrid query, in milliseconds."""
    times: list[float] = []
    for turn in range(4):
        for question in QUESTIONS:
            seconds = seconds_of(lambda q=question: retriever.search(q, first=20, filter=Filter()))
            if turn:
                times.append(1000 * seconds)
    return float(np.median(times))


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
