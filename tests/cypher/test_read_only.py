"""Free statements read and do nothing else, on every engine."""

import json
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.export.dump import canonical_dump
from cypher.graph import Graph
from cypher.read_only import PROCEDURES, reading_statement
from docker.neo4j_server import Neo4jServer
from ingest.sources import ingest
from schema.errors import BadQuery
from tests.support.commands import Lexgraph
from tests.support.hostile_cypher import HOSTILE
from tests.support.on_server import store_of
from tests.support.servers import on_shared
from tests.support.tiny_law import bakers, millers, write_law

READING = [
    "MATCH (a:Article)<-[:CITES]-(b) RETURN a.id, count(b) AS cited ORDER BY cited DESC LIMIT 5",
    "MATCH (n:Act) RETURN n{.id, .title, x: 1} LIMIT 3",
    "UNWIND [1, 2, 3] AS count RETURN count * 2 AS index ORDER BY index ASC SKIP 1",
    "MATCH p = (:Act {id: $id})-[:CONTAINS*1..3]->(b) RETURN nodes(p)",
    "MATCH (a:Article) WHERE a.number STARTS WITH 'L' AND NOT a.text CONTAINS \"d'un\" RETURN DISTINCT a.number",
    "MATCH (a) RETURN CASE WHEN a.number = 'L1' THEN 'y' ELSE null END AS z",
    "MATCH (a) RETURN CASE a.number WHEN 'L1' THEN 1 END AS z",
    "MATCH (a:Article) WITH * RETURN *",
    "MATCH (a) RETURN count(*), count(DISTINCT a)",
    "MATCH (a)-[r:CITES|NEXT]->(b:Article|Section) RETURN type(r), count(DISTINCT b)",
    "MATCH (a) RETURN a.end, a.order, a.limit",
    "RETURN [x IN range(1, 10) WHERE x % 2 = 0 | x] AS evens",
    "MATCH (a) WHERE EXISTS { MATCH (a)-->(b) WHERE b.x = 1 } RETURN COUNT { (a)--() } AS n",
    "MATCH (a) CALL (a) { MATCH (a)-->(b) RETURN count(b) AS n } RETURN a, n",
    "MATCH (a) RETURN a.n UNION ALL MATCH (b) RETURN b.n",
    "MATCH (a) RETURN a.n UNION MATCH (b) RETURN b.n",
    "MATCH ((a)-[:NEXT]->(b)){1,3} RETURN a",
    "MATCH p = ALL SHORTEST (a:Article)-[:CITES]-+(b:Article) RETURN p",
    "MATCH (a) WHERE date(a.valid_from) > date.truncate('year', date()) RETURN a // the end",
    "CYPHER 25 MATCH (a:Article) SEARCH a IN (VECTOR INDEX name FOR $id WHERE a.act_id = $id LIMIT 100) SCORE AS score RETURN a",
    "MATCH (a) WHERE a.id IN ['x', \"it's\"] RETURN a.text IS NOT NULL;",
    "MATCH (a:`Article`) WHERE a.`text` =~ '.*' RETURN a.text AS `the text`",
    "CALL db.labels() YIELD label RETURN label",
]


@pytest.mark.parametrize("statement", READING)
def test_what_reads_is_let_through(statement: str) -> None:
    reading_statement(statement, "neo4j")


@pytest.mark.parametrize("engine", sorted(PROCEDURES))
@pytest.mark.parametrize("statement", HOSTILE)
def test_what_does_anything_else_is_refused_with_its_place(statement: str, engine: str) -> None:
    with pytest.raises(BadQuery, match=r"^cypher: "):
        reading_statement(statement, engine)


def test_there_are_a_hundred_hostile_statements() -> None:
    assert len(set(HOSTILE)) >= 100


def test_the_message_names_the_word_and_its_place() -> None:
    with pytest.raises(BadQuery, match="line 2, column 3: 'DELETE' is no part of a statement that reads"):
        reading_statement("MATCH (a)\n  DELETE a", "ladybug")


def test_parameters_that_are_not_given_are_named() -> None:
    statement = reading_statement("MATCH (a {id: $id}) WHERE a.x > $`the day` RETURN '$nothing', a", "ladybug")
    statement.check(["id", "the day", "other"])
    with pytest.raises(BadQuery, match=r"no value is given for \$id: add --param id="):
        statement.check(["the day"])


def untouched(run: Lexgraph, graph: Graph, folder: Path) -> None:
    """Every hostile statement is a user's mistake, whatever the engine; nothing in the graph or the folder changes."""
    before, files = list(canonical_dump(graph)), sorted(folder.iterdir())
    for statement in HOSTILE:
        ended = run("cypher", statement.replace("{file}", str(folder / "written")))
        assert (ended.code, ended.out) == (64, ""), statement
        assert "Traceback" not in ended.err
    assert list(canonical_dump(graph)) == before
    assert sorted(folder.iterdir()) == files


@pytest.mark.slow
def test_the_command_line_reads_only_on_the_embedded_graph(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    run = Lexgraph.over(tmp_path / "home")
    run.do("ingest", write_law(tmp_path / "law", bakers(), millers()))
    with EmbeddedStore(tmp_path / "home").reading() as graph:
        untouched(run, graph, folder)
    rows = [json.loads(line) for line in run.do("cypher", "--json", "MATCH (a:Act) RETURN a.id AS id ORDER BY id").splitlines()]
    assert len(rows) == 2


@pytest.mark.parametrize("name", [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")])
def test_the_command_line_reads_only_on_neo4j(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    server: Neo4jServer = request.getfixturevalue(name)
    folder = tmp_path / "folder"
    folder.mkdir()
    store = store_of(server, tmp_path / "home")
    ingest(store, write_law(tmp_path / "law", bakers(), millers()))
    run = Lexgraph.over(tmp_path / "home", server)
    with store.reading() as graph:
        untouched(run, graph, folder)
        # The server keeps to it as well: what the words let through, its own parser and the kind of session decide.
        for statement in ("CREATE (n) RETURN n", "MATCH (a:Article) SET a.text = 'x' RETURN a"):
            with pytest.raises(BadQuery):
                graph.query(statement, {}, 10)
