"""The means to understand queries by: names of acts, and words of the law as they are written, kept with the index."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runtime.atomic_folder import whole_folder
from schema.records import Act
from search.corpus.corpus import NAMES, Corpus, CorpusText
from search.text.headings import Headings

FOLDER = "query"
"""Folder of this beside the BM25 indexes."""
WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The names and words of one law.

    Attributes:
        acts: by position, without their preambles.
        words: how often each word stands in the law, in lower case with its accents.
        headings: of its sections.
    """

    acts: Sequence[Act]
    words: Mapping[str, int]
    headings: Headings


def words_of(texts: Iterable[str]) -> Counter[str]:
    """Return how often each word of two letters or more stands in texts.

    >>> sorted(words_of(["L'été, l’Été 2024"]).items())
    [('été', 2)]
    """
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(WORD.findall(unicodedata.normalize("NFC", text).lower()))
    return counts


def save_vocabulary(folder: Path, corpus: Corpus, text: CorpusText) -> None:
    """Write the names and words of a law into the folder of its index, unless they are there.

    Raises:
        OSError: the disk is full, or refuses otherwise; nothing is left of it.
    """
    if (folder / FOLDER).is_dir():
        return
    with whole_folder(folder / FOLDER) as part:
        Headings.of(corpus, text).save(part)
        acts = [{name: getattr(act, name) for name in NAMES} for act in text.acts]
        (part / "acts.json").write_text(json.dumps(acts, ensure_ascii=False), encoding="utf-8")
        words = words_of([*text.titles, *text.headings, *text.article_headings, *text.texts, *text.wordings])
        (part / "words.json").write_text(json.dumps(dict(sorted(words.items())), ensure_ascii=False), encoding="utf-8")


def load_vocabulary(folder: Path) -> Vocabulary:
    """Read what `save_vocabulary` wrote.

    Raises:
        FileNotFoundError: it wrote nothing.
    """
    acts = json.loads((folder / FOLDER / "acts.json").read_text(encoding="utf-8"))
    words = json.loads((folder / FOLDER / "words.json").read_text(encoding="utf-8"))
    return Vocabulary([Act(**act) for act in acts], words, Headings.load(folder / FOLDER))
