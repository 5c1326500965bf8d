"""Picture of an evaluation: recall against k for every system, a panel a split, the training curves, and what each system is."""

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gnn.evaluation.compare import Comparison
from schema.errors import MissingExtra
from search.evaluation import CURVE_CUTS
from search.questions import WITH_DESCRIPTION

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Colours that most people tell apart (Okabe and Ito, 2008); lines that lie on each other show through each other's gaps.
_COLOURS = ("#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#0072B2", "#999999", "#8B5A2B", "#D55E00")
_DASHES = ("-", (0, (6, 3)), (4, (6, 3)), (0, (2, 2)), (0, (9, 3)), (6, (9, 3)), (0, (1, 2)), (0, (5, 2, 1, 2)), "-")
_MARKERS = "osD^vP*X."


def draw(tables: Mapping[str, Comparison], curves: Mapping[str, Sequence[Mapping[str, Any]]], path: Path) -> None:
    """Write the picture, in the format that the ending of ``path`` names.

    Args:
        tables: by name; each that is asked with descriptions makes a panel, and the first in any case.
        curves: by trained system, its epochs (loss, recall, average_precision).
        path: file to write.

    Raises:
        MissingExtra: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra("the picture needs matplotlib: pip install 'lexgraph[train]'") from None
    first, *others = tables.values()
    panels = [first, *(table for table in others if table.asked == WITH_DESCRIPTION)]
    figure = Figure(figsize=(6.5 * (len(panels) + 1), 8), layout="constrained")
    parts: Any = figure.subfigures(2, 1, height_ratios=[3, 1])
    upper, lower = parts
    axes: Sequence[Axes] = upper.subplots(1, len(panels) + 1, squeeze=False)[0]
    for place, (panel, table) in enumerate(zip(axes, panels, strict=False)):
        _draw_recall(panel, table)
        if place == 0:
            handles, names = panel.get_legend_handles_labels()
            explained = [textwrap.fill(f"{name}: {first.systems[name].about}", 75) for name in names]
            lower.legend(handles, explained, loc="upper center", ncols=3, fontsize=8, frameon=False)
    _draw_training(axes[-1], curves, list(first.systems))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)


def _look(n: int) -> tuple[str, Any, str]:
    """Return colour, dashes and marker of the nth system."""
    return _COLOURS[n % len(_COLOURS)], _DASHES[n % len(_DASHES)], _MARKERS[n % len(_MARKERS)]


def _draw_recall(panel: "Axes", table: Comparison) -> None:
    """Draw a line for each system, with the band of its 95 % interval."""
    for n, (name, result) in enumerate(table.systems.items()):
        colour, dashes, marker = _look(n)
        means = [value.mean for value in result.recall]
        # The later of two lines on one another is the thinner.
        width = 3.0 - 1.8 * n / len(table.systems) if name != "hybrid" else 2.5
        panel.plot(CURVE_CUTS, means, color=colour, linestyle=dashes, marker=marker, markersize=4, linewidth=width, label=name)
        low, high = [value.low for value in result.recall], [value.high for value in result.recall]
        panel.fill_between(CURVE_CUTS, low, high, color=colour, alpha=0.08, linewidth=0)
    panel.set(xscale="log", xlabel="k", ylabel="recall@k, %, with 95 % intervals", ylim=(0, 100))
    panel.set_xticks(CURVE_CUTS, [f"{cut:,}" for cut in CURVE_CUTS])
    panel.minorticks_off()
    panel.set_title(f"{table.questions}, {table.split} split, {table.n} {table.part} questions")
    panel.grid(alpha=0.3)


def _draw_training(panel: "Axes", curves: Mapping[str, Sequence[Mapping[str, Any]]], systems: Sequence[str]) -> None:
    """Draw recall and MAP on development questions, epoch by epoch, each system in its own colour."""
    for name, epochs in curves.items():
        colour, _, _ = _look(systems.index(name) if name in systems else len(systems))
        steps = range(1, len(epochs) + 1)
        recall, precision = ([100 * epoch[key] for epoch in epochs] for key in ("recall", "average_precision"))
        panel.plot(steps, recall, color=colour, marker="o", markersize=3, label=f"{name}: R@100")
        panel.plot(steps, precision, color=colour, linestyle="--", label=f"{name}: MAP")
    panel.set(xlabel="epoch", ylabel="development questions, %")
    panel.set_title("training")
    panel.grid(alpha=0.3)
    if curves:
        panel.legend(fontsize=8)
