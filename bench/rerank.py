"""Reranking: what it adds to the hybrid search of a recipe, cross-fitted over the training questions of the demo's home.

Needs a version of the recipe: ``lexgraph train --recipe lambdamart`` first.
"""

from bench.reporting import Figures
from cli.workspace import Home
from gnn.evaluation.reranking import measure_reranking
from runtime.progress import silent
from schema.settings import load_settings

_SHOWN = ("R@100", "R@200", "R@500", "MAP", "nDCG@10", "MRR@10", "S@5")


def measure(recipe: str) -> Figures:
    """Measure a recipe by name."""
    home = Home(load_settings(), silent)
    chosen = home.recipe(recipe)
    with home.graph() as graph:
        gains = list(measure_reranking(home.workspace(graph, chosen), chosen))
    values: dict[str, float] = {}
    explained: dict[str, str] = {}
    for one in gains:
        for name in _SHOWN:
            key = f"{one.split} {one.asked} {name}"
            gain = one.gain[name]
            values |= {key: one.before[name].mean, f"{key} gain": gain.mean}
            explained[key] = f"before reranking, {one.questions} questions, %"
            explained[f"{key} gain"] = f"95 % interval from {gain.low:+.1f} to {gain.high:+.1f}"
    return Figures("Reranking", values, explained)
