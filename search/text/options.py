"""Options of BM25, and the key of an index made with them."""

import hashlib
import json
from dataclasses import asdict, dataclass

from schema.settings import Settings

FORMAT = 5
"""Raised when analysis or the layout of the folder changes, so that indexes are made anew."""
HEADING_WEIGHT = 2
"""Times that the headings above a section stand in its document."""


@dataclass(frozen=True, slots=True)
class Bm25Options:
    """k1 and b of the index over articles and of the one over sections."""

    k1: float = 1.2
    b: float = 0.75
    section_k1: float = 1.5
    section_b: float = 0.6

    @classmethod
    def of(cls, settings: Settings) -> "Bm25Options":
        """Return the options of the settings."""
        return cls(settings.bm25_k1, settings.bm25_b, settings.section_bm25_k1, settings.section_bm25_b)


def index_key(corpus_sha256: str, options: Bm25Options) -> str:
    """Return the name of the folder of an index: what it is made from, in short."""
    made_from = json.dumps([FORMAT, corpus_sha256, asdict(options)], sort_keys=True)
    return hashlib.sha256(made_from.encode()).hexdigest()[:16]
