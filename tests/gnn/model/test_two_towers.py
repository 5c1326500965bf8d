"""The towers: shapes, where training starts, and that NumPy serves what torch trained."""

import numpy as np
import torch

from gnn.encoders.joined import TowerWeights
from gnn.model.graph_layers import subgraph_data
from gnn.model.subgraph import EDGE_KINDS, subgraph_edges
from gnn.model.two_towers import DocumentTower, QueryTower
from gnn.options import DocumentOptions, QueryOptions
from search.corpus.corpus import Corpus, CorpusText

_ATTENTIVE = DocumentOptions(section_mean=True, layers=3, hidden=16, heads=4, rank=4)
_PLAIN = DocumentOptions(section_mean=True, layers=0, rank=4)


def test_every_edge_of_the_tree_and_every_citation_is_there_both_ways(law: tuple[Corpus, CorpusText]) -> None:
    corpus, _ = law
    subgraph = subgraph_edges(corpus, ("contains", "cites"))
    pairs = {(int(a), int(b), EDGE_KINDS[k]) for (a, b), k in zip(subgraph.edges.T, subgraph.kinds, strict=True)}
    n = subgraph.articles
    for child, parent in enumerate(corpus.article_parent.tolist()):
        if parent >= 0:
            assert (n + parent, child, "contains") in pairs
            assert (child, n + parent, "contained") in pairs
    for citing, cited in corpus.cites.tolist():
        assert (citing, cited, "cites") in pairs
        assert (cited, citing, "cited") in pairs
    below_sections = int((corpus.article_parent >= 0).sum() + (corpus.section_parent >= 0).sum())
    assert len(pairs) == 2 * (below_sections + len(corpus.cites))


def test_attention_starts_as_the_model_without_it(law: tuple[Corpus, CorpusText]) -> None:
    graph = subgraph_edges(law[0], ("contains", "cites"))
    x = torch.nn.functional.normalize(torch.randn(graph.articles + graph.sections, 6), dim=-1)
    data = subgraph_data(graph, x)
    attentive, plain = DocumentTower(6, _ATTENTIVE, 0.0), DocumentTower(6, _PLAIN, 0.0)
    plain.load_state_dict(attentive.state_dict(), strict=False)
    out = attentive(x, x, data.edge_index, data.edge_attr)
    assert out.shape == x.shape
    torch.testing.assert_close(out.norm(dim=-1), torch.ones(len(x)))
    torch.testing.assert_close(out, plain(x, x, data.edge_index, data.edge_attr))


def test_attention_carries_a_change_of_one_article_to_its_neighbours_and_no_further(law: tuple[Corpus, CorpusText]) -> None:
    corpus, _ = law
    graph = subgraph_edges(corpus, ("contains",))
    tower = DocumentTower(6, _ATTENTIVE.model_copy(update={"layers": 1}), 0.0)
    assert tower.attention is not None
    torch.nn.init.normal_(tower.attention.leave.weight)
    x = torch.nn.functional.normalize(torch.randn(graph.articles + graph.sections, 6), dim=-1)
    data = subgraph_data(graph, x)
    other = x.clone()
    other[0] = -other[0]
    moved = (tower(x, x, data.edge_index, data.edge_attr) - tower(other, x, data.edge_index, data.edge_attr)).abs().sum(1) > 1e-6
    assert set(moved.nonzero().flatten().tolist()) == {0, graph.articles + int(corpus.article_parent[0])}


def test_numpy_serves_the_query_tower_that_torch_trained() -> None:
    tower = QueryTower(6, QueryOptions(hidden=9), 0.0)
    torch.nn.init.normal_(tower.second.weight)
    y = torch.nn.functional.normalize(torch.randn(5, 6), dim=-1)
    w1, b1, w2, b2 = (
        p.detach().numpy().T for p in (tower.first.weight, tower.first.bias, tower.second.weight, tower.second.bias)
    )
    np.testing.assert_allclose(TowerWeights(w1, b1, w2, b2)(y.numpy()), tower(y).detach().numpy(), atol=1e-5)
