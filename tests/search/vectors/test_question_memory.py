import numpy as np
import pytest
from scipy import sparse

from search.vectors.model import NEIGHBOURS, QuestionMemory, nearness


def test_a_question_that_is_nearly_the_same_says_far_more_than_one_on_the_topic() -> None:
    same, topic, other, against = nearness(np.array([1.0, 0.5, 0.0, -0.5], np.float32)).tolist()
    assert same == pytest.approx(5 / 16 + 12.5)
    assert topic == pytest.approx(0.25 * 5 / 16 + 12.5 / 1024)
    assert other == against == 0


def test_votes_are_those_of_the_nearest_questions_and_of_no_others() -> None:
    vectors = np.zeros((NEIGHBOURS + 1, 2), np.float32)
    vectors[:, 0] = np.linspace(0.1, 1.0, NEIGHBOURS + 1)
    relevant = sparse.csr_array(np.eye(NEIGHBOURS + 1, dtype=np.float32))
    votes = QuestionMemory(vectors, relevant).votes(np.array([1, 0], np.float32), NEIGHBOURS + 1)
    assert votes[0] == 0  # the eleventh
    np.testing.assert_allclose(votes[1:], nearness(vectors[1:, 0]), rtol=1e-6)
