"""Identifiers of model versions: the same inputs give the same one."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from typing import NamedTuple

from gnn.recipe import Recipe
from schema.records import Question


class RecipeSplit(NamedTuple):
    """A recipe and a split of the questions, by name: one model version is trained of each such pair."""

    recipe: str
    split: str


def model_ids(recipe: Recipe, index_key: str, questions: Sequence[Question]) -> dict[RecipeSplit, str]:
    """Return the identifiers of a recipe's versions, split by split; in each the recipes that it is compared with come first.

    Args:
        index_key: of the text index: stands for the law and the options of BM25 that weights are tuned for.
        questions: all that a version is made from (`gnn.workspace.Workspace.learnt_from`).
    """
    asked = json.dumps([asdict(question) for question in sorted(questions, key=lambda q: q.id)])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    ids: dict[RecipeSplit, str] = {}
    for split, name in product(recipe.splits, (*recipe.compare, recipe.name)):
        chosen = recipe.other(name)
        made_from = [index_key, digest, split, *(one.key() for one in chosen.made_from)]
        ids[RecipeSplit(name, split)] = f"{name}-{split}-{chosen.key(*made_from)}"
    return ids
