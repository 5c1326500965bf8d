"""Model files under the home and, for several machines, on a shelf: a shared folder or an object store."""

from contextlib import suppress
from errno import EDQUOT, ENOSPC
from pathlib import Path
from typing import Any

from runtime.atomic_folder import whole_folder
from schema.errors import BadSetting, LexgraphError, MissingExtra, NotReady, StorageFull

FOLDER = "models"
SCOPE = "scope.json"
"""The confidence of a version's answers: learnt after its training, and again from other questions."""
TERMS = "terms"
"""The terms that a version is asked by in other languages: made after its training."""
TERM_FILES = ("vectors.npy", "names.json")
"""Written in this order: the last says that both are there."""
_COMPLETE = "complete"
"""Written last: its presence says that the shelf holds all files of a version."""


def model_folder(home: Path, id: str) -> Path:
    """Return the folder of a model version on this machine."""
    return home / FOLDER / id


def share_model(home: Path, shelf: str, id: str) -> None:
    """Copy a version to the shelf, unless it holds it; nothing without a shelf. What may be learnt later is copied again.

    Args:
        shelf: a folder or an ``fsspec`` address (``s3://bucket/models``, ``gs://…``, ``file:///…``).

    Raises:
        MissingExtra: the address needs a package that is not installed.
        StorageFull: it is full.
        LexgraphError: it cannot be written otherwise.
    """
    if not shelf:
        return
    filesystem, place = _place_on(shelf, id)
    try:
        folder = model_folder(home, id)
        if filesystem.exists(f"{place}/{_COMPLETE}"):
            _share_later(filesystem, place, folder)
            return
        filesystem.makedirs(place, exist_ok=True)
        for path in sorted(p for p in folder.rglob("*") if p.is_file() and not _of_other_law(folder, p)):
            target = f"{place}/{path.relative_to(folder).as_posix()}"
            filesystem.makedirs(target.rpartition("/")[0], exist_ok=True)
            filesystem.put_file(str(path), target)
        with filesystem.open(f"{place}/{_COMPLETE}", "wb") as stream:
            stream.write(b"")
    except OSError as error:
        kind = StorageFull if error.errno in (ENOSPC, EDQUOT) else LexgraphError
        raise kind(f"model files at {shelf} cannot be written: {error}") from None


def fetch_model(home: Path, shelf: str, id: str) -> None:
    """Bring a version from the shelf to this machine, whole or not at all, unless it has it; terms that it lacks are brought.

    Raises:
        NotReady: the shelf does not hold it.
        StorageFull: the disk is full.
    """
    folder = model_folder(home, id)
    if not shelf or (folder / TERMS).is_dir():
        return
    if folder.is_dir():
        with suppress(LexgraphError, OSError):  # it serves without them
            _fetch_terms(*_place_on(shelf, id), folder)
        return
    filesystem, place = _place_on(shelf, id)
    try:
        if not filesystem.exists(f"{place}/{_COMPLETE}"):
            raise NotReady(f"model {id} is neither under {home / FOLDER} nor at {shelf}: run `lexgraph train`")
        with whole_folder(folder) as part:
            for name in filesystem.find(place):
                relative = str(name)[len(place) :].lstrip("/")
                if relative == _COMPLETE:
                    continue
                target = part / relative
                target.parent.mkdir(parents=True, exist_ok=True)
                filesystem.get_file(name, str(target))
    except OSError as error:
        if folder.is_dir():
            return  # another process brought it meanwhile
        if error.errno in (ENOSPC, EDQUOT):
            raise StorageFull(f"{folder}: {error.strerror}; no model version was touched") from None
        raise NotReady(f"model files at {shelf} cannot be read: {error}") from None


def _share_later(filesystem: Any, place: str, folder: Path) -> None:
    """Copy what is made after the training to a shelf that holds a version."""
    if (folder / SCOPE).exists():
        filesystem.put_file(str(folder / SCOPE), f"{place}/{SCOPE}")
    if (folder / TERMS).is_dir() and not filesystem.exists(f"{place}/{TERMS}/{TERM_FILES[-1]}"):
        filesystem.makedirs(f"{place}/{TERMS}", exist_ok=True)
        for name in TERM_FILES:
            filesystem.put_file(str(folder / TERMS / name), f"{place}/{TERMS}/{name}")


def _fetch_terms(filesystem: Any, place: str, folder: Path) -> None:
    """Bring the terms of a version that is here, whole or not at all, where the shelf has them."""
    if filesystem.exists(f"{place}/{TERMS}/{TERM_FILES[-1]}"):
        with whole_folder(folder / TERMS) as part:
            for name in TERM_FILES:
                filesystem.get_file(f"{place}/{TERMS}/{name}", str(part / name))


def remove_shared(shelf: str, id: str) -> None:
    """Remove a version from the shelf: first the mark of completeness, so that nobody fetches half of it.

    Raises:
        MissingExtra: the address needs a package that is not installed.
        LexgraphError: it cannot be removed.
    """
    if not shelf:
        return
    filesystem, place = _place_on(shelf, id)
    try:
        if filesystem.exists(f"{place}/{_COMPLETE}"):
            filesystem.rm_file(f"{place}/{_COMPLETE}")
        if filesystem.exists(place):
            filesystem.rm(place, recursive=True)
    except OSError as error:
        raise LexgraphError(f"model files at {shelf} cannot be removed: {error}") from None


def _of_other_law(folder: Path, path: Path) -> bool:
    """Return whether a file is of law that came after the training: such embeddings are made where they are needed."""
    return path.relative_to(folder).parts[0].startswith("law-")


def _place_on(shelf: str, id: str) -> tuple[Any, str]:
    """Return the file system of a shelf, and the address of a version on it."""
    try:
        import fsspec
    except ModuleNotFoundError:
        raise MissingExtra("LEXGRAPH_MODELS needs fsspec: install lexgraph[servers]") from None
    try:
        filesystem, root = fsspec.core.url_to_fs(shelf)
    except ImportError as error:
        raise MissingExtra(f"LEXGRAPH_MODELS={shelf}: {error}") from None
    except ValueError as error:
        raise BadSetting(f"LEXGRAPH_MODELS={shelf}: {error}") from None
    return filesystem, f"{root.rstrip('/')}/{id}"
