"""Names of model versions: the same inputs give the same name."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

from gnn.recipe import Recipe
from schema.records import Question


class Version(NamedTuple):
    """A model version's recipe and split."""

    recipe: str
    split: str


def model_ids(recipe: Recipe, index_key: str, questions: Sequence[Question]) -> dict[Version, str]:
    """The identifiers of a recipe's versions, those it is compared with first; the same inputs give the same.

    Args:
        index_key: of the text index, which tells the law and the options of BM25 that weights are tuned for.
    """
    asked = json.dumps([asdict(question) for question in sorted(questions, key=lambda q: q.id)])
    digest = hashlib.sha256(asked.encode()).hexdigest()
    ids: dict[Version, str] = {}
    for split in recipe.splits:
        for name in (*recipe.compare, recipe.name):
            chosen = recipe.other(name)
            made_from = [index_key, digest, split]
            start = chosen.training.start
            if start:
                made_from.append(chosen.other(start).key())
            ids[Version(name, split)] = f"{name}-{split}-{chosen.key(*made_from)}"
    return ids
