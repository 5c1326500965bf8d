"""Effects of acts on each other as GraphQL shows them."""

from collections.abc import Sequence
from enum import Enum
from typing import Annotated

import strawberry

from api.graphql.loaders import Reading
from cypher.graph import Row


@strawberry.enum(description="What one act does to another.")
class RelationType(Enum):
    """An effect of one act on another."""

    TRANSPOSES = "TRANSPOSES"
    AMENDS = "AMENDS"
    REPEALS = "REPEALS"
    CONSOLIDATES = "CONSOLIDATES"
    CITES = "CITES"


RelationTypes = Annotated[list[RelationType] | None, strawberry.argument(description="Only these; all where it is left out.")]


async def effects_of(reading: Reading, act: str, types: Sequence[RelationType] | None) -> list[Row]:
    """Return what an act does to others that this release knows, of some types or of all; ``other`` is the other act."""
    rows = [row | {"other": row["target"]} for row in await reading.relations.load(act)]
    return _wanted(reading, rows, types)


async def effects_on(reading: Reading, act: str, types: Sequence[RelationType] | None) -> list[Row]:
    """Return what others do to an act, likewise."""
    return _wanted(reading, await reading.related_by.load(act), types)


def _wanted(reading: Reading, rows: Sequence[Row], types: Sequence[RelationType] | None) -> list[Row]:
    return [row for row in rows if (types is None or RelationType(row["type"]) in types) and reading.knows(row["other"])]
