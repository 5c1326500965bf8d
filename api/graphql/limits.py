"""Protections of the server: limits to a request and to what a query can bring, and plain errors."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    InlineFragmentNode,
    IntValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
)
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from strawberry.extensions import MaskErrors, SchemaExtension

from api.graphql.pagination import DEFAULT_PAGE
from schema.errors import LexgraphError

_PAGED = {"search", "contents", "cites", "citedBy", "similarActs"}
_TYPICAL_LENGTH = {"siblings": 20, "ancestors": 5, "acts": 10, "relations": 5, "relatedBy": 20, "versions": 3, "wordings": 3}
"""Rough lengths of the lists that have no pages."""
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
        objects: objects that the answer can hold, reckoned from `first` and from typical lengths.
    """

    body_bytes: int = 1 << 20
    tokens: int = 1000
    depth: int = 12
    aliases: int = 30
    objects: int = 50_000


@dataclass(frozen=True, slots=True)
class _Size:
    depth: int = 0
    aliases: int = 0
    objects: float = 0


class _Measure:
    """Sizes of the selections of a document; each fragment is measured once, however often it is spread."""

    def __init__(self, document: DocumentNode, variables: Mapping[str, Any]) -> None:
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
        length = self._length(field) if name in _PAGED else _TYPICAL_LENGTH.get(name, 1)
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


class SelectionLimiter(SchemaExtension):
    """Refuses queries that are too deep, have too many aliases, or could bring too many objects."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def on_validate(self) -> Iterator[None]:
        """Measure before anything else walks the query, as some of GraphQL's own rules take long over large ones."""
        context = self.execution_context
        if context.graphql_document is not None:
            measure = _Measure(context.graphql_document, context.variables or {})
            for definition in context.graphql_document.definitions:
                if isinstance(definition, OperationDefinitionNode):
                    problem = self._problem(measure.operation(definition))
                    if problem:
                        context.pre_execution_errors = [GraphQLError(problem, extensions={"code": "TooLarge"})]
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


def cause(error: GraphQLError) -> Exception | None:
    """Return the error that a resolver raised; None for one of the query itself, whose message is meant for the client."""
    own = error.original_error
    while isinstance(own, GraphQLError):
        own = own.original_error
    return own


class PlainErrors(MaskErrors):
    """Gives errors that a client can mend their message and a code, and hides what any other error says."""

    def __init__(self) -> None:
        super().__init__(lambda error: cause(error) is not None, "internal error")

    def anonymise_error(self, error: GraphQLError) -> GraphQLError:
        """Return the error as a client may see it."""
        own = cause(error)
        message, code = self.error_message, "Internal"
        if isinstance(own, LexgraphError):
            message, code = str(own), type(own).__name__
        return GraphQLError(message, nodes=error.nodes, path=error.path, extensions={"code": code})


class BodyLimit:
    """ASGI middleware: refuses a request whose body is too long, before anything reads it."""

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app = app
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Read the body up to the limit, then pass the request on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        body = bytearray()
        more = declared.isdigit() and int(declared) <= self._max_bytes
        too_long = not more
        while more:
            message = await receive()
            if message["type"] != "http.request":  # the client has gone
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self._max_bytes:
                too_long, more = True, False
        if too_long:
            answer = {"errors": [{"message": f"the request is too long: at most {self._max_bytes:,} bytes are read"}]}
            await JSONResponse(answer, status_code=413, headers={"connection": "close"})(scope, receive, send)
            return
        whole: Message | None = {"type": "http.request", "body": bytes(body), "more_body": False}

        async def replay() -> Message:
            nonlocal whole
            if whole is None:
                return await receive()
            message, whole = whole, None
            return message

        await self._app(scope, replay, send)
