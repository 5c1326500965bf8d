"""Domain-adaptive pre-training: a transformer fills in masked words of the loaded law before it learns from questions.

Louis et al., "Finding the Law", EACL 2023, section 3.1 and table 2, after Gururangan et al., "Don't Stop Pretraining", ACL 2020.
What comes of it depends on the law and the options alone, so that all splits and seeds begin from one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gnn.distributed import Process, alone
from gnn.encoders.passages import passage
from gnn.encoders.tuned import Pieces
from gnn.fine_tuning.bi_encoder import prepared
from gnn.fine_tuning.body import Body, load_body
from gnn.fine_tuning.kept_run import BODY, keep_run, kept_folder, place_of, run_of
from gnn.fine_tuning.loop import Run, tune
from gnn.fine_tuning.masking import Masked, MaskedWords, masked
from gnn.options import FineTuningOptions
from gnn.recipe import TRANSFORMER_FORMAT, Recipe
from gnn.workspace import Workspace
from runtime.progress import Progress, silent
from schema.errors import BadSetting

_WINDOWS = 8
"""Times the word pieces of a text that are split of an article, which a text is drawn from."""
_AT_ONCE = 32
"""Texts that the loss is measured on at once."""


class AdaptationTask:
    """The task that `gnn.fine_tuning.loop.tune` trains: texts of articles with some of their word pieces masked.

    Raises:
        BadSetting: the transformer has no mask, it reads fewer word pieces than wanted, or there are no two articles: one to
            learn from, one to measure the loss on.
    """

    def __init__(self, body: Body, texts: Sequence[str], recipe: Recipe) -> None:
        """Take a transformer and the texts of all articles that have one."""
        options = recipe.adaptation
        told = f"recipe {recipe.name}: adaptation.steps = {options.steps}"
        if body.mask < 0:
            raise BadSetting(f"{told}: the vocabulary of {recipe.fine_tuning.body!r} has no mask to fill in")
        if len(texts) < 2:
            raise BadSetting(f"{told}: the law has {len(texts)} articles with text, two are needed at least")
        if options.pieces > body.positions:
            raise BadSetting(f"recipe {recipe.name}: adaptation.pieces = {options.pieces}: {body.positions} can be read at most")
        self.model, self.texts, self.options = MaskedWords(body), texts, options
        order = np.random.default_rng(options.seed).permutation(len(texts))
        held = min(options.held_out, -(-len(texts) // 10))
        self.held, self._learnt = order[:held].tolist(), order[held:]
        self._before = body.pieces([""], "passage")[0]
        marks = (body.begin, body.end, body.pad, body.mask)
        self._ordinary = np.setdiff1d(np.arange(len(self.model.bias)), marks)

    @property
    def examples(self) -> int:
        """Number of texts of a round."""
        return self.options.batch * -(-self.options.steps // self.options.rounds)

    def begin(self, epoch: int, process: Process, progress: Progress = silent) -> None:
        """Draw the articles of a round, each as often as any other, and once at most where there are as many."""
        self._epoch = epoch
        order = np.random.default_rng((self.options.seed, epoch)).permutation(self._learnt)
        self._drawn = np.resize(order, self.examples)

    def loss(self, examples: Sequence[int], process: Process) -> Tensor:
        """Return a process's share of the mean over the masked pieces of texts of -log of the share of what stood there."""
        texts = [self._masked(int(self._drawn[i]), (self.options.seed, self._epoch, i)) for i in examples]
        pieces = max(1, sum(len(text.places) for text in texts))
        own = texts[process.share(len(texts))]
        # One that has none of a small batch reads a text all the same: all add up the same parameters.
        return self.model.loss(own) / pieces if own else 0 * self.model.loss(texts[:1])

    @torch.inference_mode()
    def quality(self) -> Mapping[str, float]:
        """Return the mean log-likelihood of pieces of held-out articles, the same ones masked each time: minus the loss."""
        texts = [self._masked(position, (self.options.seed, position)) for position in self.held]
        total = sum(float(self.model.loss(texts[start : start + _AT_ONCE])) for start in range(0, len(texts), _AT_ONCE))
        return {"likelihood": -total / max(1, sum(len(text.places) for text in texts))}

    def _masked(self, position: int, seed: tuple[int, ...]) -> Masked:
        draw, body = np.random.default_rng(seed), self.model.body
        room = self.options.pieces - 2 - len(self._before)
        pieces = body.pieces([self.texts[position]], "", _WINDOWS * room)[0]
        start = int(draw.integers(max(1, len(pieces) - room + 1)))
        chosen = masked(pieces[start : start + room], self.options.masked, self._ordinary, body.mask, draw)
        before: Pieces = [body.begin, *self._before]
        return Masked([*before, *chosen.pieces, body.end], [len(before) + place for place in chosen.places], chosen.answers)


def adapted_body(workspace: Workspace, recipe: Recipe) -> Body:
    """Return the transformer of a recipe adapted to the law, unless it was before: kept under ``features/``.

    Raises:
        BadSetting: as `AdaptationTask`, and as `gnn.fine_tuning.loop.tune`.
        StorageFull: the disk is full; the last checkpoint stays.
    """
    options = _as_tuned(recipe)
    made_from = [
        TRANSFORMER_FORMAT,
        workspace.corpus.sha256,
        options.as_named(),
        recipe.adaptation.as_named(),
    ]
    key = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:12]
    name = f"adapted-{Path(options.body).name}-{key}"
    folder = kept_folder(workspace, name)
    if run_of(folder) is None:
        corpus, text = workspace.corpus, workspace.text
        texts = [passage(corpus, text, position) for position, own in enumerate(text.texts) if own.strip()]
        body = load_body(options.body, texts, layers=options.layers, masks=True)
        task = AdaptationTask(prepared(body, options), texts, recipe)
        # Under a name that recipes share as they share the transformer: one goes on where another was stopped.
        told, place = f"adaptation of {Path(options.body).name}", place_of(workspace, name)
        run = Run(told, key, place, options, workspace.threads, workspace.progress, workspace.process or alone())
        curve = tune(task, run)

        def write(part: Path) -> int:
            body.model.cpu()
            body.save(part / BODY)
            return sum(parameter.numel() for parameter in task.model.parameters())

        keep_run(workspace, name, curve, curve[-1].seconds, write)
    return load_body(str(folder / BODY))


def _as_tuned(recipe: Recipe) -> FineTuningOptions:
    """Return the options of the loop: those of the bi-encoder where the adaptation has none of its own."""
    options = recipe.adaptation
    own = {
        "epochs": options.rounds,
        "patience": options.rounds,
        "batch": options.batch,
        "accumulation": 1,
        "learning_rate": options.learning_rate,
        "seed": options.seed,
    }
    return recipe.fine_tuning.model_copy(update=own)
