"""The files of a model version: written whole, read back without torch."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from gnn.encoders.joined import JoinedEncoder, Matrix, TowerWeights
from gnn.model.inductive import ARRAYS, FEATURES, law_folder
from gnn.recipe import Recipe
from gnn.versions.shared_folder import model_folder
from runtime.atomic_folder import whole_folder
from schema.errors import NotReady, StorageFull
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.ranking.tree_pooling import PoolingWeights
from search.vectors.model import Encode, QuestionMemory, VectorModel
from search.vectors.neo4j import bound_of

if TYPE_CHECKING:  # torch stays out of a process that only serves
    from gnn.encoders.features import Features
    from gnn.training.fusion_tuning import Tuned
    from gnn.training.loop import Trained


def recipe_of(home: Path, model: str) -> Recipe:
    """The recipe that a model version was trained by, as it is stored with it."""
    return Recipe.model_validate(read_card(home, model)["recipe"])


_TOWER = ("w1", "b1", "w2", "b2")
_VOTES = ("data", "indices", "indptr")
Card = dict[str, Any]


def question_memory(corpus: Corpus, vectors: Matrix, questions: Sequence[Question]) -> QuestionMemory:
    """Training questions with what they vote for: each relevant article 1 / √(number of them)."""
    positions = [[corpus.article_position[article] for article in question.relevant] for question in questions]
    sizes = [len(row) for row in positions]
    votes = sparse.csr_array(
        (
            np.concatenate([np.full(size, size**-0.5, np.float32) for size in sizes]),
            np.concatenate([np.sort(row) for row in positions]).astype(np.int32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
        ),
        shape=(len(questions), len(corpus.articles)),
    )
    return QuestionMemory(vectors, votes)


def write_model(
    home: Path,
    id: str,
    corpus: Corpus,
    text: CorpusText,
    features: "Features",
    trained: "Trained",
    recipe: "Recipe",
    memory: QuestionMemory | None,
    tuned: "Tuned",
    run: Card,
) -> None:
    """Write a model version, whole or not at all.

    Args:
        run: what differs from run to run of the same recipe: times, device, versions.

    Raises:
        StorageFull: the disk is full; no version was touched.
    """
    folder = model_folder(home, id)
    try:
        with whole_folder(folder) as part:
            for name in ARRAYS:
                np.save(part / f"{name}.npy", np.ascontiguousarray(getattr(trained, name)))
            if trained.tower is not None:
                for name in _TOWER:
                    np.save(part / f"{name}.npy", getattr(trained.tower, name))
            if memory is not None:
                np.save(part / "questions.npy", memory.vectors)
                for name in _VOTES:
                    np.save(part / f"votes.{name}.npy", getattr(memory.relevant, name))
                # What new law is embedded by (`gnn.model.inductive`).
                trained.document(recipe.document.heads).save(part)
                np.save(part / FEATURES, features.articles.astype(np.float16))
            features.encoder.save(part / "encoder")
            texts = [text.digest(position) for position in range(len(corpus.articles))]
            ids = {"acts": corpus.acts, "sections": corpus.sections, "articles": corpus.articles, "texts": texts}
            _write_json(part / "ids.json", ids)
            card = {
                "id": id,
                "recipe": recipe.model_dump(mode="json"),
                "corpus_sha256": corpus.sha256,
                "scale": trained.scale,
                "weights": tuned.weights,
                "pooling": asdict(tuned.pooling),
                "curve": [asdict(epoch) for epoch in trained.curve],
                "best_epoch": trained.best,
            }
            _write_json(part / "model.json", card)
            _write_json(part / "run.json", run)
    except OSError as error:
        raise StorageFull(f"{folder}: {error.strerror}; no model version was touched") from None


def read_card(home: Path, id: str) -> Card:
    """What a model version says of itself: recipe, corpus, weights, curve."""
    return json.loads((model_folder(home, id) / "model.json").read_text("utf-8"))


def read_run(home: Path, id: str) -> Card:
    """What a model version says of the run that made it: times in seconds, device, versions."""
    return json.loads((model_folder(home, id) / "run.json").read_text("utf-8"))


def load_model(home: Path, id: str, corpus: Corpus, threads: int = 2) -> VectorModel:
    """A model version over the positions of a corpus; embeddings are memory-mapped where they fit as they are.

    Law that came after the training has its embeddings from `gnn.model.inductive`; until `lexgraph index` has made them, a
    new article keeps a bias of -inf: other lists find it.

    Raises:
        NotReady: the version's folder is not there.
    """
    folder = model_folder(home, id)
    if not folder.is_dir():
        raise NotReady(f"model {id} is named in the graph, but {folder} is not there: run `lexgraph train`")
    card = read_card(home, id)
    extended = law_folder(folder, corpus.sha256)
    place = extended if extended.is_dir() else folder
    arrays: dict[str, Matrix] = {name: np.asarray(np.load(place / f"{name}.npy", mmap_mode="r")) for name in ARRAYS}
    votes_over = len(np.load(folder / "bias.npy", mmap_mode="r"))
    relevant: sparse.csr_array | None = None
    if (folder / "questions.npy").exists():
        data, indices, indptr = (np.load(folder / f"votes.{name}.npy") for name in _VOTES)
        relevant = sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, votes_over))
    if card["corpus_sha256"] != corpus.sha256:
        ids = json.loads((folder / "ids.json").read_text("utf-8"))
        if place is folder:
            arrays = _realigned(ids, arrays, corpus)
        if relevant is not None:
            relevant = _votes_over(ids["articles"], relevant, corpus)
    encoder = JoinedEncoder.load(folder / "encoder", threads)
    tower = TowerWeights(*(np.load(folder / f"{n}.npy") for n in _TOWER)) if (folder / "w1.npy").exists() else None
    return VectorModel(
        id=id,
        encode=encoding(encoder, tower),
        articles=arrays["articles"],
        sections=arrays["sections"],
        acts=arrays["acts"],
        bias=arrays["bias"],
        scale=card["scale"],
        weights=card["weights"],
        pooling=PoolingWeights(**card["pooling"]),
        questions=None if relevant is None else QuestionMemory(np.load(folder / "questions.npy"), relevant),
    )


def trained_bound(home: Path, id: str, scale: float) -> float:
    """`search.vectors.neo4j.bound_of` a version as it was trained, whatever law it serves by now."""
    return bound_of(np.load(model_folder(home, id) / "bias.npy"), scale)


def encoding(encoder: JoinedEncoder, tower: TowerWeights | None) -> Encode:
    """Queries to embeddings: the encoder, then the query tower where one was trained."""
    if tower is None:
        return encoder.encode
    return lambda texts: tower(encoder.encode(texts))


def _realigned(ids: dict[str, list[str]], arrays: dict[str, Matrix], corpus: Corpus) -> dict[str, Matrix]:
    """Embeddings in the order of another corpus; what it has anew gets zeros, and -inf as its bias."""
    old = {name: {id: row for row, id in enumerate(ids[name])} for name in ("articles", "sections", "acts")}
    result: dict[str, Matrix] = {}
    for name, wanted in (("articles", corpus.articles), ("sections", corpus.sections), ("acts", corpus.acts)):
        result[name] = _rows(arrays[name], old[name], wanted)
    rows = np.array([old["articles"].get(id, -1) for id in corpus.articles])
    result["bias"] = np.where(rows >= 0, arrays["bias"][np.maximum(rows, 0)], np.float32(-np.inf))
    return result


def _votes_over(articles: Sequence[str], relevant: sparse.csr_array, corpus: Corpus) -> sparse.csr_array:
    """Votes over the positions of another corpus."""
    old = {id: row for row, id in enumerate(articles)}
    rows = np.array([old.get(id, -1) for id in corpus.articles])
    known = np.flatnonzero(rows >= 0)
    move = sparse.csr_array((np.ones(len(known), np.float32), (rows[known], known)), shape=(len(articles), len(rows)))
    return sparse.csr_array(relevant @ move)


def _rows(matrix: npt.NDArray[np.float32], place: dict[str, int], wanted: Sequence[str]) -> Matrix:
    rows = np.zeros((len(wanted), matrix.shape[1]), np.float32)
    for new, id in enumerate(wanted):
        if id in place:
            rows[new] = matrix[place[id]]
    return rows


def stored_dimensions(home: Path, id: str) -> int:
    return int(np.load(model_folder(home, id) / "articles.npy", mmap_mode="r").shape[1])


def _write_json(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, sort_keys=True, indent=1), "utf-8")
