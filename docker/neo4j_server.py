"""Neo4j on this machine, with Graph Data Science."""

import os
import secrets
import shlex
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from docker.java import VECTOR_MODULE, has_module, java_version
from docker.maven import NEO4J_2026, Product, ServerFailed, locked
from docker.server import LOOPBACK, Server

_OPENED = [f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in ("java.nio", "java.io", "sun.nio.ch", "java.lang")]
"""Java's own classes that Neo4j reads."""
_RECORDED = (
    "CREATE CONSTRAINT a FOR (n:A) REQUIRE n.id IS UNIQUE",
    "CREATE VECTOR INDEX b FOR (n:A) ON (n.vector)",
    "UNWIND range(1, 9) AS i MERGE (n:A {id: i}) SET n.text = toString(i) MERGE (n)-[:TO {way: i}]->(:B)",
    "MATCH (n:A)-[t:TO]->(m) WHERE n.id > 3 WITH n, collect(t.way) AS ways RETURN n.id, ways ORDER BY n.id LIMIT 3",
    "MATCH (n) WITH n LIMIT 9 DETACH DELETE n RETURN count(*)",
    "SHOW INDEXES YIELD name, type",
)
"""Statements whose classes are archived with those of a start."""
_RECORDING_SECONDS = 300


@dataclass
class Neo4jServer(Server):
    """Neo4j, community edition, with Graph Data Science (unless ``gds`` is off) and the Browser at ``/browser/``."""

    product: Product = NEO4J_2026
    home: Path = Path("neo4j")
    gds: bool = True
    port_names: tuple[str, ...] = ("bolt", "http")
    records: Path | None = None  # file for the classes that it read, written when it stops

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
        if self.records:
            options.append(f"-XX:ArchiveClassesAtExit={self.records}")
        elif self.short_lived and self.product == NEO4J_2026:  # the other is started too seldom
            options += self._class_archive(program, java)
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

    def _class_archive(self, program: Path, java: Path) -> list[str]:
        """Return the option that names an archive of the classes that a start reads (class data sharing).

        It halves the work of a start; to make it, the first time, takes that of two. Whoever starts meanwhile does without.
        """
        archive = program / f"classes-{java_version(java)}.jsa"
        if not archive.exists():
            with suppress(OSError), locked(program / ".classes.lock", waiting=False):
                if not archive.exists():
                    self._record_classes(archive)
        # Java itself leaves one alone that does not fit.
        return [f"-XX:SharedArchiveFile={archive}"] if archive.exists() and archive.stat().st_size else []

    def _record_classes(self, archive: Path) -> None:
        """Make the archive; where that fails, it is empty, so that it is not tried at every start."""
        with tempfile.TemporaryDirectory(dir=archive.parent, ignore_cleanup_errors=True) as folder:
            made = Path(folder) / archive.name
            server = Neo4jServer(
                self.product,
                Path(folder) / "server",
                ready_seconds=_RECORDING_SECONDS,
                short_lived=True,
                gds=False,
                records=made,
            )
            try:
                server.start(dies_with=os.getpid())
                for statement in _RECORDED:
                    server.query(statement)
            except ServerFailed:
                server.kill()
            if not server.stop(_RECORDING_SECONDS):
                made.unlink(missing_ok=True)  # half of one
            made.touch()
            made.replace(archive)

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
