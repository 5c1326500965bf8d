"""The programs of the servers, downloaded once from Maven Central.

``python3 -m docker.maven`` downloads all of them. It needs no package, so that it can run while the packages are installed.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True)
class Product:
    """A version of a server: the Java versions that run it, the best first, and its artifacts (group:name:version:type)."""

    name: str
    version: str
    java: tuple[int, ...]
    program: tuple[str, ...]
    plugins: tuple[str, ...] = ()
    main_class: str = ""

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def folder(self) -> Path:
        """Folder of the program, in ``LEXGRAPH_SERVERS`` or in ``.servers`` of the project."""
        downloads = Path(os.environ.get("LEXGRAPH_SERVERS") or ROOT / ".servers").absolute()
        return downloads / f"{self.name.lower()}-{self.version}"


def _neo4j(version: str, java: tuple[int, ...], gds: str, main_class: str) -> Product:
    program = (f"org.neo4j.app:neo4j-server:{version}", f"org.neo4j:neo4j:{version}", "org.neo4j.client:neo4j-browser:5.24.0")
    plugins = (f"org.neo4j.gds:proc:{gds}", f"org.neo4j.gds:opengds-extension:{gds}")
    return Product("Neo4j", version, java, program, plugins, main_class)


NEO4J_2026 = _neo4j("2026.05.0", (25, 21), "2.26.0", "org.neo4j.server.Neo4jCommunity")
NEO4J_5 = _neo4j("5.26.30", (21, 17), "2.13.9", "org.neo4j.server.CommunityEntryPoint")
_ELASTICSEARCH = "org.elasticsearch.distribution.integ-test-zip:elasticsearch:9.2.0:zip"
ELASTICSEARCH = Product("Elasticsearch", "9.2.0", (25, 24, 21), (_ELASTICSEARCH,))
PRODUCTS = (NEO4J_2026, NEO4J_5, ELASTICSEARCH)


@contextmanager
def locked(file: Path, *, waiting: bool = True) -> Generator[None]:
    """Hold a lock on a file, which is made with the folders above it; a second process waits.

    Raises:
        BlockingIOError: another process holds it, and this one is not ``waiting``.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX if waiting else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def fetch(product: Product) -> Path:
    """Return the folder of a product's program, downloaded the first time.

    Raises:
        ServerMissing: Maven, which downloads it, is not installed.
        ServerFailed: the download failed.
    """
    folder = product.folder
    if not folder.is_dir():
        # One at a time: Maven's own cache is not made for two.
        with locked(folder.parent / ".lock"), tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
            if not folder.is_dir():
                program = _download(product, Path(scratch))
                program.chmod(0o755)  # Elasticsearch reads its program as another user
                program.rename(folder)
    return folder


def _download(product: Product, scratch: Path) -> Path:
    if not product.main_class:  # one archive with a folder in it
        _maven("unpack-dependencies", product, product.program, scratch / "archive")
        return next((scratch / "archive").iterdir())
    lib, plugins = scratch / "program" / "lib", scratch / "program" / "plugins"
    _maven("copy-dependencies", product, product.program, lib)
    _maven("copy-dependencies", product, product.plugins, plugins)
    for jar in plugins.iterdir():
        if (lib / jar.name).exists():  # the server's own version wins
            jar.unlink()
    return scratch / "program"


def _maven(goal: str, product: Product, artifacts: tuple[str, ...], into: Path) -> None:
    """Put the artifacts and all that they need into a folder; a jar is named by group and artifact without version."""
    maven = shutil.which("mvn")
    if maven is None:
        raise ServerMissing(f"{product} is downloaded by Maven, which is not installed: apt-get install maven")
    dependencies = ""
    for artifact in artifacts:
        parts = zip(("groupId", "artifactId", "version", "type"), artifact.split(":"), strict=False)  # the type is jar, unsaid
        dependencies += f"<dependency>{''.join(f'<{tag}>{part}</{tag}>' for tag, part in parts)}</dependency>"
    into.mkdir(parents=True)
    pom = into.with_suffix(".pom.xml")
    pom.write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>lexgraph</groupId><artifactId>servers</artifactId>"
        f"<version>1</version><packaging>pom</packaging><dependencies>{dependencies}</dependencies></project>"
    )
    command = [maven, "--batch-mode", "--quiet", "--no-transfer-progress", f"--file={pom}", f"dependency:{goal}"]
    command += ["-DincludeScope=runtime", "-Dmdep.stripVersion=true", "-Dmdep.prependGroupId=true", f"-DoutputDirectory={into}"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    pom.unlink()
    if run.returncode != 0:
        errors = [line for line in run.stdout.splitlines() if "ERROR" in line]
        raise ServerFailed(f"{product} could not be downloaded: {errors[0] if errors else run.stderr.strip() or 'Maven failed'}")


def main() -> int:
    """Download the programs of all versions; a failure is one line and an exit code."""
    try:
        for product in PRODUCTS:
            print(f"{product}: {fetch(product)}", flush=True)
    except LexgraphError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
