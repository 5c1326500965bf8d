"""Queries that nobody would write, made from the schema: each is answered, or refused with a plain error."""

from typing import Any

import pytest
from graphql import build_client_schema, get_introspection_query, print_schema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import from_schema, nodes
from starlette.testclient import TestClient

from tests.api.conftest import ask

PLAIN = {"BadQuery", "NotFound", "NotReady", "TooLarge", "Validation", "Syntax"}


@pytest.mark.slow
def test_generated_queries_are_answered_or_plainly_refused(model_client: TestClient) -> None:
    schema = print_schema(build_client_schema(ask(model_client, get_introspection_query())))
    dates = st.sampled_from(["2020-01-31", "1789-07-14", "9999-12-31", "tomorrow", ""]).map(nodes.String)
    answered: list[bool] = []

    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True, database=None)
    @given(query=from_schema(schema, custom_scalars={"Date": dates}))
    def send(query: str) -> None:
        response = model_client.post("/graphql", json={"query": query})
        assert response.status_code == 200, query
        answer: dict[str, Any] = response.json()
        assert {error["extensions"]["code"] for error in answer.get("errors", ())} <= PLAIN, (query, answer)
        answered.append(answer["data"] is not None)

    send()
    assert sum(answered) > 50, "most are answered"
