"""Questions as nodes: their edges, what they teach, and that no article is known by the question that it is to answer."""

import numpy as np
import pytest
import torch

from gnn.distributed import alone
from gnn.encoders.features import Features
from gnn.model.subgraph import ALL_KINDS, subgraph_edges
from gnn.recipe import Recipe
from gnn.training import loop
from gnn.training.loop import Examples, fit
from gnn.training.question_nodes import ASKED, ASKS, distillation, with_questions
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import of_split, positions_of
from tests.gnn.conftest import small_recipe


def recipe(**training: object) -> Recipe:
    plain = small_recipe(layers=2, **training)
    return plain.model_copy(update={"document": plain.document.model_copy(update={"question_nodes": True})})


def examples(law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]) -> Examples:
    training, development = (of_split(questions, "random", part) for part in ("train", "development"))
    return Examples(law[0], features, subgraph_edges(law[0], ("contains", "cites")), training, development)


def test_each_question_is_joined_both_ways_to_what_answers_it(law: tuple[Corpus, CorpusText]) -> None:
    plain = subgraph_edges(law[0], ("contains",))
    edges = with_questions(plain, [np.array([3, 5]), np.array([0])])
    first = plain.articles + plain.sections
    assert edges.edges[:, edges.kinds == ASKS].T.tolist() == [[first, 3], [first, 5], [first + 1, 0]]
    assert edges.edges[:, edges.kinds == ASKED].T.tolist() == [[3, first], [5, first], [0, first + 1]]
    np.testing.assert_array_equal(edges.edges[:, : plain.edges.shape[1]], plain.edges)
    assert ALL_KINDS[ASKS] == "asks"


def test_what_is_taught_is_the_divergence_from_the_teacher() -> None:
    student, teacher = torch.tensor([[0.0, 1.0], [2.0, 2.0]], requires_grad=True), torch.tensor([[1.0, 0.0], [2.0, 2.0]])
    p, q = np.exp([1, 0]) / np.exp([1, 0]).sum(), np.exp([0, 1]) / np.exp([0, 1]).sum()
    teacher.requires_grad_()
    loss = distillation(student, teacher)
    assert loss.item() == pytest.approx((p * np.log(p / q)).sum() / 2, rel=1e-5)
    loss.backward()
    assert teacher.grad is None
    assert student.grad is not None


def test_no_article_is_told_by_the_questions_of_its_batch(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    given = examples(law, features, questions)
    run = loop.TowerRun(loop._inputs(recipe(), given, None, 1), alone())
    torch.nn.init.normal_(run.model.document.attention.leave.weight)
    run.model.eval()
    asked = torch.tensor([2])
    before = run.documents(run.model, slice(None), asked)
    run.inputs[0][run.first_question + 2] = torch.randn(run.inputs[0].shape[1])
    silent, told = (run.documents(run.model, slice(None), who) for who in (asked, None))
    torch.testing.assert_close(silent[: run.n], before[: run.n])
    article = int(positions_of(law[0], given.training[2])[0])
    assert not torch.allclose(told[article], before[article])


@pytest.mark.slow
def test_question_nodes_learn_and_leave_as_many_articles_and_sections(
    law: tuple[Corpus, CorpusText], features: Features, questions: list[Question]
) -> None:
    given = examples(law, features, questions)
    one = recipe(epochs=30, patience=30, learning_rate=0.02, dropout=0.0)
    first, second = (fit(one, given) for _ in range(2))
    assert max(epoch.average_precision for epoch in first.curve) > 0.8
    assert (len(first.articles), len(first.sections)) == (len(law[0].articles), len(law[0].sections))
    np.testing.assert_array_equal(first.articles, second.articles)
