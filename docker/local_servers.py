"""The servers of the compose file without Docker: Neo4j and Elasticsearch from Maven Central, on free ports of 127.0.0.1.

``python -m docker.local_servers start`` (or ``make servers``) is for development; the tests use the two classes.
The programs are downloaded once into ``.servers/`` (or the folder that ``LEXGRAPH_SERVERS`` names); a server's own files
lie in the home that it is given. A server outlives the process that started it, unless it is given a parent to die with.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from docker.elasticsearch_server import ElasticsearchServer
from docker.maven import PRODUCTS, ROOT, fetch
from docker.neo4j_server import Neo4jServer
from docker.processes import Process
from schema.errors import LexgraphError


def development_servers() -> tuple[Neo4jServer, ElasticsearchServer]:
    """The two that ``make servers`` starts."""
    homes = ROOT / ".servers" / "run"
    return Neo4jServer(home=homes / "neo4j", heap_mb=1024), ElasticsearchServer(home=homes / "elasticsearch", heap_mb=1024)


def _start() -> None:
    graph, text = development_servers()
    graph.start()
    text.start()
    print(f"export LEXGRAPH_GRAPH={graph.address}")
    print(f"export LEXGRAPH_GRAPH_PASSWORD={graph.password}")
    print(f"export LEXGRAPH_TEXT={text.address}")
    print(f"export LEXGRAPH_GRAPH_HTTP={graph.http_address}")
    print(f"# Neo4j Browser: {graph.http_address}/browser/ ; make servers-stop ends both")


def _stop() -> None:
    for server in development_servers():
        server.stop()


def _fetch() -> None:
    for product in PRODUCTS:
        print(f"{product}: {fetch(product)}")


def _watch(parent: int, home: Path) -> None:
    """Outlive a parent, then kill its server and remove the home."""
    process = Process.of(parent)
    while process.alive and home.exists():
        time.sleep(0.2)
    Neo4jServer(home=home).kill()  # whichever server it is: a kill needs the home only
    shutil.rmtree(home, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """The command line; a failure is one clear message and an exit code."""
    parser = argparse.ArgumentParser(prog="python -m docker.local_servers", description="Neo4j and Elasticsearch without Docker.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("start", help="start both, wait until they answer, print the settings to use")
    verbs.add_parser("stop", help="stop both; their data stay")
    verbs.add_parser("fetch", help="download the programs of all versions, for later")
    watch = verbs.add_parser("watch")
    watch.add_argument("parent", type=int)
    watch.add_argument("home", type=Path)
    chosen = parser.parse_args(arguments)
    actions: dict[str, Callable[[], None]] = {
        "start": _start,
        "stop": _stop,
        "fetch": _fetch,
        "watch": lambda: _watch(chosen.parent, chosen.home),
    }
    try:
        actions[chosen.verb]()
    except LexgraphError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
