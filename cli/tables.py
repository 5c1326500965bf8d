"""Tables of the terminal: counts, model versions, measures."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from cli.language import localised, translated
from cli.output import say_json, show

if TYPE_CHECKING:
    from cypher.graph import Graph
    from gnn.evaluation.compare import Comparison, SystemResult
    from gnn.versions.serving import ModelVersion
    from search.acts.compare import Row as ActSystem

VERSION_COLUMNS = ("id", "status", "recipe", "dimensions", "created", "activated", "MiB", "metrics")
MODEL_COLUMNS = ("id", "status", "encoder", "dimensions", "created", "metrics")
_NOT_LAW = ("Graph", "Source", "Origin", "Revision", "Model")


def rows_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """Return a plain table; numbers to the right."""
    table = Table(title=title or None, title_justify="left")
    rows = [list(row) for row in rows]
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def say_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print rows as a plain table."""
    show(rows_table(title, columns, rows))


def say_figures(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of a name, which is not folded, and its figures."""
    table = Table(title=title, title_justify="left")
    table.add_column(columns[0], no_wrap=True)
    for column in columns[1:]:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    show(table)


def _cell(value: object) -> Text:
    if isinstance(value, bool) or not isinstance(value, int | float):
        plain = "" if value is None else value if isinstance(value, str) else None
        return Text(json.dumps(value, default=str, ensure_ascii=False) if plain is None else plain)
    return Text(f"{value:,}" if isinstance(value, int) else f"{value:.2f}")


def say_citations(graph: "Graph", *, outside: bool) -> None:
    """Print how many citations point where, or those that point outside the graph, a line each."""
    from ingest.citations.counts import citation_counts, outside_lines

    if not outside:
        counts = [(translated(where), n) for where, n in citation_counts(graph)]
        say_table(localised("citations"), (localised("where"), localised("how many")), counts)
        return
    for *line, reason in outside_lines(graph):
        print(*line, translated(reason), sep="\t")


def citation_objects(graph: "Graph", *, outside: bool) -> Iterator[dict[str, Any]]:
    """Yield the rows of `say_citations` as JSON objects."""
    from ingest.citations.counts import citation_counts, outside_lines

    names = ("source", "kind", "target", "text", "reason") if outside else ("where", "n")
    for row in outside_lines(graph) if outside else citation_counts(graph):
        yield dict(zip(names, row, strict=True))


def graph_counts(graph: "Graph") -> list[tuple[str, int]]:
    """Return the number of nodes of each label and of edges of each type."""
    nodes = [(row["label"], row["n"]) for row in graph.rows("counts") if row["label"] not in _NOT_LAW]
    return nodes + [(row["type"], row["n"]) for row in graph.rows("edge_counts")]


def model_table_rows(graph: "Graph") -> list[list[object]]:
    """Return the rows of model versions under `MODEL_COLUMNS`."""
    return [[row[column] for column in MODEL_COLUMNS] for row in graph.rows("models")]


def version_rows(versions: "Sequence[ModelVersion]") -> list[tuple[object, ...]]:
    """Return the rows of model versions under `VERSION_COLUMNS`."""
    return [
        (v.id, v.status, v.recipe, v.dimensions, v.created, v.activated, f"{v.bytes / (1 << 20):.0f}", json.dumps(v.metrics))
        for v in versions
    ]


def version_objects(versions: "Sequence[ModelVersion]") -> list[dict[str, Any]]:
    """Return model versions as JSON objects."""
    return [asdict(version) for version in versions]


def show_comparison(tables: "Mapping[str, Comparison]", *, as_json: bool = False) -> None:
    """Print the tables of an evaluation, or one JSON object: the fields of the first, and the others by name."""
    if as_json:
        (_, first), *others = tables.items()
        say_json(first.as_json() | {name: table.as_json() for name, table in others})
        return
    for table in tables.values():
        title = f"{table.questions}: {table.n} {table.part} questions, {table.split} split, {table.asked}"
        show(_measures_table(title, table.systems))


def _measures_table(title: str, systems: "Mapping[str, SystemResult]") -> Table:
    """Return systems by measures, in percent with 95 % intervals, then training time and time of a query."""
    from search.evaluation import MEASURES

    table = Table(title=title, title_justify="left")
    table.add_column("system")
    for name in (*MEASURES, "training", "query"):
        table.add_column(name, justify="right")
    for system, result in systems.items():
        cells = [f"{m.mean:.1f} [{m.low:.1f}, {m.high:.1f}]" for m in (result.measures[name] for name in MEASURES)]
        training = "–" if result.training_s is None else f"{result.training_s:.0f} s"
        table.add_row(system, *cells, training, f"{result.query_ms:.1f} ms")
    return table


def show_act_systems(title: str, systems: "Sequence[ActSystem]", *, as_json: bool = False) -> None:
    """Print systems that find similar acts, with their measures in both directions and their weights."""
    if as_json:
        say_json({system.name: system.measures for system in systems})
        return
    table = Table(title=title, show_lines=False)
    table.add_column("system", no_wrap=True)
    for arrow in ("directive → act", "act → directive"):
        table.add_column(f"{arrow}\nR@20  R@100  nDCG@20  R-prec.", no_wrap=True, justify="right")
    table.add_column("chosen on all folds", ratio=1)
    for system in systems:
        figures = ["   ".join(f"{value:5.1f}" for value in measures.values()) for measures in system.measures.values()]
        chosen = dict.fromkeys(filter(None, system.chosen.values()))
        table.add_row(system.name, *figures, Text(" | ".join(chosen)))
    show(table)
