"""The published history of French codes: what is read back from the graph is what the git objects have."""

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from bench.true_to_source import compare
from cypher.engines.ladybug import EmbeddedGraph, EmbeddedStore, open_graph
from ingest.sources import ingest
from schema.filter import Filter
from search.build import build_indexes
from search.corpus.read import read_corpus
from search.in_time.act_on_day import ActOnDay
from search.in_time.changes import changes_between
from search.retrieval import Retriever
from search.text.index import open_text_index
from search.text.options import Bm25Options
from tests.support.law_history import FAULT
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
    compared = compare(graph, tmp_path / "law.git", sample=16)
    assert compared.articles > 10_000
    assert compared.share_equal >= 0.999, compared.different[:20]


def test_the_article_on_fault_has_had_two_numbers(graph: EmbeddedGraph) -> None:
    (edge,) = graph.rows("renumberings", ids=[f"{CIVIL}/1382"])
    assert (edge["number"], edge["on"], edge["similarity"]) == ("1240", date(2016, 10, 1), 1.0)
    (back,) = graph.rows("renumberings_into", ids=[f"{CIVIL}/1240"])
    assert (back["number"], back["on"]) == ("1382", date(2016, 10, 1))


def test_the_article_on_fault_stands_on_each_day_under_the_number_and_the_heading_of_that_day(graph: EmbeddedGraph) -> None:
    days = date(2015, 1, 1), date(2016, 9, 30), date(2016, 10, 1), date(2020, 1, 1)
    stood = {day: ActOnDay.of(graph, CIVIL, day) for day in days}
    for day in days:
        with_it = {part.number for part in stood[day].articles() if " ".join(part.row["text"].split()) == FAULT}
        assert with_it == ({"1382"} if day < date(2016, 10, 1) else {"1240"}), day
    before, after = (
        [heading for _, heading in stood[day].path_above(f"{CIVIL}/{number}")]
        for day, number in ((days[0], "1382"), (days[-1], "1240"))
    )
    assert "délits et des quasi-délits" in " ".join(before)
    assert "responsabilité extracontractuelle" in " ".join(after)


def test_a_search_on_a_day_finds_it_under_the_number_of_that_day(home: Path, graph: EmbeddedGraph) -> None:
    build_indexes(home, read_corpus(graph), graph.rows("acts"), Bm25Options())
    index = open_text_index(home, graph.rows("graph_row")[0]["corpus_sha256"], Bm25Options())
    for day, number in ((date(2015, 1, 1), "1382"), (date(2020, 1, 1), "1240")):
        hits = Retriever(index, None).search("dommage causé à autrui par sa faute", filter=Filter(in_force_on=day))
        assert (hits[0].id, hits[0].day) == (f"{CIVIL}/{number}", day)


def test_the_day_of_the_reform_is_a_change_of_the_code(graph: EmbeddedGraph) -> None:
    changes = changes_between(graph, CIVIL, date(2016, 9, 30), date(2016, 10, 1))
    told = {(change.number, change.kind, change.renumbered_to) for change in changes}
    assert told >= {("1382", "renumbered", f"{CIVIL}/1240"), ("1382", "new", "")}
    assert {to for number, _, to in told if number == "1240"} == {""}
    assert len(told) > 300, "the law of obligations was written anew"
