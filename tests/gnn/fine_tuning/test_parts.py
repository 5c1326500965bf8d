"""Bi-encoders of a part of the questions, which trees learn over: none has learnt from what it is asked."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cypher.engines.ladybug import open_graph
from gnn.encoders.features import Tuned
from gnn.fine_tuning.tuned import tuned_encoder
from gnn.recipe import Recipe
from gnn.training import parts as parts_module
from gnn.training import train as train_module
from gnn.training.cross_fitting import fold_of
from gnn.training.parts import Parts
from gnn.training.train import Trainer
from gnn.workspace import Workspace
from search.questions import of_split
from tests.gnn.fine_tuning.small_body import bi_encoder_recipe
from tests.gnn.fine_tuning.test_tuned import ABOVE, RERANKED, downstream, working_on


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path, set[str] | None]]:
    """The folders of bi-encoders as they are asked for, and the questions that each learns from: None of all to train on."""
    asked_for: list[tuple[Path, set[str] | None]] = []

    def noted(workspace: Workspace, own: Recipe, split: str, passages: Sequence[str], learnt: Any = None) -> Tuned:
        made = tuned_encoder(workspace, own, split, passages, learnt)
        asked_for.append((made.folder, None if learnt is None else {question.id for question in learnt}))
        return made

    for module in (train_module, parts_module):
        monkeypatch.setattr(module, "tuned_encoder", noted)
    return asked_for


@pytest.mark.slow
def test_a_reranker_over_a_tuned_encoder_learns_over_one_for_each_part_that_has_not_seen_it(
    own_home: Path, small_body: Path, tmp_path: Path, taught: list[tuple[Path, set[str] | None]]
) -> None:
    recipe = downstream(small_body, tmp_path, ABOVE + RERANKED.replace('over = "plain"\n', ""))
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        version = Trainer(workspace).version(recipe, "random", "")
        training = {question.id: question for question in of_split(workspace.questions, "random", "train")}
        parts = {fold_of(workspace.corpus, question, "random") for question in training.values()}
        without = [{id for id, one in training.items() if fold_of(workspace.corpus, one, "random") != part} for part in parts]
    assert version.reranker is not None
    assert [learnt for _, learnt in taught] == [None, *(others for others in without if others)]
    assert len({folder for folder, _ in taught}) == len(taught)


def test_a_bi_encoder_of_a_part_learns_nothing_that_has_its_titles_or_topics(own_home: Path, small_body: Path) -> None:
    plain = bi_encoder_recipe(small_body)
    refit = plain.model_copy(update={"bi_encoder": plain.bi_encoder.model_copy(update={"refit": True})})
    more = plain.model_copy(update={"more_questions": ("two",)})
    with open_graph(own_home) as graph:
        workspace = working_on(own_home, graph)
        training, development = (of_split(workspace.questions, "random", part) for part in ("train", "development"))
        same = [replace(one, id=f"two-{one.id}", source="two", description="") for one in training]
        other = [replace(one, id=f"three-{one.id}", text=f"{one.text}, dit autrement") for one in same]
        workspace = replace(workspace, further={"two": [*same, *other]})
        parts = Parts(workspace, "random", training)
        part = parts.of(training[0])
        learnt = {name: [q.id for q in parts.without(part, one)] for name, one in (("", plain), ("refit", refit), ("more", more))}
        of_part = {q.id for q in (*training, *development) if parts.of(q) == part}
        titles = {one.text for one in training if parts.of(one) == part}
        every = {q.id: q for q in (*same, *other)}
        further = [every[id] for id in learnt["more"] if id in every]
        assert further, "what is new to the part is learnt from"
        assert all(one.text not in titles and parts.of(one) != part for one in further)
    assert set(learnt[""]) == {q.id for q in training} - of_part == set(learnt["more"]) - set(every)
    assert set(learnt["refit"]) == {q.id for q in (*training, *development)} - of_part
