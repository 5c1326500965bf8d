"""Types of arrays, and what is done with rows of embeddings."""

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float32]


def unit(rows: Matrix) -> Matrix:
    """Rows (or one vector) scaled to unit length; zeros stay zeros."""
    length = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.maximum(length, 1e-9)).astype(np.float32)
