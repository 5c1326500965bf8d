"""Readers learnt over a first stage: what they learn from, what they change, and what cannot be learnt."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from cypher.engines.ladybug import EmbeddedStore, open_graph
from gnn.comparison.contenders import contender, entry
from gnn.comparison.tables import Plan, compare_recipes
from gnn.distributed import alone
from gnn.fine_tuning.checkpoint import CURVE
from gnn.fine_tuning.kept_run import RUNS
from gnn.fine_tuning.loop import Run
from gnn.kept_answers import ranked_by
from gnn.reading.drmm import Drmm
from gnn.reading.first_stage import Found, check_law
from gnn.reading.learning import ReadingTask, ToLearnFrom, learn
from gnn.reading.matching import Matches, matches_of
from gnn.reading.matching_reader import MatchingReader
from gnn.recipe import Recipe, load_recipe
from gnn.training.train import Trainer
from ingest.sources import ingest
from schema.errors import BadSetting, LexgraphError
from search.arrays import Positions
from search.corpus.read import read_corpus
from search.questions import query_text
from tests.gnn.conftest import workspace_on
from tests.support.commands import recipe_file
from tests.support.tiny_law import article, code, write_law

_WORDS = torch.eye(8)


class Words:
    """Vectors of one query piece, which the article of each even position has twice and no other has."""

    def matches(self, query: str, positions: Positions) -> Matches:
        articles = [_WORDS[[0, 0, 2] if position % 2 == 0 else [1, 2, 3]] for position in positions.tolist()]
        return matches_of(_WORDS[[0]], torch.ones(1), articles)


def recipe(**reading: object) -> Recipe:
    tuning = {"epochs": 30, "learning_rate": 0.05, "batch": 4, "patience": 30}
    table = {"name": "reads", "method": "drmm", "reading": {"depth": 6, "hidden": 4, **reading}, "fine_tuning": tuning}
    return Recipe.model_validate(table)


def found(seed: int) -> Found:
    """Six articles in any order, of which the first stage says nothing and the even ones answer."""
    positions = np.random.default_rng(seed).permutation(6)
    return Found("pain", positions, np.zeros(6), np.array([0, 2, 4]))


def learner() -> MatchingReader:
    torch.manual_seed(1)
    return MatchingReader(Drmm(recipe().reading), Words(), 1.0)


def run_in(folder: Path, of: Recipe) -> Run:
    return Run(of.name, "made from", folder, of.fine_tuning)


@pytest.mark.slow
def test_a_reader_learns_what_the_words_tell(tmp_path: Path) -> None:
    of = recipe()
    asked = ToLearnFrom([found(n) for n in range(8)], [found(n) for n in range(8, 12)])
    reranker = learn(learner(), of, asked, run_in(tmp_path, of))
    assert reranker.share > 0
    unseen = found(99)
    order = unseen.positions[np.argsort(-reranker.learnt(unseen), kind="stable")]
    assert set(order[:3].tolist()) == {0, 2, 4}


@pytest.mark.slow
def test_a_training_that_has_ended_is_taken_up_as_it_was(tmp_path: Path) -> None:
    of = recipe()
    asked = ToLearnFrom([found(n) for n in range(8)], [found(8)])
    first = learn(learner(), of, asked, run_in(tmp_path, of)).reader.scores(found(99))
    again = learn(learner(), of, asked, run_in(tmp_path, of)).reader.scores(found(99))
    assert np.array_equal(first, again)


def test_epochs_draw_by_their_number_alone() -> None:
    task, other = (ReadingTask(learner(), recipe(draws=3), [found(1), found(2)], []) for _ in range(2))
    task.begin(0, alone())
    task.begin(1, alone())
    other.begin(1, alone())
    assert [(d.relevant, d.others) for d in task.drawn] == [(d.relevant, d.others) for d in other.drawn]
    assert len(task.drawn) == task.examples == 6


def test_no_question_with_an_answer_among_the_first_is_a_clear_error(tmp_path: Path) -> None:
    of = recipe()
    lost = replace(found(1), relevant=np.array([77]))
    with pytest.raises(BadSetting, match="recipe reads: no training question has an answer, and another article, among its"):
        learn(learner(), of, ToLearnFrom([lost], []), run_in(tmp_path, of))


@pytest.fixture
def over_small(tmp_path: Path) -> Recipe:
    """DRMM over the first stage `small`, beside it."""
    recipe_file(tmp_path, "small")
    path = tmp_path / "reads.toml"
    path.write_text(
        'method = "drmm"\n[reading]\nfirst_stage = "small"\ndepth = 5\npieces = 16\nhidden = 2\n[fine_tuning]\nepochs = 2\n',
        "utf-8",
    )
    return load_recipe(str(path))


@pytest.mark.slow
def test_a_recipe_that_reads_is_compared_with_its_first_stage(own_home: Path, over_small: Recipe, tmp_path: Path) -> None:
    small = load_recipe(str(tmp_path / "small.toml"))
    rows = [entry(name, lambda of: small if of == "small" else over_small) for name in ("small:pooled", "reads:pooled", "reads")]
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        first, *_ = compare_recipes(workspace, Plan(rows, ("random",)), "service-public")
        base, same, read = first.rows
        assert base.means == same.means, "the first stage is the recipe that it names"
        assert read.parameters > base.parameters
        assert read.training_s > base.training_s
        kept = list((own_home / RUNS).glob("small-random-*-candidates.json"))
        assert [len(json.loads(file.read_text("utf-8"))["found"]) for file in kept] == [12], (
            "six questions, each asked in two ways"
        )
        id = workspace.version_id(over_small, "random")
        assert (own_home / RUNS / f"{id}-{ranked_by()}").is_dir()
        assert id != workspace.version_id(over_small.model_copy(update={"reading": recipe().reading}), "random")


@pytest.mark.slow
def test_a_reader_costs_what_its_candidates_cost_whenever_they_were_found(own_home: Path, over_small: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        contender(Trainer(workspace), over_small, "random")
        (file,) = (own_home / RUNS).glob("small-random-*-candidates.json")
        kept = json.loads(file.read_text("utf-8"))
        file.write_text(json.dumps({**kept, "seconds": kept["seconds"] + 9000}), "utf-8")
        again = contender(Trainer(workspace), over_small, "random")
    assert kept["seconds"] > 0
    assert again.reranker.seconds > 9000
    assert again.cost_of("feedback").seconds < 9000 < again.cost_of("served").seconds


@pytest.mark.slow
def test_a_reader_learns_from_the_answers_of_the_recipe_that_it_names(own_home: Path, over_small: Recipe, tmp_path: Path) -> None:
    (tmp_path / "other.toml").write_text('base = "small"\n[training]\nepochs = 1\n', "utf-8")
    reads = over_small.model_copy(update={"reading": over_small.reading.model_copy(update={"over": "other"})})
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        by_other, by_itself = (contender(Trainer(workspace), one, "random") for one in (reads, over_small))
        query = query_text(workspace.questions[0])
        assert np.array_equal(by_other.ways["feedback"](query), by_itself.ways["feedback"](query)), "one first stage"
        first, second = (workspace.version_id(one, "random") for one in (reads, over_small))
        curves = [(own_home / RUNS / f"{id}-{ranked_by()}" / CURVE).read_text("utf-8") for id in (first, second)]
    assert first != second
    assert curves[0] != curves[1], "what was learnt from differs"
    assert len(list((own_home / RUNS).glob("other-random-*-candidates.json"))) == 1
    assert len(list((own_home / RUNS).glob("small-random-*-candidates.json"))) == 1, "the other reader's"


@pytest.mark.slow
def test_what_is_served_differs_from_what_is_pooled_among_the_first_alone(own_home: Path, over_small: Recipe) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        one = contender(Trainer(workspace), over_small, "random")
        for question in workspace.questions:
            pooled, served = (one.ways[way](query_text(question)) for way in ("feedback", "served"))
            assert np.array_equal(np.sort(pooled), np.sort(served))
            behind = np.argsort(-pooled, kind="stable")[5:]
            assert np.array_equal(pooled[behind], served[behind])


@pytest.mark.parametrize("of", ["first_stage", "over"])
def test_a_recipe_that_finds_no_candidates_is_named(own_home: Path, over_small: Recipe, of: str) -> None:
    wrong = over_small.model_copy(update={"reading": over_small.reading.model_copy(update={of: "bm25"})})
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match="recipe reads: bm25 trains no towers"):
        contender(Trainer(workspace_on(own_home, graph)), wrong, "random")


def test_a_first_stage_that_has_learnt_from_development_questions_is_refused(own_home: Path, over_small: Recipe) -> None:
    wrong = over_small.model_copy(update={"reading": recipe(first_stage="static-refit").reading})
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match=r"static-refit has learnt .* chooses by; name static$"):
        contender(Trainer(workspace_on(own_home, graph)), wrong, "random")


def test_without_questions_there_is_nothing_to_learn_from(own_home: Path, over_small: Recipe) -> None:
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match="no train questions"):
        contender(Trainer(replace(workspace_on(own_home, graph), questions=[])), over_small, "random")


def test_a_law_of_one_article_has_nothing_to_rerank(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ingest(
        EmbeddedStore(home), write_law(tmp_path / "law", code("LEGITEXT000000000003", "Code", article(1, "L1", "<p>Pain.</p>")))
    )
    with open_graph(home) as graph:
        corpus, _ = read_corpus(graph)
    with pytest.raises(LexgraphError, match="the law has 1 article: there is nothing to rerank"):
        check_law(corpus, recipe())
