"""The reranker in training and service: learnt from questions that its models had not seen, kept with the version."""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from gnn.comparison.cross_fitted import cross_fitted_page, cross_fitted_tables
from gnn.encoders.lsa import Lsa
from gnn.options import RerankOptions
from gnn.recipe import Recipe
from gnn.training.cross_fitting import FOLDS, cross_fitted, fold_of, gathering
from gnn.training.lambdamart import Example, fit_trees
from gnn.training.train import train
from gnn.versions.active import active_id, active_model
from gnn.versions.files import RERANKER
from gnn.versions.shared_folder import model_folder
from gnn.workspace import Workspace
from schema.errors import BadQuery, ServerUnavailable
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import TITLE, WITH_DESCRIPTION, of_split, query_text
from search.ranking.candidates import FEATURES, MOST
from search.ranking.reranker import Reranker
from search.ranking.trees import no_trees
from search.retrieval import Retriever
from search.text.index import TextIndex
from search.vectors.model import VectorModel
from tests.gnn.conftest import small_recipe
from tests.search.test_degraded import model_of
from tests.search.test_retrieval import random_model
from tests.support.commands import Lexgraph

_QUERIES = ("pain farine", "le boulanger malade", "qui contrôle le moulin")


def reranking_recipe() -> Recipe:
    """The small recipe with a few trees, on one split."""
    options = RerankOptions(rounds=8, least_in_leaf=1, feature_share=1, row_share=1, l2=0, negatives=5)  # pyright: ignore[reportCallIssue]
    return small_recipe().model_copy(
        update={"rerank": options, "splits": ("random",), "tune_fusion": True, "sentences": 0.5, "diversity": 0.25}
    )


@pytest.fixture(scope="module")
def trained_home(asked_home: Path, index: TextIndex, questions: list[Question], tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = Path(shutil.copytree(asked_home, tmp_path_factory.mktemp("reranked") / "home"))
    with open_graph(home) as graph:
        train(Workspace(EmbeddedStore(home), graph, index, questions), reranking_recipe())
    return home


def served(home: Path, corpus: Corpus) -> VectorModel:
    with open_graph(home) as graph:
        model = active_model(home, graph, corpus)
    assert model is not None
    return model


def test_each_question_is_asked_of_a_model_that_was_not_trained_on_it(index: TextIndex, questions: list[Question]) -> None:
    taught: list[set[str]] = []

    def model_of(part: int, others: Sequence[Question]) -> VectorModel:
        taught.append({question.id for question in others})
        assert part not in {fold_of(index.corpus, question, "random") for question in others}
        return random_model(index.corpus)

    examples = list(cross_fitted(index, questions, "random", model_of))
    folds = {question.id: fold_of(index.corpus, question, "random") for question in questions}
    assert [set(folds) - ids for ids in taught] == [
        {id for id, of in folds.items() if of == n} for n in sorted(set(folds.values()))
    ]
    assert len(examples) == 2 * len(questions), "by title and as a whole"
    assert all(example.candidates.rows.shape[1] == len(FEATURES) for example in examples)
    assert all(np.isfinite(example.candidates.rows).all() for example in examples)


@pytest.mark.slow
def test_what_rerankers_add_is_measured_on_questions_that_they_had_not_seen(
    trained_home: Path, index: TextIndex, questions: list[Question], monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt_from: list[set[str]] = []

    def noted(examples: Sequence[Example], *rest: Any, **options: Any) -> Any:
        learnt_from.append({example.query for example in examples})
        return fit_trees(examples, *rest, **options)

    monkeypatch.setattr("gnn.comparison.cross_fitted.fit_trees", noted)
    trees = reranking_recipe()
    graph_reranker = trees.model_copy(update={"name": "graph", "method": "graph-reranker"})
    other = trees.model_copy(update={"name": "other", "training": trees.training.model_copy(update={"epochs": 1})})
    with open_graph(trained_home) as graph:
        workspace = Workspace(EmbeddedStore(trained_home), graph, index, questions)
        tables = list(cross_fitted_tables(workspace, [trees, graph_reranker], ("random",)))
        (whole, _) = cross_fitted_tables(workspace, [trees], ("random",), seeds=2)
        (other_seed, _) = cross_fitted_tables(workspace, [trees.seeded(1)], ("random",))
        with pytest.raises(BadQuery, match="has no reranker"):
            next(cross_fitted_tables(workspace, [small_recipe()], ("random",)))
        over = trees.model_copy(update={"rerank": trees.rerank.model_copy(update={"over": "static"})})
        with pytest.raises(BadQuery, match="recipe small: its trees learn over static"):
            next(cross_fitted_tables(workspace, [over], ("random",)))
        with pytest.raises(BadQuery, match="small and other rerank what different towers find"):
            next(cross_fitted_tables(workspace, [trees, other], ("random",)))
        for change in ({"votes": 0}, {"more_questions": ("two",)}):
            with pytest.raises(BadQuery, match="rerank what different towers find"):
                next(cross_fitted_tables(workspace, [trees, trees.model_copy(update=change)], ("random",)))
    assert [(one.split, one.asked) for one in tables] == [("random", WITH_DESCRIPTION), ("random", TITLE)]
    asked = [question for part in ("train", "test") for question in of_split(questions, "random", part)]
    folds = {query_text(q, way): fold_of(index.corpus, q, "random") for q in asked for way in (TITLE, WITH_DESCRIPTION)}
    parts = sorted(set(folds.values()))
    assert len(learnt_from) == 4 * len(parts), "one training, two of several seeds, and another seed"
    for fold, taught in zip(4 * parts, learnt_from, strict=True):
        assert taught == {query for query, of in folds.items() if of != fold}, "what was asked taught nothing"
    for table in tables:
        assert table.n == len(asked)
        for gains in table.gains.values():
            for name, gain in gains.items():
                assert gain.low <= gain.mean <= gain.high
                assert -1e-9 <= table.before[name].mean + gain.mean <= 100 + 1e-9
        assert list(table.between) == ["graph"]
        for name, gain in table.between["graph"]["small"].items():
            assert gain.mean == pytest.approx(table.gains["graph"][name].mean - table.gains["small"][name].mean, abs=1e-6)
    assert (tables[0].seeds, whole.seeds, whole.n) == (1, 2, tables[0].n)
    of_each = [(one.before["MAP"].mean, one.gains["small"]["MAP"].mean) for one in (tables[0], other_seed)]
    assert (whole.before["MAP"].mean, whole.gains["small"]["MAP"].mean) == pytest.approx(np.mean(of_each, axis=0).tolist())
    text = cross_fitted_page(tables, [trees, graph_reranker], "lexgraph compare small graph --cross-fitted")
    assert f"| `first stage` | {tables[0].before['R@100'].mean:.1f} |" in text
    assert text.count("| `graph` |") == len(tables)
    assert text.count("| `graph over small` |") == len(tables)


def test_questions_on_one_topic_are_in_one_part_where_the_split_keeps_topics_apart(
    law: tuple[Corpus, CorpusText], questions: list[Question]
) -> None:
    corpus = law[0]
    one = [replace(question, id=f"q{n}", relevant=(corpus.articles[0],)) for n, question in enumerate(questions * 3)]
    assert len({fold_of(corpus, question, "by-dossier") for question in one}) == 1
    assert len({fold_of(corpus, question, "random") for question in one}) == FOLDS


def test_a_version_keeps_its_reranker_and_serves_it(trained_home: Path, index: TextIndex) -> None:
    model = served(trained_home, index.corpus)
    assert (model.sentences, model.diversity) == (0.5, 0.25)
    text, parts = _QUERIES[0], _QUERIES[0].split()[:2]
    np.testing.assert_allclose(model.encoding.embedded(text, parts), model.encode([text, *parts]), atol=1e-6)
    assert model.reranker is not None
    assert 0 < len(model.reranker.trees.value) <= 8
    reranks = Retriever(index, model)
    for query in _QUERIES:
        alone = Retriever(index, replace(model, diversity=0.0), reranks=False)
        before, after = (retriever.search(query, first=100) for retriever in (alone, reranks))
        assert all(hit.move is None for hit in before)
        assert {hit.id for hit in after} == {hit.id for hit in before}, "the same articles, in another order"
        place = {hit.id: n for n, hit in enumerate(before)}
        for n, hit in enumerate(after):
            assert hit.move is not None
            assert hit.move.places == place[hit.id] - n
            assert set(hit.move.reasons) <= set(FEATURES)


def test_a_version_begins_to_embed_behind_its_tower_where_it_has_a_transformer(
    trained_home: Path, index: TextIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert served(trained_home, index.corpus).encoding.begin_in is None
    monkeypatch.setattr("gnn.encoders.joined._TRANSFORMERS", (Lsa,))
    encoding = served(trained_home, index.corpus).encoding
    assert encoding.begin_in is not None
    text, parts = _QUERIES[0], _QUERIES[0].split()[:2]
    np.testing.assert_array_equal(encoding.begin_in(text, parts)(), encoding.embedded(text, parts))


def test_the_verb_says_how_far_an_answer_was_moved_and_why(trained_home: Path) -> None:
    shown = json.loads(Lexgraph.over(trained_home).do("search", _QUERIES[0], "--json"))
    assert shown
    for hit in shown:
        assert isinstance(hit["moved"]["places"], int)
        assert set(hit["moved"]["reasons"]) <= set(FEATURES)
    assert any(amount for hit in shown for amount in hit["moved"]["reasons"].values())


def test_without_pooling_and_without_a_vector_search_nothing_is_reranked(trained_home: Path, index: TextIndex) -> None:
    model = served(trained_home, index.corpus)
    assert all(hit.move is None for hit in Retriever(index, model).search(_QUERIES[0], pooled=False))

    def away(*_: object) -> Callable[[], Any]:
        def answer() -> Any:
            raise ServerUnavailable("the graph server is away")

        return answer

    lost = Retriever(index, replace(model, nearest=away)).search(_QUERIES[0])
    assert lost.degraded == ("vectors",)
    assert lost
    assert all(hit.move is None for hit in lost)


def test_a_version_without_a_reranker_or_with_one_of_other_features_serves_as_before(
    trained_home: Path, index: TextIndex, tmp_path: Path
) -> None:
    home = Path(shutil.copytree(trained_home, tmp_path / "home"))
    with open_graph(home) as graph:
        file = model_folder(home, active_id(graph) or "") / RERANKER
    stored = dict(np.load(file))
    np.savez(file, **stored | {"features": stored["features"][::-1]})
    assert served(home, index.corpus).reranker is None
    file.unlink()
    model = served(home, index.corpus)
    assert model.reranker is None
    assert Retriever(index, model).search(_QUERIES[0])


def test_candidates_are_gathered_before_several_sections_stand_first(index: TextIndex) -> None:
    model = model_of(index)
    plain, several = (gathering(index, replace(model, diversity=weight)).rank(_QUERIES[0]) for weight in (0.0, 5000.0))
    assert several.reranked is not None
    np.testing.assert_array_equal(several.scores, plain.scores)
    assert (np.diff(several.scores[several.reranked.candidates.positions]) <= 0).all()


def test_candidates_are_the_first_of_the_ranking_with_what_the_lists_say(index: TextIndex) -> None:
    model = replace(random_model(index.corpus), reranker=Reranker(no_trees(FEATURES), 1.0))
    ranking = Retriever(index, model).rank(_QUERIES[0])
    assert ranking.reranked is not None
    candidates = ranking.reranked.candidates
    column = {name: candidates.rows[:, n] for n, name in enumerate(FEATURES)}
    assert len(candidates.positions) == min(MOST, len(index.corpus.articles))
    np.testing.assert_array_equal(column["score before"], ranking.scores[candidates.positions])
    assert (np.diff(column["score before"]) <= 0).all()
    bm25 = ranking.lists["bm25"]
    np.testing.assert_allclose(column["standard score in bm25"], bm25.comparable[candidates.positions])
    first = int(np.argmax(bm25.scores[candidates.positions]))
    assert column["rank in bm25"][first] == 0
    parents = index.corpus.article_parent[candidates.positions]
    assert (column["depth"] == [0 if p < 0 else index.corpus.level(int(p)) for p in parents]).all()
