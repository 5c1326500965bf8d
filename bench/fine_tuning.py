"""Articles a second that transformers of the published size learn from, and the memory that it takes.

The recipes are those of ``gnn/recipes``, the loop is the one that trains them (`gnn.fine_tuning.loop.tune`); the weights are
random, the size that of camembert-base, and the law and its questions are made up: every article fills all passages that a recipe
reads, which is the most that a step can cost.
"""

import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from tokenizers import Tokenizer, models, pre_tokenizers

from bench.reporting import Figures
from bench.timing import seconds_of
from gnn.device import device_of_training, precision_of
from gnn.fine_tuning.adaptation import AdaptationTask
from gnn.fine_tuning.bi_encoder import BiEncoder, prepared
from gnn.fine_tuning.bi_encoder_task import BiEncoderTask, Pairs
from gnn.fine_tuning.body import Body
from gnn.fine_tuning.embedding import embedded
from gnn.fine_tuning.loop import Run, Task, tune
from gnn.options import FineTuningOptions
from gnn.reading.first_stage import Found
from gnn.reading.learning import ReadingTask
from gnn.reading.mtft import MtftBert
from gnn.reading.passages import ReadableLaw
from gnn.recipe import Recipe, load_recipe
from schema.records import Question

RECIPES = ("dpr-paper", "dsr-paper", "dsr-dapt-paper", "mtft-paper")
_WARM = 2
"""Steps before those that are counted."""
_MARKS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_WORDS_OF_QUERY = 60
_EXPLAINED = {
    "learnt_s": "articles a second learnt from, the median step",
    "embedded_s": "articles a second embedded",
    "parameters": "parameters",
    "memory_gib": "most GPU memory, GiB",
}


@dataclass(frozen=True, slots=True)
class _Size:
    """The size of the transformer, and of what is made up: articles, words of each, questions, steps that are counted."""

    words: int
    hidden: int
    layers: int
    articles: int
    length: int
    steps: int


_PAPER = _Size(words=32_000, hidden=768, layers=12, articles=256, length=1_100, steps=8)
_QUICK = _Size(words=200, hidden=48, layers=2, articles=24, length=40, steps=2)


def measure(*, quick: bool) -> Figures:
    """Measure; ``quick`` takes a tiny transformer and few short articles."""
    size = _QUICK if quick else _PAPER
    values: dict[str, float] = {}
    for name in RECIPES:
        for figure, value in _measured(load_recipe(name), size).items():
            values[f"{name}_{figure}"] = value
    explained = {f"{name}_{figure}": f"{name}: {said}" for name in RECIPES for figure, said in _EXPLAINED.items()}
    return Figures(f"Transformers of the published size on {_device_name()}", values, explained)


def _measured(recipe: Recipe, size: _Size) -> dict[str, float]:
    task, tuning, articles = _task(recipe, size)
    on_gpu = device_of_training().type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats()
    ended: list[float] = []

    @contextmanager
    def watched(label: str, total: int) -> Generator[Callable[[int], None]]:
        yield lambda done: ended.append(time.perf_counter()) if done else None

    with tempfile.TemporaryDirectory() as folder:
        tune(task, Run(recipe.name, "bench", Path(folder), tuning, torch.get_num_threads(), watched))
    figures = {
        "learnt_s": articles / float(np.median(np.diff(ended)[_WARM:])),
        "parameters": float(sum(value.numel() for value in task.model.parameters())),
    }
    if isinstance(task, BiEncoderTask):
        model = task.model
        articles_read = [model.marks.article_pieces([5] * size.length) for _ in range(size.articles)]
        with precision_of(recipe.fine_tuning, model.device):
            embedded(model, articles_read[:32])
            figures["embedded_s"] = len(articles_read) / seconds_of(lambda: embedded(model, articles_read).cpu())
    if on_gpu:
        figures["memory_gib"] = torch.cuda.max_memory_allocated() / (1 << 30)
    return figures


def _task(recipe: Recipe, size: _Size) -> tuple[Task, FineTuningOptions, int]:
    """Return the task of a recipe, the options of its loop, and the articles that a step learns from."""
    batch = recipe.adaptation.batch if recipe.adaptation.steps else recipe.fine_tuning.batch
    steps = _WARM + 1 + size.steps
    tuning = recipe.fine_tuning.model_copy(update={"epochs": 1, "batch": batch, "checkpoint_steps": 1 << 20})
    body, texts = _body(size), list(_texts(size.articles, size.length, size.words))
    if recipe.adaptation.steps:
        adaptation = recipe.adaptation.model_copy(update={"steps": steps, "rounds": 1, "held_out": 8})
        asked = recipe.model_copy(update={"adaptation": adaptation})
        return AdaptationTask(prepared(body, tuning), texts, asked), tuning, batch
    questions = list(_texts(batch * steps, _WORDS_OF_QUERY, size.words))
    draw = np.random.default_rng(3)
    places = [draw.permutation(size.articles) for _ in questions]
    if recipe.method == "cross-encoder":
        found = [Found(query, own[:16], np.zeros(16), own[:1]) for query, own in zip(questions, places, strict=True)]
        options = recipe.reading.model_copy(update={"draws": 1})
        law = cast(ReadableLaw, _MadeUpLaw(texts))  # of a law it takes these two alone
        learner = MtftBert(prepared(body, tuning), law, options)
        return ReadingTask(learner, recipe.model_copy(update={"reading": options}), found, found[:2]), tuning, 2 * batch
    pairs = _pairs(texts, questions, places)
    options = recipe.bi_encoder.model_copy(update={"pairs": 1, "development_articles": 32})
    task = BiEncoderTask(BiEncoder(prepared(body, tuning), options), pairs, recipe.model_copy(update={"bi_encoder": options}))
    return task, tuning, batch * (1 + options.bm25_negatives)


def _pairs(texts: Sequence[str], queries: Sequence[str], places: Sequence[Any]) -> Pairs:
    questions = [Question(f"made-up-{n}", query, "", "made-up", (), "train", "train") for n, query in enumerate(queries)]
    relevant, first = [own[:1] for own in places], [own[1:11] for own in places]
    return Pairs(texts, questions, relevant, first, questions[:2], relevant[:2])


class _MadeUpLaw:
    """Texts as a cross-encoder takes those of a law."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.passage = texts.__getitem__

    def reduced(self, query: str) -> str:
        return query


def _body(size: _Size) -> Body:
    """Return a transformer with random weights that splits a text at its blanks."""
    from transformers import CamembertConfig, CamembertModel

    pieces = {piece: place for place, piece in enumerate((*_MARKS, *(f"w{n}" for n in range(size.words))))}
    tokenizer = Tokenizer(models.WordLevel(pieces, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    config = CamembertConfig(
        vocab_size=len(pieces),
        hidden_size=size.hidden,
        num_hidden_layers=size.layers,
        num_attention_heads=12,
        intermediate_size=4 * size.hidden,
        max_position_embeddings=514,
        type_vocab_size=1,
    )
    torch.manual_seed(1)
    model = CamembertModel(config, add_pooling_layer=False)
    return Body(model, tokenizer, begin=0, end=2, pad=1, prefix={"query": "", "passage": ""}, mask=4)


def _texts(count: int, length: int, words: int) -> Iterator[str]:
    draw = np.random.default_rng(2)
    for _ in range(count):
        yield " ".join(f"w{n}" for n in draw.integers(words, size=length))


def _device_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else f"{torch.get_num_threads()} threads of a processor"
