"""Earlier wordings of new law are embedded by a trained version, kept off the shelf, and found on their day."""

from datetime import date

import numpy as np
import pytest

from cypher.engines.open import open_store
from gnn.model.inductive import LAW
from gnn.model.wordings import wordings_file
from gnn.versions.active import active_id, active_model
from gnn.versions.serving import is_ready
from gnn.versions.shared_folder import model_folder
from schema.filter import Filter
from search.corpus.read import read_corpus
from search.modes import Mode
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.law_history import CODE_ID, write_history


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Lexgraph:
    folder = tmp_path_factory.mktemp("wordings")
    run = Lexgraph.over(folder / "home")
    load_tiny_law(run, folder)
    run.do("train", "--recipe", recipe_file(folder, "small", epochs=8))
    run.do("ingest", write_history(folder / "history"))
    run.do("index")
    return run


def test_every_wording_has_an_embedding_and_no_machine_shares_it(run: Lexgraph) -> None:
    with open_store(run.settings).reading() as graph:
        corpus, _ = read_corpus(graph)
        id = active_id(graph)
        assert id is not None
        assert is_ready(open_store(run.settings), graph, id, corpus.sha256)
    file = wordings_file(model_folder(run.home, id), corpus.sha256)
    vectors = np.load(file)
    np.testing.assert_allclose(np.linalg.norm(vectors[corpus.known], axis=1), 1, atol=1e-3)
    assert file.parent.name.startswith(LAW), "as all that is of one law"


def test_the_wording_of_the_day_is_ranked_by_its_own_embedding(run: Lexgraph) -> None:
    """Article 1 spoke of coal in 1910 and of gas in 1960: its vector is another one on each day."""
    with open_store(run.settings).reading() as graph:
        corpus, _ = read_corpus(graph)
        model = active_model(run.home, graph, corpus)
        assert model is not None
        assert model.wordings is not None
        retriever = Retriever(open_text_index(run.home, corpus.sha256, Bm25Options()), model)
    place = corpus.article_position[f"{CODE_ID}/1"]
    (row,) = np.flatnonzero((corpus.versions[:, 0] == place) & corpus.known)
    query = "four du boulanger"
    vector = model.encode([query])[0]
    days = (Filter(in_force_on=date(year, 1, 1)) for year in (1910, 1960))
    in_1910, in_1960 = (retriever.scores(query, Mode.VECTOR, filter=day)[0][place] for day in days)
    assert in_1910 == pytest.approx(model.scale * float(model.wordings[row] @ vector) + model.bias[place], abs=1e-4)
    assert in_1960 == pytest.approx(model.scale * float(model.articles[place] @ vector) + model.bias[place], abs=1e-4)
    assert not np.allclose(model.wordings[row], model.articles[place]), "they are two texts"
