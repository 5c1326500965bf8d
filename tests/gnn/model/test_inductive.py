"""New law is embedded as training would have, without torch, and found by its vector as soon as it is indexed."""

import json
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.open import open_store
from docker.elasticsearch_server import ElasticsearchServer
from docker.neo4j_server import Neo4jServer
from gnn.model.document_tower_numpy import DocumentWeights
from gnn.model.inductive import FEATURES, can_extend, embedded
from gnn.model.subgraph import EDGE_KINDS
from gnn.model.two_towers import DocumentTower
from gnn.options import DocumentOptions, LayerKind
from gnn.versions.active import active_id, active_model
from gnn.versions.serving import is_ready
from gnn.versions.shared_folder import model_folder
from schema.errors import ServerUnavailable
from search.corpus.read import read_corpus
from tests.api.conftest import ask
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file
from tests.support.tiny_law import article, code, section, write_law
from tests.support.waiting import eventually

NEW = "LEGITEXT000000000003"
TEXT = "Le pain au levain de l'apprenti boulanger est cuit au four et pesé devant le client."
EDGES = "edges { node { id } places { list rank } }"
SEARCH = f"query($q: String!) {{ search(query: $q, mode: VECTOR, first: 20) {{ model degraded {EDGES} }} }}"


@pytest.mark.parametrize(("layers", "layer"), [(0, "gatv2"), *product((1, 3), get_args(LayerKind))])
@pytest.mark.parametrize("mean", [False, True])
def test_numpy_computes_what_torch_does(layers: int, layer: str, mean: bool) -> None:
    torch.manual_seed(layers)
    options = DocumentOptions.model_validate(
        {"section_mean": mean, "rank": 5, "layers": layers, "layer": layer, "hidden": 12, "heads": 3}
    )
    tower = DocumentTower(10, options, dropout=0.3).eval()
    with torch.no_grad():  # some start at zero, where nothing would be compared
        for parameter in tower.parameters():
            parameter.copy_(torch.randn_like(parameter) * 0.5)
    draw = np.random.default_rng(layers)
    x, s = (draw.normal(size=(40, 10)).astype(np.float32) for _ in range(2))
    edges = np.stack([draw.integers(0, 40, 90), draw.integers(0, 35, 90)])  # the last five nodes hear of nobody
    kinds = draw.integers(0, len(EDGE_KINDS), 90)
    attributes = np.eye(len(EDGE_KINDS), dtype=np.float32)[kinds]
    with torch.no_grad():
        expected = tower(*map(torch.from_numpy, (x, s, edges, attributes))).numpy()
    parameters = {name: value.numpy() for name, value in tower.state_dict().items()}
    found = DocumentWeights(parameters, options.heads)(x, s, edges, kinds)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, atol=1e-4)


def test_known_law_is_embedded_as_it_was_trained(tmp_path: Path) -> None:
    run = Lexgraph.over(tmp_path / "home")
    load_tiny_law(run, tmp_path)
    run.do("train", "--recipe", recipe_file(tmp_path, "small", epochs=8))
    with open_store(run.settings).reading() as graph:
        id = active_id(graph)
        corpus, _ = read_corpus(graph)
    assert id is not None
    folder = model_folder(run.home, id)
    options = json.loads((folder / "model.json").read_text("utf-8"))["recipe"]["document"]
    nodes = embedded(folder, options, corpus, np.load(folder / FEATURES).astype(np.float32))
    n = len(corpus.articles)
    for name, rows in (("articles", nodes[:n]), ("sections", nodes[n:])):
        cosines = (np.load(folder / f"{name}.npy") * rows).sum(axis=1)
        assert cosines.min() > 1 - 2e-3, name


def test_the_plain_encoder_of_a_comparison_has_no_layers_to_embed_new_law_with(tmp_path: Path) -> None:
    DocumentWeights({}, 1).save(tmp_path)
    assert not can_extend(tmp_path)


def new_act_is_found(run: Lexgraph, folder: Path) -> None:
    """An act that comes while the API answers is found by its vector, by the version that was active before."""
    load_tiny_law(run, folder)
    run.do("train", "--recipe", recipe_file(folder, "small", epochs=8))
    settings = run.settings
    id = f"fr/{NEW}/L1"

    def places(client: TestClient) -> dict[str, dict[str, Any]]:
        found = ask(client, SEARCH, q=TEXT)["search"]
        assert found["degraded"] == []
        return {edge["node"]["id"]: {"model": found["model"], **edge["places"][0]} for edge in found["edges"]}

    with TestClient(make_app(settings, partial(active_model, settings.home))) as client:
        before = places(client)
        assert before
        assert id not in before
        root = code(NEW, "Code de l'apprentissage", section(31, "Livre Ier", article(31, "L1", f"<p>{TEXT}</p>")))
        run.do("ingest", write_law(folder / "new", root))
        assert id not in places(client), "until it is indexed"
        told = run.do("index")
        assert ": 2 articles and sections embedded" in told
        eventually(lambda: id in places(client))
        found = places(client)
        assert {place["model"] for place in found.values()} == {next(iter(before.values()))["model"]}
        assert found[id]["list"] == "vector"
        assert found[id]["rank"] <= 3, "its own words are near it"
        assert found.keys() - {id} == before.keys()


@pytest.mark.slow
def test_a_new_act_is_found_by_its_vector_in_a_live_service(tmp_path: Path) -> None:
    new_act_is_found(Lexgraph.over(tmp_path / "home", reload_s="0.1"), tmp_path)


def test_a_new_act_is_found_by_its_vector_in_a_live_service_on_neo4j(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    new_act_is_found(Lexgraph.over(tmp_path / "home", neo4j_2026, reload_s="0.1"), tmp_path)


def test_a_new_act_is_found_by_its_vector_in_a_live_service_on_elasticsearch(
    elasticsearch_server: ElasticsearchServer, tmp_path: Path
) -> None:
    run = Lexgraph.over(tmp_path / "home", elasticsearch=elasticsearch_server, text_prefix="inductive", reload_s="0.1")
    new_act_is_found(run, tmp_path)


@pytest.mark.slow
def test_new_law_is_embedded_before_a_text_server_says_that_it_has_it(tmp_path: Path) -> None:
    run = Lexgraph.over(tmp_path / "home")
    load_tiny_law(run, tmp_path)
    run.do("train", "--recipe", recipe_file(tmp_path, "small"))
    root = code(NEW, "Code de l'apprentissage", section(31, "Livre Ier", article(31, "L1", f"<p>{TEXT}</p>")))
    run.do("ingest", write_law(tmp_path / "new", root))
    store = open_store(run.settings)
    with store.reading() as graph:
        id, law = active_id(graph), graph.rows("graph_row")[0]["corpus_sha256"]
        assert id is not None
        assert not is_ready(store, graph, id, law)
        away = Lexgraph.over(run.home, text="http://127.0.0.1:1")("index")
        assert away.code == ServerUnavailable.exit_code
        assert is_ready(store, graph, id, law)
