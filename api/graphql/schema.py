"""The GraphQL schema."""

import logging
from typing import Annotated, Any

import strawberry
from graphql import GraphQLError
from graphql.validation import MaxIntrospectionDepthRule
from strawberry.extensions import AddValidationRules, MaxTokensLimiter, SchemaExtension
from strawberry.types.execution import ExecutionContext

from api.graphql.described import graphql_field, graphql_type
from api.graphql.law import Act, After, Article, First, Info, Node, Section, act_of, article_of, node_of
from api.graphql.limits import Limits, PlainErrors, SelectionLimiter, cause
from api.graphql.loaders import Reading
from api.graphql.pagination import DEFAULT_PAGE
from api.graphql.search import SearchConnection, SearchFilter, SimilarAct, answer, similar_acts
from schema.errors import BadQuery, LexgraphError
from schema.identifiers import MAX_LENGTH, normal_number
from search.modes import Mode

_LOG = logging.getLogger(__name__)
MOST_ACTS = 1000
"""Acts that one field gives."""
Number = Annotated[str, strawberry.argument(description='As it is cited: "L. 1234-9" and "L1234-9" are the same.')]


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
        first: Annotated[int, strawberry.argument(description="At most so many, from 1 to 1000.")] = 100,
        offset: Annotated[int, strawberry.argument(description="Acts that are passed over.")] = 0,
    ) -> list[Act]:
        """Acts, by identifier: of a jurisdiction, of a kind."""
        if not 1 <= first <= MOST_ACTS or offset < 0:
            raise BadQuery(f"not a page: {first} acts from {offset} on; at most {MOST_ACTS} at once")
        corpus = info.context.snapshot.corpus
        found = [
            id
            for id, of_kind, of_jurisdiction in zip(corpus.acts, corpus.kinds, corpus.jurisdictions, strict=True)
            if kind in (None, of_kind) and jurisdiction in (None, of_jurisdiction)
        ]
        rows = await info.context.acts.load_many(found[offset : offset + first])
        return [act_of(row) for row in rows if row is not None]

    @graphql_field
    async def similar_acts(
        self,
        info: Info,
        id: strawberry.ID,
        jurisdiction: Annotated[str | None, strawberry.argument(description="Only acts of this one.")] = None,
        kind: Annotated[str | None, strawberry.argument(description="Only acts of this one, e.g. `directive`.")] = None,
        first: First = DEFAULT_PAGE,
        years_before: Annotated[
            float | None, strawberry.argument(description="At most so many years older than the act.")
        ] = None,
        years_after: Annotated[
            float | None, strawberry.argument(description="At most so many years younger than the act.")
        ] = None,
    ) -> list[SimilarAct]:
        """Acts most like one, best first: those that may transpose a directive, and those that an act may transpose.

        Numbers and relations that the graph holds are not looked at.
        """
        return await similar_acts(info.context, id, jurisdiction, kind, first, years_before, years_after)

    @graphql_field
    async def section(self, info: Info, id: strawberry.ID) -> Section | None:
        """Section of an identifier; null where there is none."""
        found = await node_of(info.context, id)
        return found if isinstance(found, Section) else None

    @graphql_field
    async def article(self, info: Info, act: strawberry.ID, number: Number) -> Article | None:
        """Article of an act by its number; the first in reading order where several share it."""
        found = await _numbered(info.context, act, number)
        return found[0] if found else None

    @graphql_field
    async def articles(self, info: Info, act: strawberry.ID, number: Number) -> list[Article]:
        """All articles of an act that share a number, in reading order (annexes do)."""
        return await _numbered(info.context, act, number)

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
    ) -> SearchConnection:
        """Articles that answer a question or match words, best first; the first 1,000 can be reached."""
        return await answer(info.context, query, mode, filter, first, after, pooled)


async def _numbered(reading: Reading, act: str, number: str) -> list[Article]:
    """Return the articles of an act that have a number, in reading order."""
    wanted = normal_number(number)
    candidates = reading.snapshot.numbered.get(f"{act}/{wanted}"[: MAX_LENGTH - 17], [])
    rows = [row for row in await reading.articles.load_many(candidates) if row is not None and row["act_id"] == act]
    # While the graph is away a number may not be known; what the identifier says of it is.
    return [article_of(row) for row in rows if row["number"] is None or normal_number(row["number"]) == wanted]


class Lacking(SchemaExtension):
    """Says in the answer's extensions what could not be asked for it: `{"degraded": ["graph", "text", "vectors"]}`."""

    def get_results(self) -> dict[str, Any]:
        """Return the names of what is away; nothing where all answered."""
        reading = self.execution_context.context
        return {"degraded": sorted(reading.lost)} if isinstance(reading, Reading) and reading.lost else {}


class LawSchema(strawberry.Schema):
    """The schema, which logs what nobody expected and nothing else."""

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
        extensions=[
            PlainErrors,
            Lacking,
            lambda: MaxTokensLimiter(max_token_count=limits.tokens),
            lambda: SelectionLimiter(limits),
            lambda: AddValidationRules([MaxIntrospectionDepthRule]),
        ],
    )
