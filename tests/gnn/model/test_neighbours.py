"""Neighbourhoods: all neighbours give what the whole graph gives, drawn ones are real and no more than allowed."""

from typing import get_args

import numpy as np
import pytest
import torch
from torch import Tensor

from gnn.encoders.features import Features
from gnn.model.graph_layers import subgraph_data
from gnn.model.neighbours import ALL, Drawing, Neighbourhoods, neighbour_loader
from gnn.model.subgraph import SubgraphEdges, subgraph_edges
from gnn.model.two_towers import DocumentTower
from gnn.options import LayerKind
from gnn.recipe import Recipe
from gnn.training.loop import Examples, fit
from schema.errors import BadSetting
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split
from tests.gnn.conftest import small_recipe

CPU = torch.device("cpu")
TREE = np.array([[0, 0, 0, 1, 2, 3, 5, 6], [1, 2, 3, 0, 0, 0, 6, 5]])
"""A node above three, both ways; two that name each other; 4 and 7 alone."""


def recipe(neighbours: tuple[int, ...], **training: object) -> Recipe:
    plain = small_recipe(layers=2, **training)
    return plain.model_copy(update={"document": plain.document.model_copy(update={"neighbours": neighbours})})


def tower(dimensions: int, kind: LayerKind = "gatv2", layers: int = 2) -> DocumentTower:
    torch.manual_seed(1)
    options = small_recipe(layers=layers).document.model_copy(update={"layer": kind})
    made = DocumentTower(dimensions, options, 0.0)
    for parameter in made.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return made.eval()


def law_graph(law: tuple[Corpus, CorpusText], features: Features) -> "tuple[Tensor, Tensor, Neighbourhoods, tuple[Tensor, ...]]":
    """Features, means of sections, their neighbourhoods, and the whole graph's edges with attributes."""
    x = torch.from_numpy(np.concatenate([features.articles, features.sections]))
    s = torch.from_numpy(np.concatenate([features.parents, features.sections]))
    graph = subgraph_data(subgraph_edges(law[0], ("contains", "cites")), x)
    graph.s = s
    assert isinstance(graph.edge_index, Tensor)
    assert isinstance(graph.edge_attr, Tensor)
    return x, s, Neighbourhoods(graph, [ALL, ALL], 1), (graph.edge_index, graph.edge_attr)


def test_all_neighbours_give_the_embeddings_and_the_gradients_of_the_whole_graph(
    law: tuple[Corpus, CorpusText], features: Features
) -> None:
    x, s, neighbourhoods, edges = law_graph(law, features)
    asked = torch.tensor([4, 0, 2])
    whole, parts = tower(x.shape[1]), tower(x.shape[1])
    expected, got = whole(x, s, *edges)[asked], neighbourhoods.embedded(parts, asked, CPU)
    torch.testing.assert_close(got, expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(neighbourhoods.all_embedded(parts, torch.arange(len(x)), CPU), whole(x, s, *edges))
    for of_whole, of_parts in ((expected, whole), (got, parts)):
        of_whole.square().mul(torch.arange(of_whole.shape[1])).sum().backward()
        assert of_parts.attention is not None
    for (name, one), other in zip(whole.named_parameters(), parts.parameters(), strict=True):
        assert one.grad is not None, name
        assert other.grad is not None, name
        torch.testing.assert_close(other.grad, one.grad, atol=1e-5, rtol=1e-4, msg=name)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("kind", get_args(LayerKind))
def test_all_neighbours_give_the_whole_graph_with_every_kind_of_layer(kind: LayerKind, layers: int) -> None:
    path = np.arange(11)  # long enough that no neighbourhood is the whole of it
    ends = np.concatenate([np.stack([path, path + 1]), np.stack([path + 1, path]), [[0, 0, 0], [3, 5, 7]]], 1)
    graph = subgraph_data(SubgraphEdges(12, 0, ends, np.zeros(ends.shape[1], np.int64)), torch.randn(12, 6))
    assert isinstance(graph.x, Tensor)
    assert isinstance(graph.edge_index, Tensor)
    assert isinstance(graph.edge_attr, Tensor)
    graph.s = torch.randn(12, 6)
    made = tower(6, kind, layers)
    expected = made(graph.x, graph.s, graph.edge_index, graph.edge_attr)
    parts = Neighbourhoods(graph, [ALL] * layers, 1, degrees=kind == "gcn")
    for node in (0, 5, 11):
        got = parts.embedded(made, torch.tensor([node]), CPU)
        torch.testing.assert_close(got, expected[[node]], atol=1e-6, rtol=1e-5)


def test_a_node_that_is_named_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="named twice"):
        Drawing(TREE, 8, [1], seed=3).of(np.array([2, 2]))


def test_drawn_neighbours_are_real_different_and_no_more_than_allowed() -> None:
    drawing = Drawing(TREE, 8, [2, 1], seed=3)
    seen: set[int] = set()
    for _ in range(30):
        nodes, row, column, edge = drawing.of(np.array([0, 4]))
        np.testing.assert_array_equal(np.stack([nodes[row], nodes[column]]), TREE[:, edge])
        assert nodes[:2].tolist() == [0, 4]
        assert len(set(nodes.tolist())) == len(nodes)
        to_first = nodes[row[column == 0]].tolist()
        assert len(to_first) == len(set(to_first)) == 2
        seen.update(to_first)
    assert seen == {1, 2, 3}, "each of the three is drawn in its turn"


def test_the_same_seed_draws_the_same_neighbours() -> None:
    first, second, other = (Drawing(TREE, 8, [1, 1], seed) for seed in (3, 3, 4))
    drawn = [[drawing.of(np.array([0]))[0].tolist() for _ in range(12)] for drawing in (first, second, other)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_the_loader_hands_out_all_nodes_with_the_attributes_of_their_edges(
    law: tuple[Corpus, CorpusText], features: Features
) -> None:
    edges = subgraph_edges(law[0], ("contains", "cites"))
    graph = subgraph_data(edges, torch.from_numpy(np.concatenate([features.articles, features.sections])))
    met: list[int] = []
    for part in neighbour_loader(graph, [ALL], 1, batch_size=3):
        met += part.n_id[: part.batch_size].tolist()
        ends = part.n_id[part.edge_index].numpy()
        np.testing.assert_array_equal(ends, edges.edges[:, part.e_id.numpy()])
        np.testing.assert_array_equal(part.edge_attr.argmax(1).numpy(), edges.kinds[part.e_id.numpy()])
    assert met == list(range(edges.articles + edges.sections))


def test_training_by_neighbourhoods_with_all_neighbours_is_training_on_the_whole_graph(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    given = Examples(law[0], features, subgraph_edges(law[0], ("contains", "cites")), training, development)
    drawn = {"full_softmax_limit": 1, "negatives": 4, "dropout": 0.0, "epochs": 4, "patience": 4}
    whole, parts, few = (fit(recipe(counts, **drawn), given) for counts in ((), (ALL, ALL), (1, 1)))
    np.testing.assert_allclose([e.loss for e in parts.curve], [e.loss for e in whole.curve], rtol=1e-4)
    np.testing.assert_allclose(parts.articles, whole.articles, atol=1e-4)
    assert not np.allclose([e.loss for e in few.curve], [e.loss for e in whole.curve], rtol=1e-4)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"layers": 2, "neighbours": [5]}, "neighbours: 2 numbers are wanted"),
        ({"layers": 1, "neighbours": [0]}, "each above 0, or -1 for all"),
        ({"neighbours": [5]}, "neighbours: 0 numbers are wanted"),
        ({"layers": 1, "neighbours": [5], "question_nodes": True}, "training questions are nodes"),
    ],
)
def test_neighbours_that_fit_no_layer_are_refused(document: dict[str, object], said: str) -> None:
    with pytest.raises((ValueError, BadSetting), match=said):
        Recipe.model_validate({"name": "r", "document": document})
