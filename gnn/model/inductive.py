"""Embeddings of law that came after the training: the active model's encoder and graph layers over new articles.

Nothing is trained: an article that is new, or whose text is new, gets the embedding that the trained layers give it
among its neighbours; every other keeps the one that it was trained to have.
"""

import json
import shutil
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnn.encoders.joined import JoinedEncoder, joined
from gnn.encoders.lsa import Lsa
from gnn.encoders.passages import passage
from gnn.encoders.tuned import READ, READER, TunedEncoder
from gnn.model.document_tower_numpy import FOLDER as WEIGHTS
from gnn.model.document_tower_numpy import DocumentWeights
from gnn.model.subgraph import subgraph_edges
from runtime.atomic_folder import whole_folder
from schema.errors import StorageFull
from search.arrays import Matrix, realigned, unit
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.tree import act_means, group_sums, sums_below
from search.text.words import tokenised

ARRAYS = ("articles", "sections", "acts", "bias")
FEATURES = "features.npy"
NAMES = "ids.json"
LAW = "law-"
"""Begins the names of folders of what was made of one law here; they are no part of what machines share."""
_ENCODED_AT_ONCE = 256
Advance = Callable[[int], object]


@dataclass(frozen=True, slots=True)
class Extended:
    """Identifiers of the articles and the sections of a newer law that were embedded anew."""

    articles: list[str]
    sections: list[str]


def law_folder(model: Path, corpus_sha256: str) -> Path:
    """Return the folder of a version's embeddings of a law other than the one that it was trained on."""
    return model / f"{LAW}{corpus_sha256[:16]}"


def can_extend(model: Path) -> bool:
    """Return whether a version can embed new law: one that was trained can, the plain encoder of a comparison cannot."""
    return any((model / WEIGHTS).glob("*.npy"))


def extend(model: Path, corpus: Corpus, text: CorpusText, *, advance: Advance = lambda n: None, threads: int = 2) -> Extended:
    """Give every article and section of a law an embedding by a trained version, and keep them beside it.

    Args:
        model: folder of the version.

    Raises:
        StorageFull: the disk is full; the version is unharmed.
    """
    card = json.loads((model / "model.json").read_text("utf-8"))
    folder = law_folder(model, corpus.sha256)
    if card["corpus_sha256"] == corpus.sha256 or not can_extend(model):
        return Extended([], [])
    if (folder / FEATURES).exists():
        return Extended(**json.loads((folder / NAMES).read_text("utf-8")))
    trained_on = json.loads((model / NAMES).read_text("utf-8"))
    digest = dict(zip(trained_on["articles"], trained_on["texts"], strict=True))
    trained_sections = set(trained_on["sections"])
    articles = [i for i, id in enumerate(corpus.articles) if digest.get(id) != text.digest(i)]
    sections = [i for i, id in enumerate(corpus.sections) if id not in trained_sections]
    features = realigned(np.load(model / FEATURES, mmap_mode="r"), trained_on["articles"], corpus.articles)
    passages = [passage(corpus, text, i) for i in articles]
    if articles:
        words, _ = tokenised(corpus, text)
        encoder = JoinedEncoder.load(model / "encoder", threads)
        features[articles] = features_of_passages(encoder, [words[i] for i in articles], passages, advance)
    nodes = embedded(model, card["recipe"]["document"], corpus, features)
    arrays = _aligned(model, trained_on, corpus)
    arrays["articles"][articles] = nodes[articles]
    arrays["sections"][sections] = nodes[len(corpus.articles) :][sections]
    arrays["acts"] = act_means(corpus, arrays["articles"])
    read = _read_again(model, (trained_on["articles"], corpus.articles), articles, passages, threads)
    changed = Extended([corpus.articles[i] for i in articles], [corpus.sections[i] for i in sections])
    if folder.is_dir():  # an earlier version of Lexgraph made it, without features
        shutil.rmtree(folder)
    with kept_of_law(folder, f"{LAW}*[0-9a-f]") as part:
        for name in ARRAYS:
            np.save(part / f"{name}.npy", arrays[name])
        np.save(part / FEATURES, features.astype(np.float16))
        if read is not None:
            np.save(part / READ, read.astype(np.float16))
        (part / NAMES).write_text(json.dumps(asdict(changed)), "utf-8")
    return changed


def _read_again(
    model: Path, articles: tuple[Sequence[str], Sequence[str]], changed: Sequence[int], passages: Sequence[str], threads: int
) -> Matrix | None:
    """Return float32[n, d]: what a version's reranker reads of a law's articles; None where it reads none.

    Args:
        articles: identifiers of those that it was trained on, and of the law's.
        changed: positions of what is read anew; passages: their texts.
    """
    if not (model / READER).is_dir():
        return None
    vectors = realigned(np.load(model / READ, mmap_mode="r"), *articles)
    if changed:
        vectors[changed] = TunedEncoder(model / READER, threads).encode_raw(passages, "passage")
    return vectors


def features_of_law(model: Path, corpus: Corpus) -> Matrix:
    """Return float32[n, d]: features of a law's articles, of which a version has embeddings (`extend`)."""
    law = law_folder(model, corpus.sha256)
    return np.load((law if law.is_dir() else model) / FEATURES).astype(np.float32)


def _aligned(model: Path, trained_on: Mapping[str, Sequence[str]], corpus: Corpus) -> dict[str, Matrix]:
    """Return what a version was trained to have of articles, sections and bias, over the positions of another law."""
    trained = {name: np.load(model / f"{name}.npy", mmap_mode="r") for name in ("articles", "sections", "bias")}
    neutral = float(np.median(trained["bias"]))  # how often an article answers is learned; of a new one nobody knows
    return {
        "articles": realigned(trained["articles"], trained_on["articles"], corpus.articles),
        "sections": realigned(trained["sections"], trained_on["sections"], corpus.sections),
        "bias": realigned(trained["bias"], trained_on["articles"], corpus.articles, neutral),
    }


def embedded(model: Path, options: Mapping[str, Any], corpus: Corpus, features: Matrix) -> Matrix:
    """Return float32[articles + sections, d]: features of a law's articles through a version's trained layers.

    Args:
        options: of the document tower, from the version's recipe.
    """
    sections = unit(sums_below(corpus, features))
    parents = unit(group_sums(corpus.group, features))[corpus.group]
    edges = subgraph_edges(corpus, options["edges"])
    tower = DocumentWeights.load(model, options["heads"])
    return tower(np.concatenate([features, sections]), np.concatenate([parents, sections]), edges.edges, edges.kinds)


@contextmanager
def kept_of_law(folder: Path, others: str) -> Generator[Path]:
    """Make a folder of what a version has of one law, whole or not at all, and remove those of law before the last.

    Args:
        folder: beside the files of the version.
        others: pattern of the names of such folders.

    Raises:
        StorageFull: the disk is full; the version is unharmed.
    """
    try:
        older = sorted(folder.parent.glob(others), key=lambda path: path.stat().st_mtime)
        with whole_folder(folder) as part:
            yield part
        for law in older[:-1]:  # the one before is still being served
            shutil.rmtree(law, ignore_errors=True)
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; the model version is unharmed") from None


def features_of_passages(
    encoder: JoinedEncoder, words: Sequence[Sequence[str]], passages: Sequence[str], advance: Advance
) -> Matrix:
    """Return float32[passages, d]: features of texts by the encoder of a version, as they were made for its training.

    Args:
        encoder: of the version.
        words: of each text, with the headings above it.
        passages: the same texts as a transformer reads them.
        advance: told of each passage that was encoded.
    """
    parts: list[Matrix] = []
    for part in encoder.parts:
        if isinstance(part, Lsa):
            parts.append(np.stack([part.encode_words(each) for each in words]))
            continue
        rows: list[Matrix] = []
        for start in range(0, len(passages), _ENCODED_AT_ONCE):
            batch = passages[start : start + _ENCODED_AT_ONCE]
            rows.append(part.encode_passages(batch))
            advance(len(batch))
        parts.append(np.concatenate(rows))
    return joined(parts, encoder.weights)
