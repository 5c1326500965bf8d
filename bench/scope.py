"""Scope: how well confidence tells questions that the law answers from those that it does not, on the demo's home.

Needs a trained model and the sheets of service-public.fr: ``make demo`` first.
"""

from pathlib import Path

from bench.reporting import Figures
from cli.workspace import Home
from gnn.evaluation.scope import draw_scope, measure_scope
from runtime.progress import silent
from schema.settings import load_settings


def measure(picture: Path | None, *, quick: bool = False) -> Figures:
    """Measure, and draw the curves where a picture is named.

    Args:
        quick: take the first split alone, whose confidence is learnt, and few questions.
    """
    settings = load_settings()
    home = Home(settings, silent)
    recipe = home.recipe(None)
    if quick:
        recipe = recipe.model_copy(update={"splits": recipe.splits[:1]})
    with home.graph() as graph:
        figures = list(measure_scope(home.workspace(graph, recipe), recipe, 40 if quick else None))
    if picture is not None:
        draw_scope(figures, picture)
    values: dict[str, float] = {}
    explained: dict[str, str] = {}
    for one in figures:
        name = f"{one.split}_{'title' if one.asked == 'title' else 'whole'}".replace("-", "_")
        about = f"{one.split} split, {one.asked}"
        values |= {f"{name}_area": one.area, f"{name}_called": one.called_outside, f"{name}_found": one.found_outside}
        explained[f"{name}_area"] = f"{about}: area under the curve, {len(one.inside)} with an answer, {len(one.outside)} without"
        explained[f"{name}_called"] = f"{about}: share with an answer that is called outside"
        explained[f"{name}_found"] = f"{about}: share without an answer that is called outside"
    return Figures("Scope", values, explained)
