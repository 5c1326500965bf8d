"""A bi-encoder over two transformers: which of them learns, which of them reads, and that a killed run goes on with both."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from cypher.engines.ladybug import open_graph
from gnn.distributed import Process
from gnn.encoders.passages import passage
from gnn.encoders.tuned import PASSAGE_FILE, TunedEncoder
from gnn.fine_tuning import tuned
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.embedding import embedded, pieces_of_articles
from gnn.fine_tuning.export import export_bi_encoder
from gnn.fine_tuning.kept_run import BODY
from gnn.fine_tuning.loop import Run, tune
from gnn.fine_tuning.tuned import tuned_encoder
from gnn.recipe import Recipe
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe, write_small_body
from tests.gnn.fine_tuning.test_tuned import texts_of, working_on

_TEXTS = ["Le pain est fait de farine, d'eau, de sel et de levain.", "Le licenciement est nul.", "Un inspecteur contrôle."]
_ASKED = ["De quoi le pain est-il fait ?", "Peut-on licencier un boulanger malade ?", "Qui contrôle le moulin ?"]
_EXACT = {"batch": 2, "checkpoint_steps": 1, "precision": "float32", "learning_rate": 1e-2}


class Killed(Exception):
    """Stands for the end of the process."""


def apart(body: Path, **options: Any) -> BiEncoder:
    """A bi-encoder over two transformers."""
    torch.manual_seed(5)
    return BiEncoder(load_body(str(body)), bi_encoder_recipe(body, shared=False, **options).bi_encoder)


def queries_of(model: BiEncoder) -> Tensor:
    return model.queries([model.marks.query_pieces(pieces) for pieces in model.body.pieces(_ASKED)])


def articles_of(model: BiEncoder) -> Tensor:
    return model.articles(pieces_of_articles(model, _TEXTS))


def task_over(model: BiEncoder, recipe: Recipe) -> BiEncoderTask:
    """Each text is what answers one question; the first two are asked again, to choose by."""
    questions = [Question(f"F{n}", text, "", "service-public", (), "train", "train") for n, text in enumerate(_ASKED)]
    own = [np.array([n], np.intp) for n in range(3)]
    others = [np.array([(n + 1) % 3], np.intp) for n in range(3)]
    return BiEncoderTask(model, Pairs(_TEXTS, questions, own, others, questions[:2], own[:2]), recipe)


def values(module: nn.Module) -> dict[str, list[float]]:
    return {name: value.flatten().tolist() for name, value in module.state_dict().items()}


def shaken(module: nn.Module, by: float) -> None:
    draw = torch.Generator().manual_seed(11)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(by * torch.randn(parameter.shape, generator=draw))


def test_two_transformers_begin_as_the_same_and_are_apart(small_body: Path) -> None:
    model, shared = apart(small_body), BiEncoder(load_body(str(small_body)), bi_encoder_recipe(small_body).bi_encoder)
    assert values(model.text) == values(model.passage) == values(shared.text)
    assert model.article_body.tokenizer is model.body.tokenizer
    assert shared.passage is shared.text
    count = sum(parameter.numel() for parameter in model.text.parameters())
    counts = [sum(parameter.numel() for parameter in each.parameters()) for each in (model, shared)]
    assert counts[0] == counts[1] + count


_SIDES = [(queries_of, ("text",), ("passage", "article")), (articles_of, ("passage", "article"), ("text",))]


@pytest.mark.parametrize(("side", "moves", "stays"), _SIDES)
def test_only_the_side_that_is_learnt_from_moves(
    small_body: Path, side: Callable[[BiEncoder], Tensor], moves: Sequence[str], stays: Sequence[str]
) -> None:
    model = apart(small_body).eval()
    begun = {name: values(getattr(model, name)) for name in (*moves, *stays)}
    vectors = side(model)
    (vectors * torch.randn(vectors.shape, generator=torch.Generator().manual_seed(2))).sum().backward()
    torch.optim.SGD(model.parameters(), lr=0.1).step()  # what has no gradient, it leaves alone
    assert [values(getattr(model, name)) != begun[name] for name in moves] == [True] * len(moves)
    assert [values(getattr(model, name)) == begun[name] for name in stays] == [True] * len(stays)


def test_a_step_moves_both_and_to_different_places(small_body: Path, tmp_path: Path) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={**_EXACT, "epochs": 1, "batch": 3}, shared=False)
    model = BiEncoder(load_body(str(small_body)), recipe.bi_encoder)
    begun = values(model.text)
    tune(task_over(model, recipe), Run("two", "", tmp_path, recipe.fine_tuning, threads=1))
    moved = [values(each) for each in (model.text, model.passage)]
    assert begun not in moved
    assert moved[0] != moved[1]


def test_layers_that_are_frozen_are_frozen_in_both(small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={"frozen": 1}, shared=False)
    model = BiEncoder(prepared(load_body(str(small_body)), recipe.fine_tuning), recipe.bi_encoder)
    own, of_articles = (
        [name for name, parameter in each.named_parameters() if not parameter.requires_grad]
        for each in (model.text, model.passage)
    )
    assert own == of_articles
    assert any("embeddings" in name for name in own)


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_queries_are_served_by_one_and_articles_by_the_other(small_body: Path, tmp_path: Path, pooling: str) -> None:
    model = apart(small_body, pooling=pooling).eval()
    shaken(model.article, 0.3)
    before = articles_of(model).detach().numpy()
    shaken(model.passage, 0.5)
    with torch.inference_mode():
        queries, articles = queries_of(model).numpy(), embedded(model, pieces_of_articles(model, _TEXTS)).numpy()
    export_bi_encoder(model, tmp_path, _ASKED, _TEXTS)
    assert (tmp_path / PASSAGE_FILE).exists()
    served = TunedEncoder(tmp_path, 1)
    served.save(tmp_path / "saved")
    for encoder in (served, TunedEncoder(tmp_path / "saved", 1)):
        assert (encoder.encode(_ASKED) * queries).sum(1).min() > 0.98  # weights in eight bits
        assert (encoder.encode_passages(_TEXTS) * articles).sum(1).min() > 0.95
        assert (encoder.encode_passages(_TEXTS) * before).sum(1).max() < 0.9, "not by the transformer of queries"


def test_one_transformer_for_both_has_no_second_file(small_body: Path, tmp_path: Path) -> None:
    export_bi_encoder(BiEncoder(load_body(str(small_body)), bi_encoder_recipe(small_body).bi_encoder), tmp_path, _ASKED, _TEXTS)
    assert not (tmp_path / PASSAGE_FILE).exists()


@pytest.mark.parametrize("dies_at", [2, 4, 5])
def test_a_killed_run_goes_on_to_the_same_parameters_of_both(
    small_body: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dies_at: int
) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={**_EXACT, "epochs": 3, "decay_all": False}, shared=False)
    loss, calls = BiEncoderTask.loss, [0]

    def dying(self: BiEncoderTask, examples: Sequence[int], process: Process) -> Tensor:
        calls[0] += 1
        if calls[0] == dies_at:
            raise Killed
        return loss(self, examples, process)

    def trained(place: str) -> dict[str, list[float]]:
        torch.manual_seed(5)
        model = BiEncoder(load_body(str(small_body)), recipe.bi_encoder)
        tune(task_over(model, recipe), Run("two", "", tmp_path / place, recipe.fine_tuning, threads=1))
        return values(model)

    whole = trained("whole")
    monkeypatch.setattr(BiEncoderTask, "loss", dying)
    with pytest.raises(Killed):
        trained("killed")
    assert trained("killed") == whole
    assert calls[0] == 6 + 1  # two steps in each of three epochs, one of them begun twice
    assert any(name.startswith("passage.") for name in whole)


def test_what_is_kept_is_the_transformer_of_queries_and_all_parameters_are_counted(own_home: Path, small_body: Path) -> None:
    recipe = bi_encoder_recipe(small_body, tuning={**_EXACT, "epochs": 1}, shared=False)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        made = tuned_encoder(workspace, recipe, "random", texts_of(workspace))
        again = tuned_encoder(workspace, recipe, "random", texts_of(workspace))
        shared = bi_encoder_recipe(small_body, tuning={**_EXACT, "epochs": 1})
        keys = {tuned._key(workspace, one, []) for one in (recipe, shared)}  # pyright: ignore[reportPrivateUsage]
    assert again.folder == made.folder
    assert len(keys) == 2
    assert made.cost.parameters == sum(parameter.numel() for parameter in apart(small_body).parameters())
    kept = BiEncoder(load_body(str(made.folder / BODY)), recipe.bi_encoder).eval()
    with torch.inference_mode():
        assert (queries_of(kept).numpy() * made.encoder.encode(_ASKED)).sum(1).min() > 0.98


def test_the_law_is_filled_in_by_what_reads_articles_alone(
    own_home: Path, tmp_path: Path, law: tuple[Corpus, CorpusText], monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [*_ASKED, *(passage(*law, position) for position in range(len(law[0].articles)))]
    body = write_small_body(tmp_path / "masking", texts, masks=True)
    plain = bi_encoder_recipe(body, tuning={**_EXACT, "epochs": 1}, shared=False)
    adaptation = {"steps": 3, "rounds": 1, "batch": 3, "pieces": 16, "held_out": 2, "learning_rate": 1e-2}
    recipe = Recipe.model_validate({**plain.model_dump(), "adaptation": adaptation})
    begun: list[dict[str, list[float]]] = []

    def noted(model: BiEncoder, pairs: Pairs, recipe: Recipe) -> BiEncoderTask:
        begun.extend(values(each) for each in (model.body.model, model.article_body.model))
        return BiEncoderTask(model, pairs, recipe)

    monkeypatch.setattr(tuned, "BiEncoderTask", noted)
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        tuned_encoder(workspace, recipe, "random", texts_of(workspace))
        adapted = tuned.adapted_body(workspace, recipe)
    assert begun == [values(load_body(str(body)).model), values(adapted.model)]
    assert begun[0] != begun[1]
