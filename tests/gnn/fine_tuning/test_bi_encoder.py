"""The bi-encoder: its parts against simpler ones, its losses against figures made by hand."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from gnn.encoders.tuned import TunedEncoder
from gnn.fine_tuning import bi_encoder
from gnn.fine_tuning.article_encoder import ArticleEncoder
from gnn.fine_tuning.bi_encoder import BiEncoder
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.export import export_bi_encoder
from gnn.fine_tuning.losses import negative_log_likelihood, similarities, triplet
from gnn.options import BiEncoderOptions
from schema.errors import BadSetting
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe

_TEXTS = ["Le pain est fait de farine, d'eau, de sel et de levain.", "Le licenciement est nul.", "Un inspecteur contrôle."]


def encoder_over(body: Path, **options: object) -> BiEncoder:
    torch.manual_seed(5)
    return BiEncoder(load_body(str(body)), bi_encoder_recipe(body, **options).bi_encoder).eval()


def passages_of(model: BiEncoder, texts: list[str]) -> list[list[list[int]]]:
    return [model.marks.article_pieces(pieces) for pieces in model.body.pieces(texts)]


def shaken(model: ArticleEncoder) -> ArticleEncoder:
    """The layers with parameters as after training: none of them zero."""
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.3 * torch.randn(parameter.shape, generator=draw))
    return model


@pytest.mark.parametrize("pooling", ["max", "mean", "attention"])
def test_one_passage_without_layers_is_the_plain_encoder(small_body: Path, pooling: str) -> None:
    plain = encoder_over(small_body, passages=1, passage_layers=0)
    hierarchical = encoder_over(small_body, passages=3, passage_layers=0, passage_pooling=pooling)
    short = ["Le pain est pesé.", "Le licenciement est nul."]
    with torch.inference_mode():
        own = plain.queries([passages[0] for passages in passages_of(plain, short)])
        torch.testing.assert_close(plain.articles(passages_of(plain, short)), own)
        torch.testing.assert_close(hierarchical.articles(passages_of(hierarchical, short)), own)


def with_nothing_beside_it(layer: nn.Module, vector: Tensor, place: Tensor) -> Tensor:
    """A layer over a single vector, made by hand: what it attends to is itself."""
    weights = {name: value.detach() for name, value in layer.named_parameters()}

    def mapped(name: str, x: Tensor) -> Tensor:
        return weights[f"{name}.weight"] @ x + weights[f"{name}.bias"]

    def normed(name: str, x: Tensor) -> Tensor:
        even = (x - x.mean()) / (x.var(unbiased=False) + 1e-5).sqrt()
        return even * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    own = mapped("projected", normed("before_attention", vector) + place)[2 * len(vector) :]
    vector = vector + mapped("attended", own)
    return vector + mapped("outer", functional.gelu(mapped("inner", normed("before_inner", vector))))


@pytest.mark.parametrize("pooling", ["max", "mean", "attention"])
def test_an_article_of_one_passage_goes_through_the_layers_as_one_vector(small_body: Path, pooling: str) -> None:
    model = encoder_over(small_body, passage_pooling=pooling, similarity="dot")
    article = shaken(model.article)
    short = ["Le pain est pesé.", "Le licenciement est nul."]
    passages = passages_of(model, short)
    assert [len(own) for own in passages] == [1, 1]
    assert (len(article.layers), article.positions is not None) == (2, True)
    with torch.inference_mode():
        plain = model.queries([own[0] for own in passages])
        expected = list(plain)
        for layer in article.layers:
            expected = [with_nothing_beside_it(layer, vector, article.positions[0]) for vector in expected]  # pyright: ignore
        torch.testing.assert_close(model.articles(passages), torch.stack(expected), rtol=1e-4, atol=1e-4)
        beside = model.articles([*passages, *passages_of(model, _TEXTS[:1] * 3)])[:2]
        torch.testing.assert_close(beside, torch.stack(expected), rtol=1e-4, atol=1e-4)  # the longest pads the others
        assert not torch.allclose(plain, torch.stack(expected), atol=0.1)


@pytest.mark.parametrize("pooling", ["max", "mean", "attention"])
def test_training_begins_with_the_pooled_passages(small_body: Path, pooling: str) -> None:
    with_layers, without = (encoder_over(small_body, passage_layers=n, passage_pooling=pooling) for n in (2, 0))
    with torch.inference_mode():
        torch.testing.assert_close(
            with_layers.articles(passages_of(with_layers, _TEXTS)), without.articles(passages_of(without, _TEXTS))
        )


@pytest.mark.parametrize("pooling", ["max", "mean", "attention"])
def test_passages_that_are_not_there_change_nothing(pooling: str) -> None:
    options = BiEncoderOptions(passages=4, passage_heads=2, passage_pooling=pooling)  # pyright: ignore
    model = shaken(ArticleEncoder(8, options)).eval()
    passages = torch.randn(1, 2, 8, generator=torch.Generator().manual_seed(1))
    padded = torch.cat([passages, torch.full((1, 2, 8), 9.0)], 1)
    with torch.inference_mode():
        alone = model(passages, torch.ones(1, 2, dtype=torch.long))
        torch.testing.assert_close(model(padded, torch.tensor([[1, 1, 0, 0]])), alone)
        swapped = model(passages.flip(1), torch.ones(1, 2, dtype=torch.long))
    assert not torch.allclose(swapped, alone)  # passages have places


def test_an_article_is_cut_into_passages_and_one_without_a_word_has_one(small_body: Path) -> None:
    marks = encoder_over(small_body).marks  # 16 word pieces a passage, of which two marks and "passage:"
    assert [len(passage) for passage in marks.article_pieces(list(range(100, 130)))] == [16, 16, 10]
    assert len(marks.article_pieces(list(range(100, 300)))) == 3
    assert marks.article_pieces([]) == [[marks.begin, *marks.passage, marks.end]]


def test_the_likelihood_is_that_made_by_hand() -> None:
    scores = torch.tensor([[0.5, 0.1, 0.3], [0.2, 0.4, 0.6]])
    others = torch.tensor([[False, True, False], [False, False, False]])  # the second column answers the first question too
    first = -math.log(math.exp(0.5 / 0.5) / (math.exp(0.5 / 0.5) + math.exp(0.3 / 0.5)))
    second = -math.log(math.exp(0.8) / (math.exp(0.4) + math.exp(0.8) + math.exp(1.2)))
    assert float(negative_log_likelihood(scores, others, 0.5)) == pytest.approx((first + second) / 2, rel=1e-6)


def test_the_triplet_loss_is_that_made_by_hand() -> None:
    scores = torch.tensor([[0.5, 0.1, 0.3], [0.2, 0.4, 0.9]])
    others = torch.tensor([[False, True, False], [False, False, False]])
    by_hand = (0.25 - 0.5 + 0.3, 0.25 - 0.4 + 0.2, 0.25 - 0.4 + 0.9)
    assert float(triplet(scores, others, 0.25)) == pytest.approx(sum(max(0.0, each) for each in by_hand) / 3, rel=1e-6)
    assert float(triplet(torch.zeros(1, 1), torch.zeros(1, 1, dtype=torch.bool), 1.0)) == 0  # no negative, no loss


def test_similarities_are_cosines_products_and_distances() -> None:
    q, a = torch.tensor([[3.0, 4.0]]), torch.tensor([[0.0, 1.0], [3.0, 0.0]])
    assert similarities(q, a, "dot").tolist() == [[4.0, 9.0]]
    assert similarities(functional.normalize(q), functional.normalize(a), "cosine")[0].tolist() == pytest.approx([0.8, 0.6])
    assert similarities(q, a, "euclidean")[0].tolist() == pytest.approx([-math.sqrt(18), -4.0])


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_what_is_served_is_what_was_trained(small_body: Path, tmp_path: Path, similarity: str) -> None:
    model = encoder_over(small_body, similarity=similarity)
    shaken(model.article)
    with torch.inference_mode():
        articles = model.articles(passages_of(model, _TEXTS)).numpy()
        queries = model.queries([model.marks.query_pieces(pieces) for pieces in model.body.pieces(_TEXTS)]).numpy()
    export_bi_encoder(model, tmp_path, _TEXTS, _TEXTS)
    served = TunedEncoder(tmp_path)
    for theirs, ours in ((articles, served.encode_passages(_TEXTS)), (queries, served.encode(_TEXTS))):
        norms = np.linalg.norm(theirs, axis=1) * np.linalg.norm(ours, axis=1)
        assert ((theirs * ours).sum(1) / norms).min() > 0.98  # weights in eight bits
    served.save(tmp_path / "saved")
    np.testing.assert_array_equal(TunedEncoder(tmp_path / "saved").encode(_TEXTS), served.encode(_TEXTS))


def test_more_word_pieces_than_the_transformer_reads_are_a_clear_error(small_body: Path) -> None:
    with pytest.raises(BadSetting, match="reads 64 word pieces at most: 128 are wanted"):
        encoder_over(small_body, passage_tokens=128)


def test_heads_that_do_not_share_the_width_are_a_clear_error(small_body: Path) -> None:
    with pytest.raises(BadSetting, match="must divide the width"):
        encoder_over(small_body, passage_heads=3)


def test_sentences_of_a_query_are_pooled_from_the_states_of_their_word_pieces(small_body: Path, tmp_path: Path) -> None:
    model = encoder_over(small_body, pooling="mean", query_tokens=40)
    export_bi_encoder(model, tmp_path, _TEXTS, _TEXTS)
    encoder, parts = TunedEncoder(tmp_path, 1), ["Le pain est pesé", "Un inspecteur contrôle", "Le sel"]
    text = f"{parts[0]}. {parts[1]}."
    (pieces,) = model.body.pieces([text])
    first, second, end = (len(each) for each in model.body.pieces([parts[0], parts[1], "."]))
    tokens = model.body.batch([model.marks.query_pieces(pieces)])
    before = 1 + len(model.marks.query)
    with torch.inference_mode():
        states = model.text.states(tokens.ids, tokens.mask)[0]
        starts = (before, before + first + end)
        expected = [
            functional.normalize(states[at : at + n].mean(0), dim=0) for at, n in zip(starts, (first, second), strict=True)
        ]
    vectors = encoder.encode_in(text, parts)
    assert [float(own @ one.numpy()) > 0.98 for own, one in zip(vectors[1:3], expected, strict=True)] == [True, True]
    np.testing.assert_allclose(vectors[0], encoder.encode([text])[0], atol=1e-6)
    np.testing.assert_allclose(vectors[3], encoder.encode([parts[2]])[0], atol=1e-6, err_msg="it does not stand in the text")
    assert np.abs(vectors[1:3] - encoder.encode(parts[:2])).max() > 0.01, "others know what stands beside them"


def test_a_query_that_is_read_by_its_first_mark_has_its_sentences_read_one_by_one(small_body: Path, tmp_path: Path) -> None:
    export_bi_encoder(encoder_over(small_body, pooling="cls"), tmp_path, _TEXTS, _TEXTS)
    encoder, parts = TunedEncoder(tmp_path, 1), ["Le pain est pesé", "Un inspecteur contrôle"]
    text = ". ".join(parts)
    np.testing.assert_array_equal(encoder.encode_in(text, parts), np.concatenate([encoder.encode([text]), encoder.encode(parts)]))


def test_a_query_without_parts_is_one_embedding(small_body: Path, tmp_path: Path) -> None:
    export_bi_encoder(encoder_over(small_body, pooling="mean"), tmp_path, _TEXTS, _TEXTS)
    encoder = TunedEncoder(tmp_path, 1)
    np.testing.assert_allclose(encoder.encode_in(_TEXTS[0], []), encoder.encode([_TEXTS[0]]), atol=1e-6)


def test_a_large_batch_is_read_in_batches_of_like_lengths_with_the_same_vectors_and_gradients(
    small_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = encoder_over(small_body, passages=2, passage_layers=0)
    passages, read = passages_of(model, [_TEXTS[0] * n for n in (3, 1, 2, 1)]), list[tuple[int, ...]]()

    def learnt() -> tuple[torch.Tensor, torch.Tensor]:
        model.zero_grad()
        vectors = model.articles(passages)
        (vectors * torch.arange(vectors.numel()).reshape(vectors.shape)).sum().backward()
        return vectors.detach(), torch.cat([one.grad.flatten() for one in model.parameters() if one.grad is not None])

    whole = learnt()
    monkeypatch.setattr(bi_encoder, "_LARGE", 1)
    monkeypatch.setattr(bi_encoder, "_AT_ONCE", 20)
    noted = model._read  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(model, "_read", lambda of, pieces: (read.append(tuple(map(len, pieces))), noted(of, pieces))[1])
    for part, own in zip(learnt(), whole, strict=True):
        torch.testing.assert_close(part, own, rtol=1e-4, atol=1e-4)
    assert len(read) > 1
    assert all(len(batch) * max(batch) <= 20 or len(batch) == 1 for batch in read)
    assert [length for batch in read for length in batch] == sorted(len(own) for each in passages for own in each)
