"""The servers of the compose file without Docker: Neo4j and Elasticsearch from Maven Central, on free ports of 127.0.0.1.

``python -m docker.local_servers start`` (or ``make servers``) is for development; the tests use the classes of the two servers.
The programs are downloaded once into ``.servers/`` (or the folder that ``LEXGRAPH_SERVERS`` names); a server's own files
lie in the home that it is given. A server outlives the process that started it, unless it is given a parent to die with.
"""

import shutil
import signal
import sys
import time
from pathlib import Path

import typer

from docker.elasticsearch_server import ElasticsearchServer
from docker.maven import ROOT
from docker.neo4j_server import Neo4jServer
from docker.processes import Process
from docker.server import STOP_SECONDS
from schema.errors import LexgraphError

app = typer.Typer(help="Neo4j and Elasticsearch without Docker.", add_completion=False, rich_markup_mode=None)


def development_servers() -> tuple[Neo4jServer, ElasticsearchServer]:
    """Return the two servers of ``make servers``."""
    homes = ROOT / ".servers" / "run"
    return Neo4jServer(home=homes / "neo4j", heap_mb=1024), ElasticsearchServer(home=homes / "elasticsearch", heap_mb=1024)


@app.command()
def start() -> None:
    """Start both servers, wait until they answer and print the settings to use."""
    graph, text = development_servers()
    graph.start()
    text.start()
    print(f"export LEXGRAPH_GRAPH={graph.address}")
    print(f"export LEXGRAPH_GRAPH_PASSWORD={graph.password}")
    print(f"export LEXGRAPH_TEXT={text.address}")
    print(f"export LEXGRAPH_GRAPH_HTTP={graph.http_address}")
    print(f"# Neo4j Browser: {graph.http_address}/browser/ ; make servers-stop ends both")


@app.command()
def stop() -> None:
    """Stop both servers; their data stay."""
    for server in development_servers():
        server.stop()


@app.command(hidden=True)
def watch(parent: int, home: Path) -> None:
    """Outlive a parent, then kill its server and remove the home, unless that has been removed before."""
    process, server = Process.of(parent), Neo4jServer(home=home)  # whichever server it is: its process is all that is asked
    seen = server.process
    while process.alive and home.exists():
        time.sleep(1)  # a run of the tests has dozens of these beside it
        seen = server.process or seen
    # Its home, which says what its process is, goes with the folders of the tests as soon as these have passed.
    if seen is not None:
        seen.send(signal.SIGKILL)
        seen.gone(STOP_SECONDS)
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    try:
        app()
    except LexgraphError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
