"""Pages of lists: `first`, `after`, and cursors that belong to one list."""

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import strawberry

from api.graphql.described import graphql_type
from schema.errors import BadQuery

Item = TypeVar("Item")
DEFAULT_PAGE = 10
"""Length of a page where `first` is not given."""


@graphql_type
class PageInfo:
    """The place of a page in its list."""

    has_next_page: bool = strawberry.field(description="Whether the list goes on after this page.")
    has_previous_page: bool = strawberry.field(description="Whether the list began before this page.")
    start_cursor: str | None = strawberry.field(description="Cursor of the first edge of this page.")
    end_cursor: str | None = strawberry.field(description="Cursor of the last edge; give it as `after` for the next page.")


@graphql_type
class Edge(Generic[Item]):
    """An item of a list."""

    cursor: str
    node: Item


@graphql_type
class Connection(Generic[Item]):
    """A page of a list."""

    edges: list[Edge[Item]]
    page_info: PageInfo
    total_count: int = strawberry.field(description="Length of the whole list.")


@dataclass(frozen=True, slots=True)
class Window:
    """The part of one list that a client asked for.

    Attributes:
        name: what makes the list this one and no other; cursors of other lists are refused.
    """

    name: str
    first: int
    offset: int

    @classmethod
    def of(cls, field: Sequence[object], first: int, after: str | None, max_page: int) -> "Window":
        """Return the window into the list of a field and its arguments, as they came from a client.

        Raises:
            BadQuery: `first` is out of bounds, or `after` is no cursor of this list.
        """
        if not 1 <= first <= max_page:
            raise BadQuery(f"first: {first} is not between 1 and {max_page}")
        name = json.dumps(field, default=str)  # in ASCII, as half a surrogate pair cannot be encoded
        return cls(name, first, 0 if after is None else _position(name, after) + 1)

    def cursor(self, i: int) -> str:
        """Return the cursor of the ``i``-th edge of the page."""
        return _cursor(self.name, self.offset + i)

    def page(self, rest: Sequence[Item]) -> "Page[Item]":
        """Return the page, from the items from its beginning on: one more than `first` says that the list goes on."""
        items = tuple(rest[: self.first])
        info = PageInfo(
            has_next_page=len(rest) > self.first,
            has_previous_page=self.offset > 0,
            start_cursor=self.cursor(0) if items else None,
            end_cursor=self.cursor(len(items) - 1) if items else None,
        )
        return Page(tuple((self.cursor(i), item) for i, item in enumerate(items)), info)

    def page_of_all(self, whole: Sequence[Item]) -> "Page[Item]":
        """Return the page, from the whole list."""
        return self.page(whole[self.offset : self.offset + self.first + 1])


def connection(page: "Page[Any]", nodes: Sequence[Item | None], total: int) -> Connection[Item]:
    """Return a page as a client sees it, without items that are gone."""
    edges = [Edge(cursor=cursor, node=node) for (cursor, _), node in zip(page.items, nodes, strict=True) if node is not None]
    return Connection(edges=edges, page_info=page.info, total_count=total)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Items of a page, each with its cursor."""

    items: tuple[tuple[str, Item], ...]
    info: PageInfo


def _cursor(name: str, position: int) -> str:
    check = hashlib.sha256(f"{position} {name}".encode()).hexdigest()[:10]
    return base64.urlsafe_b64encode(f"{position}.{check}".encode()).decode().rstrip("=")


def _position(name: str, cursor: str) -> int:
    try:
        decoded = base64.urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4)).decode()
        position = int(decoded.partition(".")[0])
    except (ValueError, binascii.Error):
        position = -1
    if position < 0 or _cursor(name, position) != cursor:
        shown = cursor if len(cursor) <= 40 else cursor[:40] + "…"
        raise BadQuery(f"after: {shown!r} is not a cursor of this list")
    return position
