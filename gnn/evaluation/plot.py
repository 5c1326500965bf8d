"""Plot of an evaluation: recall against k for every system, and the training curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from gnn.evaluation.compare import Comparison
from schema.errors import MissingExtra
from search.evaluation import CURVE_CUTS


def draw(comparison: Comparison, curves: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Write the picture, in the format that the ending of ``path`` names.

    Args:
        curves: by trained system, its epochs (loss, recall, average_precision).

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the picture needs matplotlib: pip install 'lexgraph[train]'") from None
    figure = Figure(figsize=(13, 5), layout="constrained")
    recall, curve = figure.subplots(1, 2)
    for name, result in comparison.systems.items():
        recall.plot(CURVE_CUTS, result.recall, marker="o", markersize=3, label=name, linewidth=2 if name == "hybrid" else 1)
    recall.set(xscale="log", xlabel="k", ylabel="recall@k, %", ylim=(0, 100))
    recall.set_title(f"{comparison.questions}, {comparison.split} split, {comparison.n} {comparison.part} questions")
    recall.grid(alpha=0.3)
    recall.legend(fontsize=8)
    for name, epochs in curves.items():
        steps = range(1, len(epochs) + 1)
        curve.plot(steps, [100 * epoch["recall"] for epoch in epochs], marker="o", markersize=3, label=f"{name}: R@100")
        curve.plot(steps, [100 * epoch["average_precision"] for epoch in epochs], linestyle="--", label=f"{name}: MAP")
    curve.set(xlabel="epoch", ylabel="development questions, %")
    curve.set_title("training")
    curve.grid(alpha=0.3)
    if curves:
        curve.legend(fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
