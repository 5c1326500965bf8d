"""Embeddings of passages, kept on disk from run to run by the words of each."""

import hashlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol
from zipfile import BadZipFile

import numpy as np
import numpy.typing as npt

from runtime.progress import Progress
from schema.errors import StorageFull
from search.arrays import Matrix

_FLUSH = 2048
"""Passages that a transformer encodes between two writes of what it has."""


class Encodes(Protocol):
    """A transformer that is served."""

    def encode_raw(self, texts: Sequence[str], kind: str, advance: Callable[[int], None] = ...) -> Matrix:
        """Return float32[texts, d]: embeddings of texts of one kind (query, passage)."""
        ...


def encoded(encoder: Encodes, passages: Sequence[str], kept: Path, progress: Progress) -> Matrix:
    """Return float32[passages, d]: embeddings of passages; those encoded before, in whatever run, are taken from a file.

    Raises:
        StorageFull: the disk is full; what was encoded before stays.
    """
    keys = _keys(passages)
    vector_of = _read(kept)
    missing = [i for i, key in enumerate(keys) if key not in vector_of]
    missing.sort(key=lambda i: len(passages[i]))
    with progress("encoding", len(passages)) as advance:
        advance(len(passages) - len(missing))
        for start in range(0, len(missing), _FLUSH):
            batch = missing[start : start + _FLUSH]
            vectors = encoder.encode_raw([passages[i] for i in batch], "passage", advance)
            vector_of.update((keys[i], vector) for i, vector in zip(batch, vectors, strict=True))
            _write(kept, vector_of)
    return np.stack([vector_of[key] for key in keys])


def keep_encoded(passages: Sequence[str], vectors: Matrix, kept: Path) -> None:
    """Write embeddings of passages into a file that has none yet, for `encoded` to take.

    Args:
        vectors: float32[passages, d].

    Raises:
        StorageFull: the disk is full.
    """
    _write(kept, dict(zip(_keys(passages), vectors, strict=True)))


def _keys(passages: Sequence[str]) -> list[bytes]:
    return [hashlib.sha256(passage.encode()).digest()[:16] for passage in passages]


def _read(kept: Path) -> dict[bytes, npt.NDArray[np.float32]]:
    try:
        with np.load(kept) as stored:
            return {bytes(key): vector for key, vector in zip(stored["keys"], stored["vectors"], strict=True)}
    except (OSError, EOFError, ValueError, KeyError, BadZipFile):  # not there, or not readable: it is encoded anew
        return {}


def _write(kept: Path, vector_of: dict[bytes, npt.NDArray[np.float32]]) -> None:
    part = kept.with_suffix(f".{os.getpid()}.part.npz")  # a comparison may make the same beside a training
    keys, vectors = np.frombuffer(b"".join(vector_of), np.uint8).reshape(-1, 16), np.stack(list(vector_of.values()))
    try:
        np.savez(part, keys=keys, vectors=vectors)
        os.replace(part, kept)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise StorageFull(f"{kept}: {error.strerror}; what was encoded before stays") from None
