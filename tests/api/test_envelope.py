"""What goes around every answer: headers, identifiers, figures, the page of the editor, other origins where they are named."""

import logging
import re
import socket
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from api.app import make_app
from api.graphiql import FILES, editor_folder
from api.serving import first_question, listen
from schema.errors import BadSetting
from schema.settings import Settings
from tests.api.conftest import ask, no_model
from tests.support.commands import Lexgraph

HTML = {"accept": "text/html"}


def over(home: Path, **settings: object) -> TestClient:
    return TestClient(make_app(Settings.model_validate({"home": home, **settings}), no_model))


@pytest.mark.parametrize("path", ["/", "/graphql", "/healthz", "/readyz", "/metrics", "/nowhere"])
def test_every_answer_protects_its_reader_and_has_a_name(client: TestClient, path: str) -> None:
    headers = client.get(path, headers=HTML).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "script-src 'self';" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert re.fullmatch("[0-9a-f]{32}", headers["x-request-id"])


@pytest.mark.parametrize(("given", "kept"), [("abc-1.2_3", True), ("a b", False), ("x" * 65, False), ("<script>", False)])
def test_a_fitting_name_of_the_clients_own_is_kept(client: TestClient, given: str, kept: bool) -> None:
    assert (client.get("/healthz", headers={"x-request-id": given}).headers["x-request-id"] == given) == kept


def test_a_failure_that_nobody_expected_has_the_envelope_too(tiny_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr("api.workers.Workers.run", broken)
    with over(tiny_home) as client:
        answer = client.post("/graphql", json={"query": "{ acts { totalCount } }"}, headers={"x-request-id": "seven"})
        counted = client.get("/metrics").text
    assert (answer.status_code, answer.headers["x-request-id"]) == (500, "seven")
    assert answer.json() == {"errors": [{"message": "internal error", "extensions": {"code": "Internal"}}]}
    assert 'lexgraph_requests_total{path="/graphql",status="500"} 1.0' in counted


def test_the_access_log_is_written_where_it_is_wanted(tiny_home: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lexgraph.access"):
        with over(tiny_home) as client:
            client.get("/healthz")
        assert "/healthz" not in caplog.text
        with over(tiny_home, access_log=True) as client:
            client.get("/healthz", headers={"x-request-id": "seven"})
    assert re.search(r"testclient GET /healthz 200 6 bytes \d+\.\d ms seven", caplog.text)


def test_other_origins_may_ask_only_where_the_settings_name_them(tiny_home: Path) -> None:
    asks = {
        "origin": "https://law.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type",
    }
    with over(tiny_home) as client:
        assert "access-control-allow-origin" not in client.options("/graphql", headers=asks).headers
    with over(tiny_home, cors_origins="https://law.example, https://other.example") as client:
        allowed = client.options("/graphql", headers=asks)
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, "https://law.example")
        refused = client.options("/graphql", headers={**asks, "origin": "https://evil.example"})
        assert "access-control-allow-origin" not in refused.headers
        answered = client.post("/graphql", json={"query": "{ acts { totalCount } }"}, headers={"origin": "https://other.example"})
        assert answered.headers["access-control-allow-origin"] == "https://other.example"


def test_long_answers_are_zipped_for_those_who_can_read_that(client: TestClient) -> None:
    query = {"query": "{ __schema { types { name description } } }"}
    zipped = client.post("/graphql", json=query, headers={"accept-encoding": "gzip"})
    plain = client.post("/graphql", json=query, headers={"accept-encoding": "identity"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert "content-encoding" not in plain.headers
    assert zipped.json() == plain.json()


def test_figures_count_requests_and_name_the_law(client: TestClient) -> None:
    ask(client, "{ acts { totalCount } }")
    client.get("/nowhere")
    text = client.get("/metrics").text
    assert float(re.search(r'lexgraph_requests_total\{path="/graphql",status="200"\} (\S+)', text)[1]) >= 1  # type: ignore[index]
    assert 'lexgraph_requests_total{path="other",status="404"}' in text
    assert "lexgraph_requests_running 0.0" in text
    law = client.get("/readyz").json()["graph"]
    assert f'lexgraph_release{{law="{law}",model=""}} 1.0' in text


def test_a_browser_gets_the_editor_once_its_files_are_there_and_nothing_of_it_comes_from_elsewhere(
    tiny_home: Path, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    home.symlink_to(tiny_home)
    with over(home) as client:
        before = client.get("/graphql", headers=HTML)
        assert "lexgraph graphiql" in before.text
        assert client.get("/graphiql/graphiql.min.js").status_code == 404
    names = [Path(file).name for files in FILES.values() for file in files]
    folder = editor_folder(tmp_path)
    folder.mkdir()
    for name in names:
        (folder / name).write_text("// a file of the package")
    with over(tmp_path) as client:
        page = client.get("/graphql", headers=HTML)
        used = re.findall(r'(?:src|href)="([^"]+)"', page.text)
        assert {f"graphiql/{name}" for name in names} <= set(used)
        for address in used:
            if address != "data:,":
                assert not address.startswith(("http", "//"))
                assert client.get(f"/{address}").status_code == 200, address
        assert "<script>" not in page.text, "the policy forbids scripts in the page"
        for outside in ("../settings.py", "%2e%2e/app.py", "__init__.py", "index.html"):
            assert client.get(f"/graphiql/{outside}").status_code == 404


def test_what_serve_prints_can_be_pasted() -> None:
    lines = first_question("http://127.0.0.1:8000").splitlines()
    assert len(lines) == 2, "the command is one line of its own"
    assert lines[1].startswith("curl -s http://127.0.0.1:8000/graphql ")


def test_a_small_answer_is_sent_at_once() -> None:
    listening, address = listen("127.0.0.1", 0)
    with listening:
        assert listening.proto == socket.IPPROTO_TCP, "else asyncio leaves TCP_NODELAY unset"
        assert address.startswith("http://127.0.0.1:")
        port = int(address.rpartition(":")[2])
        listening.listen()
        with pytest.raises(BadSetting, match=f"cannot listen on 127.0.0.1 port {port}"):
            listen("127.0.0.1", port)


@pytest.mark.parametrize("arguments", [("--port", "99999"), ("--port", "x"), ("--port", "-1"), ("--processes", "0")])
def test_an_option_out_of_bounds_is_a_users_mistake(tiny_home: Path, arguments: tuple[str, str]) -> None:
    ended = Lexgraph.over(tiny_home)("serve", *arguments)
    assert ended.code == 2
    assert arguments[0] in ended.err
    assert "Traceback" not in ended.err
