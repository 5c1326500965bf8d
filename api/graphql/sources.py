"""Sources of the law as GraphQL shows them: how current each is."""

from datetime import UTC, date, datetime

import strawberry

from api.graphql.described import graphql_type
from api.graphql.loaders import Reading
from cypher.origins import origins
from schema.records import Origin


@graphql_type
class Source:
    """A place that the law, or questions on it, are loaded from."""

    name: str = strawberry.field(description="Name of its collection, which its releases share.")
    kind: str = strawberry.field(description="`git`, `npm`, `repository`, `bundle`, `archive`, `folder` or `file`.")
    address: str | None = strawberry.field(description="Of a git remote or a package; null for what lies on the server.")
    version: str | None = strawberry.field(description="Of a package.")
    as_of: date | None = strawberry.field(
        description="Day whose law it is: of the newest commit, of the package's publication, of the newest file."
    )
    loaded_at: datetime = strawberry.field(description="Last load, or last look at a remote or a package that went through.")
    failing: bool = strawberry.field(description="True where the last try to load it failed.")
    stale: bool = strawberry.field(description="True where the last success is longer ago than the service allows.")


def sources_of(reading: Reading) -> list[Source]:
    """Return the sources of the law, by name."""
    now, after = datetime.now(UTC), reading.settings.stale_after_days
    found = origins(reading.snapshot.graph)
    reading.budget.spend(len(found))
    return [_source(origin, stale=origin.is_stale(after, now)) for origin in found]


def _source(origin: Origin, *, stale: bool) -> Source:
    return Source(
        name=origin.id,
        kind=origin.kind,
        address=origin.address if origin.is_fetched else None,
        version=origin.version or None,
        as_of=origin.as_of,
        loaded_at=datetime.fromisoformat(origin.loaded_at),
        failing=bool(origin.error),
        stale=stale,
    )
