"""A small transformer over the tiny law."""

from pathlib import Path

import pytest

from gnn.encoders.passages import passage
from schema.records import Question
from search.corpus.corpus import Corpus, CorpusText
from search.questions import query_text
from tests.gnn.fine_tuning.small_body import write_small_body


@pytest.fixture(scope="session")
def small_body(tmp_path_factory: pytest.TempPathFactory, law: tuple[Corpus, CorpusText], questions: list[Question]) -> Path:
    """The folder of the small transformer; not to be written to."""
    corpus, text = law
    texts = [passage(corpus, text, position) for position in range(len(corpus.articles))]
    return write_small_body(tmp_path_factory.mktemp("body") / "small", [*texts, *map(query_text, questions)])
