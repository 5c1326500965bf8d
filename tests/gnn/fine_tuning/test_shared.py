"""A transformer that two processes train: the parameters of one, whatever a batch learns from itself."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, distributed, multiprocessing, nn

from gnn.curriculum import Places
from gnn.distributed import Process, follow
from gnn.fine_tuning.adaptation import AdaptationTask
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import load_body
from gnn.fine_tuning.checkpoint import CHECKPOINT
from gnn.fine_tuning.loop import Run, Task, tune
from gnn.options import AdaptationOptions, CurriculumOptions
from gnn.recipe import Recipe
from runtime.progress import Advance
from schema.records import Question
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe, write_small_body

_TEXTS = [
    "Le pain est fait de farine, d'eau, de sel et de levain.",
    "Le licenciement est nul.",
    "Un inspecteur contrôle le moulin.",
    "La farine est pesée.",
    "Le levain est nourri.",
    "Le boulanger est malade.",
]
_ASKED = ["De quoi le pain est-il fait ?", "Peut-on licencier un boulanger malade ?", "Qui contrôle le moulin ?"]
# Three questions in batches of two: of the last batch, one of two processes has no question.
_EXACT = {"batch": 2, "epochs": 3, "checkpoint_steps": 1, "precision": "float32", "learning_rate": 1e-2, "patience": 9}


CPU = Process(0, 1, torch.device("cpu"))


class Killed(Exception):
    """Stands for the end of the process."""


def without_dropout(model: nn.Module) -> None:
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0


def questions() -> list[Question]:
    return [Question(f"F{n}", text, "", "service-public", (), "train", "train") for n, text in enumerate(_ASKED)]


def bi_encoder_task(
    body: Path, *, drawn: int = 0, views: Sequence[str] = ("semantic", "structural"), checkpointing: bool = False, **options: Any
) -> BiEncoderTask:
    """Each of the first three texts answers one question; with ``drawn``, a negative is drawn by the model as it is."""
    wanted = {"bm25_negatives": 0 if drawn else 1, "passage_layers": 1, "development_articles": 1, **options}
    curriculum = CurriculumOptions.model_validate({"drawn": drawn, "pool": 4, "views": views})
    recipe = bi_encoder_recipe(body, tuning={**_EXACT, "checkpointing": checkpointing}, **wanted).model_copy(
        update={"curriculum": curriculum}
    )
    torch.manual_seed(5)
    model = BiEncoder(prepared(load_body(str(body)), recipe.fine_tuning), recipe.bi_encoder)
    without_dropout(model)
    own, others = [np.array([n], np.intp) for n in range(3)], [np.array([5 - n], np.intp) for n in range(3)]
    places = Places(np.zeros((6, 1), np.int32), np.zeros(6, np.int32)) if drawn else None
    return BiEncoderTask(model, Pairs(_TEXTS, questions(), own, others, questions()[:2], own[:2], places), recipe)


def adaptation_task(body: Path) -> AdaptationTask:
    recipe: Recipe = bi_encoder_recipe(body, tuning=_EXACT)
    options = AdaptationOptions.model_validate({"steps": 6, "rounds": 3, "batch": 1, "held_out": 1, "pieces": 16})
    torch.manual_seed(5)
    task = AdaptationTask(load_body(str(body)), _TEXTS, recipe.model_copy(update={"adaptation": options}))
    without_dropout(task.model)
    return task


def tasks(body: Path) -> dict[str, Task]:
    return {
        "nll": bi_encoder_task(body),
        "two transformers": bi_encoder_task(body, shared=False),
        "states computed again": bi_encoder_task(body, checkpointing=True),
        "distances": bi_encoder_task(body, similarity="euclidean", temperature=1.0),
        "triplet": bi_encoder_task(body, loss="triplet", similarity="dot"),
        "curriculum": bi_encoder_task(body, drawn=2),
        "masked words": adaptation_task(body),
    }


def run_in(folder: Path, process: Process) -> Run:
    recipe = bi_encoder_recipe(folder, tuning=_EXACT)
    return Run("small", "law", folder, recipe.fine_tuning, threads=2, process=process)


def values_of(task: Task) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in task.model.state_dict().items()}


def gradients_of(process: Process, body: str) -> dict[str, dict[str, Tensor]]:
    """The gradients of every task's loss of all its examples, and of the first alone, of which one process has no part."""
    found: dict[str, dict[str, Tensor]] = {}
    for name, task in tasks(Path(body)).items():
        for examples in (list(range(task.examples)), [0]):
            task.begin(0, process)
            task.model.zero_grad()
            loss = task.loss(examples, process)
            loss.backward()
            whole = {"loss": torch.tensor(process.add_up(task.model, loss))}
            own = {key: value.grad.clone() for key, value in task.model.named_parameters() if value.grad is not None}
            found[f"{name}, {len(examples)}"] = whole | own
    return found


class _Gradients(NamedTuple):
    """The share of a process that follows."""

    body: str

    def join(self, process: Process) -> None:
        gradients_of(process, self.body)


def _one_of_two(rank: int, folder: str, body: str) -> None:
    """Train every task in one of two processes, and ask for it again; the leader writes what came of it."""
    where = Path(folder)
    distributed.init_process_group("gloo", init_method=f"file://{where / 'meeting'}", rank=rank, world_size=2)
    process = Process(rank, 2, torch.device("cpu"), neighbours=2)
    if not process.leads:
        follow(process)
        distributed.destroy_process_group()
        return
    process.from_leader(_Gradients(body))
    found = {"gradients": gradients_of(process, body)}
    for name, task in tasks(Path(body)).items():
        curve = tune(task, run_in(where / name, process))
        again = tasks(Path(body))[name]
        assert tune(again, run_in(where / name, process)) == curve  # from its checkpoint, and nothing is learnt anew
        found[name] = (values_of(task), [epoch.loss for epoch in curve])
    process.from_leader(None)
    torch.save(found, where / "found.pt")
    distributed.destroy_process_group()


@pytest.mark.slow
def test_two_processes_train_what_one_does(tmp_path: Path) -> None:
    body = write_small_body(tmp_path / "body", [*_TEXTS, *_ASKED], masks=True)
    multiprocessing.start_processes(_one_of_two, (str(tmp_path), str(body)), nprocs=2)  # pyright: ignore
    shared: Mapping[str, Any] = torch.load(tmp_path / "found.pt")
    for name, expected in gradients_of(CPU, str(body)).items():
        assert shared["gradients"][name].keys() == expected.keys()
        for key, value in expected.items():
            torch.testing.assert_close(shared["gradients"][name][key], value, rtol=1e-3, atol=1e-5)
    for name, task in tasks(body).items():
        curve = tune(task, run_in(tmp_path / f"{name} alone", CPU))
        values, losses = shared[name]
        begun, own = values_of(tasks(body)[name]), values_of(task)
        assert losses == pytest.approx([epoch.loss for epoch in curve], rel=1e-3), name
        # Of parameters whose gradient is zero but for rounding, Adam makes whole steps all the same: they are few.
        assert apart(values, own) < 0.2 * apart(values, begun), name


def apart(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> float:
    """The distance of two sets of parameters."""
    return float(torch.cat([(one[key] - other[key]).flatten() for key in one]).norm())


@pytest.mark.parametrize("view", ["semantic", "random"])
def test_a_killed_training_goes_on_with_the_negatives_that_its_epoch_had_drawn(tmp_path: Path, view: str) -> None:
    body = write_small_body(tmp_path / "body", [*_TEXTS, *_ASKED])
    whole, killed, resumed = (bi_encoder_task(body, drawn=2, views=[view]) for _ in range(3))
    tune(whole, run_in(tmp_path / "whole", CPU))
    loss, calls = killed.loss, [0]

    def dying(examples: Any, process: Process) -> Tensor:
        calls[0] += 1
        if calls[0] == 4:  # the second step of the second epoch
            raise Killed
        return loss(examples, process)

    killed.loss = dying
    with pytest.raises(Killed):
        tune(killed, run_in(tmp_path / "killed", CPU))
    assert (tmp_path / "killed" / CHECKPOINT).exists()
    made = list[int]()
    resumed._refresh = lambda *how, of=resumed._refresh: (made.append(1), of(*how))[1]  # pyright: ignore
    tune(resumed, run_in(tmp_path / "killed", CPU))
    assert len(made) == 1  # of the third epoch: those of the second were kept
    for (name, one), other in zip(values_of(whole).items(), values_of(resumed).values(), strict=True):
        assert torch.equal(one, other), name


def test_negatives_of_a_curriculum_go_by_the_bi_encoder_as_it_is(tmp_path: Path) -> None:
    task = bi_encoder_task(write_small_body(tmp_path / "body", [*_TEXTS, *_ASKED]), drawn=2)
    views = {"drawn": 2, "pool": 5, "views": ["semantic"]}
    semantic = task.recipe.model_copy(update={"curriculum": CurriculumOptions.model_validate(views)})
    task = BiEncoderTask(task.model, task.pairs, semantic)
    told: dict[str, int] = {}

    @contextmanager
    def progress(label: str, total: int) -> Iterator[Advance]:
        told[label] = 0

        def advance(done: int) -> None:
            told[label] += done

        yield advance

    task.begin(0, CPU, progress)
    assert told == {"articles, before epoch 1": 6}
    with torch.no_grad():
        articles = task.model.articles([task._article(n) for n in range(6)])
        scores = task.model.queries(task._queries) @ articles.T
    pools = task.drawn()["pools"].reshape(3, 5)
    for question, pool in enumerate(pools.tolist()):
        expected = [n for n in scores[question].argsort(descending=True).tolist() if n != question]
        assert pool == expected
    # Of two, in the first third of the epochs, one is easy and one is not hard: the pools are cut into 2, 2 and 1.
    for pair in task._drawn:
        medium, easy = pair.negatives
        pool = pools[pair.question].tolist()
        assert medium in pool[2:4]
        assert easy == pool[4]
