"""The graph reranker: the subgraph of candidates, and that it learns what only an edge can tell."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gnn.model.subgraph import READING_KINDS, SubgraphEdges, subgraph_edges
from gnn.options import GraphRerankOptions
from gnn.training.graph_reranker import Subgraphs, fit_graph_reranker
from gnn.training.lambdamart import Example
from schema.errors import BadSetting
from search.arrays import Scores
from search.corpus.corpus import Corpus, CorpusText
from search.query.understanding import Understood
from search.ranking.hits import Ranking
from search.ranking.reranker import Candidates, Reranked
from search.ranking.trees import no_trees


def options(**others: object) -> GraphRerankOptions:
    small = {"hidden": 8, "heads": 2, "layers": 1, "depth": 20, "dropout": 0.0, "learning_rate": 0.02, "epochs": 40}
    return GraphRerankOptions.model_validate(small | others)


def cited(seed: int, questions: int = 24) -> tuple[list[Example], SubgraphEdges]:
    """Candidates of which the relevant one is cited by the one that a feature marks: 40 articles in ten pairs of ten."""
    draw = np.random.default_rng(seed)
    pairs = np.arange(40).reshape(20, 2)
    forward = np.concatenate([pairs, pairs[:, ::-1]]).T
    kinds = np.repeat([READING_KINDS.index("cites"), READING_KINDS.index("cited")], 20)
    examples: list[Example] = []
    for _ in range(questions):
        chosen = draw.permutation(20)[:8]
        positions = draw.permutation(pairs[chosen].ravel())
        citing, relevant = pairs[chosen[0]]
        rows = np.stack([np.zeros(16), positions == citing], 1).astype(np.float64)
        examples.append(Example(0, "title", Candidates(positions, rows), np.array([relevant])))
    return examples, SubgraphEdges(40, 0, forward.astype(np.int64), kinds)


def ranked(scores: Scores, candidates: Candidates | None, leading: int = 0, named: tuple[int, ...] = ()) -> Ranking:
    """A ranking with its candidates in their order, of which the first ones lead."""
    understood = replace(Understood(""), named=named)
    if candidates is None:
        return Ranking(scores, {}, understood=understood)
    n = len(candidates.positions)
    return Ranking(
        scores, {}, understood=understood, reranked=Reranked(candidates, np.arange(n), no_trees(()), np.arange(n) < leading)
    )


def firsts(as_: str) -> float:
    """Share of unseen questions whose relevant article comes first or second."""
    examples, edges = cited(1)
    reranker = fit_graph_reranker(examples, edges, options(edges=as_))
    places: list[bool] = []
    for example in cited(2)[0]:
        scores = np.full(40, -np.inf, np.float32)
        scores[example.candidates.positions] = np.arange(16, 0, -1)
        reordered = reranker.reordered(ranked(scores, example.candidates))
        assert np.array_equal(np.sort(reordered), np.sort(scores)), "the same scores, in another order"
        places.append(int((reordered > reordered[example.relevant[0]]).sum()) < 2)
    return float(np.mean(places))


@pytest.mark.slow
def test_an_edge_tells_what_no_feature_does() -> None:
    assert firsts("real") == 1
    assert firsts("none") < 0.5
    assert firsts("shuffled") < 0.5


def test_the_subgraph_holds_the_candidates_then_the_sections_above_them(law: tuple[Corpus, CorpusText]) -> None:
    corpus = law[0]
    edges = subgraph_edges(corpus, ("contains", "cites"))
    candidates = np.array([2, 0, 5])
    found = Subgraphs(edges, "real", 7).of(candidates)
    parents = [int(corpus.article_parent[i]) for i in candidates.tolist()]
    above = {p for p in parents if p >= 0} | {int(corpus.section_parent[p]) for p in parents if p >= 0}
    assert found.nodes == 3 + len({p for p in above if p >= 0})
    contained = found.ends[:, found.kinds == READING_KINDS.index("contained")]
    assert {0, 1, 2} <= set(contained[0].tolist())
    same = found.ends[:, (found.kinds == READING_KINDS.index("contained")) & np.isin(found.ends[0], [0, 1])]
    assert (same[1, 0] == same[1, 1]) == (parents[0] == parents[1])
    plain = Subgraphs(edges, "none", 7).of(candidates)
    assert (plain.nodes, plain.ends.shape) == (found.nodes, (2, 0))


def test_training_starts_from_the_order_so_far_and_gives_the_same_network_again() -> None:
    examples, edges = cited(1, questions=4)
    examples[0].candidates.rows[:, 0] = np.arange(16, 0, -1)
    first, second = (fit_graph_reranker(examples, edges, options(epochs=1)) for _ in range(2))
    torch.testing.assert_close(first.network.state_dict(), second.network.state_dict(), rtol=0, atol=0)
    assert first.parameters > 50
    untouched = fit_graph_reranker(examples, edges, options(epochs=1, learning_rate=1e-12))
    scores = np.full(40, -np.inf, np.float32)
    scores[examples[0].candidates.positions] = np.arange(16, 0, -1)
    np.testing.assert_array_equal(untouched.reordered(ranked(scores, examples[0].candidates)), scores)


def test_what_a_query_names_stays_first_and_what_stays_for_a_heading_next() -> None:
    examples, edges = cited(1)
    reranker, candidates = fit_graph_reranker(examples, edges, options(epochs=4)), examples[0].candidates
    scores = np.full(40, -np.inf, np.float32)
    scores[candidates.positions] = np.arange(16, 0, -1)
    leading, first, second = candidates.positions[[0, 9, 12]].tolist()
    scores[[first, second]] = 18, 17  # as `Retriever` puts what is named
    ranking = ranked(scores, candidates, leading=1, named=(first, second))
    order = np.argsort(-reranker.reordered(ranking), kind="stable").tolist()
    assert order[:3] == [first, second, leading]
    others = [candidates.positions[place] for place in reranker.order(candidates).tolist()]
    assert order[3:16] == [position for position in others if position not in (leading, first, second)]
    assert ranked(scores, None).rearranged(np.arange(2)) is scores


def test_without_an_answer_among_the_candidates_there_is_nothing_to_learn() -> None:
    (example, *_), edges = cited(1)
    nowhere = Example(0, "title", example.candidates, np.array([39 if 39 not in example.candidates.positions else 38]))
    if np.isin(nowhere.relevant, example.candidates.positions).any():
        nowhere = Example(0, "title", example.candidates, np.array([], np.intp))
    with pytest.raises(BadSetting, match="nothing to rerank"):
        fit_graph_reranker([nowhere], edges, options())
