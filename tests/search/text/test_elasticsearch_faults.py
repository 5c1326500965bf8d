"""Servers of text that are wrongly named, stand in, or go away: clear errors, and answers without them."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from docker.elasticsearch_server import ElasticsearchServer
from runtime.circuit_breaker import Breaker
from schema.errors import BadSetting, MissingExtra, NotReady, QueryTimeout, ServerUnavailable
from schema.settings import Settings
from search.modes import Mode
from search.retrieval import DEEPEST, Retriever
from search.text import elasticsearch_build
from search.text.elasticsearch import ElasticText
from search.text.elasticsearch_build import load_law
from search.text.index import open_text_index
from search.text.open import text_server
from tests.search.test_retrieval import random_model
from tests.search.text.own_server import (
    OPTIONS,
    Law,
    opened,
    text_at,
)
from tests.support.waiting import eventually


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def test_a_wrong_address_is_one_clear_line(law: Law) -> None:
    text = text_at(f"http://127.0.0.1:{free_port()}")
    for call in (lambda: load_law(text, *law, OPTIONS), lambda: text.check("x", OPTIONS)):
        with pytest.raises(ServerUnavailable, match=r"no Elasticsearch answers at http://127.0.0.1:\d+ .*refused") as caught:
            call()
        assert "\n" not in str(caught.value)
        assert (caught.value.exit_code, caught.value.http_status) == (71, 503)
    with pytest.raises(ServerUnavailable, match=r"no Elasticsearch answers at http://no-such-host\.invalid:9200"):
        text_at("http://no-such-host.invalid").check("x", OPTIONS)


@pytest.mark.parametrize("address", ["localhost:9200", "ftp://localhost", "http://", "http://localhost:port", "x"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadSetting, match="not an address"):
        text_server(Settings(text=address))
    with pytest.raises(BadSetting, match="settings of their own"):
        text_server(Settings(text="http://elastic:secret@localhost:9200"))


def test_the_port_may_be_left_out() -> None:
    assert text_at("http://localhost").address == "http://localhost:9200"
    assert text_at("https://text.example/path/").address == "https://text.example:443/path"
    assert text_at("http://[::1]:9201").address == "http://[::1]:9201"


class _Refusing(BaseHTTPRequestHandler):
    """Answers every request as a server with security does to a wrong password."""

    headers_of_product = (("X-Elastic-Product", "Elasticsearch"),)
    status = 401

    def do_GET(self) -> None:
        body = b'{"error": {"type": "security_exception", "reason": "unable to authenticate user"}, "status": 401}'
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(self.status)
        for name, value in (*self.headers_of_product, ("Content-Type", "application/json"), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_PUT = do_GET  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""


class _Other(_Refusing):
    """Answers as something else does."""

    headers_of_product = ()
    status = 200


@pytest.fixture
def standing_in() -> Iterator[Callable[[type[BaseHTTPRequestHandler]], str]]:
    started: list[HTTPServer] = []

    def start(handler: type[BaseHTTPRequestHandler]) -> str:
        server = HTTPServer(("127.0.0.1", 0), handler)
        started.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in started:
        server.shutdown()
        server.server_close()


def test_a_wrong_password_is_told_without_the_password(standing_in: Callable[..., str], law: Law) -> None:
    text = text_at(standing_in(_Refusing), text_password="secret")
    with pytest.raises(BadSetting, match=r"refuses user 'elastic' \(LEXGRAPH_TEXT_USER, LEXGRAPH_TEXT_PASSWORD\)") as caught:
        load_law(text, *law, OPTIONS)
    assert "secret" not in str(caught.value)
    with pytest.raises(BadSetting, match="refuses requests without a password"):
        text_at(text.address).check("x", OPTIONS)


class _Starting(_Refusing):
    """Takes a bulk request the third time: a proxy says that its server is away, then the server puts a document off."""

    status = 200
    asked: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        self.asked.append(0)
        turn = len(self.asked)
        item = {"_id": "a", "status": 503 if turn == 2 else 201}
        if turn == 2:
            item["error"] = {"type": "unavailable_shards_exception", "reason": "primary shard is not active"}
        answer: dict[str, Any] = {"errors": turn == 2, "items": [{"index": item}]}
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.dumps(answer).encode() if turn > 1 else b"<html>Bad Gateway</html>"
        self.send_response(502 if turn == 1 else 200)
        kind = "application/json" if turn > 1 else "text/html"
        for name, value in (*self.headers_of_product, ("Content-Type", kind), ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST  # noqa: N815


def test_what_a_server_that_is_being_started_puts_off_is_sent_again(standing_in: Callable[..., str]) -> None:
    text = text_at(standing_in(_Starting))
    elasticsearch_build._write_chunk(text, text.client, "index", [{"_op_type": "index", "_id": "a", "_source": {"id": "a"}}])
    assert len(_Starting.asked) == 3


def test_what_is_no_elasticsearch_is_told(standing_in: Callable[..., str], law: Law) -> None:
    with pytest.raises(BadSetting, match="is no Elasticsearch"):
        load_law(text_at(standing_in(_Other)), *law, OPTIONS)


def test_without_the_extra_the_setting_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "search.text.elasticsearch", None)
    assert text_server(Settings()) is None
    monkeypatch.delitem(__import__("sys").modules, "search.text.elasticsearch")
    monkeypatch.setitem(__import__("sys").modules, "elasticsearch", None)
    with pytest.raises(MissingExtra, match=r"lexgraph\[servers\]"):
        text_server(Settings(text="http://localhost:9200"))


# -- answers without the server ------------------------------------------------------------------------------------


def test_without_the_text_index_vectors_answer_and_say_so(
    law: Law, tmp_path: Path, own_elasticsearch: Callable[..., ElasticsearchServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = own_elasticsearch()
    text = ElasticText(Settings(text=server.address, text_timeout_s=1.0), Breaker(rest_s=1.0, clock=lambda: now))
    index = opened(tmp_path, law, text)
    with_model, lexical = Retriever(index, random_model(index.corpus)), Retriever(index, None)
    now = 0.0
    asked: list[str] = []
    perform = text.client.transport.perform_request

    def counted(method: str, target: str, **more: Any) -> Any:
        asked.append(target)
        return perform(method, target, **more)

    monkeypatch.setattr(text.client.transport, "perform_request", counted)

    def is_back() -> bool:
        """Ask once more, after a rest: on a busy machine a server that has just begun takes its time."""
        nonlocal now
        now += 1.1
        return with_model.search("pain").degraded == ()

    eventually(is_back)

    server.pause()
    hits = with_model.search("pain", first=DEEPEST)
    assert hits.degraded == ("text",)
    assert len(hits) == 10
    assert {name for hit in hits for name in hit.places} == {"vector", "heading"}, "headings are held in memory"
    before = len(asked)
    assert with_model.search("pain", Mode.BM25).degraded == ("text",)
    assert len(asked) == before, "a server that failed a moment ago is not asked"
    now += 1.1
    with pytest.raises(QueryTimeout, match=r"did not answer in time \(LEXGRAPH_TEXT_TIMEOUT_S\)"):
        lexical.search("pain")
    assert len(asked) > before
    server.resume()
    eventually(is_back)

    server.kill()
    assert with_model.search("pain").degraded == ("text",)
    with pytest.raises(ServerUnavailable):
        lexical.search("pain", Mode.BM25)
    with pytest.raises(ServerUnavailable):  # figures are not made of half an answer
        with_model.scores("pain")
    assert with_model.search("pain", Mode.VECTOR).degraded == ()
    server.start()
    eventually(is_back)
    assert lexical.search("pain")
    text.close()


def test_in_step_or_not_is_told(law: Law, tmp_path: Path, text: ElasticText) -> None:
    with pytest.raises(NotReady, match="does not hold the law of the graph: run `lexgraph index`"):
        text.check(law[0].sha256, OPTIONS)
    opened(tmp_path, law, text)
    assert "10 articles" in text.check(law[0].sha256, OPTIONS)
    with pytest.raises(NotReady):
        text.check("other law", OPTIONS)
    with pytest.raises(NotReady, match="run `lexgraph index`"):
        open_text_index(tmp_path / "nowhere", law[0].sha256, OPTIONS, server=text)


def test_many_threads_ask_at_once(law: Law, tmp_path: Path, text: ElasticText) -> None:
    retriever = Retriever(opened(tmp_path, law, text), None)
    expected = [hit.id for hit in retriever.search("pain farine")]
    found: list[list[str]] = []
    threads = [threading.Thread(target=lambda: found.append([h.id for h in retriever.search("pain farine")])) for _ in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 32
