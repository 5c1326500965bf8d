"""Training on law that has no sections, no citations and articles that nothing is joined to."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import open_graph
from gnn.model.subgraph import subgraph_edges
from gnn.options import RerankOptions
from gnn.recipe import Recipe
from gnn.training.train import Trainer
from gnn.versions.files import NewVersion
from gnn.workspace import Workspace
from schema.errors import BadSetting
from search.modes import Mode
from search.retrieval import Retriever
from tests.gnn.conftest import asked_about, small_recipe, workspace_on
from tests.support.tiny_law import BAKERS, MILLERS, article, code, section

TEXTS = {
    1: "Le pain est fait de farine, d'eau, de sel et de levain.",
    2: "La baguette pèse deux cent cinquante grammes.",
    3: "Le pain à la coupe est pesé devant le client.",
    4: "Le boulanger et son apprenti se reposent un jour par semaine.",
    5: "Le licenciement d'un boulanger malade est nul.",
    6: "Le four est chauffé au bois.",
    22: "Un inspecteur contrôle le moulin chaque année.",
}


def bare_home(home: Path, *, joined: bool) -> Path:
    """A home whose articles stand right below their code; where ``joined``, one code has a section, with one article."""
    own = [article(serial, str(serial), text) for serial, text in TEXTS.items() if serial < 20]
    mill = article(22, "22", TEXTS[22])
    return asked_about(home, code(BAKERS, "Le pain", *own), code(MILLERS, "Le moulin", section(1, "I", mill) if joined else mill))


@pytest.fixture(params=[False, True], ids=["no-sections", "one-section"])
def bare(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    home = bare_home(tmp_path / "home", joined=request.param)
    with open_graph(home) as graph:
        workspace = workspace_on(home, graph)
        assert len(workspace.corpus.sections) == int(request.param)
        yield workspace


def trained(workspace: Workspace, recipe: Recipe) -> NewVersion:
    return Trainer(workspace).version(recipe, "random", "v")


def first(retriever: Retriever, query: str, mode: Mode) -> str:
    return retriever.corpus.articles[int(np.argmax(retriever.rank(query, mode).scores))]


@pytest.mark.slow
@pytest.mark.parametrize("layer", ["gatv2", "gat", "gcn", "graphsage", "k-gnn"])
def test_layers_over_articles_that_nothing_is_joined_to_give_numbers(bare: Workspace, layer: str) -> None:
    recipe = small_recipe(layers=2)
    document = recipe.document.model_copy(update={"layer": layer})
    assert subgraph_edges(bare.corpus, document.edges).edges.shape[1] == 2 * len(bare.corpus.sections)
    made = trained(bare, recipe.model_copy(update={"document": document})).trained
    for vectors in (made.articles, made.sections, made.acts):
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, rtol=1e-5)
    assert np.isfinite(made.bias).all()


def test_towers_learn_and_every_mode_answers(bare: Workspace) -> None:
    made = trained(bare, small_recipe(epochs=30, patience=30, learning_rate=0.02, dropout=0.0))
    assert max(epoch.average_precision for epoch in made.trained.curve) > 0.8
    retriever = Retriever(bare.index, made.model())
    for mode in Mode:
        assert first(retriever, "le poids de la baguette", mode) == f"fr/{BAKERS}/2"


def test_a_reranker_learns_over_it(bare: Workspace) -> None:
    rerank = RerankOptions.model_validate({"rounds": 3, "least_in_leaf": 1, "leaves": 2, "feature_share": 1, "row_share": 1})
    made = trained(bare, small_recipe().model_copy(update={"rerank": rerank}))
    assert made.reranker is not None
    assert len(made.reranker.trees.feature) == 3
    assert first(Retriever(bare.index, made.model()), "Qui contrôle le moulin ?", Mode.HYBRID) == f"fr/{MILLERS}/22"


def test_a_law_of_one_article_is_a_clear_error(tmp_path: Path) -> None:
    home = asked_about(tmp_path / "home", code(BAKERS, "Le pain", article(1, "1", TEXTS[1])))
    with (
        open_graph(home) as graph,
        pytest.raises(BadSetting, match="needs two articles and two words to tell them apart: the law has 1"),
    ):
        trained(workspace_on(home, graph), small_recipe())
