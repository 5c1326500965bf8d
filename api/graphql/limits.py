"""Protections of the schema: limits to what a query asks for, and to what its answer holds."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLInterfaceType,
    GraphQLObjectType,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
)
from graphql.pyutils import Path
from strawberry.extensions import ParserCache, ValidationCache
from strawberry.schema.base import BaseSchema
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from api.graphql.pagination import DEFAULT_PAGE
from runtime.deadline import overdue
from schema.errors import LexgraphError, QueryTimeout, TooLarge

_UNPAGED = {"ancestors": 5, "path": 5, "spans": 50}
"""Rough lengths of the lists that have no pages: the tree of the law is only so deep, a wording has only so many changes."""
_LONGEST_KEPT = 20_000
"""Characters of a document that is kept parsed and validated."""
_MARGIN = {"edges"}
"""Fields that repeat the items of their parent; they count once."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits to one request.

    Attributes:
        body_bytes: length of the HTTP body.
        tokens: words and brackets of the query.
        depth: levels of fields below each other, outside introspection.
        aliases: fields with another name.
        objects: objects that the answer can hold, reckoned from `first`.
        values: fields of all objects that the answer does hold; fifty thousand take half a second.
        body_s: seconds that the client may take to send the body.
    """

    body_bytes: int = 1 << 20
    tokens: int = 1000
    depth: int = 12
    aliases: int = 30
    objects: int = 50_000
    values: int = 50_000
    body_s: float = 10.0


@dataclass(frozen=True, slots=True)
class _Size:
    depth: int = 0
    aliases: int = 0
    objects: float = 0


class _Measure:
    """Sizes of the selections of a document; each fragment is measured once, however often it is spread."""

    def __init__(self, document: DocumentNode, variables: Mapping[str, Any], paged: Collection[str]) -> None:
        self._paged = paged
        self._fragments = {d.name.value: d for d in document.definitions if isinstance(d, FragmentDefinitionNode)}
        self._variables = variables
        self._defaults: dict[str, object] = {}
        self._measured: dict[str, _Size] = {}

    def operation(self, operation: OperationDefinitionNode) -> _Size:
        self._defaults = {d.variable.name.value: d.default_value for d in operation.variable_definitions or ()}
        self._measured.clear()
        return self._selections(operation.selection_set)

    def _selections(self, selected: SelectionSetNode) -> _Size:
        depth, aliases, objects = 0, 0, 0.0
        for selection in selected.selections:
            if isinstance(selection, FieldNode):
                size = self._field(selection)
            elif isinstance(selection, InlineFragmentNode):
                size = self._selections(selection.selection_set)
            elif isinstance(selection, FragmentSpreadNode):
                size = self._fragment(selection.name.value)
            else:
                size = _Size()
            depth, aliases, objects = max(depth, size.depth), aliases + size.aliases, objects + size.objects
        return _Size(depth, aliases, objects)

    def _fragment(self, name: str) -> _Size:
        if name not in self._measured:
            self._measured[name] = _Size()  # a fragment that holds itself is refused by GraphQL's own rules
            fragment = self._fragments.get(name)
            if fragment is not None:
                self._measured[name] = self._selections(fragment.selection_set)
        return self._measured[name]

    def _field(self, field: FieldNode) -> _Size:
        aliases = 1 if field.alias else 0
        if field.selection_set is None:
            return _Size(0, aliases, 0)
        name = field.name.value
        inner = self._selections(field.selection_set)
        # The tree of __schema is as deep as it is; how often it may turn back on itself is checked by a rule of its own.
        depth = 0 if name.startswith("__") else 1 + inner.depth
        length = self._length(field) if name in self._paged else _UNPAGED.get(name, 1)
        return _Size(depth, aliases + inner.aliases, length * ((name not in _MARGIN) + inner.objects))

    def _length(self, field: FieldNode) -> int:
        given: object = next((a.value for a in field.arguments or () if a.name.value == "first"), None)
        if isinstance(given, VariableNode):
            name = given.name.value
            given = self._variables[name] if name in self._variables else self._defaults.get(name)
        if isinstance(given, IntValueNode):
            given = int(given.value)
        # Out of bounds or no number: it is refused later, with a message of its own.
        return max(1, min(given, 1000)) if isinstance(given, int) else DEFAULT_PAGE


@cache
def _paged(schema: BaseSchema) -> frozenset[str]:
    """Return the names of the fields that give pages."""
    types = schema._schema.type_map.values()  # pyright: ignore[reportAttributeAccessIssue]  # strawberry has no other way
    fields = [
        item for kind in types if isinstance(kind, GraphQLObjectType | GraphQLInterfaceType) for item in kind.fields.items()
    ]
    return frozenset(name for name, field in fields if get_named_type(field.type).name.endswith("Connection"))


class KnownDocuments(ParserCache):
    """Parses a document that came before only once; one of unusual length is not kept."""

    def on_parse(self) -> Iterator[None]:
        """Parse, or find what was parsed before."""
        if _is_kept(self.execution_context.query):
            yield from super().on_parse()
        else:
            yield


class SelectionLimiter(ValidationCache):
    """Refuses queries that are too deep, have too many aliases, or could bring too many objects; validates each document once."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self._limits = limits

    def on_validate(self) -> Iterator[None]:
        """Measure before anything else walks the query, as some of GraphQL's own rules take long over large ones."""
        context = self.execution_context
        problems: list[GraphQLError] = []
        if context.graphql_document is not None:
            measure = _Measure(context.graphql_document, context.variables or {}, _paged(context.schema))
            for definition in context.graphql_document.definitions:
                if isinstance(definition, OperationDefinitionNode):
                    problem = self._problem(measure.operation(definition))
                    if problem:
                        problems.append(GraphQLError(problem, extensions={"code": TooLarge.__name__}))
        if problems:
            context.pre_execution_errors = problems
            yield
        elif _is_kept(context.query):
            yield from super().on_validate()
        else:
            yield

    def _problem(self, size: _Size) -> str | None:
        limits = self._limits
        if size.depth > limits.depth:
            return f"the query is {size.depth} levels deep; at most {limits.depth} are answered"
        if size.aliases > limits.aliases:
            return f"the query has {size.aliases:,} aliases; at most {limits.aliases} are answered"
        if size.objects > limits.objects:
            reckoned = "very many" if math.isinf(size.objects) or size.objects > 1e9 else f"{size.objects:,.0f}"
            return f"the query could bring {reckoned} objects, at most {limits.objects:,} are answered: ask for smaller pages"
        return None


def _is_kept(query: str | None) -> bool:
    return query is not None and len(query) <= _LONGEST_KEPT


class MeasuredExecution(StrawberryGraphQLCoreExecutionContext):
    """Execution that counts what it resolves, and ends when that is too much or takes too long."""

    def execute_fields(
        self,
        parent_type: GraphQLObjectType,
        source_value: Any,
        path: Path | None,
        grouped_field_set: Any,
        position_context: Any,
    ) -> Any:
        """Resolve the fields of one object."""
        self.context_value.budget.spend(len(grouped_field_set))
        return super().execute_fields(parent_type, source_value, path, grouped_field_set, position_context)


class Budget:
    """The values that one answer may still hold.

    Attributes:
        error: why the answer was given up; None as long as it is not.
    """

    def __init__(self, values: int) -> None:
        self._most = values
        self._spent = 0
        self.error: LexgraphError | None = None

    def spend(self, values: int) -> None:
        """Count values of the answer.

        Raises:
            TooLarge: there are more than may be.
            QueryTimeout: the time of the request has run out.
        """
        self._spent += values
        if self._spent > self._most:
            self.error = TooLarge(f"the answer has more than {self._most:,} values: ask for smaller pages")
        elif overdue():
            self.error = QueryTimeout("the request took too long (LEXGRAPH_REQUEST_TIMEOUT_S)")
        if self.error is not None:
            raise self.error
