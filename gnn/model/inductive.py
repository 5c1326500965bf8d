"""Embeddings of law that came after the training: the active model's encoder and graph layers over new articles.

Nothing is trained: an article that is new, or whose text is new, gets the embedding that the trained layers give it
among its neighbours; every other keeps the one that it was trained to have.
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gnn.encoders.joined import JoinedEncoder, Matrix, joined
from gnn.encoders.lsa import Lsa
from gnn.encoders.passages import passage
from gnn.model.document_tower_numpy import FOLDER as WEIGHTS
from gnn.model.document_tower_numpy import DocumentWeights
from gnn.model.subgraph import subgraph_edges
from runtime.atomic_folder import whole_folder
from schema.errors import StorageFull
from search.arrays import unit
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.tree import group_sums, sums_below
from search.text.words import tokenised

ARRAYS = ("articles", "sections", "acts", "bias")
FEATURES = "features.npy"
NAMES = "ids.json"
_LAW = "law-"
_ENCODED_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class Extended:
    """What was embedded anew of a newer law: identifiers of articles and of sections."""

    articles: list[str]
    sections: list[str]


def law_folder(model: Path, corpus_sha256: str) -> Path:
    """Where a model version keeps its embeddings of a law other than the one that it was trained on."""
    return model / f"{_LAW}{corpus_sha256[:16]}"


def extend(
    model: Path,
    corpus: Corpus,
    text: CorpusText,
    words: Sequence[Sequence[str]] | None = None,
    *,
    advance: Callable[[int], object] = lambda n: None,
    threads: int = 2,
) -> Extended:
    """Give every article and section of a law an embedding by a trained version, and keep them beside it.

    Args:
        model: folder of the version.
        words: the analysed articles, where the caller has them (`search.text.words.tokenised`).

    Raises:
        StorageFull: the disk is full; the version is unharmed.
    """
    card = json.loads((model / "model.json").read_text("utf-8"))
    folder = law_folder(model, corpus.sha256)
    if card["corpus_sha256"] == corpus.sha256 or not can_extend(model):
        return Extended([], [])
    if folder.is_dir():
        changed = json.loads((folder / NAMES).read_text("utf-8"))
        return Extended(changed["articles"], changed["sections"])
    known = json.loads((model / NAMES).read_text("utf-8"))
    place = {name: {id: row for row, id in enumerate(known[name])} for name in ("acts", "sections", "articles")}
    digest = dict(zip(known["articles"], known["texts"], strict=True))
    fresh = [i for i, id in enumerate(corpus.articles) if digest.get(id) != text.digest(i)]
    encoder = JoinedEncoder.load(model / "encoder", threads)
    stored = np.load(model / FEATURES, mmap_mode="r")
    features = _aligned(np.asarray(stored), place["articles"], corpus.articles)
    if fresh:
        features[fresh] = _encode(encoder, corpus, text, fresh, words, advance)
    nodes = embedded(model, card["recipe"]["document"], corpus, features)
    new_sections = [i for i, id in enumerate(corpus.sections) if id not in place["sections"]]
    trained = {name: np.load(model / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
    result = {
        "articles": _aligned(np.asarray(trained["articles"]), place["articles"], corpus.articles),
        "sections": _aligned(np.asarray(trained["sections"]), place["sections"], corpus.sections),
    }
    n = len(corpus.articles)
    result["articles"][fresh] = nodes[fresh]
    result["sections"][new_sections] = nodes[n:][new_sections]
    sums = np.zeros((len(corpus.acts), nodes.shape[1]), np.float32)
    np.add.at(sums, corpus.article_act, result["articles"])
    result["acts"] = unit(sums)
    bias = np.asarray(trained["bias"])
    neutral = np.float32(np.median(bias))  # how often an article answers is learned; of a new one nobody knows
    place_of = place["articles"]
    result["bias"] = np.array([bias[place_of[id]] if id in place_of else neutral for id in corpus.articles], np.float32)
    changed = Extended([corpus.articles[i] for i in fresh], [corpus.sections[i] for i in new_sections])
    _keep(folder, result, changed)
    return changed


def embedded(model: Path, options: Mapping[str, Any], corpus: Corpus, features: Matrix) -> Matrix:
    """float32[articles + sections, d]: what a version's trained layers make of features of a law's articles.

    Args:
        options: of the document tower, from the version's recipe.
    """
    sections = unit(sums_below(corpus, features))
    parents = unit(group_sums(corpus.group, features))[corpus.group]
    edges = subgraph_edges(corpus, options["edges"])
    tower = DocumentWeights.load(model, options["heads"])
    return tower(np.concatenate([features, sections]), np.concatenate([parents, sections]), edges.edges, edges.kinds)


def _keep(folder: Path, arrays: dict[str, Matrix], changed: Extended) -> None:
    try:
        older = sorted(folder.parent.glob(f"{_LAW}*[0-9a-f]"), key=lambda path: path.stat().st_mtime)
        with whole_folder(folder) as part:
            for name, array in arrays.items():
                np.save(part / f"{name}.npy", array)
            (part / NAMES).write_text(json.dumps({"articles": changed.articles, "sections": changed.sections}), "utf-8")
        for gone in older[:-1]:  # the one before is still being served
            shutil.rmtree(gone, ignore_errors=True)
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; the model version is unharmed") from None


def can_extend(model: Path) -> bool:
    """Whether a version can embed new law: one that was trained can, the plain encoder of a comparison cannot."""
    return (model / WEIGHTS).is_dir()


def _aligned(rows: npt.NDArray[np.floating], place: dict[str, int], wanted: Sequence[str]) -> Matrix:
    result = np.zeros((len(wanted), rows.shape[1]), np.float32)
    there = [(new, place[id]) for new, id in enumerate(wanted) if id in place]
    if there:
        new, old = (np.array(side) for side in zip(*there, strict=True))
        result[new] = rows[old]
    return result


def _encode(
    encoder: JoinedEncoder,
    corpus: Corpus,
    text: CorpusText,
    positions: Sequence[int],
    words: Sequence[Sequence[str]] | None,
    advance: Callable[[int], object],
) -> Matrix:
    """float32[positions, d]: features of articles by the encoder of a version, as they were made for its training."""
    parts: list[Matrix] = []
    for part in encoder.parts:
        if isinstance(part, Lsa):
            if words is None:
                words, _ = tokenised(corpus, text)
            parts.append(np.stack([part.encode_words(words[i]) for i in positions]))
            continue
        rows: list[Matrix] = []
        for start in range(0, len(positions), _ENCODED_AT_ONCE):
            batch = positions[start : start + _ENCODED_AT_ONCE]
            rows.append(part.encode_passages([passage(corpus, text, i) for i in batch]))
            advance(len(batch))
        parts.append(np.concatenate(rows))
    return joined(parts)
