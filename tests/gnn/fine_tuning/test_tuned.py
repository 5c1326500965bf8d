"""Bi-encoders of a law and its questions: trained once, kept, gone on with, built upon, served; and what cannot be trained."""

from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from cypher.engines.ladybug import open_graph
from cypher.graph import Graph
from gnn.comparison.contenders import contender
from gnn.distributed import alone
from gnn.encoders.features import Features
from gnn.encoders.passages import passage
from gnn.encoders.tuned import TunedEncoder
from gnn.fine_tuning import bi_encoder_task, tuned
from gnn.fine_tuning.bi_encoder import BiEncoder
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import Body, load_body
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.kept_run import RUNS
from gnn.fine_tuning.loop import Run, tune
from gnn.fine_tuning.tuned import read_by, tuned_by, tuned_encoder
from gnn.model.inductive import features_of_passages
from gnn.model.trained import compared_by
from gnn.recipe import Recipe, load_recipe
from gnn.training.lambdamart import Example
from gnn.training.train import Trainer, train
from gnn.versions.files import costs_of, load_model
from gnn.versions.identity import RecipeSplit, model_ids
from gnn.workspace import Workspace
from schema.errors import BadSetting
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split, positions_of
from tests.gnn.conftest import workspace_on
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe, write_bi_encoder


class Killed(Exception):
    """Stands for the end of the process."""


def working_on(home: Path, graph: Graph) -> Workspace:
    """The workspace of a home, on one thread: two wait for each other longer than they work."""
    return replace(workspace_on(home, graph), threads=1)


def texts_of(workspace: Workspace) -> list[str]:
    return [f"article {text}" for text in workspace.text.texts]


@pytest.mark.slow
def test_training_learns_which_articles_answer(own_home: Path, small_body: Path, tmp_path: Path) -> None:
    tuning = {"epochs": 40, "learning_rate": 1e-2, "batch": 7, "patience": 40, "precision": "float32"}
    recipe = bi_encoder_recipe(small_body, tuning=tuning, passage_layers=1, temperature=0.3)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        corpus, texts = workspace.corpus, texts_of(workspace)
        training, development = (of_split(workspace.questions, "random", part) for part in ("train", "development"))
    relevant, answering = ([positions_of(corpus, question) for question in part] for part in (training, development))
    pairs = Pairs(texts, training, relevant, [np.zeros(0, np.intp) for _ in training], development, answering)
    torch.manual_seed(1)
    task = BiEncoderTask(BiEncoder(load_body(str(small_body)), recipe.bi_encoder), pairs, recipe)
    curve = tune(task, Run(recipe.name, "", tmp_path, recipe.fine_tuning, threads=1))
    assert curve[-1].loss < 0.8 * curve[0].loss
    assert curve[-1].quality["MAP"] > curve[0].quality["MAP"]  # development asks of the same topics


def test_a_contender_says_what_its_training_took(own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gnn.fine_tuning.kept_run.gpu_name", lambda: "H100")
    recipe = bi_encoder_recipe(small_body)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        found = contender(Trainer(workspace), recipe, "random", ("alone",))
        body = load_body(str(small_body))
        own = sum(parameter.numel() for parameter in BiEncoder(body, recipe.bi_encoder).parameters())
    assert found.cost.parameters == own
    assert found.cost.seconds > 0
    assert found.cost.gpu == "H100"


@pytest.mark.slow
def test_a_bi_encoder_is_trained_once_for_a_split_and_a_seed(own_home: Path, small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        first, again = (tuned_encoder(workspace, recipe, "random", texts_of(workspace)) for _ in range(2))
        untuned = recipe.model_copy(update={"tune_fusion": not recipe.tune_fusion})  # says nothing of the encoder
        assert tuned_encoder(workspace, untuned, "random", texts_of(workspace)).folder == first.folder
        other = tuned_encoder(workspace, recipe, "by-dossier", texts_of(workspace))
        seeded = tuned_encoder(workspace, recipe.seeded(1), "random", texts_of(workspace))
    assert first.folder == again.folder
    assert len({first.folder, other.folder, seeded.folder}) == 3
    assert not list((own_home / RUNS).rglob(CHECKPOINT))  # nothing is left of what is done, but its curve
    assert (own_home / RUNS / first.folder.name / CURVE).exists()


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_encoder(
    own_home: Path, small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={"checkpoint_steps": 1, "epochs": 3}, title_share=0.5, pairs=1)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        texts, loss, calls = texts_of(workspace), BiEncoderTask.loss, [0]

        def dying(self: BiEncoderTask, examples: Any, process: Any) -> Any:
            calls[0] += 1
            if calls[0] == 4:
                raise Killed
            return loss(self, examples, process)

        monkeypatch.setattr(bi_encoder_task.BiEncoderTask, "loss", dying)
        with pytest.raises(Killed):
            tuned_encoder(workspace, recipe, "random", texts)
        resumed = tuned_encoder(workspace, recipe, "random", texts)
        vectors = resumed.encoder.encode_passages(texts)
        steps, calls[0] = calls[0], 10
        resumed.folder.rename(tmp_path / "resumed")
        whole = tuned_encoder(workspace, recipe, "random", texts)
    assert steps == calls[0] - 10 + 1  # the fourth was begun twice
    np.testing.assert_array_equal(whole.encoder.encode_passages(texts), vectors)


def downstream(small_body: Path, tmp_path: Path, text: str) -> Recipe:
    """A recipe over the bi-encoder, beside whose own file it lies."""
    write_bi_encoder(tmp_path, "small-dsr", small_body)
    (tmp_path / "above.toml").write_text(text)
    return load_recipe(str(tmp_path / "above.toml"))


ABOVE = """splits = ["random"]
[encoder]
name = "lsa+tuned"
tuned = "small-dsr"
dimensions = 6
[document]
section_mean = true
[training]
epochs = 2
batch = 6
"""


def trainer_parameters(workspace: Workspace, recipe: Recipe, id: str) -> int:
    """The parameters of a version, trained anew over the encoder that is there."""
    return Trainer(workspace).version(recipe, "random", id).trained.cost.parameters


def test_a_model_over_a_tuned_encoder_serves_and_embeds_new_law(own_home: Path, small_body: Path, tmp_path: Path) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        id = train(workspace, recipe).active
        model = load_model(own_home, id, workspace.corpus)
        costs = costs_of(own_home, id)
        assert costs is not None
        assert costs[0].parameters == trainer_parameters(workspace, recipe, id)
        assert model.encode(["Qui contrôle le moulin ?"]).shape == (1, 6 + 8)
        trainer = Trainer(workspace)
        features = trainer._features_of(recipe, "random")  # pyright: ignore[reportPrivateUsage]
        bi_encoder = features.encoder.parts[1]
        assert isinstance(bi_encoder, TunedEncoder)
        assert bi_encoder.mean is not None  # beside other features it is centred
        words = [["pain"] for _ in workspace.corpus.articles]
        everyone = range(len(workspace.corpus.articles))
        passages = [passage(workspace.corpus, workspace.text, position) for position in everyone]
        again = features_of_passages(features.encoder, words, passages, lambda n: None)
        np.testing.assert_allclose(again[:, 6:], features.articles[:, 6:], atol=0.06)  # eight bits, other batches


def test_the_version_depends_on_the_recipe_that_it_builds_on(small_body: Path, tmp_path: Path) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE)
    before = model_ids(recipe, "index", [])[RecipeSplit("above", "random")]
    file = tmp_path / "small-dsr.toml"
    file.write_text(file.read_text().replace("epochs = 1", "epochs = 2"))
    assert model_ids(recipe, "index", [])[RecipeSplit("above", "random")] != before


_PLAIN = ABOVE.replace('name = "lsa+tuned"\ntuned = "small-dsr"', 'name = "lsa"')
RERANKED = '[rerank]\nrounds = 4\nleast_in_leaf = 1\nnegatives = 5\nover = "plain"\n'


@pytest.mark.slow
def test_a_reranker_beside_a_tuned_encoder_learns_over_models_without_it(
    own_home: Path, small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE + RERANKED)
    (tmp_path / "plain.toml").write_text(_PLAIN)
    asked_of: list[str] = []
    examples = Trainer.examples

    def noted(trainer: Trainer, over: Recipe, *others: Any, **named: Any) -> list[Example]:
        asked_of.append(over.name)
        return examples(trainer, over, *others, **named)

    monkeypatch.setattr(Trainer, "examples", noted)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        made = Trainer(workspace).version(recipe, "random", "")
    assert asked_of == ["plain"]
    assert made.reranker is not None
    before = model_ids(recipe, "index", [])
    (tmp_path / "plain.toml").write_text(_PLAIN.replace("epochs = 2", "epochs = 3"))
    assert model_ids(recipe, "index", []) != before


def test_a_refit_bi_encoder_learns_from_development_questions_for_all_of_its_epochs(
    own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = bi_encoder_recipe(small_body, tuning={"epochs": 3, "patience": 1})
    refit = plain.model_copy(update={"bi_encoder": plain.bi_encoder.model_copy(update={"refit": True})})
    pairs_of, learnt, chosen_by = tuned._pairs, list[set[str]](), list[int]()  # pyright: ignore[reportPrivateUsage]

    def noted(workspace: Workspace, recipe: Recipe, texts: Any, questions: Any) -> Pairs:
        learnt.append({question.id for question in questions[0]})
        chosen_by.append(len(questions[1]))
        return pairs_of(workspace, recipe, texts, questions)

    monkeypatch.setattr(tuned, "_pairs", noted)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        training, development = (
            {question.id for question in of_split(workspace.questions, "random", part)} for part in ("train", "development")
        )
        folders = [tuned_encoder(workspace, one, "random", texts_of(workspace)).folder for one in (plain, refit)]
    assert learnt == [training, training | development]
    assert chosen_by == [len(development), 0]
    header, *epochs = (folders[1] / CURVE).read_text("utf-8").splitlines()
    assert folders[0] != folders[1]
    assert header == "epoch,loss,seconds,kept", "nothing is left to choose by"
    assert [line.rpartition(",")[2] for line in epochs] == ["", "", "yes"]


@pytest.mark.parametrize("named", [ABOVE, ABOVE.replace("lsa+tuned", "lsa").replace('tuned = "small-dsr"\n', "")])
def test_a_recipe_that_chooses_by_development_questions_names_no_bi_encoder_that_learns_from_them(
    small_body: Path, tmp_path: Path, named: str
) -> None:
    reads = "" if "lsa+tuned" in named else '[rerank]\nrounds = 4\ntuned = "small-dsr"\n'
    recipe = downstream(small_body, tmp_path, named + reads)
    file = tmp_path / "small-dsr.toml"
    file.write_text(file.read_text() + "refit = true\n")
    with pytest.raises(BadSetting, match="recipe above is not refit, and small-dsr, the bi-encoder that it names, learns from"):
        read_by(recipe) if reads else tuned_by(recipe)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[encoder]\nname = "tuned"\n', "needs the recipe of a bi-encoder"),
        ('base = "dpr"\n[rerank]\nrounds = 2\n', "trees rerank what trained towers find"),
        (ABOVE.replace("epochs = 2", "epochs = 0") + "[rerank]\nrounds = 2\n", "trees rerank what trained towers find"),
        ('method = "bi-encoder"\n', 'the encoder of a bi-encoder is name = "tuned"'),
    ],
)
def test_a_recipe_that_names_no_bi_encoder_is_a_clear_error(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "odd.toml").write_text(text)
    with pytest.raises(BadSetting, match=said):
        load_recipe(str(tmp_path / "odd.toml"))


def test_a_recipe_over_one_that_trains_no_bi_encoder_is_a_clear_error(own_home: Path, small_body: Path, tmp_path: Path) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE.replace("small-dsr", "static"))
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match="static trains no bi-encoder"):
        contender(Trainer(working_on(own_home, graph)), recipe, "random")


@pytest.mark.parametrize(
    ("options", "said"),
    [('similarity = "dot"', "compared by the cosine"), ("inlined = true", "recipe above gives no model that serves")],
)
def test_what_could_not_embed_new_law_does_not_serve(
    own_home: Path, small_body: Path, tmp_path: Path, options: str, said: str
) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE)
    (tmp_path / "small-dsr.toml").write_text((tmp_path / "small-dsr.toml").read_text() + options)
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match=said):
        train(working_on(own_home, graph), recipe)


def test_an_encoder_over_inlined_citations_is_trained_and_then_its_head_with_the_layers(
    own_home: Path, small_body: Path, tmp_path: Path
) -> None:
    text = ABOVE.replace("lsa+tuned", "tuned").replace("section_mean = true", "layers = 1\nhidden = 8\nheads = 2")
    recipe = downstream(small_body, tmp_path, text)
    (tmp_path / "small-dsr.toml").write_text((tmp_path / "small-dsr.toml").read_text() + "inlined = true")
    said: list[str] = []

    @contextmanager
    def telling(label: str, total: int):
        said.append(label)
        yield lambda done: None

    with open_graph(own_home) as graph:
        workspace = replace(working_on(own_home, graph), progress=telling)
        found = contender(Trainer(workspace), recipe, "random", ("alone",))
        assert found.ways["alone"]("Qui contrôle le moulin ?").shape == (len(workspace.corpus.articles),)
    assert any(label.startswith("inlining") and "close a circle" in label for label in said)
    assert {"fine-tuning small-dsr", "training above"} <= set(said)


def test_an_encoder_over_inlined_citations_knows_the_words_that_it_cuts_off_articles(
    own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known: list[str] = []

    def load(name: str, texts: Sequence[str] = (), **options: Any) -> Body:
        known.extend(texts)
        return load_body(name, texts, **options)

    monkeypatch.setattr(tuned, "load_body", load)
    recipe = bi_encoder_recipe(small_body, inlined=True, passage_tokens=8, passages=1)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        texts = [*texts_of(workspace)[:-1], "article " + "four " * 80 + "pétrin"]
        read = tuned_encoder(workspace, recipe, "random", texts).texts
    assert "pétrin" not in " ".join(read)
    assert any(text.endswith("pétrin") for text in known)


def test_a_bi_encoder_alone_gives_no_model_that_serves(own_home: Path, small_body: Path) -> None:
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match="gives no model that serves"):
        train(working_on(own_home, graph), bi_encoder_recipe(small_body))


def test_without_training_questions_nothing_is_trained(own_home: Path, small_body: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = replace(working_on(own_home, graph), questions=())
        with pytest.raises(BadSetting, match="no training or no development questions"):
            tuned_encoder(workspace, bi_encoder_recipe(small_body), "random", texts_of(workspace))


def question(*articles: str) -> Question:
    return Question("F1", "De quoi ?", "", "service-public", articles, "train", "train")


def test_a_law_of_one_article_is_a_clear_error(small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body)
    model = BiEncoder(load_body(str(small_body)), recipe.bi_encoder)
    nothing = np.zeros(0, np.intp)
    pairs = Pairs(["Le pain."], [question("a")], [np.zeros(1, np.intp)], [nothing], [], [])
    with pytest.raises(BadSetting, match="a law of fewer than two articles has no negatives"):
        BiEncoderTask(model, pairs, recipe)


def test_an_article_of_200_000_words_is_read_to_its_last_passage(own_home: Path, small_body: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        texts = ["farine " * 200_000, *texts_of(workspace)[1:]]
        tuned = tuned_encoder(workspace, bi_encoder_recipe(small_body, tuning={"epochs": 1}), "random", texts)
        short, long = tuned.encoder.encode_passages(["farine " * 100, texts[0]])
    np.testing.assert_array_equal(short, long)


def test_features_that_are_no_numbers_are_a_clear_error(
    own_home: Path, small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = TunedEncoder.encode_raw

    def broken(self: TunedEncoder, texts: Any, kind: str, *advance: Any) -> Any:
        vectors = encode(self, texts, kind, *advance)
        vectors[2] = np.nan
        return vectors

    monkeypatch.setattr(TunedEncoder, "encode_raw", broken)
    with open_graph(own_home) as graph, pytest.raises(BadSetting, match=r"encoder 'tuned' gives no numbers for 1 of"):
        contender(Trainer(working_on(own_home, graph)), bi_encoder_recipe(small_body), "random")


def test_negatives_are_the_first_of_bm25_that_answer_nothing(law: tuple[Corpus, CorpusText], small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body, pairs=1, bm25_negatives=2)
    first = np.array([7, 3, 5], np.intp)
    pairs = Pairs(law[1].texts, [question("a")], [np.array([1, 2], np.intp)], [first], [], [])
    drawn = [pairs.drawn(recipe, epoch)[0] for epoch in range(20)]
    assert drawn == [pairs.drawn(recipe, epoch)[0] for epoch in range(20)]
    assert {pair.article for pair in drawn} == {1, 2}
    assert {negative for pair in drawn for negative in pair.negatives} == {3, 5, 7}
    assert all(len(set(pair.negatives)) == 2 for pair in drawn)


def test_an_article_that_answers_too_is_no_negative(small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body, bm25_negatives=0, temperature=1.0)
    torch.manual_seed(2)
    model = BiEncoder(load_body(str(small_body)), recipe.bi_encoder).eval()
    both = [np.array([0, 1], np.intp)]
    texts = ["Le pain est pesé.", "Le pain est fait de farine.", "Un inspecteur."]
    task = BiEncoderTask(model, Pairs(texts, [question("a")], both, [np.zeros(0, np.intp)], [], []), recipe)
    task.begin(0, alone())
    assert float(task.loss([0, 1], alone()).detach()) == 0  # each is the other's, and there is nothing else


def test_the_square_of_the_distance_orders_as_the_distance_does(law: tuple[Corpus, CorpusText], features: Features) -> None:
    draw = np.random.default_rng(4)
    articles = draw.normal(size=features.articles.shape).astype(np.float32)
    trained = compared_by("euclidean", law[0], replace(features, articles=articles))
    query = draw.normal(size=articles.shape[1])
    scores = trained.scale * trained.articles @ query + trained.bias
    np.testing.assert_array_equal(np.argsort(-scores), np.argsort(np.linalg.norm(articles - query, axis=1)))


@pytest.mark.parametrize("options", [{"similarity": "dot"}, {"similarity": "euclidean", "loss": "triplet"}])
def test_other_similarities_and_losses_are_trained_too(own_home: Path, small_body: Path, options: dict[str, str]) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={"epochs": 1}, **options)
    with open_graph(own_home) as graph:
        found = contender(Trainer(working_on(own_home, graph)), recipe, "random", ("alone",))
    assert np.isfinite(found.ways["alone"]("Combien pèse une baguette ?")).all()
