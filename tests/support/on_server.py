"""Law on a real Neo4j server."""

from pathlib import Path

from cypher.engines.neo4j import Neo4jStore
from cypher.engines.neo4j_errors import Server
from docker.neo4j_server import Neo4jServer
from schema.settings import Settings


def store_of(server: Neo4jServer, home: Path) -> Neo4jStore:
    """The graph of a server, with its home."""
    return Neo4jStore(home, Server(server.address, server.user, server.password))


def settings_of(server: Neo4jServer, home: Path) -> Settings:
    """Settings that name a server."""
    return Settings.model_validate(
        {"home": home, "graph": server.address, "graph_password": server.password, "graph_http": server.http_address}
    )


def environment_of(server: Neo4jServer) -> dict[str, str]:
    """The same as variables of the environment."""
    return {
        "LEXGRAPH_GRAPH": server.address,
        "LEXGRAPH_GRAPH_PASSWORD": server.password,
        "LEXGRAPH_GRAPH_HTTP": server.http_address,
    }
