"""The guide for makers of clients is true: its codes are those of the service, its limits those in force, its query runs."""

import json
import re
from pathlib import Path

from starlette.testclient import TestClient

from api.graphql.errors import CODE_OF_STATUS
from api.graphql.limits import Limits
from schema import errors
from schema.settings import Settings

GUIDE = (Path(__file__).parents[2] / "docs" / "graphql.md").read_text(encoding="utf-8")
OF_NO_CLASS = {"Syntax", "Validation", "Internal", "BadRequest", *CODE_OF_STATUS.values()}


def test_every_code_of_the_guide_is_one_that_the_service_gives() -> None:
    table = GUIDE.partition("| code |")[2].partition("\n\n")[0]
    told = {
        code for line in table.splitlines() for code in re.findall(r"`([A-Z]\w+)`", line.split("|")[1] if "|" in line else "")
    }
    assert told >= OF_NO_CLASS
    for code in told - OF_NO_CLASS:
        assert issubclass(getattr(errors, code), errors.LexgraphError)


def test_the_limits_of_the_guide_are_those_in_force() -> None:
    limits = Limits()
    assert f"| {limits.tokens:,}; {limits.depth}; {limits.aliases} |" in GUIDE
    assert f"reckoned from `first` | {limits.objects:,} |" in GUIDE
    assert f"| 1 MiB, within {limits.body_s:g} s |" in GUIDE
    assert limits.body_bytes == 1 << 20
    named = dict(re.findall(r"`LEXGRAPH_(\w+)` \(([\d,]+)(?: s)?\)", GUIDE))
    assert len(named) >= 5
    for name, told in named.items():
        assert float(told.replace(",", "")) == Settings.model_fields[name.lower()].default


def test_the_query_of_the_guide_is_answered(client: TestClient) -> None:
    body = re.findall(r"-d '(\{.*?\})'", GUIDE)[0]
    answer = client.post("/graphql", json=json.loads(body)).json()
    assert "errors" not in answer
    assert answer["data"]["acts"]["edges"]
