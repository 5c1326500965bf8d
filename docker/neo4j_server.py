"""Neo4j on this machine, with Graph Data Science."""

import os
import secrets
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.java import VECTOR_MODULE, has_module, java_version
from docker.maven import NEO4J_2026, Product, ServerFailed
from docker.server import LOOPBACK, Server

_OPENED = [f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in ("java.nio", "java.io", "sun.nio.ch", "java.lang")]
"""Java's own classes that Neo4j reads."""


@dataclass
class Neo4jServer(Server):
    """Neo4j, community edition, with Graph Data Science (unless ``gds`` is off) and the Browser at ``/browser/``."""

    product: Product = NEO4J_2026
    home: Path = Path("neo4j")
    gds: bool = True
    port_names: tuple[str, ...] = ("bolt", "http")

    user = "neo4j"

    @property
    def address(self) -> str:
        """Address to set as ``LEXGRAPH_GRAPH``."""
        return f"bolt://{LOOPBACK}:{self._port('bolt')}"

    @property
    def password(self) -> str:
        """The password of user neo4j: random, made with the home, readable by its owner only."""
        file = self.home / "password"
        if not file.exists():
            file.touch(mode=0o600)
            file.write_text(secrets.token_urlsafe(18))
        return file.read_text()

    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None:
        config = {
            "server.bolt.listen_address": f"{LOOPBACK}:{ports['bolt']}",
            "server.bolt.advertised_address": f"{LOOPBACK}:{ports['bolt']}",
            "server.http.listen_address": f"{LOOPBACK}:{ports['http']}",
            "server.memory.pagecache.size": "256m",
            "db.tx_log.rotation.size": "16m",  # a test's database is small; the default takes 256 MB at once
            "db.tx_log.preallocate": "false",
            "dbms.usage_report.enabled": "false",
            "server.directories.plugins": str((program if self.gds else self.home) / "plugins"),
            "dbms.security.procedures.unrestricted": "gds.*",
            **self._quick_end(),
            **self.config,
        }
        lines = [f"{key}={value}\n" for key, value in config.items()]
        (self.home / "config" / "neo4j.conf").write_text("".join(lines))
        # The distribution has it in its bin folder: import, dump and load, of this home.
        arguments = [
            f"{java}/bin/java",
            f"-Xmx{self.heap_mb}m",
            *self._java_options,
            *_OPENED,
            "-cp",
            f"{program}/lib/*",
            "org.neo4j.cli.AdminTool",
        ]
        places = f"NEO4J_HOME={shlex.quote(str(self.home))} NEO4J_CONF={shlex.quote(str(self.home / 'config'))}"
        self.admin.write_text(f'#!/bin/sh\n{places} exec {shlex.join(arguments)} "$@"\n')
        self.admin.chmod(0o755)

    @property
    def admin(self) -> Path:
        """Program ``neo4j-admin`` for this home, from the first start on; most of it needs the server stopped."""
        return self.home / "neo4j-admin"

    def _quick_end(self) -> dict[str, str]:
        """Without these a stop waits fifteen seconds for connections that nobody opens."""
        if not self.short_lived:
            return {}
        quiet = "internal.dbms.bolt.netty_server_shutdown_quiet_period"
        return {quiet: "0"} if self.product.version.startswith("5.") else {f"{quiet}_duration": "0s"}

    def _command(self, program: Path, java: Path) -> list[str]:
        options = [f"-Xmx{self.heap_mb}m", f"-Djava.io.tmpdir={self.home / 'tmp'}", *self._java_options, *_OPENED]
        if self.short_lived:
            options.append("-XX:+UseSerialGC")  # a twentieth to a tenth less work until it is ready
        if java_version(java) >= 21:
            options.append("--enable-native-access=ALL-UNNAMED")
        # What Neo4j's manual advises for vector indexes: distances by SIMD instructions. Compiled at the first level alone,
        # they would be slower than without.
        if not self.short_lived and has_module(java, VECTOR_MODULE):
            options.append(f"--add-modules={VECTOR_MODULE}")
        # Extensions are found on the class path, not in the plugins folder alone.
        jars = f"{program}/lib/*" + (f"{os.pathsep}{program}/plugins/*" if self.gds else "")
        arguments = [f"--home-dir={self.home}", f"--config-dir={self.home / 'config'}", "--console-mode"]
        return [f"{java}/bin/java", *options, "-cp", jars, self.product.main_class, *arguments]

    def query(self, statement: str, parameters: Mapping[str, Any] | None = None, database: str = "neo4j") -> list[list[Any]]:
        """Return the rows of one statement, over HTTP, for set-up and tests.

        Raises:
            ServerFailed: the server refused the statement, or did not answer.
        """
        body = {"statement": statement, "parameters": parameters or {}}
        status, answer = self.request("POST", f"/db/{database}/query/v2", body, (self.user, self.password))
        if "data" not in answer:
            errors = answer.get("errors") or [{"message": f"HTTP {status}"}]
            raise ServerFailed(f"{self.product}: {errors[0]['message']}")
        return answer["data"]["values"]

    def wipe(self) -> None:
        """Delete all nodes, constraints, indexes and projections of the one database that the community edition has."""
        self._drop_projections()
        for (name,) in self.query("SHOW CONSTRAINTS YIELD name"):
            self.query(f"DROP CONSTRAINT `{name}`")
        for name, kind in self.query("SHOW INDEXES YIELD name, type"):
            if kind != "LOOKUP":
                self.query(f"DROP INDEX `{name}`")
        self._delete_nodes()

    def clear(self) -> None:
        """Delete all nodes, projections and vector indexes; constraints and other indexes stay, which take longest to make."""
        self._drop_projections()
        for (name,) in self.query("SHOW VECTOR INDEXES YIELD name"):
            self.query(f"DROP INDEX `{name}`")
        self._delete_nodes()

    def _drop_projections(self) -> None:
        if self.gds:
            self.query("CALL gds.graph.list() YIELD graphName CALL gds.graph.drop(graphName) YIELD nodeCount RETURN nodeCount")

    def _delete_nodes(self) -> None:
        while self.query("MATCH (n) WITH n LIMIT 20000 DETACH DELETE n RETURN count(*)") != [[0]]:
            pass

    def _answers(self) -> bool:
        status, _ = self.request("GET", "/")
        if status != 200:
            return False
        ask = {"statement": "RETURN 1"}
        status, answer = self.request("POST", "/db/neo4j/query/v2", ask, (self.user, self.password))
        if status in (401, 403):  # the first start: neo4j/neo4j, which must be changed
            change = {"statement": "ALTER CURRENT USER SET PASSWORD FROM 'neo4j' TO $new", "parameters": {"new": self.password}}
            self.request("POST", "/db/system/query/v2", change, (self.user, "neo4j"))
            return False
        return "data" in answer
