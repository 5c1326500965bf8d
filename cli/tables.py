"""What a terminal shows: progress, tables, hits with the reasons why they are there."""

import json
import time
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Table
from rich.text import Text

from cypher.graph import Graph, Row
from runtime.progress import Advance, Progress, silent
from search.corpus.corpus import Corpus
from search.evaluation import MEASURES, Measured
from search.ranking.hits import Hit
from search.retrieval import Retriever
from search.text.snippets import snippet

if TYPE_CHECKING:
    from search.acts.compare import Row as ActSystem

_LIST_NAMES = {
    "bm25": "BM25",
    "section": "BM25 of its section",
    "vector": "vector",
    "questions": "similar questions",
    "hierarchical": "top-down",
}


def progress_on(console: Console, quiet: bool) -> Progress:
    """Bars on a terminal, one line for each finished piece of work in a log, nothing when quiet."""
    if quiet:
        return silent
    return _bars(console) if console.is_terminal else _lines(console)


def _bars(console: Console) -> Progress:
    @contextmanager
    def progress(label: str, total: int) -> Generator[Advance]:
        columns = (TextColumn("{task.description:24}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Bars(*columns, console=console, transient=False) as bars:
            task = bars.add_task(label, total=total or None)
            yield lambda done: bars.advance(task, done)
            bars.update(task, completed=total)

    return progress


def _lines(console: Console) -> Progress:
    @contextmanager
    def progress(label: str, total: int) -> Generator[Advance]:
        began = time.monotonic()
        yield lambda done: None
        console.print(f"{label}: {total:,} in {time.monotonic() - began:.1f} s", highlight=False)

    return progress


def rows_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Table:
    """A plain table; numbers to the right."""
    table = Table(title=title or None, title_justify="left")
    rows = [list(row) for row in rows]
    for i, column in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[i], int | float) for row in rows)
        table.add_column(column, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    return table


def _cell(value: object) -> Text:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Text(
            "" if value is None else value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
        )
    return Text(f"{value:,}" if isinstance(value, int) else f"{value:.2f}")


def measures_table(title: str, systems: Mapping[str, tuple[Mapping[str, Measured], float | None, float]]) -> Table:
    """Systems by measures, in percent with 95 % intervals, then training time and time of a query."""
    table = Table(title=title, title_justify="left")
    table.add_column("system")
    for name in MEASURES:
        table.add_column(name, justify="right")
    table.add_column("training", justify="right")
    table.add_column("query", justify="right")
    for system, (measures, training_s, query_ms) in systems.items():
        cells = [f"{m.mean:.1f} [{m.low:.1f}, {m.high:.1f}]" for m in (measures[name] for name in MEASURES)]
        table.add_row(system, *cells, "–" if training_s is None else f"{training_s:.0f} s", f"{query_ms:.1f} ms")
    return table


def heading_path(corpus: Corpus, headings: Mapping[str, str], titles: Mapping[str, str], position: int) -> list[str]:
    """Return the act's title and the headings above an article, from the top down."""
    act, *sections = corpus.path_ids(int(corpus.article_parent[position]))
    return [titles[act], *(headings[section] for section in sections)]


def described_hits(graph: Graph, retriever: Retriever, hits: Sequence[Hit], query: str) -> list[dict[str, Any]]:
    """Hits with what a person wants to see of each: number, act, path of headings, snippet, reasons."""
    corpus = retriever.index.corpus
    passages = retriever.highlights(query, [hit.id for hit in hits])
    articles: dict[str, Row] = {row["id"]: row for row in graph.rows("articles_by_id", ids=[hit.id for hit in hits])}
    above = {id for hit in hits for id in corpus.path_ids(int(corpus.article_parent[hit.position]))[1:]}
    headings = {row["id"]: row["heading"] for row in graph.rows("sections_by_id", ids=sorted(above))} if above else {}
    titles = {row["id"]: row["title"] for row in graph.rows("acts")}
    described: list[dict[str, Any]] = []
    for hit in hits:
        row = articles[hit.id]
        shown = passages.get(hit.id) or snippet(row["text"], query, row["language"])
        described.append(
            {
                "id": hit.id,
                "number": row["number"],
                "score": hit.score,
                "path": heading_path(corpus, headings, titles, hit.position),
                "snippet": shown.text,
                "marks": [list(mark) for mark in shown.marks],
                "matched": list(shown.words),
                "places": {name: {"rank": place.rank, "score": place.score} for name, place in hit.places.items()},
            }
        )
    return described


def hits_table(described: Sequence[Mapping[str, Any]], first_rank: int = 1) -> Table:
    """Rank, article, path of headings, snippet with the matched words in bold, and why it is there."""
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("article", no_wrap=True)
    table.add_column("where", ratio=3)
    table.add_column("text", ratio=5)
    table.add_column("why", ratio=2)
    for rank, hit in enumerate(described, first_rank):
        text = Text(hit["snippet"])
        for start, end in hit["marks"]:
            text.stylize("bold yellow", start, end)
        places = sorted(hit["places"].items(), key=lambda item: item[1]["rank"])
        why = "\n".join(f"{_LIST_NAMES.get(name, name)}: {place['rank']}" for name, place in places)
        if hit["matched"]:
            why += "\nwords: " + ", ".join(hit["matched"][:8])
        table.add_row(str(rank), Text(hit["number"]), Text(" › ".join(hit["path"])), text, Text(why))
    return table


def similar_table(found: Sequence[Mapping[str, Any]]) -> Table:
    """Rank, act, title, and the lists in which it stands highest."""
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("act", no_wrap=True)
    table.add_column("published", no_wrap=True)
    table.add_column("title", ratio=5)
    table.add_column("why", ratio=2)
    for rank, act in enumerate(found, 1):
        places = sorted(act["places"].items(), key=lambda item: item[1]["rank"])
        why = "\n".join(f"{name}: {place['rank']}" for name, place in places[:4])
        table.add_row(str(rank), Text(act["id"]), str(act["published"] or ""), Text(act["title"]), Text(why))
    return table


def act_systems_table(title: str, systems: Iterable["ActSystem"]) -> Table:
    """Systems that find similar acts: measures from a directive to acts and from an act to directives, and weights."""
    table = Table(title=title, show_lines=False)
    table.add_column("system", no_wrap=True)
    for arrow in ("directive → act", "act → directive"):
        table.add_column(f"{arrow}\nR@20  R@100  nDCG@20  R-prec.", no_wrap=True, justify="right")
    table.add_column("chosen on all folds", ratio=1)
    for system in systems:
        figures = ["   ".join(f"{value:5.1f}" for value in measures.values()) for measures in system.measures.values()]
        chosen = dict.fromkeys(filter(None, system.chosen.values()))
        table.add_row(system.name, *figures, Text(" | ".join(chosen)))
    return table
