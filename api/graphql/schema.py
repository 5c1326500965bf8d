"""The GraphQL schema."""

import logging
from typing import Annotated, Any

import strawberry
from graphql import GraphQLError
from graphql.validation import MaxIntrospectionDepthRule
from strawberry.extensions import AddValidationRules, MaxTokensLimiter, SchemaExtension
from strawberry.types.execution import ExecutionContext, ExecutionResult, PreExecutionError

from api.graphql.arguments import After, First, From, Info, KnownOn, Number, To
from api.graphql.changes import ChangeConnection, changes_of
from api.graphql.described import graphql_field, graphql_type
from api.graphql.errors import cause, coded
from api.graphql.law import Act, Article, Node, Section, act_of, article_of, node_of
from api.graphql.limits import KnownDocuments, Limits, MeasuredExecution, SelectionLimiter
from api.graphql.loaders import Reading
from api.graphql.pagination import DEFAULT_PAGE, Connection, Window, connection
from api.graphql.search import SearchConnection, SearchFilter, SimilarActConnection, answer, similar_acts
from api.graphql.sources import Source, sources_of
from api.graphql.wordings import Difference, difference_between
from citations.resolve import loose_number
from schema.errors import LexgraphError, NotFound
from search.modes import Mode

_LOG = logging.getLogger(__name__)


@graphql_type
class Query:
    """The questions that can be asked."""

    @graphql_field
    async def node(self, info: Info, id: strawberry.ID) -> Node | None:
        """Whatever an identifier names; null where it names nothing."""
        return await node_of(info.context, id)

    @graphql_field
    async def act(self, info: Info, id: strawberry.ID) -> Act | None:
        """Act of an identifier; null where there is none."""
        found = await node_of(info.context, id)
        return found if isinstance(found, Act) else None

    @graphql_field
    async def acts(
        self,
        info: Info,
        jurisdiction: str | None = None,
        kind: str | None = None,
        first: First = DEFAULT_PAGE,
        after: After = None,
    ) -> Connection[Act] | None:
        """Acts, by identifier: of a jurisdiction, of a kind."""
        window = Window.of(["acts", jurisdiction, kind], first, after, info.context.settings.max_page)
        corpus = info.context.snapshot.corpus
        found = [
            id
            for id, of_kind, of_jurisdiction in zip(corpus.acts, corpus.kinds, corpus.jurisdictions, strict=True)
            if kind in (None, of_kind) and jurisdiction in (None, of_jurisdiction)
        ]
        page = window.page_of_all(found)
        rows = await info.context.acts.load_many([id for _, id in page.items])
        return connection(page, [None if row is None else act_of(row) for row in rows], len(found))

    @graphql_field
    async def similar_acts(  # noqa: PLR0913 (arguments of the field)
        self,
        info: Info,
        id: strawberry.ID,
        jurisdiction: Annotated[str | None, strawberry.argument(description="Only acts of this one.")] = None,
        kind: Annotated[str | None, strawberry.argument(description="Only acts of this one, e.g. `directive`.")] = None,
        first: First = DEFAULT_PAGE,
        after: After = None,
        years_before: Annotated[
            float | None, strawberry.argument(description="At most so many years older than the act.")
        ] = None,
        years_after: Annotated[
            float | None, strawberry.argument(description="At most so many years younger than the act.")
        ] = None,
    ) -> SimilarActConnection | None:
        """Acts most like one, best first: those that may transpose a directive, and those that an act may transpose.

        The act is named by identifier, title or abbreviation.

        Numbers and relations that the graph holds are not looked at.
        """
        only = {"jurisdiction": jurisdiction, "kind": kind, "years_before": years_before, "years_after": years_after}
        return await similar_acts(info.context, id, only, first, after)

    @graphql_field
    async def section(self, info: Info, id: strawberry.ID) -> Section | None:
        """Section of an identifier; null where there is none."""
        found = await node_of(info.context, id)
        return found if isinstance(found, Section) else None

    @graphql_field
    async def article(self, info: Info, act: strawberry.ID, number: Number) -> Article | None:
        """Article of an act, named by identifier, title or abbreviation, by its number; the first where several share it."""
        found = await _numbered(info.context, act, number)
        return found[0] if found else None

    @graphql_field
    async def articles(
        self, info: Info, act: strawberry.ID, number: Number, first: First = DEFAULT_PAGE, after: After = None
    ) -> Connection[Article] | None:
        """All articles of an act, named likewise, that share a number, in reading order (annexes do)."""
        window = Window.of(["articles", act, number], first, after, info.context.settings.max_page)
        found = await _numbered(info.context, act, number)
        page = window.page_of_all(found)
        return connection(page, [article for _, article in page.items], len(found))

    @graphql_field
    async def sources(self, info: Info) -> list[Source] | None:
        """Places that the law is loaded from, by name, and how current each is."""
        return sources_of(info.context)

    @graphql_field
    async def difference(
        self, info: Info, article: strawberry.ID, start: From, end: To, known_on: KnownOn = None
    ) -> Difference | None:
        """Difference between the wordings of an article on two days, word by word; null where there is no such article."""
        known = article in info.context.snapshot.corpus.article_position
        return await difference_between(info.context, article, (start, end), known_on) if known else None

    @graphql_field
    async def changes(
        self, info: Info, act: strawberry.ID, start: From, end: To, first: First = DEFAULT_PAGE, after: After = None
    ) -> ChangeConnection | None:
        """Articles of an act that are new, reworded, renumbered or repealed between two days.

        The act is named by identifier, title or abbreviation.
        """
        return await changes_of(info.context, act, (start, end), first, after)

    @graphql_field
    async def search(
        self,
        info: Info,
        query: Annotated[str, strawberry.argument(description="A question or words, in the language of the law.")],
        mode: Mode = Mode.HYBRID,
        filter: SearchFilter | None = None,
        first: First = DEFAULT_PAGE,
        after: After = None,
        pooled: Annotated[
            bool, strawberry.argument(description="HYBRID: whether an article shares in what its section scores.")
        ] = True,
    ) -> SearchConnection | None:
        """Articles that answer a question or match words, best first; the first 1,000 can be reached."""
        return await answer(info.context, query, mode, filter, first, after, pooled)


async def _numbered(reading: Reading, act: str, number: str) -> list[Article]:
    """Return the articles of an act that have a number, in reading order; the act by its identifier or its name."""
    wanted = loose_number(number)
    understanding = reading.snapshot.retriever.understanding
    try:
        act = understanding.names.resolve(act)
    except NotFound:
        return []
    candidates = understanding.numbers.in_act(act, number)
    rows = [row for row in await reading.articles.load_many(candidates) if row is not None and row["act_id"] == act]
    # While the graph is away a number may not be known; what the identifier says of it is.
    return [article_of(row) for row in rows if row["number"] is None or loose_number(row["number"]) == wanted]


class Lacking(SchemaExtension):
    """Says in the answer's extensions what could not be asked for it: `{"degraded": ["graph", "text", "vectors"]}`."""

    def get_results(self) -> dict[str, Any]:
        """Return the names of what is away; nothing where all answered."""
        reading = self.execution_context.context
        return {"degraded": sorted(reading.lost)} if isinstance(reading, Reading) and reading.lost else {}


class LawSchema(strawberry.Schema):
    """The schema: every error of an answer has a code; what nobody expected is logged, and nothing else."""

    async def execute(self, *args: Any, **kwargs: Any) -> ExecutionResult:
        """Answer a query; one that asks for too much, or takes too long, has one error and no data."""
        result = await super().execute(*args, **kwargs)
        reading = kwargs.get("context_value")
        if isinstance(reading, Reading):
            reading.refused = isinstance(result, PreExecutionError)
            if reading.budget.error is not None:
                return ExecutionResult(data=None, errors=[coded(GraphQLError("", original_error=reading.budget.error))])
        if result.errors:
            result.errors = [coded(error) for error in result.errors]
        return result

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log errors that are this program's own, with where they came from."""
        for error in errors:
            own = cause(error)
            if own is not None and not isinstance(own, LexgraphError):
                _LOG.error("a query failed at %s", error.path, exc_info=own)


def make_schema(limits: Limits) -> LawSchema:
    """Return the schema, with its protections."""
    return LawSchema(
        query=Query,
        types=[Act, Section, Article],
        execution_context_class=MeasuredExecution,
        extensions=[
            Lacking,
            lambda: MaxTokensLimiter(max_token_count=limits.tokens),
            KnownDocuments,
            lambda: AddValidationRules([MaxIntrospectionDepthRule]),
            lambda: SelectionLimiter(limits),
        ],
    )
