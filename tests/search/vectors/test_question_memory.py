import numpy as np
import numpy.typing as npt
import pytest
from scipy import sparse

from search.arrays import Matrix
from search.vectors.model import NEIGHBOURS, QuestionMemory, nearness


def test_a_question_that_is_nearly_the_same_says_far_more_than_one_on_the_topic() -> None:
    same, topic, other, against = nearness(np.array([1.0, 0.5, 0.0, -0.5], np.float32)).tolist()
    assert same == pytest.approx(5 / 16 + 12.5)
    assert topic == pytest.approx(0.25 * 5 / 16 + 12.5 / 1024)
    assert other == against == 0


def questions_at(cosines: npt.ArrayLike) -> Matrix:
    """Unit vectors with these cosines to the first axis, otherwise at right angles to each other."""
    near = np.asarray(cosines, np.float32)
    return np.concatenate([near[:, None], np.diag(np.sqrt(1 - near**2))], axis=1)


def one_vote_each(vectors: Matrix) -> QuestionMemory:
    return QuestionMemory(vectors, sparse.csr_array(np.eye(len(vectors), dtype=np.float32)))


def first_axis(vectors: Matrix) -> Matrix:
    return np.eye(1, vectors.shape[1], dtype=np.float32)[0]


def test_votes_are_those_of_the_nearest_questions_and_of_no_others() -> None:
    vectors = questions_at(np.linspace(0.1, 0.6, NEIGHBOURS + 1))
    votes = one_vote_each(vectors).votes(first_axis(vectors), NEIGHBOURS + 1)
    assert votes[0] == 0  # the eleventh
    assert votes[1:].tolist() == nearness(vectors[1:, 0]).tolist(), "cosines as they are"


def test_questions_that_are_all_near_each_other_do_not_all_pass_for_the_same() -> None:
    """Any two have a cosine of 0.7, where the powers expect at most 0.2: 0.3 that a cosine lacks to 1 count as 0.8."""
    vectors = questions_at(np.full(8, np.sqrt(0.7)))
    memory = one_vote_each(vectors)
    assert memory.crowding == pytest.approx(0.8 / 0.3 - 1)
    votes = memory.votes(vectors[0], 8)
    np.testing.assert_allclose(votes, nearness(np.array([1.0, *[0.2] * 7])), rtol=1e-3)


@pytest.mark.parametrize("n", [1, 3])
def test_one_question_or_the_same_ones_vote_as_they_stand(n: int) -> None:
    vectors = np.ones((n, 1), np.float32)
    votes = one_vote_each(vectors).votes(vectors[0], n)
    assert votes.tolist() == pytest.approx(nearness(np.ones(n, np.float32)).tolist())
