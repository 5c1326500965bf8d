"""The store that the settings name: the embedded graph, or that of a Neo4j server."""

from cypher.engines.ladybug import EmbeddedStore
from cypher.graph import Store
from schema.errors import MissingExtra
from schema.settings import Settings


def open_store(settings: Settings) -> Store:
    """The graph of the settings; nothing is asked of it yet.

    Raises:
        MissingExtra: a server is named, and its driver is not installed.
    """
    if not settings.graph:
        return EmbeddedStore(settings.home, settings.memory_mb)
    try:
        from cypher.engines.neo4j import Neo4jStore
        from cypher.engines.neo4j_errors import Server
    except ModuleNotFoundError as error:
        raise MissingExtra(f"LEXGRAPH_GRAPH needs {error.name}: install lexgraph[servers]") from None
    password = settings.graph_password.get_secret_value()
    return Neo4jStore(settings.home, Server(settings.graph, settings.graph_user, password, settings.graph_database))
