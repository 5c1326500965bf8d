"""The tiny law with questions on it, and a recipe small enough to train in a moment."""

import os
import shutil
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from cypher.graph import Graph
from gnn.encoders.features import Features, make_features
from gnn.recipe import Recipe
from gnn.workspace import Workspace
from ingest.loading.questions import read_questions
from ingest.readers.service_public import split_of
from ingest.sources import ingest
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from search.text.index import TextIndex, build_text_index, open_text_index
from search.text.options import Bm25Options
from tests.support.tiny_law import Json, write_law, write_sheets

# Models are compared bit by bit, which a GPU does not promise. CUDA_VISIBLE_DEVICES=0 runs the tests on one all the same.
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")

_TOPICS = (
    ("De quoi le pain est-il fait ?", "Farine, eau, sel, levain et four.", (1, 6)),
    ("Combien pèse une baguette ?", "Le poids de la baguette en grammes.", (2,)),
    ("Le pain à la coupe est-il pesé ?", "Devant le client.", (3,)),
    ("Quand le boulanger se repose-t-il ?", "Un jour par semaine, l'apprenti aussi.", (4,)),
    ("Peut-on licencier un boulanger malade ?", "Le licenciement est nul.", (5,)),
    ("Qui contrôle le moulin ?", "Un inspecteur, chaque année.", (22,)),
)


def question_sheets() -> dict[str, tuple[str, str, list[str]]]:
    """Sheets on every topic in the train, development and test parts of the split."""
    sheets: dict[str, tuple[str, str, list[str]]] = {}
    serials = iter(range(1, 10_000))
    for part in ("train", "development", "test"):
        for number, (title, description, articles) in enumerate(_TOPICS):
            id = next(f"F{n}" for n in serials if split_of(f"F{n}") == part and split_of(f"N{n}") == part)
            sheets[id] = (f"{title} ({part} {number})", description, [f"LEGIARTI{a:012}" for a in articles])
    return sheets


def asked_about(home: Path, *codes: Json) -> Path:
    """A home with codes, or the tiny law without any, its text index, and the questions on the tiny law."""
    ingest(EmbeddedStore(home), write_law(home / "law", *codes))
    ingest(EmbeddedStore(home), write_sheets(home / "sheets", question_sheets()))
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
    build_text_index(home, corpus, text, Bm25Options())
    return home


@pytest.fixture(scope="session")
def asked_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with the tiny law, its text index, and questions; not to be written to."""
    return asked_about(tmp_path_factory.mktemp("asked"))


@pytest.fixture
def own_home(asked_home: Path, tmp_path: Path) -> Path:
    """A copy of `asked_home` that a test may write to."""
    return Path(shutil.copytree(asked_home, tmp_path / "home"))


@pytest.fixture(scope="session")
def law(asked_home: Path) -> tuple[Corpus, CorpusText]:
    with open_graph(asked_home) as graph:
        return read_corpus(graph)


@pytest.fixture(scope="session")
def questions(asked_home: Path) -> list[Question]:
    with open_graph(asked_home) as graph:
        return read_questions(graph, "service-public")


@pytest.fixture(scope="session")
def index(asked_home: Path, law: tuple[Corpus, CorpusText]) -> TextIndex:
    return open_text_index(asked_home, law[0].sha256, Bm25Options())


def small_recipe(layers: int = 0, **training: object) -> Recipe:
    """A recipe over a few dimensions and epochs."""
    return Recipe.model_validate(
        {
            "name": "small",
            "encoder": {"name": "lsa", "dimensions": 6},
            "document": {"section_mean": True, "rank": 4, "layers": layers, "hidden": 8, "heads": 2},
            "query": {"hidden": 8},
            "training": {"epochs": 3, "batch": 3, "patience": 3, **training},
        }
    )


@pytest.fixture(scope="session")
def features(asked_home: Path, law: tuple[Corpus, CorpusText]) -> Features:
    return make_features(asked_home, *law, small_recipe().encoder)


def workspace_on(home: Path, graph: Graph) -> Workspace:
    """The workspace of a home's open graph, with the questions of its sheets."""
    index = open_text_index(home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
    return Workspace(EmbeddedStore(home), graph, index, read_questions(graph, "service-public"))
