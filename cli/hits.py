"""Hits as a person sees them: number, path, passage, reasons; and acts like another."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from rich.table import Table
from rich.text import Text

from cli.workspace import Home
from cypher.graph import Graph, Row
from gnn.versions.active import active_model
from schema.errors import BadQuery
from schema.filter import Filter
from search.acts.similar import SimilarActs
from search.acts.views import open_act_texts
from search.modes import Mode
from search.ranking.hits import Hit
from search.retrieval import LOST, Retriever
from search.text.snippets import snippet

_LIST_NAMES = {
    "citation": "named in the query",
    "bm25": "BM25",
    "section": "BM25 of its section",
    "heading": "heading above it",
    "vector": "vector",
    "questions": "similar questions",
    "hierarchical": "top-down",
}


def read_filter(act: str | None, section: str | None, day: str | None, kind: str | None, jurisdiction: str | None) -> Filter:
    """Return the filter that options name.

    Raises:
        BadQuery: the day is none.
    """
    try:
        return Filter(act, section, date.fromisoformat(day) if day else None, kind, jurisdiction)
    except ValueError:
        raise BadQuery(f"not a date: {day!r} (write YYYY-MM-DD)") from None


def described_search(
    home: Home, query: str, mode: Mode, only: Filter, *, first: int, pooled: bool
) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Search, and return the hits as `described_hits` does, the names of what did not answer, and what is said of the query."""
    with home.graph() as graph:
        index = home.index(graph)
        model = active_model(home.path, graph, index.corpus, home.settings.threads, home.settings.models)
        retriever = Retriever(index, model, max_query_characters=home.settings.max_query_characters)
        hits = retriever.search(query, mode, filter=only, first=first, pooled=pooled)
        understood = hits.understood
        described = described_hits(graph, retriever, hits, understood.words or query)
        return described, [LOST[name] for name in hits.degraded], understood.notes()


def nothing_matches(only: Filter) -> str:
    """Return what is said where no article matches: the conditions by name."""
    conditions = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in asdict(only).items() if value is not None)
    return f"No article matches ({conditions})." if conditions else "No article matches."


def described_hits(graph: Graph, retriever: Retriever, hits: Sequence[Hit], query: str) -> list[dict[str, Any]]:
    """Return hits with what a person wants to see of each: number, path of headings, snippet, reasons."""
    corpus = retriever.index.corpus
    passages = retriever.highlights(query, [hit.id for hit in hits])
    articles: dict[str, Row] = {row["id"]: row for row in graph.rows("articles_by_id", ids=[hit.id for hit in hits])}
    paths = {hit.id: corpus.path_ids(int(corpus.article_parent[hit.position])) for hit in hits}
    sections = sorted({section for path in paths.values() for section in path[1:]})
    headings = {row["id"]: row["heading"] for row in graph.rows("sections_by_id", ids=sections)} if sections else {}
    titles = {row["id"]: row["title"] for row in graph.rows("acts_by_id", ids=sorted({path[0] for path in paths.values()}))}
    described: list[dict[str, Any]] = []
    for hit in hits:
        row = articles[hit.id]
        act, *above = paths[hit.id]
        shown = passages.get(hit.id) or snippet(row["text"], query, row["language"])
        described.append(
            {
                "id": hit.id,
                "number": row["number"],
                "score": hit.score,
                "path": [titles[act], *(headings[section] for section in above)],
                "snippet": shown.text,
                "marks": [list(mark) for mark in shown.marks],
                "matched": list(shown.words),
                "places": {name: {"rank": place.rank, "score": place.score} for name, place in hit.places.items()},
            }
        )
    return described


def hits_table(described: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of rank, article, path of headings, snippet with the matched words in bold, and reasons."""
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("article", no_wrap=True)
    table.add_column("where", ratio=3)
    table.add_column("text", ratio=5)
    table.add_column("why", ratio=2)
    for rank, hit in enumerate(described, 1):
        text = Text(hit["snippet"])
        for start, end in hit["marks"]:
            text.stylize("bold yellow", start, end)
        why = _reasons(hit["places"], len(hit["places"]))
        if hit["matched"]:
            why += "\nwords: " + ", ".join(hit["matched"][:8])
        table.add_row(str(rank), Text(hit["number"]), Text(" › ".join(hit["path"])), text, Text(why))
    return table


def described_acts(home: Path, graph: Graph, law: str, act: str, **only: Any) -> list[dict[str, Any]]:
    """Return the acts like another (`SimilarActs.similar`) with their titles and dates."""
    hits = SimilarActs(open_act_texts(home, law)).similar(act, **only)
    rows = {row["id"]: row for row in graph.rows("acts_by_id", ids=[hit.id for hit in hits])}
    return [
        {**asdict(hit), "title": rows[hit.id]["title"], "published": rows[hit.id]["published"]} for hit in hits if hit.id in rows
    ]


def similar_table(acts: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of rank, act, date, title, and the lists in which it stands highest."""
    table = Table(show_lines=True)
    table.add_column("", justify="right")
    table.add_column("act", no_wrap=True)
    table.add_column("published", no_wrap=True)
    table.add_column("title", ratio=5)
    table.add_column("why", ratio=2)
    for rank, act in enumerate(acts, 1):
        why = _reasons(act["places"], 4)
        table.add_row(str(rank), Text(act["id"]), str(act["published"] or ""), Text(act["title"]), Text(why))
    return table


def _reasons(places: Mapping[str, Mapping[str, Any]], most: int) -> str:
    best = sorted(places.items(), key=lambda item: item[1]["rank"])[:most]
    return "\n".join(f"{_LIST_NAMES.get(name, name)}: {place['rank']}" for name, place in best)
