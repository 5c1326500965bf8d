"""New law is served as soon as it is indexed, without a request that fails or reads two releases."""

import asyncio
import json
import shutil
import threading
import time
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any
from weakref import ref

import httpx
import pytest
from starlette.testclient import TestClient

from api.app import make_app
from api.snapshot import SnapshotHolder
from cypher.engines.ladybug import EmbeddedStore, open_graph, release
from cypher.graph import Graph
from ingest.readers.legi import FILE_PATTERN
from ingest.sources import ingest
from schema.errors import NotReady
from schema.filter import Filter
from schema.settings import Settings
from search.corpus.read import read_corpus
from search.text.index import TextIndex, build_text_index
from search.text.options import Bm25Options
from search.vectors.model import VectorModel
from tests.api.conftest import ask, no_model, refusal, word_model
from tests.support.tiny_law import MILLERS_ID, article, code, section, write_law
from tests.support.waiting import eventually

Json = dict[str, Any]
SEARCH = "query($query: String!) { search(query: $query) { edges { node { id text next { id } } } } }"


@pytest.fixture
def home(tiny_home: Path, tmp_path: Path) -> Path:
    """A copy of the tiny home, to be written to."""
    return Path(shutil.copytree(tiny_home, tmp_path / "home"))


@pytest.fixture
def client(home: Path) -> Iterator[TestClient]:
    """The app over the copy, looking for news often."""
    with TestClient(make_app(Settings(home=home, reload_s=0.05), no_model)) as client:
        yield client


def new_law(home: Path) -> None:
    """Replace the millers' code by one with an article on windmills."""
    windmill = article(31, "L3", "<p>Le moulin à vent chôme les jours sans vent.</p>")
    wheat = article(21, "L1", "<p>Le meunier livre la farine.</p>")
    root = code("LEGITEXT000000000002", "Code de la meunerie", section(21, "Titre Ier : De la farine", wheat, windmill))
    ingest(EmbeddedStore(home), write_law(home / "newer", root))


def index(home: Path) -> None:
    """Make the text index of the law in the graph."""
    with open_graph(home) as graph:
        corpus, text = read_corpus(graph)
    build_text_index(home, corpus, text, Bm25Options())


def hits(client: TestClient, query: str) -> list[str]:
    return [edge["node"]["id"] for edge in ask(client, SEARCH, query=query)["search"]["edges"]]


@contextmanager
def asking(client: TestClient, query: str) -> Generator[list[list[str]]]:
    """Ask one query after another in another thread; what was answered. Raises what an answer failed with."""
    done = threading.Event()
    answered: list[list[str]] = []

    def keep_asking() -> None:
        while not done.is_set():
            answered.append(hits(client, query))
            time.sleep(0.1)  # the load itself has to get on, too

    with ThreadPoolExecutor(1) as pool:
        asker = pool.submit(keep_asking)
        try:
            yield answered
        finally:
            done.set()
        asker.result()


def test_new_law_is_found_and_no_request_fails_meanwhile(client: TestClient, home: Path) -> None:
    with asking(client, "le moulin") as answered:
        new_law(home)
        index(home)
        eventually(lambda: f"{MILLERS_ID}/L3" in hits(client, "le moulin à vent"))
    assert len(answered) > 1
    assert f"{MILLERS_ID}/L2" in answered[0]
    # An answer comes from one release: L2 and L3 never stand in it together.
    assert not any({f"{MILLERS_ID}/L2", f"{MILLERS_ID}/L3"} <= set(answer) for answer in answered)


def articles_below(node: Json) -> Iterator[Json]:
    """The articles of a code as the publisher gives it."""
    if node["type"] == "article":
        yield node["data"]
    for child in node.get("children", ()):
        yield from articles_below(child)


@pytest.mark.xdist_group("real law")
def test_a_release_with_one_article_of_a_hundred_changed_is_that_difference_while_the_api_answers(
    real_home: Path, real_sources: tuple[Path, Path], tmp_path: Path
) -> None:
    home, newer = tmp_path / "home", tmp_path / "legi-data"
    newer.mkdir()
    changed = 0
    for path in real_sources[0].glob(FILE_PATTERN):
        root = json.loads(path.read_bytes())
        ours = list(articles_below(root))[::100]
        for data in ours:
            data["texteHtml"] = f"<p>Un palimpseste.</p>{data['texteHtml']}"
        changed += len(ours)
        (newer / path.name).write_text(json.dumps(root), encoding="utf-8")
    home.mkdir()
    shutil.copy(real_home / "graph.lbug", home)
    index(home)
    with TestClient(make_app(Settings(home=home, reload_s=0.05), no_model)) as client, asking(client, "licenciement") as answered:
        assert hits(client, "palimpseste") == []
        report = ingest(EmbeddedStore(home), newer)
        index(home)
        eventually(lambda: hits(client, "palimpseste") != [])
    verbs = {verb: {k: n for k, n in getattr(report, verb).items() if n} for verb in ("created", "changed", "moved", "removed")}
    assert verbs == {"created": {}, "changed": {"Article": changed}, "moved": {}, "removed": {}}
    assert (changed, report.rejected) == (293, [])
    assert len(answered) > 10
    assert all(answered)
    again = ingest(EmbeddedStore(home), newer)
    assert (again.unchanged_files, again.anything_changed) == (4, False)


def test_while_the_index_lags_the_old_law_is_served_and_the_reason_told(client: TestClient, home: Path) -> None:
    assert client.get("/readyz").json()["ready"]
    old = client.get("/readyz").json()["graph"]
    new_law(home)
    eventually(lambda: client.get("/readyz").json()["reason"])
    assert client.get("/readyz").status_code == 200, "a load must not take every replica out of service"
    assert client.get("/readyz").json() == {
        "ready": True,
        "reason": "the text index does not hold the law of the graph: run `lexgraph index`",
        "graph": old,
        "model": None,
        "away": {},
        "stale": [],
    }
    assert f"{MILLERS_ID}/L2" in hits(client, "le moulin")
    assert client.get("/healthz").status_code == 200
    index(home)
    eventually(lambda: client.get("/readyz").json()["graph"] != old)
    assert client.get("/readyz").json()["reason"] is None


def test_without_law_the_app_starts_and_says_what_to_do(tmp_path: Path, tiny_home: Path) -> None:
    home = tmp_path / "empty"
    with TestClient(make_app(Settings(home=home, reload_s=0.05), no_model)) as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/").status_code == 200
        ready = client.get("/readyz")
        assert ready.status_code == 503
        assert "run `lexgraph ingest` first" in ready.json()["reason"]
        refused = client.post("/graphql", json={"query": "{ acts { totalCount } }"})
        assert refused.status_code == 503
        assert refused.json()["errors"][0]["extensions"] == {"code": "NotReady"}
        assert client.get("/graphql", headers={"accept": "text/html"}).status_code == 200
        shutil.copytree(tiny_home, tmp_path / "part")
        (tmp_path / "part").rename(home)
        eventually(lambda: client.get("/readyz").status_code == 200)
        assert hits(client, "pain")


def test_a_new_active_model_is_taken_up(home: Path) -> None:
    active: list[str] = []

    def load(graph: Graph, index: TextIndex) -> VectorModel | None:
        return word_model(graph, index) if active else None

    with TestClient(make_app(Settings(home=home, reload_s=0.05), load)) as client:
        assert refusal(client, '{ search(query: "pain", mode: VECTOR) { model } }')[1] == "NotReady"
        active.append("words-1")
        with release(home) as graph:
            graph.write("retire_models", status="ready")
        eventually(lambda: client.get("/readyz").json()["model"] == "words-1")
        assert ask(client, '{ search(query: "pain", mode: VECTOR) { model } }')["search"]["model"] == "words-1"


def test_a_model_that_cannot_be_read_leaves_the_old_law_in_place(home: Path, caplog: pytest.LogCaptureFixture) -> None:
    broken: list[bool] = []

    def load(graph: Graph, index: TextIndex) -> None:
        if broken:
            raise ValueError("half a file")

    with TestClient(make_app(Settings(home=home, reload_s=0.05), load)) as client:
        broken.append(True)
        with release(home) as graph:
            graph.write("retire_models", status="ready")
        eventually(lambda: client.get("/readyz").json()["reason"])
        assert client.get("/readyz").status_code == 200
        assert client.get("/readyz").json()["reason"] == "the newest law cannot be opened: see the log of this server"
        assert hits(client, "pain")
    assert "half a file" in caplog.text


def test_a_snapshot_is_closed_when_the_last_request_is_done_with_it(home: Path) -> None:
    holder = SnapshotHolder(Settings(home=home), no_model)
    assert holder.check()
    assert not holder.check()  # nothing new
    with holder.use() as first:
        with holder.use() as same:
            assert same is first
            new_law(home)
            index(home)
            assert holder.check()
        with holder.use() as second:
            assert second is not first
        assert not first.closed
        assert first.graph.rows("acts")  # the old law can still be read
    assert first.closed
    with pytest.raises(NotReady), first.held():
        pass
    holder.close()
    assert second.closed
    with pytest.raises(NotReady), holder.use():
        pass


@pytest.mark.slow
def test_the_law_of_an_old_release_leaves_the_memory(home: Path) -> None:
    holder = SnapshotHolder(Settings(home=home), no_model)
    assert holder.check()
    with holder.use() as first:
        list(first.retriever.search("pain", filter=Filter(in_force_on=date(2020, 1, 1))))
        old = ref(first.corpus)
        new_law(home)
        index(home)
        assert holder.check()
    del first
    assert old() is not None, "else nothing would have to be collected, and this shows nothing"
    holder.check()
    assert old() is None
    holder.close()


def test_a_client_that_leaves_does_not_close_the_graph_under_a_running_query(home: Path) -> None:
    began, go_on = threading.Event(), threading.Event()
    body = json.dumps({"query": f'{{ act(id: "{MILLERS_ID}") {{ title }} }}'}).encode()
    arriving = [{"type": "http.request", "body": body, "more_body": False}]
    sent: list[object] = []
    seen: list[bool] = []

    async def receive() -> Any:
        if not arriving:
            await asyncio.to_thread(began.wait)
            return {"type": "http.disconnect"}
        return arriving.pop()

    async def send(message: object) -> None:
        sent.append(message)

    async def scenario() -> None:
        app = make_app(Settings(home=home), no_model)
        headers = [(b"content-type", b"application/json"), (b"host", b"law")]
        scope = {"type": "http", "method": "POST", "path": "/graphql", "query_string": b"", "headers": headers}
        async with app.router.lifespan_context(app):
            with app.state.holder.use() as snapshot:
                rows = snapshot.graph.rows

            def slow(statement: str, **parameters: object) -> list[dict[str, object]]:
                began.set()
                go_on.wait()
                seen.append(snapshot.closed)
                return rows(statement, **parameters)

            snapshot.graph.rows = slow
            await app(scope, receive, send)
        assert not snapshot.closed, "the app has ended, but a thread still reads"
        go_on.set()
        while not snapshot.closed:
            await asyncio.sleep(0.01)

    asyncio.run(scenario())
    assert (seen, sent) == ([False], [])


def test_requests_at_one_time_do_not_mix(home: Path) -> None:
    async def scenario() -> None:
        app = make_app(Settings(home=home), no_model)
        query = "query($id: ID!) { act(id: $id) { id contents { edges { node { act { id } } } } } }"
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://law") as client,
        ):
            acts = [f"fr/LEGITEXT00000000000{1 + i % 2}" for i in range(40)]
            posts = (client.post("/graphql", json={"query": query, "variables": {"id": act}}) for act in acts)
            for act, response in zip(acts, await asyncio.gather(*posts), strict=True):
                found = response.json()["data"]["act"]
                assert {edge["node"]["act"]["id"] for edge in found["contents"]["edges"]} == {found["id"]} == {act}

    asyncio.run(scenario())
