"""Types of arrays, and what is done with rows of embeddings."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]
Scores = npt.NDArray[np.float32]
Positions = npt.NDArray[np.intp]
Encode = Callable[[Sequence[str]], Matrix]
"""Texts to their embeddings, float32[texts, d]."""
EncodeIn = Callable[[str, Sequence[str]], Matrix]
"""A text and parts of it to their embeddings, float32[1 + parts, d]; the parts may be read where they stand in the text."""
BeginIn = Callable[[str, Sequence[str]], Callable[[], Matrix]]
"""A text and parts of it to a call that gives their embeddings, as of `EncodeIn`, which are begun at once."""


def embedded_apart(encode: Encode, text: str, parts: Sequence[str]) -> Matrix:
    """Return float32[1 + parts, d]: embeddings of a text and of parts of it, none of which knows what stands beside it.

    The text is encoded by itself, as any query: what a quantised transformer gives a text hangs by the others of its batch.
    """
    return np.concatenate([encode([text]), encode(parts)])


def unit(rows: Matrix) -> Matrix:
    """Return rows (or one vector) scaled to unit length; zeros stay zeros."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.maximum(length, 1e-9)).astype(np.float32)


def positions_in(ids: Sequence[str], wanted: Sequence[str]) -> npt.NDArray[np.intp]:
    """Return where each wanted identifier stands among others, -1 where it does not."""
    place = {id: position for position, id in enumerate(ids)}
    return np.array([place.get(id, -1) for id in wanted], np.intp)


def realigned(rows: npt.NDArray[np.floating], ids: Sequence[str], wanted: Sequence[str], missing: float = 0) -> Matrix:
    """Return the rows of identifiers, or their single values, in the order of the wanted ones; ``missing`` for the others."""
    positions = positions_in(ids, wanted)
    result = np.full((len(wanted), *rows.shape[1:]), missing, np.float32)
    result[positions >= 0] = rows[positions[positions >= 0]]
    return result
