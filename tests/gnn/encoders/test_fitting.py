"""Vectors of word pieces, fitted to whole passages: the ridge regression as by hand, what is drawn, what nobody taught."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gnn.encoders.features import make_features
from gnn.encoders.fitting import drawn, fit_pieces
from gnn.encoders.static import StaticEncoder
from gnn.options import EncoderOptions
from schema.errors import BadSetting
from search.arrays import Matrix, unit
from search.corpus.corpus import Corpus, CorpusText

_PASSAGES = [
    "le contrat de travail",
    "le bail rural",
    "la rupture du contrat",
    "le loyer du bail",
    "le salaire",
    "la saisie du salaire",
]


def options(**changed: object) -> EncoderOptions:
    return EncoderOptions.model_validate({"name": "fitted", "static_dimensions": 3, "fitted_passages": 0, **changed})


def by_topic(texts: Sequence[str]) -> Matrix:
    """A teacher of four dimensions that are told apart by what a text has: contract, lease, wages, anything."""
    return np.array([["contrat" in text, "bail" in text, "salaire" in text, True] for text in texts], np.float32)


def test_as_many_passages_are_drawn_as_the_recipe_says_the_same_each_time() -> None:
    some = drawn(100, options(fitted_passages=10))
    assert len(set(some)) == 10
    assert some == sorted(some) == drawn(100, options(fitted_passages=10))
    assert drawn(5, options(fitted_passages=10)) == drawn(5, options()) == [0, 1, 2, 3, 4]


@pytest.mark.slow
def test_vectors_solve_the_ridge_regression_and_stand_for_the_passages() -> None:
    encoder, embedded = fit_pieces(_PASSAGES, by_topic, options(static_dimensions=4, fitted_ridge=0.01))
    counts = encoder.units.counts(_PASSAGES).toarray()
    rows = np.where(counts > 0, (1 + np.log(np.maximum(counts, 1))) * encoder.weights, 0)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    taught = by_topic(_PASSAGES)
    centred = unit(taught - taught.mean(0))
    solved = np.linalg.solve(rows.T @ rows + 0.01 * np.eye(rows.shape[1]), rows.T @ centred)
    by_hand = unit((rows @ solved).astype(np.float32))
    np.testing.assert_allclose(embedded @ embedded.T, by_hand @ by_hand.T, atol=1e-4)  # but for the turn of the axes
    np.testing.assert_allclose(encoder.encode(_PASSAGES), embedded, atol=1e-5)
    near = encoder.encode(["contrat"]) @ embedded.T
    assert set(np.argsort(-near[0])[:2]) == {0, 2}


@pytest.mark.slow
def test_a_piece_that_nobody_taught_says_nothing() -> None:
    taught = [_PASSAGES[place] for place in drawn(len(_PASSAGES), options(fitted_passages=2))]
    encoder, _ = fit_pieces(_PASSAGES, by_topic, options(fitted_passages=2))
    untaught = {word for passage in _PASSAGES for word in passage.split()} - {word for one in taught for word in one.split()}
    words = [word for word in sorted(untaught) if len(encoder.pieces.of_text(word)) == 1]
    assert words
    assert not encoder.encode(words).any()


@pytest.mark.slow
def test_what_a_teacher_gives_must_be_numbers() -> None:
    def broken(texts: Sequence[str]) -> Matrix:
        return np.full((len(texts), 4), np.nan, np.float32)

    with pytest.raises(BadSetting, match="no numbers for 6 of 6 articles"):
        fit_pieces(_PASSAGES, broken, options())


@pytest.mark.slow
def test_one_article_teaches_nothing_and_breaks_nothing() -> None:
    encoder, embedded = fit_pieces(_PASSAGES[:1], by_topic, options())
    assert np.isfinite(encoder.vectors).all()
    assert embedded.shape == (1, 3)
    assert not embedded.any()


@pytest.mark.slow
def test_features_of_fitted_stand_beside_others_and_are_read_again(law: tuple[Corpus, CorpusText], tmp_path: Path) -> None:
    chosen = options(name="lsa+static+fitted", dimensions=6, static_dimensions=8, fitted_passages=5, weights=(1, 0.7, 0.7))
    made, again = (make_features(tmp_path, *law, chosen) for _ in range(2))
    assert made.articles.shape[1] == 6 + 8 + 8
    np.testing.assert_array_equal(made.articles, again.articles)
    np.testing.assert_allclose(np.linalg.norm(made.articles, axis=1), 1, atol=1e-5)
    fitted = made.encoder.parts[2]
    assert isinstance(fitted, StaticEncoder)
    whole = make_features(tmp_path, *law, chosen.model_copy(update={"fitted_passages": 0})).encoder.parts[2]
    assert isinstance(whole, StaticEncoder)
    assert not np.array_equal(fitted.vectors, whole.vectors)
