"""Terms of the law beside a model version, as the encoder of its that knows several languages embeds them."""

import json
import os
from pathlib import Path

import numpy as np

from gnn.encoders.joined import JoinedEncoder
from gnn.versions.shared_folder import TERMS, model_folder
from schema.errors import StorageFull
from search.query.terms import Terms


def read_terms(home: Path, id: str, encoder: JoinedEncoder) -> Terms | None:
    """Return the terms of a version; None where it has none."""
    file = model_folder(home, id) / TERMS
    if encoder.multilingual is None or not file.exists():
        return None
    with np.load(file) as stored:
        names = json.loads(stored["names"].tobytes())
        return Terms(names["words"], names["pairs"], stored["vectors"], encoder.multilingual.raw)


def write_terms(home: Path, id: str, terms: Terms) -> None:
    """Write the terms of a version beside its files, whole or not at all.

    Raises:
        StorageFull: the disk is full; what was there stays.
    """
    file = model_folder(home, id) / TERMS
    names = json.dumps({"words": dict(terms.words), "pairs": dict(terms.pairs)}, ensure_ascii=False).encode()
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        with part.open("wb") as stream:
            np.savez(stream, names=np.frombuffer(names, np.uint8), vectors=terms.vectors)
        os.replace(part, file)
    except OSError as error:
        raise StorageFull(f"{file}: {error.strerror}; the model version is as it was") from None
    finally:
        part.unlink(missing_ok=True)
