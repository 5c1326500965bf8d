"""Tables of a comparison as a page of Markdown."""

import re
from collections.abc import Iterable, Iterator, Sequence

from gnn.comparison.contenders import WAYS
from gnn.comparison.tables import GAINS, RecipeTable, Row
from gnn.comparison.trials import CROSS_FITTED
from search.evaluation import MEASURES

FIGURES = ("training", "parameters", "ms a query")


def columns(table: RecipeTable) -> list[str]:
    """Return the names of the columns after that of the recipe."""
    over = "the first row" if table.against == "first" else "the row above"
    return [*MEASURES, *(f"{name} over {over}" for name in GAINS), *FIGURES]


def cells(row: Row) -> list[str]:
    """Return the figures of a row under `columns`: means, with deviations over seeds behind ±, and intervals in brackets."""
    measures = [with_deviation(row.means[name], row.deviations[name]) for name in MEASURES]
    gains = [f"{row.gains[n].mean:+.1f} [{row.gains[n].low:.1f}, {row.gains[n].high:.1f}]" if row.gains else "" for n in GAINS]
    training = f"{row.training_s / 60:.1f} min" if row.training_s else "–"
    return [*measures, *gains, training, f"{row.parameters:,}" if row.parameters else "–", f"{row.query_ms:.1f}"]


def title(table: RecipeTable) -> str:
    """Return the title of a table."""
    return f"{table.questions}: {table.n:,} {table.part} questions, {table.split} split, {table.asked}"


def page(tables: Sequence[RecipeTable], command: str) -> str:
    """Return the page: the command that wrote it, what its figures are, the tables, and what each recipe is."""
    lines = [
        *written_by("Recipes compared", command),
        *_explained(tables),
        *(line for table in tables for line in _table(table)),
        "## The recipes",
        "",
        *(f"- `{name}`: {about}" for name, about in sorted({_recipe(row): row.about for row in tables[0].rows}.items())),
    ]
    return "\n".join(lines) + "\n"


def written_by(heading: str, command: str) -> list[str]:
    """Return the first lines of a page: its heading, and the command that wrote it."""
    return [f"# {heading}", "", "Written by:", "", "```sh", command, "```", ""]


def table_lines(names: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a table, the first cell of each row as code."""
    lines = [f"| {' | '.join([f'`{row[0]}`', *row[1:]])} |" for row in rows]
    return [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}", *lines]


def with_deviation(mean: float, deviation: float | None) -> str:
    """Return a mean with its deviation over seeds behind ±, where there is one."""
    return f"{mean:.1f}" if deviation is None else f"{mean:.1f} ± {deviation:.1f}"


def _explained(tables: Sequence[RecipeTable]) -> Iterator[str]:
    several = sorted({row.seeds for table in tables for row in table.rows if row.seeds > 1})
    deviation = f"with the standard deviation behind ± ({several[-1]} seeds)" if several else ""
    over = f"means over seeds of training {deviation}; a figure without ± is of one seed" if several else "one seed"
    row = "first row" if tables[0].against == "first" else "row above"
    yield f"Measures are in percent, {over}."
    yield f"Differences from the {row} are in points, with a paired 95 % bootstrap interval over questions."
    yield "Training is the mean of one, with what reranks where the row is served, without the tuning of the fusion and the"
    yield "training that chose the epochs of a refit recipe. Parameters are those of towers and networks; trees do not count."
    yield "The time of a query is the median, on the machine that measured."
    yield from _on_gpus(tables)
    yield from _once(tables)
    if tables[0].part == CROSS_FITTED:
        yield "Cross-fitted: each fifth of the training and test questions is asked of models that learnt from the other four."
    yield ""
    ways = [way for way in WAYS if way == "served" or any(row.name.endswith(f":{way}") for row in tables[0].rows)]
    yield "A recipe alone is ranked by as it is served; behind a colon stands another way. " + " ".join(
        f"*{way}*: {WAYS[way]}." for way in ways
    )
    yield ""


def _on_gpus(tables: Sequence[RecipeTable]) -> Iterator[str]:
    """Yield a line for each kind of GPU that rows, or their bi-encoders, were trained on: their minutes are not of the others."""
    rows = [row for table in tables for row in table.rows]
    yield from _by_gpu("Trained and asked on a machine with one", ((row.name, row.gpus) for row in rows))
    yield from _by_gpu("Bi-encoders trained on another machine, with one", ((row.name, row.encoder_gpus) for row in rows))


def _by_gpu(done: str, rows: Iterable[tuple[str, Sequence[str]]]) -> Iterator[str]:
    names: dict[str, dict[str, None]] = {}
    for name, gpus in rows:
        for gpu in gpus:
            names.setdefault(gpu, {})[f"`{name}`"] = None
    for gpu in sorted(names):
        yield f"{done} {gpu}: {', '.join(names[gpu])}."


def _once(tables: Sequence[RecipeTable]) -> Iterator[str]:
    """Yield a line for each row that several seeds were trained of over something that was trained with one."""
    for name, once in dict.fromkeys((row.name, row.once) for table in tables for row in table.rows if row.once):
        yield f"All seeds of `{name}` are over one training of {', '.join(f'`{one}`' for one in once)}."


def _table(table: RecipeTable) -> Iterator[str]:
    yield f"## {title(table)}"
    yield ""
    yield from table_lines(["recipe", *columns(table)], ([row.name, *cells(row)] for row in table.rows))
    yield ""


def _recipe(row: Row) -> str:
    return re.sub(rf":({'|'.join(WAYS)})$", "", row.name)
