"""Errors as clients see them: a message that says what to mend, and a code to act on."""

from typing import Any

from graphql import GraphQLError, GraphQLSyntaxError

from schema.errors import BadQuery, LexgraphError

CODE_OF_STATUS = {405: "MethodNotAllowed", 408: "TooSlow", 413: "TooLarge", 415: "UnsupportedMediaType"}
"""Codes of requests that are none, by HTTP status; any other is a BadRequest."""
_TOKENS = "Document contains more than"
"""The beginning of what graphql-core says of a document of too many tokens."""


def problem(message: str, code: str) -> dict[str, Any]:
    """Return an error in the one shape that all have."""
    return {"message": message, "extensions": {"code": code}}


def cause(error: GraphQLError) -> Exception | None:
    """Return the error that a resolver raised; None for one of the query itself, whose message is meant for the client."""
    own = error.original_error
    while isinstance(own, GraphQLError):
        own = own.original_error
    return own


def coded(error: GraphQLError) -> GraphQLError:
    """Return an error as a client may see it: one that nobody expected says nothing of itself."""
    own = cause(error)
    message, code = error.message, str((error.extensions or {}).get("code", ""))
    if isinstance(own, LexgraphError):
        message, code = str(own), type(own).__name__
    elif own is not None:
        message, code = "internal error", "Internal"
    elif isinstance(error, GraphQLSyntaxError):
        code = "TooLarge" if _TOKENS in message else "Syntax"
    elif not code:
        # What is wrong with a query before it runs has places in it and no path; a variable's value has neither.
        code = BadQuery.__name__ if error.path or message.startswith("Variable ") else "Validation"
    return GraphQLError(
        message, nodes=error.nodes, source=error.source, positions=error.positions, path=error.path, extensions={"code": code}
    )
