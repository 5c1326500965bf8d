"""A folder that is written whole or not at all, by any number of processes."""

import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

PART = ".part"
"""End of the name of a folder that is being written."""


@contextmanager
def whole_folder(folder: Path) -> Generator[Path]:
    """Make a folder to fill, which takes the name of ``folder`` when the block ends well: a reader sees all of it or none.

    Several processes may make the same one at once: each fills its own, and that of the first stays. What processes that
    died have left beside it is removed.

    Raises:
        OSError: the disk is full, or refuses otherwise; nothing is left of it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    sweep_parts(folder.parent)
    part, lock = _own_part(folder)
    try:
        yield part
        try:
            os.replace(part, folder)
        except OSError as error:
            if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise
            # Another process has made it meanwhile, from the same.
    finally:
        shutil.rmtree(part, ignore_errors=True)
        if lock is not None:
            os.close(lock)


def sweep_parts(place: Path) -> None:
    """Remove folders below ``place`` that processes began to write and died over."""
    for part in place.glob(f"*{PART}"):
        with suppress(OSError):  # another process sweeps too, or its maker is at work
            lock = _locked(part)
            try:
                shutil.rmtree(part, ignore_errors=True)
            finally:
                os.close(lock)


def _own_part(folder: Path) -> tuple[Path, int | None]:
    """Make a folder beside ``folder``, with a lock on it that ends with this process; None where the disk has no locks."""
    while True:
        part = folder.with_name(f"{folder.name}.{uuid4().hex[:12]}{PART}")
        part.mkdir()
        try:
            return part, _locked(part)
        except (BlockingIOError, FileNotFoundError):  # swept by another process before it could be locked
            continue
        except OSError:
            return part, None  # nor can another process lock it, so that it is not swept


def _locked(part: Path) -> int:
    lock = os.open(part, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(lock)
        raise
    return lock
