"""Statements as people write them for Neo4j, answered by the embedded graph, with the columns that Neo4j names."""

from pathlib import Path

import pytest

from cypher.engines.ladybug import open_graph
from cypher.engines.ladybug_dialect import columns_of, in_its_words
from schema.errors import BadQuery


@pytest.mark.parametrize(
    ("statement", "columns"),
    [
        ("MATCH (a) RETURN a.number, count( * ) AS n ORDER BY n", ["a.number", "n"]),
        ("MATCH (a) RETURN DISTINCT a.number AS `the number`, a.id LIMIT 1;", ["the number", "a.id"]),
        ("MATCH (a) RETURN [1, 2][0], {x: 1, y: [2, 3]}, f(a, b)", ["[1, 2][0]", "{x: 1, y: [2, 3]}", "f(a, b)"]),
        ("MATCH (a) RETURN 'a, b' AS text, \"RETURN\"", ["text", '"RETURN"']),
        ("MATCH (a) RETURN a.n UNION ALL MATCH (b) RETURN b.n AS a", ["a.n"]),
        ("MATCH (a) WHERE EXISTS { MATCH (a)-->(b) RETURN b } RETURN a", ["a"]),
        ("MATCH (a) RETURN a.order, a.limit SKIP 1", ["a.order", "a.limit"]),
        ("MATCH (a) RETURN *", []),
        ("MATCH (a) RETURN *, a.n", []),
        ("MATCH (a) SET a.x = 1", []),
    ],
)
def test_columns_are_named_as_they_are_written(statement: str, columns: list[str]) -> None:
    assert columns_of(statement) == columns


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("MATCH ()-[r]->() RETURN type(r)", "MATCH ()-[r]->() RETURN label(r)"),
        ("MATCH (a) RETURN TYPE (a), a.type, 'type(x)'", "MATCH (a) RETURN label (a), a.type, 'type(x)'"),
        ("MATCH (a) WHERE exists { (a)--() } RETURN 1", "MATCH (a) WHERE exists { MATCH (a)--() } RETURN 1"),
        ("MATCH (a) WHERE EXISTS { MATCH (a)--() } RETURN 1", "MATCH (a) WHERE EXISTS { MATCH (a)--() } RETURN 1"),
        ("MATCH (a) RETURN COUNT { (a)-->() } AS n // type(r)", "MATCH (a) RETURN COUNT { MATCH (a)-->() } AS n // type(r)"),
    ],
)
def test_what_the_engine_calls_otherwise_is_said_in_its_words(written: str, said: str) -> None:
    assert in_its_words(written) == said


def test_the_embedded_graph_answers_as_a_server_does(tiny_home: Path) -> None:
    with open_graph(tiny_home) as graph:
        kinds = graph.query("MATCH (:Article)-[r]->(:Article) RETURN type(r), count(*) AS n ORDER BY n DESC LIMIT 1", {}, 5)
        assert kinds.columns == ("type(r)", "n")
        assert kinds.rows[0][0] == "NEXT"
        citing = graph.query("MATCH (a:Article) WHERE EXISTS { (a)-[:CITES]->() } RETURN count(a)", {}, 5)
        assert citing.columns == ("count(a)",)
        assert citing.rows[0][0] > 0


@pytest.mark.parametrize(
    ("statement", "instead"),
    [
        ("MATCH (a:Article) RETURN [x IN collect(a.number) | toUpper(x)]", "list_transform"),
        ("MATCH p = shortestPath((a:Article)-[*..4]-(b:Article)) RETURN p", "SHORTEST"),
        ("MATCH (a:Article) RETURN a.valid_from.year", "date_part"),
    ],
)
def test_what_it_lacks_is_said_with_what_it_has(tiny_home: Path, statement: str, instead: str) -> None:
    with open_graph(tiny_home) as graph, pytest.raises(BadQuery, match=instead):
        graph.query(statement, {}, 5)
