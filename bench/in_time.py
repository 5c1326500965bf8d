"""Retrieval on a day, on questions that the law itself asks: words that a wording has and its neighbours in time have not.

A part of `bench.history`. Of each of a thousand
wordings, drawn by a fixed seed, the question is the words that say something and stand neither in the wording before it nor in
the one after it, rarest first; the day lies in the middle of its days; right is that wording of that article. Half of them are
for development.
"""

import random
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from cypher.engines.ladybug import open_graph
from cypher.graph import Graph, Row
from schema.errors import NotReady
from schema.filter import Filter
from search.in_time.article_on_day import ArticleOnDay
from search.modes import Mode
from search.ranking.hits import Hits
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from search.text.vocabulary import words_of

QUESTIONS = 1000
FEWEST, MOST = 5, 8
"""Words of a question."""
SEED = 14
_FIRST_DAY, _LAST_DAY = date(1804, 1, 1), date(2026, 1, 1)
_HITS = 10
_LANGUAGE = "fr"
EXPLAINED = {
    "questions": "wordings that are asked for, those of test",
    "on_day_recall": "on the day: R@10, percent",
    "on_day_right": "on the day: hits on the article that show the right wording, percent",
    "present_recall": "without a day: R@10, percent",
    "present_right": "without a day: hits on the article that show the right wording, percent",
    "across_recall": "over all wordings: R@10, percent",
    "across_right": "over all wordings: hits on the article that show the right wording, percent",
    "search_ms": "a search without a day, median",
    "search_on_day_ms": "a search on a day that was asked about before, median",
    "search_on_new_day_ms": "a search on a day that nobody asked about yet, median",
    "search_across_ms": "a search over all wordings, median",
}


@dataclass(frozen=True, slots=True)
class InTime:
    """A question with a day, and the wording that answers it."""

    text: str
    day: date
    article: str
    wording: str


def questions(graph: Graph, count: int = QUESTIONS, seed: int = SEED) -> list[InTime]:
    """Return questions that a history of law asks, the same each time; the first half is for development.

    Raises:
        NotReady: the graph has no wordings with texts.
    """
    rows = {row["id"]: row for row in graph.rows("corpus_articles")}
    others: defaultdict[str, list[Row]] = defaultdict(list)
    for row in graph.rows("corpus_wordings"):
        if row["text"]:
            others[row["article_id"]].append(row)
    if not others:
        raise NotReady("no law with its history is loaded: run `lexgraph ingest` with a repository of law-as-git")
    frequency = Counter(word for row in rows.values() for word in words_of([row["text"]]))
    asked: list[InTime] = []
    for id in sorted(others):
        wordings = sorted([rows[id], *others[id]], key=lambda row: row["valid_from"] or date.min)
        counted = [words_of([row["text"]]) for row in wordings]
        for i, row in enumerate(wordings):
            beside = counted[max(i - 1, 0)] if i else Counter[str]()
            after = counted[i + 1] if i + 1 < len(wordings) else Counter[str]()
            own = sorted(
                (w for w in counted[i] if w not in beside and w not in after and len(w) > 2), key=lambda w: (frequency[w], w)
            )
            day = _middle(row["valid_from"], row["valid_to"])
            if len(own) >= FEWEST and len(wordings) > 1 and day is not None:
                asked.append(InTime(" ".join(own[:MOST]), day, id, row["text"]))
    return random.Random(seed).sample(asked, min(count, len(asked)))


def _middle(start: date | None, end: date | None) -> date | None:
    """Return the day in the middle of a wording's days; None where it was in force on none that is past."""
    first, last = max(start or _FIRST_DAY, _FIRST_DAY), min(end or _LAST_DAY, _LAST_DAY)
    return first + timedelta(days=(last - first).days // 2) if first < last else None


def measured(home: Path, *, development: bool = False) -> dict[str, float]:
    """Return the figures of `EXPLAINED` for an indexed history of law, on the half for test, or for development."""
    with open_graph(home) as graph:
        index = open_text_index(home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
        retriever = Retriever(index, None)
        asked = questions(graph)
        asked = asked[: len(asked) // 2] if development else asked[len(asked) // 2 :]
        texts = _texts(graph, asked)
        figures: dict[str, float] = {"questions": len(asked)}
        for name in ("present", "on_day", "across"):
            figures |= _judged(retriever, texts, asked, name)
    figures["search_on_new_day_ms"] = figures.pop("on_day_ms")
    figures["search_across_ms"], figures["search_ms"] = figures.pop("across_ms"), figures.pop("present_ms")
    one_day = Filter(in_force_on=date(2015, 1, 1))
    retriever.search(asked[0].text, filter=one_day)
    figures["search_on_day_ms"] = float(np.median([_milliseconds(retriever, question.text, one_day)[0] for question in asked]))
    return figures


def _filter(name: str, question: InTime) -> Filter:
    if name == "on_day":
        return Filter(in_force_on=question.day)
    return Filter(across_time=name == "across")


def _judged(retriever: Retriever, texts: "Texts", asked: Sequence[InTime], name: str) -> dict[str, float]:
    """Return recall at ten in percent, the share of these hits with the right wording, and the median milliseconds."""
    found: list[bool] = []
    right: list[bool] = []
    times: list[float] = []
    for question in asked:
        took, hits = _milliseconds(retriever, question.text, _filter(name, question))
        hit = next((hit for hit in hits if hit.id == question.article), None)
        shown = None if hit is None else texts.shown(hit.id, hit.day)
        found.append(shown == question.wording)
        if hit is not None:
            right.append(shown == question.wording)
        times.append(took)
    return {
        f"{name}_recall": 100 * float(np.mean(found)),
        f"{name}_right": 100 * float(np.mean(right)) if right else 0.0,
        f"{name}_ms": float(np.median(times)),
    }


class Texts:
    """The texts of articles on any day, as readers see them."""

    def __init__(self, articles: Sequence[Row], wordings: Sequence[Row]) -> None:
        self._articles = {row["id"]: row for row in articles}
        self._wordings: defaultdict[str, list[Row]] = defaultdict(list)
        for row in wordings:
            self._wordings[row["article_id"]].append(row)

    def shown(self, article: str, day: date | None) -> str | None:
        """Return the text that is shown of an article; None where that of the day is not known."""
        row, others = self._articles[article], self._wordings[article]
        return row["text"] if day is None else ArticleOnDay.of(row, others, day).text


def _texts(graph: Graph, asked: Sequence[InTime]) -> Texts:
    ids = sorted({question.article for question in asked})
    return Texts(graph.rows("articles_by_id", ids=ids), graph.rows("wordings", ids=ids))


def _milliseconds(retriever: Retriever, text: str, only: Filter) -> tuple[float, Hits]:
    began = time.perf_counter()
    hits = retriever.search(text, Mode.HYBRID, filter=only, first=_HITS)
    return 1000 * (time.perf_counter() - began), hits
