"""Arguments that many fields take, and the context of all."""

from datetime import date
from typing import Annotated

import strawberry

from api.graphql.loaders import Reading

Info = strawberry.Info[Reading, None]
First = Annotated[int, strawberry.argument(description="Length of the page, from 1 to the server's limit.")]
After = Annotated[str | None, strawberry.argument(description="`endCursor` of the page before.")]
Day = Annotated[date, strawberry.argument(description="The day, as ISO 8601: `2020-01-31`.")]
OnDay = Annotated[date | None, strawberry.argument(description="As of this day; of the present law where it is left out.")]
KnownOn = Annotated[
    date | None,
    strawberry.argument(
        description="As the graph knew it at the end of this day (UTC), before later loads; an error where that is not on record."
    ),
]
From = Annotated[date, strawberry.argument(name="from", description="The earlier day, as ISO 8601: `2015-01-01`.")]
To = Annotated[date, strawberry.argument(name="to", description="The later day.")]
Number = Annotated[str, strawberry.argument(description='As it is cited: "L. 1234-9" and "L1234-9" are the same.')]
