"""A reranker that reads by a bi-encoder: cosines are features, and what they are learnt from had not seen the question."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import pytest

import search.ranking.candidates as candidates_of
from cypher.engines.ladybug import EmbeddedStore, open_graph
from gnn.encoders.tuned import READ, READER, TunedEncoder
from gnn.fine_tuning.kept_run import BODY
from gnn.fine_tuning.tuned import read_vectors
from gnn.model.inductive import extend
from gnn.options import RerankOptions
from gnn.recipe import Recipe, load_recipe
from gnn.training.cross_fitting import fold_of
from gnn.training.train import Trainer, train
from gnn.versions.files import costs_of, load_model
from gnn.versions.identity import model_ids
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from ingest.sources import ingest
from schema.errors import BadSetting, MissingExtra
from schema.records import Question
from search.arrays import Encode, Matrix
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.modes import Mode
from search.questions import of_split, query_text
from search.ranking.candidates import FEATURES, OF_TUNED
from search.ranking.reranker import Reranker
from search.ranking.trees import no_trees
from search.retrieval import Retriever
from search.vectors.encoding import Encoding
from search.vectors.model import TunedVectors, VectorModel
from tests.gnn.fine_tuning.small_body import write_bi_encoder
from tests.gnn.fine_tuning.test_tuned import working_on
from tests.search.test_retrieval import random_model
from tests.support.tiny_law import article, code, section, write_law

_ASKED = "Qui contrôle le moulin ?"
_ABOVE = """splits = ["random"]
[encoder]
name = "lsa"
dimensions = 6
[document]
section_mean = true
[training]
epochs = 2
batch = 6
[rerank]
rounds = 4
least_in_leaf = 1
feature_share = 1
negatives = 5
tuned = "reader"
"""


@pytest.fixture
def recipe(small_body: Path, tmp_path: Path) -> Recipe:
    """A recipe whose reranker reads by a small bi-encoder beside it."""
    write_bi_encoder(tmp_path, "reader", small_body)
    (tmp_path / "above.toml").write_text(_ABOVE)
    return load_recipe(str(tmp_path / "above.toml"))


@pytest.mark.slow
def test_it_is_trained_kept_and_served(own_home: Path, recipe: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        id = train(workspace, recipe).active
        model = load_model(own_home, id, workspace.corpus)
        made = Trainer(workspace).version(recipe, "random", id)
    assert model.reranker is not None
    assert model.tuned is not None
    assert made.read is not None
    assert model.reranker.trees.features == FEATURES + OF_TUNED
    np.testing.assert_allclose(model.tuned.articles, made.read.articles, atol=1e-3)
    costs = costs_of(own_home, id)
    assert costs is not None
    cost, reranker = costs
    assert (cost.parameters, reranker.parameters) == (made.trained.cost.parameters, made.read.cost.parameters)
    assert min(cost.seconds, reranker.seconds, reranker.parameters) > 0
    moved = Retriever(workspace.index, model).rank(_ASKED)
    as_trained = Retriever(workspace.index, made.model()).rank(_ASKED)
    assert moved.reranked is not None
    assert as_trained.reranked is not None
    np.testing.assert_allclose(moved.reranked.candidates.rows, as_trained.reranked.candidates.rows, atol=0.05)


@pytest.mark.slow
def test_what_a_question_is_read_by_had_not_seen_it(own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    taught: list[set[str]] = []
    reads: list[set[int]] = []

    def noted(workspace: Workspace, reader: Recipe, split: str, training: Sequence[Question], positions: Any) -> Any:
        taught.append({query_text(question) for question in training})
        reads.append(set(positions.tolist()))
        return read_vectors(workspace, reader, split, training, positions)

    monkeypatch.setattr("gnn.training.train.read_vectors", noted)
    monkeypatch.setattr("gnn.training.train.COMPARED", 3)
    recipe = recipe.model_copy(update={"rerank": recipe.rerank.model_copy(update={"depth": 2})})
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        trainer = Trainer(workspace)
        plain = recipe.model_copy(update={"rerank": RerankOptions()})  # pyright: ignore[reportCallIssue]
        made = trainer.version(plain, "random", "")
        reader = recipe.other(recipe.rerank.tuned)
        examples = trainer.examples(recipe, "random", made.weights, made.pooling, reader=reader)
        asked = of_split(workspace.questions, "random", "train")
        folds = {query_text(question): fold_of(workspace.corpus, question, "random") for question in asked}
    assert len(taught) == len(set(folds.values()))
    bodies = [folder / BODY for folder in (own_home / "features").glob("tuned-*")]
    assert bodies
    assert not any(body.exists() for body in bodies), "no other recipe begins from what learnt for a reranker alone"
    for fold, seen, read in zip(sorted(set(folds.values())), taught, reads, strict=True):
        own = [example for example in examples if example.fold == fold]
        assert seen == {query for query, of in folds.items() if of != fold}
        assert {position for example in own for position in example.candidates.positions.tolist()} <= read
    assert all(example.candidates.rows.shape == (3, len(FEATURES + OF_TUNED)) for example in examples)
    assert all(np.isfinite(example.candidates.rows).all() for example in examples)


def test_cosines_are_compared_among_the_first(law: tuple[Corpus, Any], index: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates_of, "COMPARED", 4)
    n = len(law[0].articles)
    vectors = np.zeros((n, 2), np.float32)
    cosines = np.linspace(0.9, 0.1, n, dtype=np.float32)
    vectors[:, 0] = cosines
    tuned = TunedVectors(lambda texts: np.array([[1.0, 0.0]] * len(texts), np.float32), vectors)
    model = replace(random_model(index.corpus), tuned=tuned)
    found = Retriever(index, replace(model, reranker=Reranker(no_trees(FEATURES + OF_TUNED), 1.0))).rank(_ASKED).reranked
    assert found is not None
    own = cosines[found.candidates.positions].astype(float)
    first = own[:4]
    standard, rank, distance = found.candidates.rows[:, -3:].T
    np.testing.assert_allclose(standard, (own - first.mean()) / first.std(), rtol=1e-5)
    np.testing.assert_allclose(rank, np.log1p([(first > one).sum() for one in own]))
    np.testing.assert_allclose(distance, own - first.max(), atol=1e-7)


@pytest.fixture
def read_with(index: Any) -> Callable[[Encode, Encode], VectorModel]:
    """A model whose reranker reads, by what embeds queries and what embeds them for reading."""

    def made(encode: Encode, reading: Encode) -> VectorModel:
        model = random_model(index.corpus)
        tuned = TunedVectors(reading, np.ones((len(model.articles), 2), np.float32))
        return replace(model, encoding=Encoding(encode), tuned=tuned, reranker=Reranker(no_trees(FEATURES + OF_TUNED), 1.0))

    return made


def test_a_query_is_read_while_its_lists_are_made(index: Any, read_with: Callable[[Encode, Encode], VectorModel]) -> None:
    reading = Event()

    def encode(texts: Sequence[str]) -> Matrix:
        assert reading.wait(10), "the reading of a query begins only after its lists"
        return random_model(index.corpus).encode(texts)

    def read(texts: Sequence[str]) -> Matrix:
        reading.set()
        return np.ones((len(texts), 2), np.float32)

    assert Retriever(index, read_with(encode, read)).rank(_ASKED).reranked is not None


def test_no_query_is_read_that_is_not_reranked(index: Any, read_with: Callable[[Encode, Encode], VectorModel]) -> None:
    read: list[str] = []

    def reading(texts: Sequence[str]) -> Matrix:
        read.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    model = read_with(random_model(index.corpus).encode, reading)
    Retriever(index, model).rank(_ASKED, pooled=False)
    Retriever(index, model).rank(_ASKED, Mode.VECTOR)
    Retriever(index, model, reranks=False).rank(_ASKED)
    assert not read
    Retriever(index, model).rank(_ASKED)
    assert read == [_ASKED.removesuffix(" ?")]


def test_what_fails_in_reading_fails_the_query(index: Any, read_with: Callable[[Encode, Encode], VectorModel]) -> None:
    def fails(texts: Sequence[str]) -> Matrix:
        raise MissingExtra("no reader")

    with pytest.raises(MissingExtra, match="no reader"):
        Retriever(index, read_with(random_model(index.corpus).encode, fails)).rank(_ASKED)


@pytest.mark.slow
def test_new_law_is_read_too(own_home: Path, recipe: Recipe) -> None:
    with open_graph(own_home) as graph:
        id = train(working_on(own_home, graph), recipe).active
        known = working_on(own_home, graph).corpus
    text = "Le pain au levain est cuit au four."
    ingest(
        EmbeddedStore(own_home),
        write_law(
            own_home / "new", code("LEGITEXT000000000003", "Code", section(31, "Livre Ier", article(31, "L1", f"<p>{text}</p>")))
        ),
    )
    with open_graph(own_home) as graph:
        corpus, words = read_corpus(graph)
    position = corpus.article_position["fr/LEGITEXT000000000003/L1"]
    old = [corpus.article_position[article] for article in known.articles]
    folder = model_folder(own_home, id)
    before = np.load(folder / READ)
    until = load_model(own_home, id, corpus).tuned
    assert until is not None
    np.testing.assert_allclose(until.articles[position], before.mean(0, dtype=np.float32), atol=1e-3)
    extend(folder, corpus, words, threads=1)
    model = load_model(own_home, id, corpus)
    assert model.tuned is not None
    np.testing.assert_array_equal(model.tuned.articles[old], before)
    passage = f"Code > Livre Ier {words.texts[position]}"
    expected = TunedEncoder(folder / READER, 1).encode_raw([passage], "passage")[0]
    np.testing.assert_allclose(model.tuned.articles[position], expected, atol=1e-3)


def test_the_version_depends_on_the_bi_encoder_that_it_reads_by(recipe: Recipe, tmp_path: Path) -> None:
    before = model_ids(recipe, "index", [])
    file = tmp_path / "reader.toml"
    file.write_text(file.read_text().replace("epochs = 1", "epochs = 2"))
    assert model_ids(recipe, "index", []) != before


@pytest.mark.parametrize("odd", ["static", "dot", "inlined"])
def test_a_reranker_that_names_no_such_bi_encoder_is_a_clear_error(
    own_home: Path, recipe: Recipe, tmp_path: Path, odd: str
) -> None:
    file = tmp_path / "reader.toml"
    changed = {
        "static": "[training]\nepochs = 1\n",
        "dot": file.read_text() + 'similarity = "dot"\n',
        "inlined": file.read_text() + "inlined = true\n",
    }
    file.write_text(changed[odd])
    with (
        open_graph(own_home) as graph,
        pytest.raises(BadSetting, match="reads cosines of a bi-encoder of articles as they are: reader"),
    ):
        train(working_on(own_home, graph), recipe)


def test_a_reader_without_trees_is_a_clear_error(recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "above.toml").write_text(_ABOVE.replace("rounds = 4", "rounds = 0"))
    with pytest.raises(BadSetting, match=r"rerank\.tuned needs rerank\.rounds"):
        load_recipe(str(tmp_path / "above.toml"))
