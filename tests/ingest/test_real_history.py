"""The published history of French codes: what is read back from the graph is what the git objects have."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.true_to_source import compare
from cypher.engines.ladybug import EmbeddedGraph, EmbeddedStore, open_graph
from ingest.sources import ingest
from tests.support.small_history import git

BUNDLE = Path(__file__).parents[2].parent / "shared" / "data" / "legalize-fr-history.bundle"
CIVIL = "fr/LEGITEXT000006070721"
pytestmark = [pytest.mark.slow, pytest.mark.real_law, pytest.mark.xdist_group("history")]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("history")
    ingest(EmbeddedStore(home), BUNDLE)
    return home


@pytest.fixture(scope="module")
def graph(home: Path) -> Iterator[EmbeddedGraph]:
    with open_graph(home) as graph:
        yield graph


def test_the_law_of_states_drawn_at_random_is_that_of_the_git_objects(graph: EmbeddedGraph, tmp_path: Path) -> None:
    git(tmp_path, "clone", "--quiet", "--bare", str(BUNDLE), str(tmp_path / "law.git"))
    compared = compare(graph, tmp_path / "law.git", sample=40)
    assert compared.articles > 20_000
    assert compared.share_equal >= 0.999, compared.different[:20]


def test_the_article_on_fault_has_had_two_numbers(graph: EmbeddedGraph) -> None:
    (edge,) = graph.rows("renumberings", ids=[f"{CIVIL}/1382"])
    assert (edge["number"], str(edge["on"]), edge["similarity"]) == ("1240", "2016-10-01", 1.0)
