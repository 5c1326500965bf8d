"""The files of a model version: written whole, read back without torch."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from gnn.cost import Cost
from gnn.encoders.features import Features
from gnn.encoders.joined import JoinedEncoder, QueryEncoder, TowerWeights
from gnn.encoders.tuned import READ, READER, ReadVectors, TunedEncoder
from gnn.model.document_tower_numpy import FOLDER as DOCUMENT
from gnn.model.inductive import ARRAYS, FEATURES, law_folder
from gnn.model.trained import Choice, Epoch, Trained
from gnn.model.wordings import wordings_file
from gnn.recipe import Recipe
from gnn.versions.shared_folder import SCOPE, model_folder
from gnn.versions.terms import read_terms
from runtime.atomic_folder import whole_folder
from schema.errors import NotReady, StorageFull
from search.arrays import Matrix, positions_in, realigned
from search.corpus.corpus import Corpus, CorpusText
from search.query.terms import Terms
from search.ranking.candidates import columns
from search.ranking.reranker import Reranker
from search.ranking.scope import EVIDENCE, Scope
from search.ranking.tree_pooling import PoolingWeights
from search.ranking.trees import ARRAYS as TREE_ARRAYS
from search.ranking.trees import Trees
from search.vectors.encoding import Encoding
from search.vectors.model import QuestionMemory, TunedVectors, VectorModel
from search.vectors.neo4j import bound_of

RERANKER = "reranker.npz"
_TOWER = ("w1", "b1", "w2", "b2")
_VOTES = ("data", "indices", "indptr")
Card = dict[str, Any]


@dataclass(frozen=True, eq=False)
class NewVersion:
    """A model version as training leaves it.

    Attributes:
        features: of the law that it was trained on.
        memory: training questions, as its query tower embeds them.
        weights, pooling: of the fusion.
        reranker: of its first answers, where the recipe has one.
        read: vectors of the bi-encoder that the reranker reads by, where it does.
    """

    id: str
    recipe: Recipe
    features: Features
    trained: Trained
    memory: QuestionMemory
    weights: Mapping[str, float]
    pooling: PoolingWeights
    reranker: Reranker | None = None
    read: ReadVectors | None = None

    def model(self, encoder: QueryEncoder | None = None) -> VectorModel:
        """Return what retrieval needs of it, as `load_model` does once it is written.

        Args:
            encoder: gives the features of queries; unless given, that of the features does.
        """
        trained = self.trained
        return VectorModel(
            id=self.id,
            encoding=_encoding(encoder or self.features.encoder, trained.tower),
            articles=trained.articles,
            sections=trained.sections,
            acts=trained.acts,
            bias=trained.bias,
            scale=trained.scale,
            weights=self.weights,
            pooling=self.pooling,
            questions=self.memory,
            reranker=self.reranker,
            tuned=None if self.read is None else self.read.model(),
            sentences=self.recipe.sentences,
            diversity=self.recipe.diversity,
        )


def write_model(home: Path, corpus: Corpus, text: CorpusText, version: NewVersion, run: Card) -> None:
    """Write a model version, whole or not at all.

    Args:
        run: what differs from run to run of the same recipe: times, device, package versions.

    Raises:
        StorageFull: the disk is full; no version was touched.
    """
    folder = model_folder(home, version.id)
    trained = version.trained
    try:
        with whole_folder(folder) as part:
            for name in ARRAYS:
                np.save(part / f"{name}.npy", np.ascontiguousarray(getattr(trained, name)))
            if trained.tower is not None:
                for name in _TOWER:
                    np.save(part / f"{name}.npy", getattr(trained.tower, name))
            np.save(part / "questions.npy", version.memory.vectors)
            for name in _VOTES:
                np.save(part / f"votes.{name}.npy", getattr(version.memory.relevant, name))
            # What new law is embedded by (`gnn.model.inductive`).
            trained.document(version.recipe.document.heads).save(part)
            np.save(part / FEATURES, version.features.articles.astype(np.float16))
            version.features.encoder.save(part / "encoder")
            if version.reranker is not None:
                _write_reranker(part / RERANKER, version.reranker)
            if version.read is not None:
                version.read.save(part)
            texts = [text.digest(position) for position in range(len(corpus.articles))]
            ids = {"acts": corpus.acts, "sections": corpus.sections, "articles": corpus.articles, "texts": texts}
            _write_json(part / "ids.json", ids)
            _write_json(part / "model.json", _card(version, corpus))
            _write_json(part / "run.json", run)
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; no model version was touched") from None


def _card(version: NewVersion, corpus: Corpus) -> Card:
    return {
        "id": version.id,
        "recipe": version.recipe.model_dump(mode="json"),
        "corpus_sha256": corpus.sha256,
        "scale": version.trained.scale,
        "weights": version.weights,
        "pooling": asdict(version.pooling),
        "curve": [asdict(epoch) for epoch in version.trained.curve],
        "best_epoch": version.trained.best,
    }


def read_card(home: Path, id: str) -> Card:
    """Return a version's own description: recipe, corpus, weights, curve."""
    return json.loads((model_folder(home, id) / "model.json").read_text("utf-8"))


def read_run(home: Path, id: str) -> Card:
    """Return the record of the run that made a version: times in seconds, device, package versions."""
    return json.loads((model_folder(home, id) / "run.json").read_text("utf-8"))


def read_scope(home: Path, id: str) -> tuple[Scope | None, str]:
    """Return the confidence that was learnt for a version, and the fingerprint of what it was learnt from; None, "" without."""
    try:
        learnt: Card = json.loads((model_folder(home, id) / SCOPE).read_text("utf-8"))
    except FileNotFoundError:
        return None, ""
    if len(learnt["weights"]) != len(EVIDENCE):  # learnt by an earlier version of Lexgraph
        return None, ""
    means, spreads, weights = (tuple(map(float, learnt[name])) for name in ("means", "spreads", "weights"))
    return Scope(means, spreads, weights, learnt["bias"], learnt["threshold"]), learnt["made_from"]


def write_scope(home: Path, id: str, scope: Scope, made_from: str) -> None:
    """Write the confidence of a version beside its files, whole or not at all.

    Args:
        made_from: fingerprint of the questions that it was learnt from.

    Raises:
        StorageFull: the disk is full; what was there stays.
    """
    file = model_folder(home, id) / SCOPE
    part = file.with_suffix(".part")
    try:
        _write_json(part, asdict(scope) | {"made_from": made_from})
        os.replace(part, file)
    except OSError as error:
        raise StorageFull(f"{file}: {error.strerror}; the model version is as it was") from None


def recipe_of(home: Path, id: str) -> Recipe:
    """Return the recipe that a version was trained by, as it is stored with it."""
    return Recipe.model_validate(read_card(home, id)["recipe"])


def choice_of(home: Path, id: str) -> Choice:
    """Return the curve of a version, and the epoch that was kept."""
    card = read_card(home, id)
    return Choice([Epoch(**row) for row in card["curve"]], card["best_epoch"])


def development_metrics(home: Path, id: str) -> dict[str, float]:
    """Return R@100 and MAP of the epoch that was kept, in percent; empty for an encoder that was not trained."""
    card = read_card(home, id)
    if card["best_epoch"] < 0:
        return {}
    epoch = card["curve"][card["best_epoch"]]
    return {"development R@100": round(100 * epoch["recall"], 2), "development MAP": round(100 * epoch["average_precision"], 2)}


def costs_of(home: Path, id: str) -> tuple[Cost, Cost] | None:
    """Return what the training of a version took, without its reranker, and what its reranker took (`Trained`).

    None where this is not known: older versions have both in one.
    """
    folder, run = model_folder(home, id), read_run(home, id)
    if "reranker" not in run:
        return None
    reranker = Cost(**run["reranker"])
    seconds, parameters = run["training_s"] - reranker.seconds, int(run["encoder_parameters"])
    if (folder / "w1.npy").exists():
        files = [folder / "bias.npy", *(folder / f"{name}.npy" for name in _TOWER), *(folder / DOCUMENT).glob("*.npy")]
        parameters += 1 + sum(np.load(file, mmap_mode="r").size for file in files)  # and the temperature
    return Cost(seconds, parameters, run["encoder_gpu"]), reranker


def dimensions_of(home: Path, id: str) -> int:
    """Return the dimensions of a version's embeddings."""
    return int(np.load(model_folder(home, id) / "articles.npy", mmap_mode="r").shape[1])


def trained_bound(home: Path, id: str, scale: float) -> float:
    """Return `search.vectors.neo4j.bound_of` a version as it was trained, whatever law it serves by now."""
    return bound_of(np.load(model_folder(home, id) / "bias.npy"), scale)


def encoder_of(home: Path, id: str, threads: int = 2) -> JoinedEncoder:
    """Return a version's encoder of queries, before its query tower."""
    return JoinedEncoder.load(model_folder(home, id) / "encoder", threads)


def need_folder(home: Path, id: str) -> Path:
    """Return the folder of a version that the graph names.

    Raises:
        NotReady: it is not on this machine.
    """
    folder = model_folder(home, id)
    if not folder.is_dir():
        raise NotReady(f"model {id} is named in the graph, but {folder} is missing: run `lexgraph train`")
    return folder


def load_model(home: Path, id: str, corpus: Corpus, threads: int = 2, encoder: QueryEncoder | None = None) -> VectorModel:
    """Return a model version over the positions of a corpus; embeddings are memory-mapped where they fit as they are.

    Args:
        encoder: `encoder_of` this version or another with the same one; unless given, it is opened, and with it the terms
            that a query in another language is asked by.

    Law that came after the training has its embeddings from `gnn.model.inductive`; until `lexgraph index` has made them, a
    new article keeps a bias of -inf: other lists find it.

    Raises:
        NotReady: the version's folder is missing.
    """
    folder = need_folder(home, id)
    card = read_card(home, id)
    trained_on = None if card["corpus_sha256"] == corpus.sha256 else json.loads((folder / "ids.json").read_text("utf-8"))
    arrays = _embeddings(folder, trained_on, corpus)
    tower = TowerWeights(*(np.load(folder / f"{n}.npy") for n in _TOWER)) if (folder / "w1.npy").exists() else None
    tuned = _tuned(folder, trained_on, corpus, threads)
    terms: Terms | None = None
    if encoder is None:
        encoder = own = encoder_of(home, id, threads)
        terms = read_terms(home, id, own)
    return VectorModel(
        id=id,
        encoding=_encoding(encoder, tower),
        articles=arrays["articles"],
        sections=arrays["sections"],
        acts=arrays["acts"],
        bias=arrays["bias"],
        scale=card["scale"],
        weights=card["weights"],
        pooling=PoolingWeights(**card["pooling"]),
        questions=_memory(folder, trained_on, corpus),
        wordings=_wordings(folder, corpus),
        scope=read_scope(home, id)[0],
        reranker=_reranker(folder / RERANKER, columns(tuned=tuned is not None)),
        tuned=tuned,
        sentences=card["recipe"].get("sentences", 0.0),
        diversity=card["recipe"].get("diversity", 0.0),
        terms=terms,
    )


def _embeddings(folder: Path, trained_on: Mapping[str, Sequence[str]] | None, corpus: Corpus) -> dict[str, Matrix]:
    """Return the arrays of a version over the positions of a corpus; what it lacks has zeros, and a bias of -inf."""
    extended = law_folder(folder, corpus.sha256)
    place = extended if extended.is_dir() else folder
    arrays: dict[str, Matrix] = {name: np.asarray(np.load(place / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
    if trained_on is None or place is extended:
        return arrays
    for name, ids in (("articles", corpus.articles), ("sections", corpus.sections), ("acts", corpus.acts)):
        arrays[name] = realigned(arrays[name], trained_on[name], ids)
    arrays["bias"] = realigned(arrays["bias"], trained_on["articles"], corpus.articles, -np.inf)
    return arrays


def _wordings(folder: Path, corpus: Corpus) -> Matrix | None:
    """Return the embeddings of the other wordings of a law, memory-mapped; None where there are none."""
    file = wordings_file(folder, corpus.sha256)
    return np.asarray(np.load(file, mmap_mode="r")) if file.exists() else None


def _memory(folder: Path, trained_on: Mapping[str, Sequence[str]] | None, corpus: Corpus) -> QuestionMemory | None:
    """Return the training questions of a version, their votes over the positions of a corpus."""
    if not (folder / "questions.npy").exists():
        return None
    data, indices, indptr = (np.load(folder / f"votes.{name}.npy") for name in _VOTES)
    articles = corpus.articles if trained_on is None else trained_on["articles"]
    votes = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, len(articles)))
    if trained_on is not None:
        positions = positions_in(articles, corpus.articles)
        kept = np.flatnonzero(positions >= 0)
        entries = (np.ones(len(kept), np.float32), (positions[kept], kept))
        votes = sparse.csr_array(votes @ sparse.csr_array(entries, shape=(len(articles), len(positions))))
    return QuestionMemory(np.load(folder / "questions.npy"), votes)


def _write_reranker(path: Path, reranker: Reranker) -> None:
    trees = reranker.trees
    arrays = {name: getattr(trees, name) for name in TREE_ARRAYS}
    np.savez(path, features=np.array(trees.features), share=np.float64(reranker.share), **arrays)


def _tuned(folder: Path, trained_on: Mapping[str, Sequence[str]] | None, corpus: Corpus, threads: int) -> TunedVectors | None:
    """Return the fine-tuned vectors of a version; None where it has none. An article that they lack has their mean."""
    if not (folder / READER).is_dir():
        return None
    extended = law_folder(folder, corpus.sha256) / READ
    articles: Matrix = np.asarray(np.load(extended if extended.exists() else folder / READ, mmap_mode="r"))
    if trained_on is not None and not extended.exists():
        mean = articles.mean(0, dtype=np.float32)
        articles = realigned(articles, trained_on["articles"], corpus.articles)
        articles[positions_in(trained_on["articles"], corpus.articles) < 0] = mean
    return TunedVectors(TunedEncoder(folder / READER, threads).encode, articles)


def _reranker(path: Path, of_candidates: tuple[str, ...]) -> Reranker | None:
    """Return the reranker of a version; None where it has none, or one over the features of another version of Lexgraph."""
    if not path.exists():
        return None
    with np.load(path) as stored:
        features = tuple(stored["features"].tolist())
        if features != of_candidates:
            return None
        return Reranker(Trees(features, *(stored[name] for name in TREE_ARRAYS)), float(stored["share"]))


def _encoding(encoder: QueryEncoder, tower: TowerWeights | None) -> Encoding:
    """Return the encoder of queries, and behind it the query tower where one was trained."""
    encoding = Encoding(encoder.encode, encoder.encode_in, encoder.begin_in)
    return encoding if tower is None else encoding.through(tower)


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1), "utf-8")
