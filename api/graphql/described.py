"""GraphQL types and fields described by their docstrings, so that a description stands once."""

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform

import strawberry
from strawberry.types.field import StrawberryField

_Class = TypeVar("_Class", bound=type)


def _description(described: object) -> str:
    return " ".join((inspect.getdoc(described) or "").split())


@dataclass_transform(order_default=True, kw_only_default=True, field_specifiers=(strawberry.field,))
def graphql_type(cls: _Class) -> _Class:
    """Make a class a GraphQL type."""
    return strawberry.type(cls, description=_description(cls))


@dataclass_transform(order_default=True, kw_only_default=True, field_specifiers=(strawberry.field,))
def graphql_interface(cls: _Class) -> _Class:
    """Make a class a GraphQL interface."""
    return strawberry.interface(cls, description=_description(cls))


@dataclass_transform(order_default=True, kw_only_default=True, field_specifiers=(strawberry.field,))
def graphql_input(cls: _Class) -> _Class:
    """Make a class a GraphQL input."""
    return strawberry.input(cls, description=_description(cls))


def graphql_field(resolver: Callable[..., Any]) -> StrawberryField:
    """Make a method a GraphQL field."""
    return strawberry.field(resolver, description=_description(resolver))
