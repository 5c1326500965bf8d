"""Questions of further sources train, and are kept apart from what a model is chosen by and measured on."""

from dataclasses import replace
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from gnn.comparison.contenders import entry
from gnn.comparison.tables import Plan, compare_recipes
from gnn.further_questions import to_train_on, topic_of
from gnn.recipe import load_recipe
from gnn.versions.identity import model_ids
from gnn.workspace import Workspace
from schema.errors import BadSetting
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import small_recipe, workspace_on
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

HELD = [
    Question("a", "Le pain", "", "one", (f"{BAKERS_ID}/L111-1",), "test", "train"),
    Question("b", "Le repos", "", "one", (f"{BAKERS_ID}/L121-1",), "train", "development"),
]


def test_a_topic_is_the_place_that_most_articles_share(law: tuple[Corpus, CorpusText]) -> None:
    of = replace(HELD[0], relevant=(f"{BAKERS_ID}/L111-1", f"{BAKERS_ID}/L111-2", f"{BAKERS_ID}/L121-1"))
    corpus = law[0]
    assert topic_of(corpus, of) == topic_of(corpus, HELD[0]) != topic_of(corpus, HELD[1])


@pytest.mark.parametrize(
    ("text", "article", "kept"),
    [
        ("Le blé", f"{BAKERS_ID}/L111-2", ("train", "train")),
        ("le PAIN", f"{BAKERS_ID}/L111-2", ("", "train")),  # its words are held out
        ("L'apprenti", f"{BAKERS_ID}/L121-2", ("train", "")),  # its topic is
        ("Le pain", f"{BAKERS_ID}/L121-2", None),
    ],
)
def test_what_is_near_a_held_out_question_does_not_train(
    text: str, article: str, kept: tuple[str, str] | None, law: tuple[Corpus, CorpusText]
) -> None:
    found = to_train_on(law[0], [Question("c", text, "", "two", (article,), "train", "train")], HELD)
    assert [(q.split, q.split_by_dossier) for q in found] == ([kept] if kept else [])


def test_their_own_development_and_test_questions_are_left_for_another_day(law: tuple[Corpus, CorpusText]) -> None:
    further = [Question(part, part, "", "two", (f"{MILLERS_ID}/L1",), part, part) for part in ("train", "development", "test")]
    assert [q.id for q in to_train_on(law[0], further, HELD)] == ["train"]


def test_a_recipe_learns_from_all_sources_that_it_names_and_is_measured_on_its_own(asked_home: Path) -> None:
    plain = small_recipe()
    more = plain.model_copy(update={"name": "more", "more_questions": ("two",)})
    further = [Question("two/1", "Le meunier livre-t-il ?", "", "two", (f"{MILLERS_ID}/L1",), "train", "train")]
    with open_graph(asked_home) as graph:
        workspace = replace(workspace_on(asked_home, graph), further={"two": further})
        own = len(of_split(workspace.questions, "random", "train"))
        assert len(of_split(workspace.of_recipe(more).questions, "random", "train")) == own + 1
        assert workspace.of_recipe(plain) is workspace
        twice = workspace.of_recipe(more).of_recipe(more)  # as its encoder learns, where both name the source
        assert len(twice.questions) == len(workspace.of_recipe(more).questions)


def test_a_source_without_questions_is_named(asked_home: Path) -> None:
    recipe = small_recipe().model_copy(update={"more_questions": ("two",)})
    with open_graph(asked_home) as graph, pytest.raises(BadSetting, match="no questions from 'two' in the graph"):
        workspace_on(asked_home, graph).of_recipe(recipe)


def test_the_key_of_a_recipe_says_what_it_learns_from() -> None:
    plain = load_recipe("static")
    assert plain.key() != plain.model_copy(update={"more_questions": ("two",)}).key()


def test_the_sources_of_the_encoder_that_a_recipe_names_are_read_too() -> None:
    recipe = load_recipe("best-tuned-more")
    assert recipe.more_questions == ()
    assert recipe.further_sources == ("fiches-travail", "service-public-named")
    both = recipe.model_copy(update={"more_questions": ("two", "fiches-travail")})
    assert both.further_sources == ("two", "fiches-travail", "service-public-named")
    assert load_recipe("best-tuned").further_sources == ()
    above = load_recipe("g-dsr").model_copy(update={"compare": ("best-tuned-more",)})
    assert above.further_sources == recipe.further_sources


def test_what_the_encoder_learns_from_is_part_of_a_version(asked_home: Path) -> None:
    recipe = load_recipe("best-tuned-more")
    one, other = (Question(f"two/{n}", "Le blé", "", "fiches-travail", (f"{MILLERS_ID}/L1",), "train", "train") for n in (1, 2))
    with open_graph(asked_home) as graph:
        plain = workspace_on(asked_home, graph)
        ids = [
            model_ids(
                recipe,
                "index",
                replace(plain, further={source: [found] for source in recipe.further_sources}).learnt_from(recipe),
            )
            for found in (one, other)
        ]
        assert ids[0] != ids[1]
        with pytest.raises(BadSetting, match="no questions from 'fiches-travail'"):
            plain.learnt_from(recipe)
        assert plain.learnt_from(load_recipe("best-tuned")) == plain.questions


@pytest.mark.slow
def test_recipes_with_and_without_further_questions_stand_in_one_table(own_home: Path) -> None:
    plain = small_recipe()
    more = plain.model_copy(update={"name": "more", "more_questions": ("two",)})
    further = [Question("two/1", "Le meunier livre-t-il ?", "", "two", (f"{MILLERS_ID}/L1",), "train", "train")]
    with open_graph(own_home) as graph:
        workspace: Workspace = replace(workspace_on(own_home, graph), store=EmbeddedStore(own_home), further={"two": further})
        rows = [entry(f"{name}:alone", lambda _, recipe=recipe: recipe) for name, recipe in (("small", plain), ("more", more))]
        tables = list(compare_recipes(workspace, Plan(rows, ("random",)), "service-public"))
    assert [[row.name for row in table.rows] for table in tables] == [["small:alone", "more:alone"]] * 2
    assert all(table.n == 6 for table in tables)


def test_a_version_is_made_from_its_own_questions_and_from_those_of_its_bi_encoder(asked_home: Path, tmp_path: Path) -> None:
    encoder = tmp_path / "encoder.toml"
    encoder.write_text('base = "dpr"\nmore_questions = ["two"]\n', "utf-8")
    own = tmp_path / "own.toml"
    own.write_text('base = "static"\nmore_questions = ["three"]\n[encoder]\nname = "static+tuned"\ntuned = "encoder"\n', "utf-8")
    further = {
        name: [Question(f"{name}/1", f"Le meunier {name} ?", "", name, (f"{MILLERS_ID}/L1",), "train", "train")]
        for name in ("two", "three")
    }
    with open_graph(asked_home) as graph:
        workspace = replace(workspace_on(asked_home, graph), further=further)
        found = workspace.learnt_from(load_recipe(str(own)))
    assert len(found) == len(workspace.questions) + 2
    assert {one.source for one in found} == {"service-public", "two", "three"}
