"""An empty graph of each engine, and the tiny law in it, for the contract of engines."""

from collections.abc import Callable
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.engines.neo4j import Neo4jStore
from cypher.engines.neo4j_errors import Server
from cypher.graph import Store
from docker.neo4j_server import Neo4jServer
from ingest.sources import ingest
from tests.support.law_history import write_history
from tests.support.servers import on_shared
from tests.support.tiny_law import write_law

SERVERS = [pytest.param(name, marks=on_shared(name)) for name in ("neo4j_2026", "neo4j_5")]
ENGINES = [pytest.param("embedded"), *SERVERS]
MakeStore = Callable[[str], Store]


def store_of(server: Neo4jServer, home: Path) -> Neo4jStore:
    """The graph of a server, with a home of its own."""
    return Neo4jStore(home, Server(server.address, "neo4j", server.password))


@pytest.fixture
def make_store(request: pytest.FixtureRequest, tmp_path: Path) -> MakeStore:
    """An empty graph of an engine."""

    def make(engine: str) -> Store:
        home = tmp_path / "home"
        if engine == "embedded":
            return EmbeddedStore(home)
        server: Neo4jServer = request.getfixturevalue(engine)
        server.clear()
        return store_of(server, home)

    return make


@pytest.fixture(params=ENGINES)
def store(request: pytest.FixtureRequest, make_store: MakeStore) -> Store:
    return make_store(request.param)


@pytest.fixture
def law(store: Store, tmp_path: Path) -> Store:
    """The tiny law, loaded."""
    ingest(store, write_law(tmp_path / "law"))
    return store


@pytest.fixture
def embedded_law(tmp_path: Path) -> EmbeddedStore:
    """What the embedded engine makes of the tiny law: what every other is held against."""
    embedded = EmbeddedStore(tmp_path / "embedded")
    ingest(embedded, write_law(tmp_path / "beside" / "law"))
    return embedded


@pytest.fixture(params=SERVERS)
def served(request: pytest.FixtureRequest, make_store: MakeStore, tmp_path: Path) -> Store:
    store = make_store(request.param)
    ingest(store, write_law(tmp_path / "law"))
    ingest(store, write_history(tmp_path / "history"))  # with articles that have ended
    return store
