"""Sources loaded by their names, and fetched again: new commits of repositories, newer versions of packages."""

import shlex
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from cypher.graph import Store
from ingest.fetching.git_remotes import fetch_remote, is_remote, remote_of
from ingest.fetching.npm import PACKAGES, SERVICE_PUBLIC, Package, fetch, newest_version, no_older, package_folder, publication
from ingest.loading.origins import known_origins, note_failure, remember_origin
from ingest.sources import SourceLoad, load_of
from runtime.progress import Progress, silent
from schema.errors import BadSource, FetchFailed, MissingExtra, MissingFile, TooMuchGone
from schema.records import Origin

SOURCES = "sources"
_NPM = "npm:"
_OF_ONE_SOURCE = (BadSource, FetchFailed, MissingExtra, MissingFile, TooMuchGone)
"""Errors that leave the other sources to be updated."""


def ingest_named(
    store: Store, names: Sequence[str], format: str | None = None, *, force: bool = False, progress: Progress = silent
) -> Iterator[SourceLoad]:
    """Load files, folders, archives and git repositories, also those on servers, and yield what became of each.

    Args:
        store: the graph.
        names: paths and addresses.
        format: of the files, where it is not recognised.
        force: much of the law may disappear.
        progress: of the work.
    """
    for name in names:
        if not is_remote(name):
            yield load_of(store, Path(name), format, force=force, progress=progress)
            continue
        try:
            remote = remote_of(name)
            place = fetch_remote(remote, store.home)
        except _OF_ONE_SOURCE as error:
            yield SourceLoad(name, None, (error,))
            continue
        origin = Origin(remote.name, "git", remote.address)
        load = load_of(store, place, format, force=force, progress=progress, origin=origin)
        yield replace(load, name=remote.address)


def ingest_packages(store: Store, *, force: bool = False, progress: Progress = silent) -> Iterator[SourceLoad]:
    """Load the packages of French law and questions: in the version of the figures, or the newer one that the graph has.

    Raises:
        FetchFailed: npm answered with an error.
        MissingExtra: there is no npm.
        StorageFull: the disk is full.
    """
    known = known_origins(store)
    versions = {origin.address: origin.version for origin in known.values() if origin.kind == "npm"}
    packages = [no_older(package, versions.get(f"{_NPM}{package.name}", "")) for package in PACKAGES]
    with progress("fetching packages", len(packages)) as advance:
        places: list[Path] = []
        for package in packages:
            places.append(fetch(package, store.home / SOURCES))
            advance(1)
    for package, place in zip(packages, places, strict=True):
        yield load_of(store, place, force=force, progress=progress, origin=_origin_of(package))


def _origin_of(package: Package) -> Origin:
    return Origin(package.folder, "npm", f"{_NPM}{package.name}", package.version)


def _package_of(origin: Origin) -> Package | None:
    """The package of an origin, in the version that was loaded; None of any other origin."""
    known = {f"{_NPM}{package.name}": package for package in PACKAGES}
    return replace(known[origin.address], version=origin.version) if origin.kind == "npm" and origin.address in known else None


def update_sources(store: Store, *, progress: Progress = silent) -> Iterator[SourceLoad]:
    """Fetch what is new of each source that the graph knows, load it, and yield what became of each.

    One that fails does not keep the others from being updated. Questions come after the law that they name, and are loaded again
    where there is other law.
    """
    origins = known_origins(store)
    questions = SERVICE_PUBLIC.folder
    law_changed = False
    for name in sorted(origins, key=lambda name: (name == questions, name)):
        try:
            update = _updated(store, origins[name], again=law_changed and name == questions, progress=progress)
        except _OF_ONE_SOURCE as error:
            update = SourceLoad(name, failures=(error,))
        if update.failures and update.report is None:
            note_failure(store, name, str(update.failures[0]))
        law_changed = law_changed or update.anything_changed
        yield update


def _updated(store: Store, origin: Origin, *, again: bool, progress: Progress) -> SourceLoad:
    if origin.kind == "npm":
        return _updated_package(store, origin, again=again, progress=progress)
    if origin.kind == "git":
        with progress(f"fetching {origin.id}", 1) as advance:
            place = fetch_remote(remote_of(origin.address), store.home)
            advance(1)
        return _loaded(store, place, origin, progress, fetched=True)
    if origin.kind in ("repository", "bundle"):
        if not Path(origin.address).exists():
            raise MissingFile(f"{origin.address}: no such file or folder any more; ingest it from where it lies now")
        return _loaded(store, Path(origin.address), origin, progress, fetched=False)
    place = f"an {origin.kind}" if origin.kind == "archive" else f"a {origin.kind}"
    return SourceLoad(origin.id, note=f"loaded from {place}; load it again by `lexgraph ingest {shlex.quote(origin.address)}`")


def _loaded(store: Store, place: Path, origin: Origin, progress: Progress, *, fetched: bool) -> SourceLoad:
    given = replace(origin, as_of=None, error="", failed_at="") if fetched else None
    load = load_of(store, place, progress=progress, origin=given)
    report = load.report
    if report is not None and not load.failures and not report.read_files and not report.anything_changed:
        return SourceLoad(origin.id, note="nothing new")
    return replace(load, name=origin.id)


def _updated_package(store: Store, origin: Origin, *, again: bool, progress: Progress) -> SourceLoad:
    package = _package_of(origin)
    if package is None:
        raise BadSource(origin.address, "", "not a package that is known; load another by `lexgraph ingest`")
    newer = replace(package, version=newest_version(package))
    told = replace(origin, version=newer.version, error="", failed_at="")
    if newer != package or origin.as_of is None:
        told = replace(told, as_of=publication(newer))
    if newer == package and not again:
        remember_origin(store, told, Path(), origin, changed=False)
        return SourceLoad(origin.id, note="nothing new")
    with progress(f"fetching {origin.id}", 1) as advance:
        place = fetch(newer, store.home / SOURCES)
        advance(1)
    load = load_of(store, place, progress=progress, origin=told)
    if newer != package and not load.failures:
        shutil.rmtree(package_folder(package, store.home / SOURCES), ignore_errors=True)
    return replace(load, name=origin.id)
