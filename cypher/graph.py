"""What the rest of Lexgraph knows of a graph: named statements in, rows out."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """The answer to a free query: column names, rows, and whether rows were left out."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    truncated: bool


class Graph(Protocol):
    """A connection to a graph. Safe to share between threads."""

    engine: str

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """The rows of a named statement."""
        ...

    def write(self, statement: str, **parameters: Any) -> None:
        """Run a named statement for its effect."""
        ...

    def transaction(self) -> AbstractContextManager[None]:
        """All or nothing: what is written inside is kept when the block ends well."""
        ...

    def query(self, cypher: str, parameters: Row, max_rows: int) -> Table:
        """A free query, for people who explore; user text belongs in ``parameters``."""
        ...

    def close(self) -> None: ...
