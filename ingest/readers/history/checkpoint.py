"""An act's history as far as it was read, kept in a file: commits that come later are read alone."""

import os
import pickle
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import Any
from uuid import uuid4

from ingest.fetching.repositories import State
from ingest.readers.history.assembling import Assembly
from ingest.readers.history.placing import Placed, Placing
from ingest.readers.support.dialects import Dialects

VERSION = 2
"""Raised when histories are read otherwise than before: checkpoints of another version are passed over."""
_HEADER = b"lexgraph history %d\n" % VERSION
_SUFFIX = ".checkpoint"
_READERS = "ingest."
_BROKEN = (pickle.UnpicklingError, EOFError, AttributeError, ImportError, LookupError, TypeError, ValueError)
_PLAIN = {"datetime": (date,), "collections": (Counter, defaultdict), "builtins": (set, frozenset, list)}


@dataclass(slots=True)
class Checkpoint:
    """A history as far as it is past, read day by day.

    Attributes:
        listed: the states whose headings the dialects know, as they are listed; those of days to come among them.
        last_day: day of the last state that was read; "" before the first.
        collected: the commit that was passed over, because it holds the wordings of all days; "" where none does.
        present: the last state that was placed.
    """

    dialects: Dialects
    placing: Placing
    assembly: Assembly
    listed: tuple[State, ...] = ()
    last_day: str = ""
    collected: str = ""
    present: Placed | None = None

    def leads_to(self, states: Sequence[State]) -> bool:
        """Return whether a history begins as this one, and goes on after its last day."""
        begun = len(self.listed)
        return tuple(states[:begun]) == self.listed and all(state.day > self.last_day for state in states[begun:])


def checkpoint_file(folder: Path, listed: Path) -> Path:
    """Return the file for the checkpoint of the act that a list of states speaks of."""
    return folder / f"{listed.stem}{_SUFFIX}"


def write_checkpoint(file: Path, checkpoint: Checkpoint, blocks: Iterable[bytes]) -> None:
    """Keep a checkpoint, with those blocks alone that its last state has. A full disk leaves none: it only costs time.

    Args:
        blocks: bytes of the blocks of its last state.
    """
    checkpoint.dialects.keep_read(blocks)
    part = file.with_name(f"{file.name}.{uuid4().hex[:12]}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(_HEADER + zlib.compress(pickle.dumps(checkpoint, pickle.HIGHEST_PROTOCOL), 1))
        os.replace(part, file)
    except OSError:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read_checkpoint(file: Path) -> Checkpoint | None:
    """Return the checkpoint in a file; None where there is none, or none that this version wrote to its end."""
    try:
        content = file.read_bytes()
        if not content.startswith(_HEADER):
            return None
        read = _Unpickler(BytesIO(zlib.decompress(content[len(_HEADER) :]))).load()
    except (
        OSError,
        zlib.error,
        pickle.UnpicklingError,
        EOFError,
        AttributeError,
        ImportError,
        LookupError,
        TypeError,
        ValueError,
    ):
        return None
    return read if isinstance(read, Checkpoint) else None


class _Unpickler(pickle.Unpickler):
    """Makes records of the readers and plain values, and calls nothing else: a file from elsewhere can run no code."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name == "re" and global_name == "_compile":
            return super().find_class(module_name, global_name)
        made = super().find_class(module_name, global_name) if module_name in _PLAIN or module_name.startswith(_READERS) else None
        if made in _PLAIN.get(module_name, ()) or (isinstance(made, type) and is_dataclass(made)):
            return made
        raise pickle.UnpicklingError(f"{module_name}.{global_name} has no place in a checkpoint")
