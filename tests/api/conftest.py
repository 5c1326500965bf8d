"""The app over the tiny law, with and without a model made by hand."""

import json
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from api.app import make_app
from api.snapshot import Remembered
from cypher.graph import Graph
from schema.settings import Settings
from search.arrays import Matrix
from search.corpus.corpus import Corpus
from search.corpus.read import read_corpus
from search.text.analysis import analyzer
from search.vectors.encoding import Encoding
from search.vectors.model import VectorModel

Ask = Callable[..., dict[str, Any]]
DIMENSIONS = 128


def encode(texts: Sequence[str]) -> Matrix:
    """Words hashed into a few dimensions: texts that share words are near."""
    vectors = np.zeros((len(texts), DIMENSIONS), np.float32)
    for row, text in enumerate(texts):
        for word in analyzer("fr").tokens(text):
            vectors[row, zlib.crc32(word.encode()) % DIMENSIONS] += 1
    return vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)


def word_model(graph: Graph, corpus: Corpus) -> VectorModel:
    """A model that knows texts, headings and titles by their words."""
    corpus, text = read_corpus(graph)
    return VectorModel(
        id="words-1",
        encoding=Encoding(encode),
        articles=encode(text.texts),
        sections=encode(text.headings),
        acts=encode(text.titles),
        bias=np.zeros(len(corpus.articles), np.float32),
        scale=10.0,
        weights={"vector": 1.0, "bm25": 1.0, "section": 0.5},
    )


def no_model(graph: Graph, corpus: Corpus) -> None:
    """No model is active."""


@pytest.fixture(scope="session")
def client(tiny_home: Path) -> Iterator[TestClient]:
    """The app without a model."""
    with TestClient(make_app(Settings(home=tiny_home), no_model)) as client:
        yield client


@pytest.fixture(scope="session")
def model_client(tiny_home: Path) -> Iterator[TestClient]:
    """The app with a model."""
    with TestClient(make_app(Settings(home=tiny_home), word_model)) as client:
        yield client


def answer(client: TestClient, query: str, /, **variables: Any) -> dict[str, Any]:
    """The whole answer to a query, errors and all."""
    body = json.dumps({"query": query, "variables": variables})  # in ASCII: half a surrogate pair can be sent so
    return client.post("/graphql", content=body, headers={"content-type": "application/json"}).json()


def ask(client: TestClient, query: str, /, **variables: Any) -> dict[str, Any]:
    """The data that a query brings; it must bring no errors."""
    found = answer(client, query, **variables)
    assert "errors" not in found, found["errors"]
    return found["data"]


def refusal(client: TestClient, query: str, /, **variables: Any) -> tuple[str, str]:
    """Message and code of the one error that a query brings."""
    found = answer(client, query, **variables)
    assert len(found["errors"]) == 1, found
    error = found["errors"][0]
    return error["message"], error.get("extensions", {}).get("code", "")


@pytest.fixture
def nothing_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request reads the graph itself, whatever others read before it."""

    def nothing(remembered: Remembered, statement: str, id: str) -> None: ...

    monkeypatch.setattr(Remembered, "get", nothing)
