"""Real servers for tests. Each shared one is started once a run, by the first worker that asks, and ends with the run.

Where Java or Maven is missing these tests are skipped with a line that says what to install; under ``CI=true`` they fail.
The community edition has one database, so all tests of a shared Neo4j run on one worker (``--dist loadgroup``), and each
module begins with it empty. A test that takes ``neo4j_2026`` or ``neo4j_5`` as an argument is put there by itself; one that
asks for it by ``request.getfixturevalue`` carries ``on_shared("neo4j_2026")``. A lock holds where the groups do not, as with
a test that is in two of them.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from docker.elasticsearch_server import ElasticsearchServer
from docker.java import find_java
from docker.maven import NEO4J_5, NEO4J_2026, Product, ServerMissing, fetch
from docker.neo4j_server import Neo4jServer
from docker.server import Server

SHARED_GRAPHS = ("neo4j_2026", "neo4j_5")
SERVERS = {*SHARED_GRAPHS, "elasticsearch_server", "own_neo4j", "own_elasticsearch"}
"""Fixtures that start a server."""
OwnNeo4j = Callable[..., Neo4jServer]


def on_shared(fixture: str) -> pytest.MarkDecorator:
    """The mark that keeps all tests of one shared Neo4j on one worker."""
    assert fixture in SHARED_GRAPHS
    return pytest.mark.xdist_group(fixture)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests on the worker of their server, and mark those that `make check` leaves out."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        named = [name for name in SHARED_GRAPHS if name in fixtures]
        if len(named) > 1:
            raise pytest.UsageError(f"{item.nodeid} takes two shared Neo4j servers: give it one by parameter")
        for name in named:
            item.add_marker(on_shared(name))
        groups = {str(mark.args[0]) for mark in item.iter_markers("xdist_group")}
        if fixtures & SERVERS or groups & set(SHARED_GRAPHS):
            item.add_marker(pytest.mark.servers)
        if fixtures & {"real_home", "real_sources"} or any(group.startswith("real") for group in groups):
            item.add_marker(pytest.mark.real_law)


def run_pid() -> int:
    """The pid of the whole run: a server must outlive the worker that started it."""
    return os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()


@contextmanager
def _skip_where_missing() -> Iterator[None]:
    try:
        yield
    except ServerMissing as missing:
        if os.environ.get("CI") == "true":
            pytest.fail(str(missing), pytrace=False)
        pytest.skip(str(missing))


def need(product: Product) -> None:
    """Skip the test, or fail in CI, where the machine has no Java for the product or cannot download it."""
    with _skip_where_missing():
        find_java(product)
        fetch(product)


def start_or_skip(server: Server) -> None:
    """Start a server that ends with the run; without Java or Maven the test is skipped, or fails in CI."""
    with _skip_where_missing():
        server.start(dies_with=run_pid())


@pytest.fixture(scope="session")
def servers_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the shared servers of this run have their homes."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "servers"


@contextmanager
def _alone_on(product: Product, home: Path) -> Iterator[Neo4jServer]:
    """The shared server of a product, started if need be, empty, and this worker's until the module ends."""
    server = Neo4jServer(product, home, short_lived=True)
    home.parent.mkdir(parents=True, exist_ok=True)
    try:
        with FileLock(f"{home}.lock", timeout=300):
            start_or_skip(server)
            server.wipe()
            yield server
    except Timeout:
        pytest.fail(f"another worker keeps {product} for itself: is this run without --dist loadgroup?", pytrace=False)


@pytest.fixture(scope="module")
def neo4j_2026(servers_home: Path) -> Iterator[Neo4jServer]:
    """The shared Neo4j 2026.05 with Graph Data Science, empty at the start of each module."""
    with _alone_on(NEO4J_2026, servers_home / "neo4j-2026") as server:
        yield server


@pytest.fixture(scope="module")
def neo4j_5(servers_home: Path) -> Iterator[Neo4jServer]:
    """The shared Neo4j 5.26 with Graph Data Science, empty at the start of each module."""
    with _alone_on(NEO4J_5, servers_home / "neo4j-5") as server:
        yield server


@pytest.fixture(scope="session")
def elasticsearch_server(servers_home: Path) -> ElasticsearchServer:
    """The shared Elasticsearch. Both workers use it at once: each test takes a prefix of its own for its indexes."""
    server = ElasticsearchServer(home=servers_home / "elasticsearch", short_lived=True)
    start_or_skip(server)
    return server


@pytest.fixture
def own_neo4j(tmp_path: Path) -> Iterator[OwnNeo4j]:
    """Makes a started Neo4j for this test alone, to kill, pause or starve: ``own_neo4j(NEO4J_5, config={…}, gds=True)``."""
    made: list[Neo4jServer] = []

    def make(product: Product = NEO4J_2026, config: Mapping[str, str] | None = None, gds: bool = False) -> Neo4jServer:
        server = Neo4jServer(product, tmp_path / f"own-neo4j-{len(made)}", config or {}, gds=gds, short_lived=True)
        made.append(server)
        start_or_skip(server)
        return server

    yield make
    for server in made:
        server.kill()


@pytest.fixture
def own_elasticsearch(tmp_path: Path) -> Iterator[Callable[..., ElasticsearchServer]]:
    """Makes a started Elasticsearch for this test alone, to kill or pause."""
    made: list[ElasticsearchServer] = []

    def make(config: Mapping[str, str] | None = None) -> ElasticsearchServer:
        server = ElasticsearchServer(home=tmp_path / f"own-elasticsearch-{len(made)}", config=config or {}, short_lived=True)
        made.append(server)
        start_or_skip(server)
        return server

    yield make
    for server in made:
        server.kill()
