"""The subgraph that is trained on is the same whether Graph Data Science, plain statements or the corpus give it."""

from pathlib import Path

import numpy as np
import pytest

from cypher.authority import write_authority
from cypher.engines.ladybug import open_graph
from cypher.engines.neo4j import Neo4jStore
from cypher.graph import Graph
from docker.maven import NEO4J_5
from docker.neo4j_server import Neo4jServer
from gnn.model.subgraph import EDGE_KINDS, READING_KINDS, exported_edges, shuffled, subgraph_edges
from ingest.sources import ingest
from search.corpus.read import read_corpus
from tests.support.on_server import store_of
from tests.support.servers import OwnNeo4j, on_shared
from tests.support.subgraphs import KINDS, check_edges, check_ranks, same_edges
from tests.support.tiny_law import article, bakers, code, link, millers, section, write_law

SERVERS = [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")]


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Neo4jServer:
    return request.getfixturevalue(request.param)


@pytest.fixture(scope="module")
def store(server: Neo4jServer, tmp_path_factory: pytest.TempPathFactory) -> Neo4jStore:
    """The tiny law with hard cases: an article that cites itself, one that cites another twice, and a cycle."""
    home = tmp_path_factory.mktemp("gds")
    store = store_of(server, home)
    root = bakers()
    hard = [
        article(41, "L141-1", f"<p>Le présent article ({link(41, 'article L. 141-1')}).</p>"),
        article(42, "L141-2", f"<p>{link(43, 'article L. 141-3')}, et encore {link(43, 'article L. 141-3')}.</p>"),
        article(43, "L141-3", f"<p>{link(42, 'article L. 141-2')}, {link(41, 'article L. 141-1')}.</p>"),
    ]
    root["children"].append(section(41, "Livre IV : Du levain", section(42, "Titre Ier : De la pâte", *hard)))
    ingest(store, write_law(home / "law", root, millers()))
    return store


def test_gds_statements_and_corpus_give_the_same_edges(store: Neo4jStore) -> None:
    with store.reading() as graph:
        corpus, _ = read_corpus(graph)
        edges = subgraph_edges(corpus, ("contains", "cites"))
        assert set(edges.kinds.tolist()) == set(range(len(EDGE_KINDS))), "every kind of edge is there"
        place = {id.rpartition("/")[2]: position for position, id in enumerate(corpus.articles)}
        cites = edges.edges[:, edges.kinds == EDGE_KINDS.index("cites")].T.tolist()
        assert cites.count([place["L141-2"], place["L141-3"]]) == 1, "two citations of one article are one edge"
        assert [place["L141-1"], place["L141-1"]] not in cites
        check_edges(graph, corpus)


def test_gds_ranks_articles_as_the_projects_own_page_rank(store: Neo4jStore) -> None:
    with store.reading() as graph:
        ranks = check_ranks(graph)
        stored = {row["id"]: row["authority"] for row in graph.rows("stored_authority")}
    assert len(set(ranks.values())) > 3
    assert stored == pytest.approx(ranks, abs=1e-3)
    with store.writing() as graph:
        write_authority(graph)
        again = {row["id"]: row["authority"] for row in graph.rows("stored_authority")}
    assert again == pytest.approx(stored)


def test_an_embedded_graph_exports_the_same_edges(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, _ = read_corpus(graph)
        for kinds in KINDS:
            same_edges(exported_edges(graph, corpus, kinds), subgraph_edges(corpus, kinds))


def test_a_server_that_never_saw_a_citation_has_none(own_neo4j: OwnNeo4j, tmp_path: Path) -> None:
    """GDS refuses to project an edge type that its database has never heard of."""
    store = store_of(own_neo4j(NEO4J_5, gds=True), tmp_path)
    plain = code("LEGITEXT000000000003", "Code", section(51, "Titre Ier", article(51, "L1", "<p>Un.</p>")))
    ingest(store, write_law(tmp_path / "law", plain))
    with store.reading() as graph:
        check_edges(graph, read_corpus(graph)[0])
        assert check_ranks(graph) == {"fr/LEGITEXT000000000003/L1": 0.15}


def test_reading_order_joins_the_articles_of_an_act_one_after_the_other(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, _ = read_corpus(graph)
        edges = subgraph_edges(corpus, ("next",))
        ends = edges.edges[:, edges.kinds == READING_KINDS.index("next")].T.tolist()
        named = {(row["a.id"], row["b.id"]) for row in _next_edges(graph)}
        same_edges(exported_edges(graph, corpus, ("contains", "next")), subgraph_edges(corpus, ("contains", "next")))
    assert {(corpus.articles[a], corpus.articles[b]) for a, b in ends} == named
    assert len(ends) == 8
    back = edges.edges[:, edges.kinds == READING_KINDS.index("previous")].T.tolist()
    assert back == [[b, a] for a, b in ends]


def _next_edges(graph: Graph) -> list[dict[str, str]]:
    table = graph.query("MATCH (a:Article)-[:NEXT]->(b:Article) RETURN a.id, b.id", {}, 100)  # type: ignore[attr-defined]
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_shuffled_edges_leave_every_node_as_many_of_each_kind_and_say_nothing_else(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        corpus, _ = read_corpus(graph)
    edges = subgraph_edges(corpus, ("contains", "cites", "next"))
    other = shuffled(edges, 3)
    nodes = edges.articles + edges.sections
    np.testing.assert_array_equal(np.sort(edges.kinds), np.sort(other.kinds))
    for kind in range(len(READING_KINDS)):
        for end in (0, 1):
            counts = [np.bincount(one.edges[end][one.kinds == kind], minlength=nodes) for one in (edges, other)]
            np.testing.assert_array_equal(*counts)
    tree = {tuple(pair) for pair in edges.edges.T.tolist()}
    assert sum(tuple(pair) in tree for pair in other.edges.T.tolist()) < 0.7 * len(tree)
    same_edges(shuffled(edges, 3), other)
    assert not np.array_equal(shuffled(edges, 4).edges, other.edges)
