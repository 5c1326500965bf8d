"""Lexgraph on a real Neo4j server beside the shortest loop that could do it, and beside neo4j-graphrag, in one run.

Starts a server of its own (Maven and a JDK are needed) and stops it in the end. Needs the French codes and a trained model:
``make demo`` first. What is loaded is parsed beforehand: Lexgraph gets records, the others get their rows ready-made.
"""

import asyncio
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, LiteralString, cast

import numpy as np
from neo4j import Driver, GraphDatabase
from neo4j_graphrag.components.kg_writer import Neo4jWriter
from neo4j_graphrag.components.types import Neo4jGraph, Neo4jNode, Neo4jRelationship
from neo4j_graphrag.retrievers import HybridRetriever

from bench.reporting import Figures
from bench.timing import seconds_of
from cypher.batches import BATCH, batches
from cypher.engines.ladybug import EmbeddedStore
from cypher.engines.neo4j import Neo4jGraph as ServedGraph
from cypher.engines.neo4j import Neo4jStore
from cypher.engines.neo4j_errors import Server
from cypher.engines.neo4j_vectors import index_of
from cypher.rows import row_of
from docker.maven import NEO4J_5, NEO4J_2026, Product
from docker.neo4j_server import Neo4jServer
from gnn.versions.active import active_id, served_model
from gnn.versions.files import load_model, trained_bound
from ingest.citations.link import KnownLaw, link
from ingest.fetching.npm import LEGI_DATA, fetch
from ingest.loading.load import LoadOptions, load_acts
from ingest.loading.questions import read_questions
from ingest.readers.legi import FILE_PATTERN, read_act
from schema.errors import NotReady
from schema.identifiers import act_of
from schema.records import ActTree, SourceFile
from schema.settings import load_settings
from search.corpus.corpus import Corpus
from search.evaluation import Judged, ranks_of
from search.evaluation import measure as measures
from search.questions import judged, of_split
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from search.vectors.model import VectorModel
from search.vectors.neo4j import filter_rows, for_cosine

_APOC = tuple(f"org.neo4j.procedure:{name}:5.26.19" for name in ("apoc-core", "apoc-common"))
WITH_APOC = replace(NEO4J_5, name="Neo4j-APOC", plugins=(*NEO4J_5.plugins, *_APOC))
"""neo4j-graphrag's writer needs APOC, which Maven Central has for 5.26: the loads are measured there."""
HITS = 100
ROUNDS = 3
"""Every loader has its best time of so many: a server is slow until its Java has compiled what it does."""
EXPLAINED = {
    "articles": "articles loaded",
    "bare_s": "the shortest UNWIND loop that loads them, seconds (the best of three)",
    "load_s": "Lexgraph's load of the same records, seconds (the best of three)",
    "load_over_bare": "Lexgraph's load over the bare loop",
    "graphrag_s": "neo4j-graphrag's writer, seconds (the best of three)",
    "load_speedup_over_graphrag": "neo4j-graphrag's writer over Lexgraph's load",
    "vectors_s": "vectors of articles and sections written, seconds",
    "vector_index_s": "their indexes built, seconds",
    "questions": "test questions, title + description",
    "hybrid_median_ms": "Lexgraph's hybrid query over the server, median",
    "hybrid_p95_ms": "95th percentile",
    "graphrag_median_ms": "neo4j-graphrag's HybridRetriever on the same server and vectors, median",
    "graphrag_p95_ms": "95th percentile",
    "hybrid_speedup_over_graphrag": "neo4j-graphrag's query over Lexgraph's, median of the ratios",
    "hybrid_recall": "R@100 of Lexgraph's hybrid, percent",
    "graphrag_recall": "R@100 of neo4j-graphrag's, percent",
}


@dataclass(frozen=True, slots=True)
class Plain:
    """The law as rows: nodes by label, and edges by type and the labels they join."""

    nodes: dict[str, list[dict[str, Any]]]
    edges: dict[tuple[str, str, str], list[dict[str, Any]]]


def measure(*, quick: bool) -> Figures:
    """Measure; ``quick`` takes the smallest code, a few questions and servers that are not warm and compile less."""
    settings = load_settings()
    folder = fetch(LEGI_DATA, settings.home / "sources")
    paths = sorted(folder.glob(FILE_PATTERN))
    if quick:
        paths = [min(paths, key=lambda path: path.stat().st_size)]
    trees = {path: read_act(path) for path in paths}
    plain = as_rows(list(trees.values()))
    figures: dict[str, float] = {}
    with _served(WITH_APOC, quick=quick) as (server, store, driver):
        figures |= measured_loads((server, store, driver), trees, plain, 1 if quick else ROUNDS)
    with _served(NEO4J_2026, quick=quick) as (_, store, driver):
        load_acts(store, _sources(trees), lambda path: [trees[path]], LoadOptions(workers=1))
        figures |= measured_queries(store, driver, 5 if quick else None)
    return Figures("Neo4j", figures, EXPLAINED)


@contextmanager
def _served(product: Product, *, quick: bool) -> Generator[tuple[Neo4jServer, Neo4jStore, Driver]]:
    """A server of its own, the graph on it, and a plain driver."""
    with tempfile.TemporaryDirectory() as temporary:
        server = Neo4jServer(product, Path(temporary) / "server", heap_mb=1024, short_lived=quick)  # as in docker/compose.yaml
        server.start()
        try:
            store = Neo4jStore(Path(temporary) / "home", Server(server.address, "neo4j", server.password))
            auth = ("neo4j", server.password)
            with GraphDatabase.driver(server.address, auth=auth, notifications_min_severity="OFF") as driver:
                yield server, store, driver
        finally:
            server.stop()


def _sources(trees: dict[Path, ActTree]) -> list[SourceFile]:
    return [SourceFile(f"legi/{path.name}", path, "bench") for path in trees]


def as_rows(trees: Sequence[ActTree]) -> Plain:
    """Return the records as they are, which a loop without any question loads."""
    ids = KnownLaw()
    ids.add_trees(trees)
    nodes: dict[str, list[dict[str, Any]]] = {"Act": [], "Section": [], "Article": [], "Wording": [], "Outside": []}
    edges: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    outside: dict[str, str] = {}

    def join(kind: str, a: str, b: str, row: dict[str, Any]) -> None:
        edges.setdefault((kind, a, b), []).append(row)

    for tree in trees:
        act = tree.act.id
        for label, records in (("Act", [tree.act]), ("Section", tree.sections), ("Article", tree.articles)):
            nodes[label] += map(row_of, records)
        nodes["Wording"] += map(row_of, tree.wordings)
        for wording in tree.wordings:
            join("HAS_WORDING", "Article", "Wording", {"a": wording.article_id, "b": wording.id, "p": {}})
        for label, records in (("Section", tree.sections), ("Article", tree.articles)):
            for record in records:
                parent = "Act" if record.parent_id == act else "Section"
                join("CONTAINS", parent, label, {"a": record.parent_id, "b": record.id, "p": {"position": record.position}})
        for first, second in zip(tree.articles, tree.articles[1:], strict=False):
            join("NEXT", "Article", "Article", {"a": first.id, "b": second.id, "p": {}})
        for linked in link(tree.citations, ids):
            cited, ends = linked.citation, {"a": linked.citation.article_id, "b": linked.target}
            words = {"text": cited.text, "start": cited.start, "end": cited.end, "kind": cited.kind}
            if linked.label == "Outside":
                outside[linked.target] = cited.target_kind
                join("CITES_OUTSIDE", "Article", "Outside", ends | {"p": words})
            else:
                join("CITES", "Article", linked.label, ends | {"p": words | {"cited": cited.target}})
    nodes["Outside"] = [{"id": id, "kind": kind} for id, kind in outside.items()]
    return Plain(nodes, edges)


def load_bare(driver: Driver, plain: Plain) -> None:
    """The shortest loop: constraints, then nodes, then edges, by UNWIND in batches."""
    for label in plain.nodes:
        _run(driver, f"CREATE CONSTRAINT IF NOT EXISTS FOR (n:{label}) REQUIRE n.id IS UNIQUE")
    for label, rows in plain.nodes.items():
        for batch in batches(rows):
            _run(driver, f"UNWIND $rows AS row CREATE (n:{label}) SET n = row", batch)
    for (kind, a, b), rows in plain.edges.items():
        for batch in batches(rows):
            statement = f"UNWIND $rows AS row MATCH (a:{a} {{id: row.a}}) MATCH (b:{b} {{id: row.b}}) CREATE (a)-[e:{kind}]->(b)"
            _run(driver, f"{statement} SET e = row.p", batch)


def load_graphrag(driver: Driver, plain: Plain) -> float:
    """Seconds that neo4j-graphrag's writer takes, its own objects given to it ready-made."""
    nodes = [
        Neo4jNode(id=row["id"], label=label, properties={k: v for k, v in row.items() if v not in (None, [], "")})
        for label, rows in plain.nodes.items()
        for row in rows
    ]
    edges = [
        Neo4jRelationship(start_node_id=row["a"], end_node_id=row["b"], type=kind, properties=row["p"])
        for (kind, _, _), rows in plain.edges.items()
        for row in rows
    ]
    graph = Neo4jGraph(nodes=nodes, relationships=edges)
    writer = Neo4jWriter(driver, batch_size=BATCH)
    began = time.perf_counter()
    written = asyncio.run(writer.run(graph))
    seconds = time.perf_counter() - began
    if written.status != "SUCCESS":
        raise NotReady(f"neo4j-graphrag's writer gave up: {written.metadata}")
    return seconds


def measured_loads(
    served: tuple[Neo4jServer, Neo4jStore, Driver], trees: dict[Path, ActTree], plain: Plain, rounds: int
) -> dict[str, float]:
    """Each loader in turn into the same server, emptied before."""
    server, store, driver = served
    sources = _sources(trees)
    bare: list[float] = []
    own: list[float] = []
    graphrag: list[float] = []
    graphs: list[list[Any]] = []
    for _ in range(rounds):
        server.wipe()
        bare.append(seconds_of(lambda: load_bare(driver, plain)))
        server.wipe()
        own.append(seconds_of(lambda: load_acts(store, sources, lambda path: [trees[path]], LoadOptions(workers=1))))
        graphs.append(_counts(driver))
        server.wipe()
        graphrag.append(load_graphrag(driver, plain))
    if any(graph != graphs[0] for graph in graphs):
        raise NotReady("loads of the same law gave different graphs")
    return {
        "articles": len(plain.nodes["Article"]),
        "bare_s": min(bare),
        "load_s": min(own),
        "load_over_bare": min(own) / min(bare),
        "graphrag_s": min(graphrag),
        "load_speedup_over_graphrag": min(graphrag) / min(own),
    }


def measured_queries(store: Neo4jStore, driver: Driver, most: int | None) -> dict[str, float]:
    """Write the vectors of the trained model to the server, then ask both retrievers at most so many questions."""
    settings = load_settings()
    home = settings.home
    # Queries go the way of the API's: with its time limit.
    with EmbeddedStore(home).reading() as trained, store.reading() as graph, store.reading(settings.query_timeout_s) as served:
        model_id = active_id(trained)
        if model_id is None:
            raise NotReady("no model is active: run `lexgraph train`")
        index = open_text_index(home, trained.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
        asked = judged(index.corpus, of_split(read_questions(trained, "service-public"), "random", "test"))[:most]
        figures = _vectors_written(graph, load_model(home, model_id, index.corpus), index.corpus)
        _run(
            driver,
            "CREATE FULLTEXT INDEX article_text IF NOT EXISTS FOR (n:Article) ON EACH [n.text, n.heading, n.number] "
            "OPTIONS {indexConfig: {`fulltext.analyzer`: 'french'}}",
        )
        _run(driver, "CALL db.awaitIndexes(600)")
        model = served_model(home, served, index.corpus, model_id)
        retriever = Retriever(index, model, max_query_characters=1 << 20)
        peer = HybridRetriever(driver, index_of(model_id, "Article"), "article_text", return_properties=["id"])
        _asked(retriever, peer, asked[:10])  # warm
        return figures | _asked(retriever, peer, asked)


def _vectors_written(graph: ServedGraph, model: VectorModel, corpus: Corpus) -> dict[str, float]:
    """Write a model's vectors of the law that the server holds, and build their indexes."""
    vectors = graph.vectors
    acts = {row["id"] for row in graph.rows("acts")}
    stored = for_cosine(model.articles, model.bias, model.scale, trained_bound(load_settings().home, model.id, model.scale))
    vectors.write_filters(filter_rows(corpus))
    held = [i for i, id in enumerate(corpus.articles) if act_of(id) in acts]
    pairs = (
        ("Article", [corpus.articles[i] for i in held], stored[held]),
        ("Section", corpus.sections, np.asarray(model.sections)),
    )
    return {
        "vectors_s": sum(seconds_of(partial(vectors.write, model.id, *pair)) for pair in pairs),
        "vector_index_s": sum(seconds_of(partial(vectors.build, model.id, label, m.shape[1])) for label, _, m in pairs),
    }


def _asked(retriever: Retriever, peer: HybridRetriever, asked: Sequence[Judged]) -> dict[str, float]:
    """Ask both retrievers, question by question."""
    position = retriever.corpus.article_position
    assert retriever.model is not None
    own, other = np.zeros(len(asked)), np.zeros(len(asked))
    recalls: list[tuple[float, float]] = []
    for i, question in enumerate(asked):
        began = time.perf_counter()
        hits = retriever.search(question.query, first=HITS)
        own[i] = time.perf_counter() - began
        began = time.perf_counter()
        vector = [*retriever.model.encode([question.query])[0].tolist(), 1.0, 0.0]
        # The user's words as Lucene reads them: the peer hands them on as they are.
        found = peer.get_search_results(query_text=_escaped(question.query), query_vector=vector, top_k=HITS)
        other[i] = time.perf_counter() - began
        theirs = [position[_id(record)] for record in found.records]
        recalls.append((_recall([hit.position for hit in hits], question), _recall(theirs, question)))
    ours, theirs = (100 * float(np.mean(side)) for side in zip(*recalls, strict=True))
    return {
        "questions": len(asked),
        "hybrid_median_ms": 1000 * float(np.median(own)),
        "hybrid_p95_ms": 1000 * float(np.percentile(own, 95)),
        "graphrag_median_ms": 1000 * float(np.median(other)),
        "graphrag_p95_ms": 1000 * float(np.percentile(other, 95)),
        "hybrid_speedup_over_graphrag": float(np.median(other / own)),
        "hybrid_recall": ours,
        "graphrag_recall": theirs,
    }


def _recall(positions: Sequence[int], question: Any) -> float:
    scores = np.full(int(max([*positions, *question.relevant.tolist()])) + 1, -np.inf, np.float32)
    scores[positions] = np.arange(len(positions), 0, -1)
    return measures(ranks_of(scores, question.relevant))["R@100"]


def _id(record: Any) -> str:
    return record["node"]["id"]


def _escaped(text: str) -> str:
    return "".join(f"\\{c}" if c in '+-&|!(){}[]^"~*?:\\/' else c for c in text)


def _counts(driver: Driver) -> list[Any]:
    nodes = driver.execute_query("MATCH (n) RETURN labels(n)[0] AS label, count(*) AS n ORDER BY label").records
    edges = driver.execute_query("MATCH ()-[e]->() RETURN type(e) AS type, count(*) AS n ORDER BY type").records
    return [tuple(record.values()) for record in (*nodes, *edges) if record[0] != "Lock"]


def _run(driver: Driver, statement: str, rows: Sequence[dict[str, Any]] | None = None) -> None:
    with driver.session() as session:
        session.run(cast(LiteralString, statement), rows=rows).consume()
