"""Versions are exchanged under load: no request fails, and each answer is one version's, whole."""

import asyncio
import json
import socket
import threading
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from api.app import make_app
from api.serving import uvicorn_config
from cypher.engines.open import open_store
from docker.neo4j_server import Neo4jServer
from gnn.versions.active import active_model
from gnn.versions.serving import activate
from schema.settings import Settings
from tests.support.commands import Lexgraph, load_tiny_law, recipe_file

CLIENTS = 50
FLIPS = 4
QUERIES = ("le pain et la farine", "repos du boulanger", "contrôle du moulin", "poids de la baguette")
MODES = ("HYBRID", "VECTOR")
SEARCH = """query($query: String!, $mode: SearchMode!) {
  search(query: $query, mode: $mode, first: 20) { model degraded edges { score node { id text } places { list rank score } } }
}"""
Question = tuple[str, str]
QUESTIONS: list[Question] = [(query, mode) for query in QUERIES for mode in MODES]


@contextmanager
def serving(settings: Settings) -> Generator[str]:
    """The app behind a real HTTP server, in a thread; its address."""
    listening = socket.create_server(("127.0.0.1", 0))
    app = make_app(settings, partial(active_model, settings.home))
    server = uvicorn.Server(uvicorn_config(app, "warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def canonical(found: dict[str, Any]) -> str:
    """An answer as text; scores to six digits, as threads may add in another order."""

    def rounded(value: Any) -> Any:
        if isinstance(value, float):
            return float(f"{value:.6g}")
        if isinstance(value, dict):
            return {name: rounded(part) for name, part in value.items()}
        return [rounded(part) for part in value] if isinstance(value, list) else value

    return json.dumps(rounded(found), sort_keys=True)


async def asked(client: httpx.AsyncClient, question: Question) -> tuple[str, str]:
    """The model that answered, and the answer; anything but an answer in full fails."""
    query, mode = question
    body = {"query": SEARCH, "variables": {"query": query, "mode": mode}}
    response = await client.post("/graphql", json=body)
    assert response.status_code == 200, response.text
    found = response.json()
    assert "errors" not in found, found
    assert not found.get("extensions"), found
    search = found["data"]["search"]
    assert search["degraded"] == []
    assert search["edges"]
    return search["model"], canonical(search)


async def under_load(run: Lexgraph, address: str, a: str, b: str) -> None:
    store = open_store(run.settings)
    limits = httpx.Limits(max_connections=CLIENTS, max_keepalive_connections=CLIENTS)
    async with httpx.AsyncClient(base_url=address, limits=limits, timeout=120) as client:

        async def flip(id: str) -> None:
            await asyncio.to_thread(activate, store, id)
            while (await client.get("/readyz")).json()["model"] != id:
                await asyncio.sleep(0.02)

        expected: dict[Question, dict[str, str]] = {question: {} for question in QUESTIONS}
        for id in (a, b):
            await flip(id)
            for question in QUESTIONS:
                model, answer = await asked(client, question)
                assert model == id
                expected[question][id] = answer
        different = [question for question in QUESTIONS if expected[question][a] != expected[question][b]]
        assert len(different) == len(QUESTIONS), "versions that answer alike would show nothing"

        seen: Counter[str] = Counter()
        done = asyncio.Event()

        async def keep_asking(number: int) -> None:
            while not done.is_set():
                question = QUESTIONS[number % len(QUESTIONS)]
                number += 1
                model, answer = await asked(client, question)
                assert answer == expected[question][model], f"{question}: not the answer of {model}"
                seen[model] += 1

        asking = [asyncio.create_task(keep_asking(number)) for number in range(CLIENTS)]
        try:
            for number in range(FLIPS):
                id = (a, b)[number % 2]
                before = seen[id]
                await flip(id)
                while seen[id] < before + CLIENTS and not any(task.done() for task in asking):
                    await asyncio.sleep(0.02)
        finally:
            done.set()
            await asyncio.gather(*asking)  # raises what any client ran into
        assert seen.keys() == {a, b}
        assert min(seen.values()) >= CLIENTS * FLIPS // 2


def flipped_under_load(run: Lexgraph, folder: Path) -> None:
    load_tiny_law(run, folder)
    for name, seed in (("first", 7), ("second", 8)):
        run.do("train", "--recipe", recipe_file(folder, name, seed=seed))
    a, b = sorted(version["id"] for version in json.loads(run.do("models", "--json")))
    with serving(run.settings) as address:
        asyncio.run(under_load(run, address, a, b))


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_versions_are_exchanged_under_load(tmp_path: Path) -> None:
    flipped_under_load(Lexgraph.over(tmp_path / "home", reload_s="0.1"), tmp_path)


def test_versions_are_exchanged_under_load_on_neo4j(neo4j_2026: Neo4jServer, tmp_path: Path) -> None:
    flipped_under_load(Lexgraph.over(tmp_path / "home", neo4j_2026, reload_s="0.1", query_timeout_s="60"), tmp_path)
