"""Sources of the law, how current they are, and what the probe says of those that are stale."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from cypher.engines.ladybug import EmbeddedStore
from cypher.origins import origins, write_origin
from schema.records import Origin
from schema.settings import Settings
from tests.api.conftest import ask, no_model

QUERY = "{ sources { name kind address version asOf loadedAt failing stale } }"
LONG_AGO = "2020-01-01T00:00:00+00:00"


@pytest.fixture
def home(tmp_path: Path, tiny_home: Path) -> Path:
    """The tiny law, which was loaded long ago, and a remote that failed since."""
    shutil.copytree(tiny_home, tmp_path / "home")
    with EmbeddedStore(tmp_path / "home").writing() as graph:
        (origin,) = origins(graph)
        write_origin(graph, replace(origin, loaded_at=LONG_AGO))
        remote = Origin("fours", "git", "https://example.org/fours.git", loaded_at="2999-01-01T00:00:00+00:00")
        write_origin(graph, replace(remote, error="no such host", failed_at="2999-01-02T00:00:00+00:00"))
    return tmp_path / "home"


def test_sources_say_how_current_they_are_and_not_where_they_lie_on_the_server(home: Path) -> None:
    with TestClient(make_app(Settings(home=home), no_model)) as client:
        remote, folder = ask(client, QUERY)["sources"]
    assert (remote["name"], remote["address"], remote["failing"], remote["stale"]) == (
        "fours", "https://example.org/fours.git", True, False,
    )  # fmt: skip
    assert (folder["kind"], folder["address"], folder["version"], folder["failing"]) == ("folder", None, None, False)
    assert (folder["loadedAt"], folder["stale"]) == (LONG_AGO, True)
    assert folder["asOf"]


def test_a_service_with_stale_law_is_ready_and_says_which(home: Path) -> None:
    with TestClient(make_app(Settings(home=home), no_model)) as client:
        answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["ready"], answer.json()["stale"]) == (200, True, ["sources"])
    with TestClient(make_app(Settings(home=home, stale_after_days=0), no_model)) as client:
        assert client.get("/readyz").json()["stale"] == []
        assert [source["stale"] for source in ask(client, QUERY)["sources"]] == [False, False]
