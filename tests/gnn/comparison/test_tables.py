"""Recipes compared over seeds: rows, intervals, what is kept, and that nothing that serves is touched."""

import json
import shutil
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import citations
import schema
import search
from cypher.engines.ladybug import open_graph
from cypher.export.dump import canonical_dump
from gnn.comparison import contenders, tables
from gnn.comparison.contenders import WAYS, Contender, contender, entry
from gnn.comparison.markdown import page
from gnn.comparison.tables import GAINS, Plan, RecipeTable, compare_recipes
from gnn.comparison.trials import CROSS_FITTED, trials
from gnn.cost import Cost
from gnn.fine_tuning.kept_run import RUNS
from gnn.kept_answers import FOLDER, kept_file, ranked_by
from gnn.recipe import Recipe, load_recipe
from gnn.training.bm25_tuning import tuned_lexical
from gnn.training.train import Trainer
from gnn.versions.files import costs_of
from gnn.versions.identity import model_ids
from schema.errors import BadQuery, BadSetting, NotReady
from search.evaluation import MEASURES, Judged, measure, measures_of, ranks_of
from search.modes import Mode
from search.questions import PARTS, TITLE, WITH_DESCRIPTION, judged, of_split
from search.retrieval import Retriever
from tests.gnn.conftest import workspace_on
from tests.support.commands import Lexgraph, recipe_file


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return load_recipe(str(recipe_file(tmp_path, "small")))


def compared(home: Path, recipe: Recipe, *names: str, seeds: int = 1, against: str = "first") -> list[RecipeTable]:
    with open_graph(home) as graph:
        entries = [entry(name, lambda of: recipe if of == "small" else load_recipe(of)) for name in names]
        plan = Plan(entries, ("random",), seeds, against=against)
        return list(compare_recipes(workspace_on(home, graph), plan, "service-public"))


def test_each_way_of_asking_has_a_table_and_each_entry_a_row(own_home: Path, recipe: Recipe) -> None:
    found = compared(own_home, recipe, "bm25:alone", "small:alone", "small", seeds=3)
    assert [(table.split, table.asked, table.n) for table in found] == [("random", WITH_DESCRIPTION, 6), ("random", TITLE, 6)]
    for table in found:
        assert [(row.name, row.seeds) for row in table.rows] == [("bm25:alone", 1), ("small:alone", 3), ("small", 3)]
        first, alone, _ = table.rows
        assert set(first.means) == set(MEASURES)
        assert first.deviations["MAP"] is None
        assert first.gains == {}
        for name in GAINS:
            assert alone.gains[name].mean == pytest.approx(alone.means[name] - first.means[name])
            assert alone.gains[name].low <= alone.gains[name].mean <= alone.gains[name].high
    deviations = [value or 0 for table in found for row in table.rows for value in row.deviations.values()]
    assert max(deviations) > 0, "seeds train other models"


def test_gains_over_the_row_above_are_those_over_the_row_above(own_home: Path, recipe: Recipe) -> None:
    table, _ = compared(own_home, recipe, "bm25:alone", "small:alone", "small", against="above")
    assert table.rows[2].gains["MAP"].mean == pytest.approx(table.rows[2].means["MAP"] - table.rows[1].means["MAP"])


def test_a_row_has_the_measures_of_its_way_of_ranking(own_home: Path, recipe: Recipe) -> None:
    table, _ = compared(own_home, recipe, "small:alone", "small:fused", "small:pooled")
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        asked = judged(workspace.corpus, of_split(workspace.questions, "random", "test"))
        retriever = Retriever(workspace.index, Trainer(workspace).version(recipe, "random", "").model())
        for row, (mode, pooled) in zip(table.rows, ((Mode.VECTOR, True), (Mode.HYBRID, False), (Mode.HYBRID, True)), strict=True):
            ranks = [ranks_of(retriever.scores(q.query, mode, pooled=pooled)[0], q.relevant) for q in asked]
            assert row.means == pytest.approx({name: 100 * value.mean() for name, value in measures_of(ranks).items()})


def test_what_was_measured_is_not_trained_again(own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    first = compared(own_home, recipe, "small", seeds=2)
    rows = sorted((own_home / FOLDER).iterdir())
    assert len(rows) == 2
    rows[1].unlink()  # as if the run had been killed before the second seed
    trained: list[int] = []
    real = contenders.contender

    def counted(trainer: Trainer, recipe: Recipe, split: str, ways: Collection[str]) -> contenders.Contender:
        trained.append(recipe.training.seed)
        return real(trainer, recipe, split, ways)

    monkeypatch.setattr(tables, "contender", counted)
    again = compared(own_home, recipe, "small", seeds=2)
    assert len(trained) == 1
    assert [table.rows[0].means for table in again] == [table.rows[0].means for table in first]
    again = compared(own_home, recipe, "small", "small:alone", seeds=2)
    assert len(trained) == 3, "another way of ranking is measured of every seed"
    assert [table.rows[0].means for table in again] == [table.rows[0].means for table in first]


def test_rows_of_another_search_are_measured_anew(own_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = {TITLE: [Judged("pain", np.array([1]))]}
    before = kept_file(own_home, "a", asked)
    assert kept_file(own_home, "a", asked) == before
    shutil.copytree(Path(search.__file__).parent, tmp_path / "search", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(search, "__file__", str(tmp_path / "search" / "__init__.py"))
    ranked_by.cache_clear()
    assert kept_file(own_home, "a", asked) == before, "the same code in another folder"
    with (tmp_path / "search" / "query" / "acronyms.py").open("a", encoding="utf-8") as file:
        file.write("\n")
    ranked_by.cache_clear()
    assert kept_file(own_home, "a", asked) != before
    ranked_by.cache_clear()


@pytest.mark.parametrize("room", [citations, schema])
def test_rows_are_those_of_the_code_that_reads_what_a_query_names(
    room: ModuleType, own_home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = kept_file(own_home, "a", {})
    copied = Path(shutil.copytree(Path(str(room.__file__)).parent, tmp_path / "room"))
    (copied / "another.py").write_text("", "utf-8")
    monkeypatch.setattr(room, "__file__", str(copied / "__init__.py"))
    ranked_by.cache_clear()
    assert kept_file(own_home, "a", {}) != before
    ranked_by.cache_clear()


def test_rows_are_kept_by_what_holds_the_words_and_the_vectors(own_home: Path, recipe: Recipe) -> None:
    compared(own_home, recipe, "bm25:alone", "small:alone")
    names = sorted(path.name for path in (own_home / FOLDER).iterdir())
    assert [name.split("-")[0] for name in names] == ["bm25", "small"]
    assert all("-embeddedlexical-embedded-" in name for name in names)


def test_nothing_that_serves_is_touched(own_home: Path, recipe: Recipe) -> None:
    def state() -> Iterator[str]:
        with open_graph(own_home) as graph:
            yield from canonical_dump(graph)
        left = {own_home / FOLDER, own_home / RUNS}  # features of the law, and curves
        yield from sorted(str(path) for path in own_home.rglob("*") if left.isdisjoint((path, *path.parents)))

    Lexgraph.over(own_home).do("train", "--recipe", recipe.folder / "small.toml")
    before = list(state())
    compared(own_home, recipe, "small", seeds=2)
    assert list(state()) == before


def test_a_version_on_disk_is_asked_as_it_is(own_home: Path, recipe: Recipe) -> None:
    fresh = compared(own_home, recipe, "small:alone", "small")
    shutil.rmtree(own_home / FOLDER)
    Lexgraph.over(own_home).do("train", "--recipe", recipe.folder / "small.toml")
    stored = compared(own_home, recipe, "small:alone", "small")
    for one, other in zip(fresh, stored, strict=True):
        assert [row.means for row in one.rows] == [row.means for row in other.rows]
        assert [row.parameters for row in one.rows] == [row.parameters for row in other.rows]
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        (id,) = model_ids(recipe, workspace.index.key, workspace.questions).values()
    costs = costs_of(own_home, id)
    assert costs is not None
    assert costs[0].parameters == fresh[0].rows[0].parameters > 100


def test_a_version_that_does_not_say_what_its_reranker_took_is_trained_anew_for_the_table(
    own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    Lexgraph.over(own_home).do("train", "--recipe", recipe.folder / "small.toml")
    trained: list[str] = []
    version = Trainer.version
    monkeypatch.setattr(Trainer, "version", lambda self, *of: trained.append(of[2]) or version(self, *of))
    compared(own_home, recipe, "small")
    assert not trained
    shutil.rmtree(own_home / FOLDER)
    (file,) = own_home.rglob("small-random-*/run.json")
    run = json.loads(file.read_text("utf-8"))
    del run["reranker"]  # as older versions are
    file.write_text(json.dumps(run), "utf-8")
    compared(own_home, recipe, "small")
    assert trained == [file.parent.name]


def test_a_seed_is_that_of_the_recipes_which_it_starts_from_too(tmp_path: Path) -> None:
    recipe_file(tmp_path, "first", seed=3)
    (tmp_path / "second.toml").write_text('base = "first"\n[training]\nstart = "first"\n', "utf-8")
    plain = load_recipe(str(tmp_path / "second.toml"))
    other = plain.seeded(2)
    assert plain.seeded(0) is plain
    assert (other.training.seed, other.other("first").training.seed, plain.other("first").training.seed) == (5, 5, 3)
    assert len({tuple(model_ids(plain.seeded(n), "", []).values()) for n in range(4)}) == 4


def test_the_verb_prints_and_writes_its_tables(own_home: Path, recipe: Recipe, tmp_path: Path) -> None:
    run = Lexgraph.over(own_home)
    file = tmp_path / "results" / "page.md"
    small = str(recipe.folder / "small.toml")
    assert "small.toml:alone" in run.do("compare", "bm25", f"{small}:alone", "--seeds", 2, "--out", file)
    shown = json.loads(run.do("compare", "bm25", f"{small}:alone", "--seeds", 2, "--json"))
    assert [row["seeds"] for row in shown[0]["rows"]] == [1, 2]
    text = file.read_text("utf-8")
    assert f"| {shown[0]['rows'][0]['means']['MAP']:.1f} |" in text
    assert "± " in text
    assert "with the standard deviation behind ± (2 seeds)" in text


def test_a_recipe_is_trained_once_where_others_have_several_seeds(own_home: Path, recipe: Recipe) -> None:
    small, other = recipe.folder / "small.toml", recipe.folder / "other.toml"
    other.write_text('base = "small"\n[encoder]\ndimensions = 3\n', "utf-8")
    run = Lexgraph.over(own_home)
    asked = ("compare", f"{small}:alone", f"{other}:alone", "--seeds", 2, "--json")
    rows = json.loads(run.do(*asked, "--once", other, "--out", recipe.folder / "page.md"))[0]["rows"]
    assert "± (2 seeds); a figure without ± is of one seed." in (recipe.folder / "page.md").read_text("utf-8")
    assert [(row["seeds"], row["deviations"]["MAP"] is None) for row in rows] == [(2, False), (1, True)]
    ended = run(*asked, "--once", "static")
    assert "--once: static: not among the recipes that are compared, or that these name" in ended.err
    assert ended.code == BadQuery.exit_code


def test_several_seeds_are_trained_over_one_training_of_a_recipe_that_they_name(own_home: Path, recipe: Recipe) -> None:
    second, page = recipe.folder / "second.toml", recipe.folder / "page.md"
    second.write_text('base = "small"\n[training]\nstart = "small"\nlearning_rate = 1e-9\n', "utf-8")
    asked = ("compare", f"{second}:alone", "--only", "random", "--seeds", 3, "--out", page)
    for more, kept in ((), 3), (("--once", "small"), 5):
        shown = json.loads(Lexgraph.over(own_home).do(*asked, "--json", *more))
        assert [row["seeds"] for table in shown for row in table["rows"]] == [3, 3]
        assert len(list((own_home / "comparisons").iterdir())) == kept, "the first seed is the same either way"
        assert (f"All seeds of `{second}:alone` are over one training of `small`." in page.read_text("utf-8")) == bool(more)


@pytest.mark.parametrize("split", ["random", "by-dossier"])
def test_each_fifth_is_asked_of_models_that_learnt_from_the_others(own_home: Path, split: str) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        tried = trials(workspace, split, CROSS_FITTED, "service-public")
    asked = [question for trial in tried for question in of_split(trial.workspace.questions, split, "test")]
    parts = {part: {one.id for one in of_split(workspace.questions, split, part)} for part in PARTS}
    assert sorted(one.id for one in asked) == sorted(parts["train"] | parts["test"])
    assert 1 < len(tried) <= 5
    for trial in tried:
        own = {part: {one.id for one in of_split(trial.workspace.questions, split, part)} for part in PARTS}
        assert own["development"] == parts["development"]
        assert own["train"] == (parts["train"] | parts["test"]) - own["test"]
        assert len(trial.asked[TITLE]) == len(own["test"])
    assert trials(workspace, split, "test", "")[0].workspace is workspace


def test_the_verb_compares_by_cross_fitting(own_home: Path, recipe: Recipe) -> None:
    page = recipe.folder / "page.md"
    asked = ("compare", "bm25:alone", f"{recipe.folder / 'small.toml'}:alone", "--only", "random", "--split", "cross-fitted")
    shown = json.loads(Lexgraph.over(own_home).do(*asked, "--json", "--out", page))
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        every = [one for part in ("train", "test") for one in of_split(workspace.questions, "random", part)]
        ranks = [
            ranks_of(Retriever(workspace.index, None, pooling=None).scores(one.query, Mode.BM25)[0], one.relevant)
            for one in judged(workspace.corpus, every)
        ]
    assert [(table["part"], table["n"]) for table in shown] == [("cross-fitted", len(every))] * 2
    assert shown[0]["rows"][0]["means"]["MAP"] == pytest.approx(100 * np.mean([measure(row)["MAP"] for row in ranks]), abs=0.01)
    assert "each fifth of the training and test questions is asked of models that learnt from the other four" in page.read_text(
        "utf-8"
    )
    ended = Lexgraph.over(own_home)("compare", "bm25", "--split", "whole")
    assert "no part 'whole' of the questions; there are: train, development, test, cross-fitted" in ended.err


def test_the_verb_puts_recipes_over_the_encoder_of_another(own_home: Path, recipe: Recipe) -> None:
    small, other = recipe.folder / "small.toml", recipe.folder / "other.toml"
    other.write_text('base = "small"\n[encoder]\ndimensions = 3\n', "utf-8")
    run = Lexgraph.over(own_home)
    asked = ("compare", f"{small}:alone", "--json")
    own, borrowed = (json.loads(run.do(*asked, *more))[0]["rows"][0] for more in ((), ("--encoder", other)))
    assert own["parameters"] != borrowed["parameters"], "towers over three features are smaller"
    assert "recipe bm25 has no encoder to borrow" in run(*asked, "--encoder", "bm25").err


def test_the_verb_prints_and_writes_what_rerankers_add(own_home: Path, recipe: Recipe, tmp_path: Path) -> None:
    trees = recipe.folder / "trees.toml"
    trees.write_text('base = "small"\n[rerank]\nrounds = 4\nleast_in_leaf = 1\nnegatives = 5\n', "utf-8")
    run, file = Lexgraph.over(own_home), tmp_path / "page.md"
    shown = json.loads(run.do("compare", trees, "--cross-fitted", "--only", "random", "--seeds", 2, "--json", "--out", file))
    assert [table["asked"] for table in shown] == [WITH_DESCRIPTION, TITLE]
    assert set(shown[0]["gains"]) == {str(load_recipe(str(trees)).name)}
    assert f"| `first stage` | {shown[0]['before']['R@100']['mean']:.1f} |" in file.read_text("utf-8")
    assert (shown[0]["seeds"], "trained with 2 seeds" in file.read_text("utf-8")) == (2, True)
    ended = run("compare", recipe.folder / "small.toml", "--cross-fitted")
    assert "small has no reranker of the first candidates; lambdamart has one" in ended.err
    assert ended.code == BadQuery.exit_code


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--cross-fitted", "--coliee", "code"], "--coliee does nothing with --cross-fitted"),
        (["--coliee", "code", "--test", "R05", "--against", "above"], "--against does nothing with --coliee"),
        (["--test", "R05"], "name its folder with --coliee"),
        (["--cross-fitted", "--once", "static"], "--once does nothing with --cross-fitted"),
        (["--coliee", "code", "--test", "R05", "--once", "static"], "--once does nothing with --coliee"),
        (["--once", "static"], "--once does nothing without several --seeds"),
    ],
)
def test_options_that_would_do_nothing_are_refused(own_home: Path, options: list[object], said: str) -> None:
    ended = Lexgraph.over(own_home)("compare", "static", *options)
    assert said in ended.err
    assert ended.code == BadQuery.exit_code


def test_a_page_tells_each_way_that_it_uses(own_home: Path, recipe: Recipe) -> None:
    text = page(compared(own_home, recipe, "small:alone", "small"), "lexgraph compare small:alone small")
    assert f"*alone*: {WAYS['alone']}." in text
    assert WAYS["fused"] not in text


def test_a_page_tells_which_rows_a_gpu_trained(own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnn.comparison.tables.gpu_name", lambda: "H100")
    compared(own_home, recipe, "small:alone")
    monkeypatch.undo()
    text = page(compared(own_home, recipe, "small:alone", "bm25"), "lexgraph compare small:alone bm25")
    assert "\nTrained and asked on a machine with one H100: `small:alone`.\n" in text
    assert "Bi-encoders" not in text


def test_a_page_tells_which_bi_encoders_came_from_another_machine(
    own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    def from_there(*asked: Any) -> Contender:
        return replace(contender(*asked), cost=Cost(gpu="H100"))

    monkeypatch.setattr("gnn.comparison.tables.contender", from_there)
    compared(own_home, recipe, "small:alone")
    monkeypatch.undo()
    kept = compared(own_home, recipe, "small:alone", "bm25")
    text = page(kept, "lexgraph compare small:alone bm25")
    assert "\nBi-encoders trained on another machine, with one H100: `small:alone`.\n" in text
    assert "Trained and asked" not in text


def test_the_cost_of_a_row_is_that_of_its_way_of_ranking_whatever_was_measured_after_it(
    own_home: Path, recipe: Recipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = iter((60.0, 600.0))

    def costly(*asked: Any) -> Contender:
        return replace(contender(*asked), cost=Cost(next(seconds), 7), reranker=Cost(30, 5))

    reranking = recipe.model_copy(update={"diversity": 0.25})  # something comes behind what is fused
    monkeypatch.setattr("gnn.comparison.tables.contender", costly)
    compared(own_home, reranking, "small:alone")
    (first, *_) = compared(own_home, reranking, "small:alone", "small")
    assert [(row.training_s, row.parameters) for row in first.rows] == [(60, 7), (630, 12)]


def test_a_row_that_cannot_be_is_told(own_home: Path, recipe: Recipe) -> None:
    ways = "alone, fused, pooled, shuffled, feedback, served"
    with pytest.raises(BadQuery, match=f"no way 'best' to rank by a recipe; there are: {ways}"):
        entry("small:best", load_recipe)
    with pytest.raises(BadQuery, match="no row 'last'"):
        compared(own_home, recipe, "small", against="last")
    run = Lexgraph.over(own_home)
    assert "no part 'exam'" in run("compare", "bm25", "--split", "exam").err
    assert "no recipe 'nothing'; there are: best, " in run("compare", "nothing").err
    assert "no recipe 'muse-divers'; nearest: muse-diverse\n" in run("compare", "muse-divers").err
    ended = run("compare", "bm25", "--questions", "nobody")
    assert "no test questions of nobody in the random split" in ended.err
    assert ended.code == NotReady.exit_code
    other = recipe.folder / "other.toml"
    other.write_text('base = "small"\nsplits = ["by-dossier"]\n', "utf-8")
    assert "these recipes have no split of the questions in common" in run("compare", recipe.folder / "small.toml", other).err
    assert "no split 'new' of the questions; there are: random" in run("compare", "static", "--only", "new").err
    for name in ("bm25-tuned", "static-without-headings"):
        ended = run("train", "--recipe", name)
        assert f"recipe {name} gives no model that serves: `lexgraph compare {name}` measures it" in ended.err
        assert ended.code == BadSetting.exit_code


def test_k1_and_b_are_those_that_development_questions_like_best(own_home: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = workspace_on(own_home, graph)
        questions = judged(workspace.corpus, of_split(workspace.questions, "random", "development"))

        def quality(index: object) -> float:
            retriever = Retriever(index, None)  # type: ignore[arg-type]
            rows = [measure(ranks_of(retriever.scores(q.query, Mode.BM25)[0], q.relevant)) for q in questions]
            return float(np.mean([row["R@100"] + row["MAP"] for row in rows]))

        assert quality(tuned_lexical(workspace, "random")) >= quality(workspace.index)


def test_each_seed_starts_from_the_model_of_its_own_seed(own_home: Path, tmp_path: Path) -> None:
    recipe_file(tmp_path, "first")
    (tmp_path / "second.toml").write_text('base = "first"\n[training]\nstart = "first"\nlearning_rate = 1e-9\n', "utf-8")
    second = load_recipe(str(tmp_path / "second.toml"))
    with open_graph(own_home) as graph:
        trainer = Trainer(workspace_on(own_home, graph))
        for seed in (0, 1):
            one, first = second.seeded(seed), second.seeded(seed).other("first")
            started, own = (trainer.version(recipe, "random", "").trained.state for recipe in (one, first))
            np.testing.assert_allclose(started["query.first.weight"], own["query.first.weight"], atol=1e-6)


@pytest.mark.slow
def test_a_recipe_with_several_sections_first_is_measured_as_it_serves(own_home: Path, recipe: Recipe) -> None:
    several = recipe.model_copy(update={"diversity": 5000.0})
    query = "Combien pèse une baguette ?"
    with open_graph(own_home) as graph:
        trainer = Trainer(workspace_on(own_home, graph))
        found, plain = (contenders.contender(trainer, one, "random") for one in (several, recipe))
        for way in ("fused", "pooled", "feedback"):
            np.testing.assert_array_equal(found.ways[way](query), plain.ways[way](query))
        served, before = found.ways["served"](query), found.ways["feedback"](query)
    assert "served" not in plain.ways
    assert contenders.Entry("", several, "served").measured_way == "served"
    assert contenders.Entry("", recipe, "served").measured_way == "feedback"
    np.testing.assert_array_equal(np.sort(served), np.sort(before))
    assert not np.array_equal(served, before)


def test_a_graph_reranker_orders_the_candidates_of_the_search_anew(own_home: Path, recipe: Recipe, tmp_path: Path) -> None:
    text = (recipe.folder / "small.toml").read_text("utf-8")
    path = tmp_path / "reranking.toml"
    path.write_text(f'method = "graph-reranker"\n{text}\n[graph_rerank]\nlearning_rate = 0.05\nepochs = 10\n', "utf-8")
    with open_graph(own_home) as graph:
        reranking = load_recipe(str(path))
        trainer = Trainer(workspace_on(own_home, graph))
        found = contenders.contender(trainer, reranking, "random")
        plain = contenders.contender(trainer, recipe, "random")
        query = "Combien pèse une baguette ?"
        pooled, served = found.ways["feedback"](query), found.ways["served"](query)
        assert contenders.Entry("", reranking, "served").measured_way == "served"
    np.testing.assert_array_equal(pooled, plain.ways["feedback"](query))
    np.testing.assert_array_equal(np.sort(served), np.sort(pooled))
    assert not np.array_equal(served, pooled)
    assert found.cost_of("served").parameters > found.cost.parameters == plain.cost.parameters
