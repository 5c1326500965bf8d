"""The programs of the servers, downloaded once from Maven Central into a folder of the project."""

import fcntl
import os
import shutil
import subprocess
import tempfile
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from schema.errors import LexgraphError

ROOT = Path(__file__).resolve().parent.parent


class ServerMissing(LexgraphError):
    """A program that the servers need and this machine lacks; the message says what to install."""

    exit_code = 69
    http_status = 501


class ServerFailed(LexgraphError):
    """A server that did not start, with the end of its log."""

    exit_code = 69
    http_status = 503


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
def locked(file: Path) -> Generator[None]:
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
    with locked(downloads() / ".lock"):  # one at a time: Maven's own cache is not made for two
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
