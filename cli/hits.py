"""Hits with all that a person wants to see of them: number, path, passage, reasons; and acts like another."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from cli.language import localised, number_of
from cli.pages import outside_in_time
from cli.workspace import Home
from cypher.graph import Graph, Row
from gnn.versions.active import active_model
from schema.errors import NotReady
from schema.filter import Filter
from schema.publishers import article_url
from schema.records import Act
from schema.wordings import Days, is_outside
from search.acts.similar import SimilarActs
from search.acts.views import open_act_texts
from search.in_time.article_on_day import ArticleOnDay, heading_on_day, path_on_day
from search.modes import Mode
from search.ranking.hits import Hit
from search.retrieval import LOST, Retriever
from search.text.snippets import snippet

_CODES = {True: "{n} code", False: "{n} codes"}
_ACTS = {True: "{n} act", False: "{n} acts"}
_MOST_TITLES = 4


def described_search(
    home: Home, query: str, mode: Mode, only: Filter, *, first: int, pooled: bool
) -> tuple[list[dict[str, Any]], list[str], list[str]]:
    """Search, and return the hits as `described_hits` does, the names of what did not answer, and what is said of the query."""
    with home.graph() as graph:
        index = home.index(graph)
        settings = home.settings
        lost: list[str] = []
        try:
            model = active_model(home.path, graph, index.corpus, settings.threads, settings.models)
        except NotReady as error:
            if mode is not Mode.BM25:
                raise
            model, lost = None, [str(error)]
        retriever = Retriever(index, model, max_query_characters=settings.max_query_characters, reranks=settings.rerank)
        hits = retriever.search(query, mode, filter=only, first=first, pooled=pooled)
        understood = hits.understood
        described = described_hits(graph, retriever, hits, understood.words or query)
        notes = [*lost, *([outside(retriever.index.vocabulary.acts)] if hits.probably_outside else []), *understood.notes()]
        notes += [] if hits or only.in_force_on is None else _outside_in_time(graph, only.in_force_on)
        return described, [LOST[name] for name in hits.degraded], notes


def _outside_in_time(graph: Graph, day: date) -> list[str]:
    """Return what is said of a day on which the law of no act is loaded."""
    known: list[Days] = [(row["known_from"], row["known_to"]) for row in graph.rows("acts")]
    if not all(is_outside(day, span) for span in known):
        return []
    starts, ends = ([day for day in days if day] for days in zip(*known, strict=True))
    return [outside_in_time(day, (min(starts), max(ends)))]


def outside(acts: Sequence[Act]) -> str:
    """Return what is said before hits that probably do not answer: the acts that are searched, four at the most by title."""
    codes = all(act.kind == "code" for act in acts)
    counted = number_of(len(acts), _CODES) if codes else number_of(len(acts), _ACTS)
    titles = ", ".join(act.short_title or act.title for act in acts[:_MOST_TITLES])
    if len(acts) > _MOST_TITLES:
        titles = localised("{titles} and {n} more", titles=titles, n=f"{len(acts) - _MOST_TITLES:,}")
    return localised("Probably outside the law that is loaded ({acts}: {titles})", acts=counted, titles=titles)


def described_hits(graph: Graph, retriever: Retriever, hits: Sequence[Hit], query: str) -> list[dict[str, Any]]:
    """Return hits with what a person wants to see of each: number, path of headings, snippet, reasons.

    Args:
        graph: where numbers, headings and texts come from.
        retriever: what found the hits.
        hits: articles, best first; one that another wording than the present answers for says how the text that is shown
            stands to it (`schema.wordings.TextOfDay`).
        query: words that are marked.
    """
    corpus = retriever.index.corpus
    passages = retriever.highlights(query, [hit.id for hit in hits])
    articles: dict[str, Row] = {row["id"]: row for row in graph.rows("articles_by_id", ids=[hit.id for hit in hits])}
    paths = {hit.id: path_on_day(corpus, hit.position, hit.day) for hit in hits}
    sections = sorted({section for path in paths.values() for section in path[1:]})
    headings = {row["id"]: row for row in graph.rows("sections_by_id", ids=sections)} if sections else {}
    acts = {row["id"]: row for row in graph.rows("acts_by_id", ids=sorted({path[0] for path in paths.values()}))}
    wordings: dict[str, list[Row]] = {}
    for wording in graph.rows("wordings", ids=[hit.id for hit in hits]):
        wordings.setdefault(wording["article_id"], []).append(wording)
    described: list[dict[str, Any]] = []
    for rank, hit in enumerate(hits, 1):
        row, others = articles[hit.id], wordings.get(hit.id, [])
        act, *above = paths[hit.id]
        stood = None if hit.day is None else ArticleOnDay.of(row, others, hit.day)
        wording = row if stood is None else stood.shown
        own = passages.get(hit.id) if wording["text"] == row["text"] else None
        shown = own or snippet(wording["text"], query, row["language"])
        described.append(
            {
                "rank": rank,
                "id": hit.id,
                "number": row["number"],
                "score": hit.score,
                "act": act,
                "section": paths[hit.id][-1],
                "path": [acts[act]["title"], *(heading_on_day(headings[section], hit.day) for section in above)],
                "url": article_url(acts[act], row, others),
                "snippet": shown.text,
                "marks": [list(mark) for mark in shown.marks],
                "matched": list(shown.words),
                "places": {name: {"rank": place.rank, "score": place.score} for name, place in hit.places.items()},
                **({} if hit.move is None else {"moved": {"places": hit.move.places, "reasons": hit.move.reasons}}),
                **{name: wording[name] for name in ("valid_from", "valid_to")},
                **({} if stood is None else {"on": stood.day, "text_of_day": stood.state.value}),
            }
        )
    return described


def described_acts(home: Path, graph: Graph, law: str, act: str, **only: Any) -> list[dict[str, Any]]:
    """Return the acts like another (`SimilarActs.similar`) with their titles and dates."""
    hits = SimilarActs(open_act_texts(home, law)).similar(act, **only)
    rows = {row["id"]: row for row in graph.rows("acts_by_id", ids=[hit.id for hit in hits])}
    return [
        {**asdict(hit), "title": rows[hit.id]["title"], "published": rows[hit.id]["published"]} for hit in hits if hit.id in rows
    ]
