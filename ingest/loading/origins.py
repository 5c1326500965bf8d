"""Records of the places that law was loaded from: what they are, whose day's law they have, and how the last try went."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

from cypher.graph import Statements, Store
from cypher.origins import origins, write_origin
from ingest.fetching.archives import is_archive
from ingest.fetching.repositories import is_repository
from schema.errors import NotReady
from schema.records import Origin, OriginKind

_REPOSITORIES = ("git", "repository", "bundle")
_HISTORIES = "law-as-git"
_LOOKS_APART = timedelta(days=1)
"""Time between looks that found nothing new and are noted: on the embedded engine each note is a new release of the graph."""
_LONGEST_REASON = 500


def known_origins(store: Store) -> dict[str, Origin]:
    """Return the origins of a graph by name; none where there is no graph."""
    try:
        with store.reading() as graph:
            return {origin.id: origin for origin in origins(graph)}
    except NotReady:
        return {}


def origin_at(home: Path, name: str, place: Path, stored: Origin | None) -> Origin:
    """Return the origin of a collection as its place tells; what was fetched into the home stays what it is known as.

    Args:
        home: the folder that is fetched into.
        name: of the collection.
        place: folder, archive, repository, or file alone.
        stored: as the graph knows it.
    """
    place = place.absolute()
    if stored is not None and stored.is_fetched and place.is_relative_to(home.absolute()):
        return replace(stored, as_of=None, error="", failed_at="")
    kind = _kind_of(place)
    return Origin(name, kind, str(place.parent if kind == "file" else place))


def _kind_of(place: Path) -> OriginKind:
    if is_repository(place):
        return "repository" if place.is_dir() else "bundle"
    return "archive" if is_archive(place) else "folder" if place.is_dir() else "file"


def remember_origin(store: Store, origin: Origin, place: Path, stored: Origin | None, *, changed: bool) -> None:
    """Note that a load of an origin went through, or a look at it that found nothing new.

    A place on this machine that has nothing new says nothing about how current its law is: its last load stays its last success.
    A file alone does not stand for the collection that it is of.

    Args:
        store: the graph.
        origin: as it was loaded.
        place: the files that were read.
        stored: the origin as the graph knew it before.
        changed: some of them were read, or are gone.
    """
    if stored is not None:
        if origin.kind == "file" and stored.kind != "file":
            return
        same = all(getattr(stored, name) == getattr(origin, name) for name in ("kind", "address", "version", "error"))
        young = not origin.is_fetched or stored.age(datetime.now(UTC)) < _LOOKS_APART
        if same and young and not changed and origin.as_of in (None, stored.as_of):
            return
    with store.writing() as graph:
        graph.atomically(partial(write_loaded, origin=origin, place=place))


def write_loaded(graph: Statements, *, origin: Origin, place: Path) -> None:
    """Write an origin that was loaded just now, with the day whose law it has; one with an error keeps its last success."""
    stored = next((each for each in origins(graph) if each.id == origin.id), None)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    if origin.error and stored is not None:
        write_origin(graph, replace(stored, error=origin.error, failed_at=now))
        return
    as_of = origin.as_of or _as_of(graph, origin, place)
    if as_of is None and stored is not None and stored.version == origin.version:
        as_of = stored.as_of
    write_origin(graph, replace(origin, as_of=as_of, loaded_at=now, failed_at=now if origin.error else ""))


def _as_of(graph: Statements, origin: Origin, place: Path) -> date | None:
    """The day whose law an origin has: of the newest state of its acts, of the newest file; of a package its registry says it."""
    if origin.kind in _REPOSITORIES:
        rows = graph.rows("newest_update", files=f"{_HISTORIES}/{origin.id}/")
        return rows[0]["day"] if rows else None
    if origin.kind == "npm":
        return None
    files = [place] if place.is_file() else [file for file in place.rglob("*") if file.is_file()]
    newest = max((file.stat().st_mtime for file in files), default=None)
    return None if newest is None else datetime.fromtimestamp(newest, UTC).date()


def note_failure(store: Store, name: str, reason: str) -> None:
    """Note why an origin that the graph knows could not be loaded: once a day for the same reason."""
    stored = known_origins(store).get(name)
    if stored is None:
        return
    now, told = datetime.now(UTC), " ".join(reason.split())[:_LONGEST_REASON]
    if stored.error == told and now - datetime.fromisoformat(stored.failed_at) < _LOOKS_APART:
        return
    failed = replace(stored, error=told, failed_at=now.isoformat(timespec="seconds"))
    with store.writing() as graph:
        graph.atomically(partial(write_origin, origin=failed))
