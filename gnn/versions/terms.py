"""Terms of the law beside a model version, as the encoder of its that knows several languages embeds them."""

import json
from pathlib import Path

import numpy as np

from gnn.encoders.joined import JoinedEncoder
from gnn.versions.shared_folder import TERM_FILES, TERMS, model_folder
from runtime.atomic_folder import whole_folder
from schema.errors import StorageFull
from search.query.terms import Terms

_VECTORS, _NAMES = TERM_FILES


def read_terms(home: Path, id: str, encoder: JoinedEncoder) -> Terms | None:
    """Return the terms of a version, their embeddings memory-mapped; None where it has none."""
    folder = model_folder(home, id) / TERMS
    if encoder.multilingual is None or not folder.is_dir():
        return None
    names = json.loads((folder / _NAMES).read_text("utf-8"))
    vectors = np.load(folder / _VECTORS, mmap_mode="r")
    return Terms(names["words"], names["pairs"], vectors, encoder.multilingual.raw)


def write_terms(home: Path, id: str, terms: Terms) -> None:
    """Write the terms of a version beside its files, whole or not at all.

    Raises:
        StorageFull: the disk is full; what was there stays.
    """
    folder = model_folder(home, id) / TERMS
    try:
        with whole_folder(folder) as part:
            names = {"words": dict(terms.words), "pairs": dict(terms.pairs)}
            (part / _NAMES).write_text(json.dumps(names, ensure_ascii=False), "utf-8")
            np.save(part / _VECTORS, terms.vectors)
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; the model version is as it was") from None
