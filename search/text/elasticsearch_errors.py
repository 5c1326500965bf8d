"""Failures of an Elasticsearch server as this project's errors, each in one line."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from elastic_transport import ConnectionTimeout, TransportError
from elasticsearch import ApiError, UnsupportedProductError

from schema.errors import BadQuery, BadSetting, LexgraphError, NotReady, QueryTimeout, ServerUnavailable, StorageFull

_SETTING_TIMEOUT = "LEXGRAPH_TEXT_TIMEOUT_S"


@dataclass(frozen=True, slots=True)
class ServerErrors:
    """Errors of one server.

    Attributes:
        address: Address of the server.
        user: Name of the user that asks; empty where no password is sent.
        timeout_s: Time limit of one query, in seconds.
    """

    address: str
    user: str
    timeout_s: float

    @contextmanager
    def translated(self) -> Generator[None]:
        """Raise failures of the requests in the block as this project's errors."""
        try:
            yield
        except UnsupportedProductError:
            raise BadSetting(f"what answers at {self.address} is no Elasticsearch (LEXGRAPH_TEXT)") from None
        except ConnectionTimeout:
            raise QueryTimeout(f"{self.address} did not answer in time ({_SETTING_TIMEOUT})") from None
        except TransportError as error:
            raise ServerUnavailable(f"no Elasticsearch answers at {self.address} (LEXGRAPH_TEXT): {_reason(error)}") from None
        except ApiError as error:
            body: Any = error.body
            problem = body.get("error", {}) if isinstance(body, dict) else {}
            raise self.of(error.status_code, problem if isinstance(problem, dict) else {"reason": str(problem)}) from None

    def timeout(self, *, answered: bool = False) -> QueryTimeout:
        """Return the error of a query that took too long."""
        return QueryTimeout(f"{self.address} did not answer in {self.timeout_s:g} s ({_SETTING_TIMEOUT})", answered=answered)

    def not_loaded(self) -> NotReady:
        """Return the error of an index that is missing or incomplete."""
        return NotReady(f"{self.address} does not hold the law of the graph: run `lexgraph index`")

    def full(self, reason: str) -> StorageFull:
        """Return the error of a server that refuses documents because its disk is full."""
        return StorageFull(f"{self.address} takes no more documents: {reason}")

    def of(self, status: int, problem: Mapping[str, Any]) -> LexgraphError:
        """Return the error that an answer of the server stands for.

        Args:
            status: HTTP status of the answer.
            problem: Object ``error`` of the answer.
        """
        kinds = {problem.get("type"), *(cause.get("type") for cause in problem.get("root_cause", ()))}
        caused: Any = problem.get("caused_by")
        while caused:
            kinds.add(caused.get("type"))
            caused = caused.get("caused_by")
        reason = " ".join(str(problem.get("reason") or "no reason given").split())
        if status in (401, 403) and "cluster_block_exception" not in kinds:
            who = f"user {self.user!r}" if self.user else "requests without a password"
            return BadSetting(f"{self.address} refuses {who} (LEXGRAPH_TEXT_USER, LEXGRAPH_TEXT_PASSWORD)")
        if "search_timeout_exception" in kinds:
            return self.timeout(answered=True)
        if "index_not_found_exception" in kinds:
            return self.not_loaded()
        if kinds & {"too_many_clauses", "too_many_nested_clauses"}:
            return BadQuery(f"the query has too many words for {self.address}")
        if "cluster_block_exception" in kinds and "flood-stage" in reason:
            return self.full(reason)
        return ServerUnavailable(f"{self.address} answered {status}: {reason}", answered=True)


def _reason(error: TransportError) -> str:
    """Return the innermost reason of a failed connection, without the addresses of Python objects."""
    text = " ".join(str(error.message).split())
    match = re.search(r"\[Errno -?\d+\] ([^()']+)|certificate verify failed[^()]*|wrong version number", text)
    return (match[1] or match[0]).strip() if match else text.split(": ", 1)[-1][:200]
