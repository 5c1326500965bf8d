"""The confidence of a version: learnt from questions with and without an answer, kept with it, learnt again when they change."""

import shutil
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from cypher.graph import Graph
from gnn.evaluation.scope import draw_scope, measure_scope
from gnn.recipe import Recipe, load_recipe
from gnn.training.scope import CALLED_OUTSIDE, LEAST, complete_scope, confidences, evidence_of, has_scope, learn_scope
from gnn.training.train import train
from gnn.versions.active import active_model
from gnn.versions.files import read_scope
from gnn.versions.shared_folder import SCOPE, share_model
from gnn.workspace import Workspace
from ingest.loading.questions import read_outside, read_questions
from ingest.readers.service_public import other_questions_of, read_sheets, sheet_files, split_of
from ingest.sources import ingest
from schema.errors import BadSetting
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.gnn.conftest import small_recipe
from tests.support.tiny_law import write_sheets

pytestmark = pytest.mark.slow
_INSIDE = (
    "La farine du pain",
    "Le poids de la baguette",
    "Le repos du boulanger",
    "Le levain et le four",
    "Le contrôle du moulin",
)
_OUTSIDE = (
    "Le divorce des époux",
    "Un permis de conduire",
    "La carte grise du scooter",
    "Le passeport perdu",
    "Un visa de long séjour",
)


def _sheets() -> dict[str, tuple[str, str, list[str]]]:
    """Enough sheets in each part that the law answers, and as many that it does not."""
    sheets: dict[str, tuple[str, str, list[str]]] = {}
    serials = count(1000)
    for part in ("train", "development", "test"):
        for number in range(LEAST + 4):
            id = next(f"F{n}" for n in serials if split_of(f"F{n}") == part and split_of(f"N{n}") == part)
            sheets[id] = (f"{_INSIDE[number % 5]} ({part} {number})", "", [f"LEGIARTI{1 + number % 5:012}"])
    for number in range(4 * LEAST):
        sheets[f"F{next(serials)}"] = (f"{_OUTSIDE[number % 5]} {number}", "", ["LEGIARTI999999999999"])
    return sheets


@pytest.fixture(scope="module")
def scoped_home(asked_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained home whose active version knows how sure it is; not to be written to."""
    home = tmp_path_factory.mktemp("scoped") / "home"
    shutil.copytree(asked_home, home)
    ingest(EmbeddedStore(home), write_sheets(home / "more-sheets", _sheets()))
    with open_graph(home) as graph:
        assert train(_workspace(home, graph), _recipe()).scoped
    return home


def _recipe() -> Recipe:
    recipe = small_recipe(epochs=0)
    return recipe.model_copy(update={"splits": ("random",), "tune_fusion": False})


def _workspace(home: Path, graph: Graph) -> Workspace:
    index = open_text_index(home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
    read = (read_questions(graph, "service-public"), read_outside(graph, "service-public"))
    return Workspace(EmbeddedStore(home), graph, index, *read)


def test_sheets_without_law_at_hand_are_questions_outside(tmp_path: Path) -> None:
    shared = {"F1": ("Le pain", "", ["LEGIARTI000000000001"]), "F2": ("Le Pain !", "", ["LEGIARTI9" + "0" * 11])}
    other = {"F3": ("Le divorce", "d", ["LEGIARTI9" + "0" * 11]), "F4": ("Sans lien", "", [])}
    sheets = list(read_sheets(sheet_files(write_sheets(tmp_path, shared | other)), []))
    (question,) = other_questions_of(sheets, {"LEGIARTI000000000001": "fr/x/1"}, {}, lambda key: ())
    assert (question.id, question.source, question.relevant) == ("service-public/F3", "service-public-outside", ())
    assert {question.split, question.split_by_dossier} <= {"development", "test"}


def test_questions_outside_are_kept_apart_and_written_once(scoped_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(scoped_home, tmp_path / "home"))
    with open_graph(home) as graph:
        assert len(read_outside(graph, "service-public")) == 4 * LEAST
        assert all(question.relevant for question in read_questions(graph, "service-public"))
        before = graph.rows("graph_row")
    again = ingest(EmbeddedStore(home), home / "more-sheets")
    assert (again.created, again.changed, again.removed) == ({}, {}, {})
    fewer = dict(list(_sheets().items())[: 3 * (LEAST + 4)])
    shutil.rmtree(home / "more-sheets")
    assert ingest(EmbeddedStore(home), write_sheets(home / "more-sheets", fewer)).removed == {"Question": 4 * LEAST}
    with open_graph(home) as graph:
        assert graph.rows("graph_row") == before, "models are named by questions that have an answer"


def test_a_version_whose_epochs_were_chosen_over_another_encoder_has_no_confidence(scoped_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(scoped_home, tmp_path / "home"))
    file = tmp_path / "refit.toml"
    same = 'base = "static-refit"\nsplits = ["random"]\n[encoder]\nname = "lsa"\ndimensions = 6\n'
    with open_graph(home) as graph:
        workspace = _workspace(home, graph)
        file.write_text(same)
        assert load_recipe(str(file)).chooser.encoder != load_recipe(str(file)).encoder
        assert not complete_scope(workspace, load_recipe(str(file)), "any")
        with pytest.raises(BadSetting, match="static, which chose its epochs, embeds by another encoder"):
            next(measure_scope(workspace, load_recipe(str(file))))
        assert has_scope(load_recipe("static-refit"))


def test_the_version_tells_questions_of_the_law_from_others(scoped_home: Path) -> None:
    with open_graph(scoped_home) as graph:
        workspace = _workspace(scoped_home, graph)
        model = active_model(scoped_home, graph, workspace.corpus)
        assert model is not None
        assert model.scope == read_scope(scoped_home, model.id)[0]
        retriever = Retriever(workspace.index, model)
        inside, outside = (retriever.search(query) for query in ("la farine du pain", "un permis de conduire"))
        figures = list(measure_scope(workspace, _recipe()))
    assert (inside.probably_outside, outside.probably_outside) == (False, True)
    assert inside.confidence is not None
    assert outside.confidence is not None
    assert inside.confidence > outside.confidence
    assert [one.asked for one in figures] == ["title", "title + description"]
    assert all(one.area > 0.9 and one.called_outside <= 0.1 < one.found_outside for one in figures)
    picture = scoped_home.parent / "curve.png"
    draw_scope(figures, picture)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_few_questions_with_an_answer_are_below_the_threshold(scoped_home: Path) -> None:
    with open_graph(scoped_home) as graph:
        workspace = _workspace(scoped_home, graph)
        model = active_model(scoped_home, graph, workspace.corpus)
        retriever = Retriever(workspace.index, model)
        inside = [q for q in workspace.questions if q.split == "development"]
        outside = [q for q in workspace.outside if q.split == "development"]
        scope = learn_scope(retriever, inside, outside)
        below = confidences(scope, evidence_of(retriever, inside)) < scope.threshold
    assert np.all(below.mean(0) <= 2 * CALLED_OUTSIDE)
    assert 0 < scope.threshold < 1


def test_it_is_learnt_once_and_again_from_other_questions(scoped_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(scoped_home, tmp_path / "home"))
    with open_graph(home) as graph:
        workspace, recipe = _workspace(home, graph), _recipe()
        report = train(workspace, recipe)
        assert (report.trained, report.scoped) == ([], False)
        card = (home / "models" / report.active / "model.json").read_bytes()
        changed = replace(workspace, outside=workspace.outside[: 3 * LEAST])
        assert complete_scope(changed, recipe, report.active)
        assert not complete_scope(changed, recipe, report.active)
        assert (home / "models" / report.active / "model.json").read_bytes() == card


def test_too_few_questions_teach_nothing(scoped_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(scoped_home, tmp_path / "home"))
    with open_graph(home) as graph:
        workspace = replace(_workspace(home, graph), outside=())
        id = train(workspace, _recipe()).active
        (home / "models" / id / SCOPE).unlink()
        assert not complete_scope(workspace, _recipe(), id)
        assert read_scope(home, id) == (None, "")
        model = active_model(home, graph, workspace.corpus)
        assert Retriever(workspace.index, model).search("la farine du pain").confidence is None


def test_what_is_learnt_later_comes_to_a_shelf_that_has_the_version(scoped_home: Path, tmp_path: Path) -> None:
    home = Path(shutil.copytree(scoped_home, tmp_path / "home"))
    (id,) = (folder.name for folder in (home / "models").iterdir() if (folder / SCOPE).exists())
    learnt = (home / "models" / id / SCOPE).read_bytes()
    (home / "models" / id / SCOPE).unlink()
    share_model(home, str(tmp_path / "shelf"), id)
    assert not (tmp_path / "shelf" / id / SCOPE).exists()
    (home / "models" / id / SCOPE).write_bytes(learnt)
    share_model(home, str(tmp_path / "shelf"), id)
    assert (tmp_path / "shelf" / id / SCOPE).read_bytes() == learnt
