"""Addresses that are none, and servers that are not there, are told at once and without a password."""

import time
from pathlib import Path

import pytest

from cypher.engines.neo4j import Neo4jStore
from cypher.engines.neo4j_address import bolt_address
from cypher.engines.neo4j_connection import connect
from cypher.engines.neo4j_errors import Server
from cypher.explore.browser_link import browser_link
from schema.errors import BadSetting, ServerUnavailable
from schema.settings import Settings, origins

NONE = [
    "http://law.example:7687",
    "law.example",
    "bolt://",
    "bolt://:7687",
    "bolt://law.example:port-secret",
    "bolt://law.example:99999",
    "bolt://law.example:0",
    "bolt://[::1",
    "bolt+x://law.example",
]
WITH_PASSWORD = ["bolt://neo4j:secret@law.example", "neo4j+s://neo4j:sec/ret@x", "bolt://secret@law.example:7687"]


@pytest.mark.parametrize("address", [*NONE, *WITH_PASSWORD])
def test_what_is_no_address_is_refused_and_not_repeated(address: str, tmp_path: Path) -> None:
    for ask in (lambda: connect(Server(address, "neo4j", "")), lambda: browser_link(Settings(home=tmp_path, graph=address))):
        with pytest.raises(BadSetting, match=r"^LEXGRAPH_GRAPH: ") as caught:
            ask()
        told = str(caught.value)
        assert "sec" not in told
        assert "\n" not in told


@pytest.mark.parametrize("address", WITH_PASSWORD[::2])
def test_a_password_in_an_address_is_told_where_it_belongs(address: str) -> None:
    with pytest.raises(BadSetting, match="settings of their own, graph_user and graph_password"):
        bolt_address(address)


@pytest.mark.parametrize("address", ["bolt://law.example", "neo4j+ssc://law.example:65535", "neo4j://[::1]:7687"])
def test_addresses(address: str) -> None:
    assert bolt_address(address).hostname in ("law.example", "::1")


@pytest.mark.parametrize("address", WITH_PASSWORD)
def test_settings_are_shown_without_a_password(address: str, tmp_path: Path) -> None:
    shown = {name: value for name, value, *_ in origins(Settings(home=tmp_path, graph=address, graph_http=address))}
    assert shown["graph"] == shown["graph_http"]
    assert "sec" not in shown["graph"]
    assert "***@" in shown["graph"]


def test_a_writer_whose_server_is_not_there_learns_it_at_once(tmp_path: Path) -> None:
    store = Neo4jStore(tmp_path, Server("bolt://127.0.0.1:1", "neo4j", ""))

    def write() -> None:
        with store.writing():
            raise AssertionError("there is no server")

    began = time.monotonic()
    with pytest.raises(ServerUnavailable, match="does not answer"):
        write()
    assert time.monotonic() - began < 10
