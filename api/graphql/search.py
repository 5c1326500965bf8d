"""Search as GraphQL shows it: hits that say why they are there, page by page."""

import time
from collections.abc import Mapping
from dataclasses import astuple
from datetime import date
from typing import Any

import strawberry
from strawberry.dataloader import DataLoader

from api.graphql.arguments import Info
from api.graphql.described import graphql_field, graphql_input, graphql_type
from api.graphql.law import Act, Article, Node, act_of, article_of, section_of
from api.graphql.limits import Budget
from api.graphql.loaders import Reading, awaited
from api.graphql.on_day import section_on_day
from api.graphql.pagination import PageInfo, Window
from api.graphql.wordings import Wording, wording_of_day
from schema.filter import Filter
from schema.wordings import TextOfDay
from search.acts.similar import MOST_ACTS, SimilarAct
from search.in_time.article_on_day import path_on_day
from search.modes import Mode
from search.query.understanding import Understood
from search.ranking.hits import Hit
from search.ranking.reranker import Move as HitMove
from search.text.snippets import Snippet as Passage
from search.text.snippets import snippet

_SEARCH, _SNIPPET = 1000, 150
"""Values that take as long to resolve as one search, and as one snippet."""

strawberry.enum(
    Mode,
    name="SearchMode",
    description=(
        "HYBRID: words and vectors, fused, pooled over the tree of the law. BM25: words alone. VECTOR: embeddings alone. "
        "HIERARCHICAL: embeddings, from the acts down through the sections. The last two need an active model."
    ),
)


@graphql_input
class SearchFilter:
    """Which articles may answer; every condition given must hold."""

    act: strawberry.ID | None = strawberry.field(
        default=None, description="Of this act: its identifier, title, short title or usual abbreviation."
    )
    section: strawberry.ID | None = strawberry.field(
        default=None, description="Anywhere below this section: its identifier, or its parts and its act."
    )
    in_force_on: date | None = strawberry.field(default=None, description="In force on this day (YYYY-MM-DD).")
    kind: str | None = strawberry.field(default=None, description="Of acts of this kind, as `code` or `directive`.")
    jurisdiction: str | None = strawberry.field(default=None, description="Of this jurisdiction, as `fr` or `eu`.")

    across_time: bool = strawberry.field(default=False, description="Every wording the law ever had may answer.")

    def chosen(self) -> Filter:
        """Return the filter of the search."""
        return Filter(self.act, self.section, self.in_force_on, self.kind, self.jurisdiction, self.across_time)


@graphql_type
class Place:
    """The place of an article in one of the lists that an answer was fused from."""

    list_name: str = strawberry.field(
        name="list",
        description=(
            "`citation` (the query names it), `bm25`, `section`, `heading`, `vector`, `questions`, `authority` or "
            "`hierarchical`; of acts, see `SimilarActEdge`."
        ),
    )
    rank: int = strawberry.field(description="From 1, among the articles that pass the filter.")
    score: float


@graphql_type
class Reason:
    """A feature that moved an article when it was reranked."""

    feature: str
    amount: float = strawberry.field(description="What it adds to the article's score, or takes from it.")


@graphql_type
class Move:
    """The move of an article by reranking, and by what puts several sections first."""

    places: int = strawberry.field(description="Up, or down where negative.")
    of_hit: strawberry.Private[HitMove]

    @graphql_field
    def reasons(self) -> list[Reason]:
        """The features that reranking went by most, most first."""
        return [Reason(feature=feature, amount=amount) for feature, amount in self.of_hit.reasons.items()]


@graphql_type
class Mark:
    """A half-open range of code points."""

    start: int
    end: int


@graphql_type
class Snippet:
    """The passage of an article that holds most of the query's words."""

    text: str
    marks: list[Mark] = strawberry.field(description="Where the query's words stand in the passage.")
    words: list[str] = strawberry.field(description="The matched words, each form once.")


@graphql_type
class SearchEdge:
    """An article that answers."""

    cursor: str
    score: float = strawberry.field(description="Comparable within one answer only.")
    node: Article
    places: list[Place] = strawberry.field(description="Why it is here: its place in each list.")
    move: Move | None = strawberry.field(description="By reranking; null where nothing was reranked.")
    query: strawberry.Private[str]
    day: strawberry.Private[date | None]
    highlights: strawberry.Private[DataLoader[str, Passage | None] | None]
    budget: strawberry.Private[Budget]

    @graphql_field
    async def text_of_day(self, info: Info) -> TextOfDay | None:
        """Relation of the article's text to that of the filter's `inForceOn`; null without one."""
        return None if self.day is None else (await wording_of_day(info.context, self.node.id, self.day)).state

    @graphql_field
    async def text(self, info: Info) -> str | None:
        """The text that is shown: of the filter's day where that is known, else today's, as `textOfDay` says."""
        return (await self._shown(info.context)).text

    @graphql_field
    async def in_force_from(self, info: Info) -> date | None:
        """First day of the wording that is shown; null where it is not known."""
        return (await self._shown(info.context)).valid_from

    @graphql_field
    async def in_force_to(self, info: Info) -> date | None:
        """First day on which the wording that is shown was no longer in force; null while no end is known."""
        return (await self._shown(info.context)).valid_to

    @graphql_field
    async def path(self, info: Info) -> list[Node]:
        """The act and the sections above the article, from the act down: those that it stood in on the filter's day."""
        corpus = info.context.snapshot.corpus
        act, *sections = path_on_day(corpus, corpus.article_position[self.node.id], self.day)
        rows = await info.context.sections.load_many(sections)
        above = [section_of(section_on_day(row, self.day)) for row in rows if row is not None]
        return [act_of(await info.context.acts.load(act)), *above]

    async def _shown(self, reading: Reading) -> Article | Wording:
        """Return the wording that is shown: that of the day, where its text is known, else the article's own."""
        found = None if self.day is None else (await wording_of_day(reading, self.node.id, self.day)).wording
        return self.node if found is None or found.text is None else found

    @graphql_field
    def snippet(self, info: Info) -> Snippet | None:
        """Passage that shows why the article answers: of the text of the filter's day, where that is known."""
        if self.day is None and self.highlights is None:
            return self._snippet(self.node.text, None)
        return awaited(self._marked(info.context))

    async def _marked(self, reading: Reading) -> Snippet | None:
        """Return the passage as the text index marks it, or of the wording of a day."""
        text = (await self._shown(reading)).text
        marked = None if self.highlights is None or text != self.node.text else await self.highlights.load(self.node.id)
        return self._snippet(text, marked)

    def _snippet(self, text: str | None, found: Passage | None) -> Snippet | None:
        """Return a passage that was found, or one cut from a text."""
        if found is None:
            if text is None or self.node.language is None:  # while the graph is away (`api.graphql.degraded`)
                return None
            self.budget.spend(_SNIPPET)
            found = snippet(text, self.query, self.node.language)
        return Snippet(text=found.text, marks=[Mark(start=s, end=e) for s, e in found.marks], words=list(found.words))


@graphql_type
class MissingArticle:
    """Words of the query that cite what the law does not have."""

    text: str = strawberry.field(description="The words.")
    message: str = strawberry.field(description="What a person is told of them.")
    nearest: list[Article] = strawberry.field(description="Articles with the nearest numbers; none where the act is lacking.")


@graphql_type
class SearchConnection:
    """A page of articles that answer, best first."""

    edges: list[SearchEdge]
    page_info: PageInfo
    took_ms: float = strawberry.field(description="Time that the retrieval took, in milliseconds.")
    model: str | None = strawberry.field(description="Identifier of the active model version; null where none is.")
    degraded: list[str] = strawberry.field(
        description="What could not be asked: `text` (the text index), `vectors` (vector search); the others rank alone."
    )
    corrected_query: str | None = strawberry.field(description="The query as it was searched, where words were misspelt.")
    query_language: str | None = strawberry.field(
        description="ISO 639-1 code of the language that the query is in, where that is clear and the law is in others."
    )
    translated_query: str | None = strawberry.field(
        description="The terms of the law that were searched in place of a query in another language, where the model has them."
    )
    named: list[strawberry.ID] = strawberry.field(description="Identifiers of the articles that the query names: the first hits.")
    missing: list[MissingArticle] = strawberry.field(description="What the query names and the law does not have.")
    confidence: float | None = strawberry.field(
        description="Probability, from 0 to 1, that the law that is loaded has the answer; 1 where the query names articles "
        "of it. Null where it is not known: with a filter, in another mode than HYBRID, while a server is away, where the "
        "query is in another language, and where the active model has not learnt it."
    )
    probably_outside: bool | None = strawberry.field(
        description="True where `confidence` is so low that the answer is probably not in the law that is loaded."
    )


async def answer(
    reading: Reading, query: str, mode: Mode, condition: SearchFilter | None, first: int, after: str | None, pooled: bool
) -> SearchConnection:
    """Return the page of articles that answer a query.

    Raises:
        BadQuery: the query is empty or too long, `first` is out of bounds, `after` is no cursor of this search.
        NotFound: the filter names no act or section.
        NotReady: the mode needs a model, and none is active.
        ServerUnavailable, QueryTimeout: neither the text index nor vector search answers.
    """
    only = Filter() if condition is None else condition.chosen()
    window = Window.of(["search", query.strip(), mode.value, *astuple(only), pooled], first, after, reading.settings.max_page)
    reading.budget.spend(_SEARCH)
    began, search = time.perf_counter(), reading.snapshot.retriever.search
    hits = search(query, mode, filter=only, first=window.first + 1, offset=window.offset, pooled=pooled)
    took_ms = (time.perf_counter() - began) * 1000
    reading.lost.update(hits.degraded)
    page, words = window.page(hits), hits.understood.words or query
    rows = await reading.articles_of([hit.id for _, hit in page.items])
    highlights = reading.highlights(words)
    edges = [
        SearchEdge(
            cursor=cursor,
            score=hit.score,
            node=article_of(row),
            places=_places(hit),
            move=_move(hit),
            query=words,
            day=hit.day,
            highlights=highlights,
            budget=reading.budget,
        )
        for (cursor, hit), row in zip(page.items, rows, strict=True)
        if row is not None  # gone from a server's graph, where newer law is being loaded
    ]
    return SearchConnection(
        edges=edges,
        page_info=page.info,
        took_ms=took_ms,
        model=reading.snapshot.model_id,
        degraded=list(hits.degraded),
        corrected_query=hits.understood.corrected,
        query_language=hits.understood.language,
        translated_query=hits.understood.words if hits.understood.translated else None,
        named=[strawberry.ID(reading.snapshot.corpus.articles[position]) for position in hits.understood.named],
        missing=await _missing(reading, hits.understood),
        confidence=hits.confidence,
        probably_outside=hits.probably_outside,
    )


async def _missing(reading: Reading, understood: Understood) -> list[MissingArticle]:
    found: list[MissingArticle] = []
    for one in understood.missing:
        rows = await reading.articles.load_many(list(one.nearest))
        nearest = [article_of(row) for row in rows if row is not None]
        found.append(MissingArticle(text=one.text, message=one.said, nearest=nearest))
    return found


def _move(hit: Hit) -> Move | None:
    return None if hit.move is None else Move(places=hit.move.places, of_hit=hit.move)


def _places(hit: Hit | SimilarAct) -> list[Place]:
    return [Place(list_name=name, rank=place.rank, score=place.score) for name, place in hit.places.items()]


@graphql_type
class SimilarActEdge:
    """An act that is much like another."""

    cursor: str
    node: Act
    score: float = strawberry.field(description="Comparable within one answer only.")
    places: list[Place] = strawberry.field(
        description="Why it is here: its place in each list; `lead-title` holds the lead of the act that was asked about "
        "against the titles of the others."
    )


@graphql_type
class SimilarActConnection:
    """A page of acts that are much like another, most like it first."""

    edges: list[SimilarActEdge]
    page_info: PageInfo
    total_count: int


async def similar_acts(reading: Reading, id: str, only: Mapping[str, Any], first: int, after: str | None) -> SimilarActConnection:
    """Return a page of the acts most like one, best first, of those that ``only`` lets pass (`SimilarActs.similar`).

    Raises:
        BadQuery: ``first`` is out of bounds, ``after`` is no cursor of this list, or a number of years is negative.
        NotFound: there is no such act.
        NotReady: the acts of this law are not indexed.
    """
    window = Window.of(["similarActs", id, *only.values()], first, after, reading.settings.max_page)
    reading.budget.spend(_SEARCH)
    act = reading.snapshot.retriever.understanding.names.resolve(id)
    hits = reading.snapshot.similar_acts.similar(act, first=MOST_ACTS, **only)
    page = window.page_of_all(hits)
    rows = await reading.acts.load_many([hit.id for _, hit in page.items])
    edges = [
        SimilarActEdge(cursor=cursor, node=act_of(row), score=hit.score, places=_places(hit))
        for (cursor, hit), row in zip(page.items, rows, strict=True)
        if row is not None  # gone from a server's graph, where newer law is being loaded
    ]
    return SimilarActConnection(edges=edges, page_info=page.info, total_count=len(hits))
