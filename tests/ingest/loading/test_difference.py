"""A newer release is written as the difference to the graph, and the graph is then what a fresh load gives."""

import re
import shutil
import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.questions import load_questions
from ingest.sources import ingest
from schema.records import Question
from tests.support.disturbance import dump
from tests.support.tiny_law import (
    BAKERS,
    BAKERS_ID,
    MILLERS,
    MILLERS_ID,
    article,
    bakers,
    code,
    link,
    millers,
    section,
    write_law,
    write_sheets,
)
from tests.support.variants import variants

Json = dict[str, Any]


def graph_of(home: Path, *releases: tuple[Json, ...]) -> str:
    """The dump of a graph that releases were loaded into, one after another."""
    for number, roots in enumerate(releases):
        ingest(EmbeddedStore(home), write_law(home / f"release {number}", *roots))
    return law(dump(home))


def law(dumped: str) -> str:
    """A dump without what tells how a graph came about: earlier wordings, collections of files, files of overtaken law."""
    history = re.compile(r'"label":"Wording"|"type":"HAS_WORDING"|"label":"Source".*"passed_over":\["')
    kept = (line for line in dumped.splitlines() if not history.search(line))
    return "\n".join(sorted(re.sub(r'"collection":"[^"]*"|(?<="legi/)[^/"]+/', "", line) for line in kept))


def newer_bakers() -> Json:
    """One article changed, one moved, one removed (the millers cite it), one added."""
    root = deepcopy(bakers())
    first, second = root["children"][0]["children"]
    first["children"][0]["data"]["texteHtml"] = "<p>Le pain est fait de farine de seigle.</p>"
    moved = first["children"].pop(2)
    second["children"].pop(0)  # L121-1
    second["children"].append(moved)
    root["children"][1]["children"].append(article(9, "R111-2", "<p>Le four est ramoné chaque année.</p>"))
    return root


def test_the_report_counts_exactly_what_differs(tmp_path: Path) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer_bakers()))
    counts = {verb: {k: n for k, n in getattr(report, verb).items() if n} for verb in ("created", "changed", "moved", "removed")}
    assert counts == {verb: {"Article": 1} for verb in ("created", "changed", "moved", "removed")}


def test_an_article_put_before_its_neighbours_moves_none_of_them(tmp_path: Path) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    newer = bakers()
    newer["children"][0]["children"][0]["children"].insert(0, article(10, "L111-0", "<p>Du pain.</p>"))
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer))
    assert report.created["Article"] == 1
    assert not sum(report.changed.values()) + sum(report.moved.values()) + sum(report.removed.values())


def test_neighbours_that_change_places_have_moved(tmp_path: Path) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    newer = bakers()
    newer["children"][0]["children"][0]["children"][:2] = reversed(newer["children"][0]["children"][0]["children"][:2])
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer))
    assert dict(report.moved) == {"Article": 2}
    assert report.anything_changed


def test_a_release_over_another_is_that_release_from_scratch(tmp_path: Path) -> None:
    over = graph_of(tmp_path / "over", (bakers(), millers()), (newer_bakers(), millers()))
    assert over == graph_of(tmp_path / "scratch", (newer_bakers(), millers()))
    back = graph_of(tmp_path / "over", (bakers(), millers()))
    assert back == graph_of(tmp_path / "old", (bakers(), millers()))


def test_a_citation_of_what_has_gone_points_outside_and_back_when_it_returns(tmp_path: Path) -> None:
    def cited(home: Path) -> list[tuple[str, str]]:
        with open_graph(home) as graph:
            rows = [row for s in ("citations_of_acts", "outside_citations_of_acts") for row in graph.rows(s, ids=[MILLERS_ID])]
        return [(row["target"], row["text"]) for row in rows]

    words = "article L. 121-1 du code de la boulangerie"
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    assert cited(tmp_path) == [(f"{BAKERS_ID}/L121-1", words)]
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer_bakers()))
    assert cited(tmp_path) == [("LEGIARTI000000000004", words)]
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    assert cited(tmp_path) == [(f"{BAKERS_ID}/L121-1", words)]


def test_a_citation_names_a_version_and_keeps_naming_it_when_its_article_goes(tmp_path: Path) -> None:
    """The version cited is not the article's own identifier; loaded in either way, that version is what is outside."""
    citing = code(MILLERS, "Code de la meunerie", article(21, "L1", f"<p>Voir l'{link(101, 'article L. 111-1')}.</p>"))
    without = bakers()
    without["children"].pop(0)
    over = graph_of(tmp_path / "over", (bakers(), citing), (without, citing))
    assert over == graph_of(tmp_path / "scratch", (without, citing))
    with open_graph(tmp_path / "over") as graph:
        assert [row["target"] for row in graph.rows("outside_citations_of_acts", ids=[MILLERS_ID])] == ["LEGIARTI000000000101"]


@pytest.mark.slow
def test_a_version_that_passes_to_another_article_takes_its_citations_along(tmp_path: Path) -> None:
    def release(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[Json, Json]:
        cited = code(
            BAKERS, "Code", article(1, "L1", "<p>Un.</p>", versions=first), article(2, "L2", "<p>Deux.</p>", versions=second)
        )
        return cited, code(MILLERS, "Code", article(21, "L1", f"<p>{link(101, 'la version')}</p>"))

    releases = (release((101,), ()), release((), (101,)), release((), ()))
    for number, last in enumerate(releases):
        over = graph_of(tmp_path / f"over{number}", *releases[: number + 1])
        assert over == graph_of(tmp_path / f"scratch{number}", last)


@pytest.mark.parametrize("order", variants([((BAKERS, MILLERS),), ((MILLERS, BAKERS),)]))
def test_citations_find_their_target_whichever_file_comes_first(tmp_path: Path, order: tuple[str, str]) -> None:
    roots = {BAKERS: bakers(), MILLERS: millers()}
    one_by_one = graph_of(tmp_path / "one by one", *((roots[name],) for name in order))
    assert one_by_one == graph_of(tmp_path / "together", (bakers(), millers()))
    with open_graph(tmp_path / "one by one") as graph:
        cited = [row["target"] for row in graph.rows("citations_of_acts", ids=[MILLERS_ID])]
    assert cited == [f"{BAKERS_ID}/L121-1"]


# Random law: two small codes over the same few identifiers, citing each other and what is not there.
SERIALS = {BAKERS: range(1, 7), MILLERS: range(11, 17)}


@st.composite
def random_code(draw: st.DrawFn, source_id: str) -> Json:
    """A code with some of its articles and sections, in any order and place, some numbers shared."""
    serials = draw(st.lists(st.sampled_from(SERIALS[source_id]), unique=True, max_size=6))
    headings = draw(st.lists(st.sampled_from(["Livre Ier : Du pain", "Livre II", "Livre II : De l'eau"]), max_size=3))
    targets = st.sampled_from([*SERIALS[BAKERS], *SERIALS[MILLERS], 101, 102, 999])
    root = code(source_id, draw(st.sampled_from(["Code", "Code rural"])))
    places = [root]
    for number, heading in enumerate(headings):
        node = section(SERIALS[source_id][0] * 10 + number, heading)
        draw(st.sampled_from(places))["children"].append(node)
        places.append(node)
    for serial in serials:
        html = "<p>Pain.</p>" + "".join(f"<p>{link(t, 'voir')}</p>" for t in draw(st.lists(targets, max_size=2)))
        if draw(st.booleans()):
            html += link(SERIALS[BAKERS][0] * 10, "la section", "LEGISCTA")
        number = draw(st.sampled_from([f"L{serial}", "Annexe"]))
        node = article(serial, number, html, versions=draw(st.sampled_from([(), (101,), (102,), (101, 102)])))
        draw(st.sampled_from(places))["children"].append(node)
    return root


RELEASES = st.tuples(random_code(BAKERS), random_code(MILLERS))


@pytest.mark.slow
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(first=RELEASES, second=RELEASES)
def test_any_release_over_any_other_is_that_release_from_scratch(first: tuple[Json, Json], second: tuple[Json, Json]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        over = graph_of(Path(folder) / "over", first, second)
        assert over == graph_of(Path(folder) / "scratch", second)


@pytest.mark.slow
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(first=RELEASES, second=random_code(BAKERS))
def test_an_act_loaded_alone_over_a_release_is_the_whole_from_scratch(first: tuple[Json, Json], second: Json) -> None:
    with tempfile.TemporaryDirectory() as folder:
        over = graph_of(Path(folder) / "over", first, (second,))
        assert over == graph_of(Path(folder) / "scratch", (second, first[1]))


def relevance(home: Path) -> list[tuple[str, str]]:
    with open_graph(home) as graph:
        return [(row["id"], row["article"]) for row in graph.rows("questions", source="service-public")]


def test_questions_keep_their_articles_through_a_new_release_of_the_law(tmp_path: Path, tiny_home: Path) -> None:
    shutil.copy(tiny_home / "graph.lbug", tmp_path)
    sheets = {
        "F1": ("Que pèse le pain ?", "", ["LEGIARTI000000000101", "LEGISCTA000000000003"]),
        "F2": ("Et le moulin ?", "", ["LEGIARTI000000000022"]),
    }
    ingest(EmbeddedStore(tmp_path), write_sheets(tmp_path / "sheets", sheets))
    before = relevance(tmp_path)
    assert len(before) == 4
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer_bakers()))
    gone = ("service-public/F1", f"{BAKERS_ID}/L121-1")
    assert relevance(tmp_path) == [pair for pair in before if pair != gone]


@pytest.mark.slow
def test_a_question_that_lost_its_last_article_can_be_loaded_again(tmp_path: Path) -> None:
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "old"))
    question = Question("q/1", "Qui se repose ?", "", "mine", (f"{BAKERS_ID}/L121-1",))
    load_questions(EmbeddedStore(tmp_path), "mine", [question])
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "new", newer_bakers()))
    other = Question("q/1", "Qui se repose ?", "", "mine", (f"{BAKERS_ID}/L111-1",))
    report = load_questions(EmbeddedStore(tmp_path), "mine", [other])
    assert report.changed == {"Question": 1}
    with open_graph(tmp_path) as graph:
        assert [row["article"] for row in graph.rows("questions", source="mine")] == [f"{BAKERS_ID}/L111-1"]
    assert load_questions(EmbeddedStore(tmp_path), "mine", []).removed == {"Question": 1}
