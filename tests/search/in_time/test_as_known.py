"""The law as the graph had it on an earlier day, over loads that corrected it."""

import json
from copy import deepcopy
from dataclasses import replace
from datetime import date
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.graph import Row
from cypher.rows import record_of, row_of
from ingest.sources import ingest
from schema.errors import NotOnRecord
from schema.revisions import Revision
from search.in_time.as_known import as_known
from tests.support.commands import Lexgraph
from tests.support.disturbance import dump
from tests.support.tiny_law import BAKERS_ID, article, bakers, millers, write_law

FLOUR = f"{BAKERS_ID}/L111-1"
NEW, SAME, GONE = f"{BAKERS_ID}/R111-9", f"{BAKERS_ID}/L111-2", f"{BAKERS_ID}/L121-1"
FIRST, SECOND = date(2020, 3, 1), date(2021, 5, 1)


def corrected() -> dict[str, Any]:
    root = deepcopy(bakers())
    root["children"][0]["children"][0]["children"][0]["data"]["texteHtml"] = "<p>Le pain est fait de farine de seigle.</p>"
    root["children"][0]["children"][1]["children"].pop(0)
    root["children"][1]["children"].append(article(9, "R111-9", "<p>Le four est ramoné chaque année.</p>"))
    return root


def dated(home: Path, day: date, ids: list[str]) -> None:
    """Let what was recorded of articles and acts since the last call have been recorded on a day."""
    with EmbeddedStore(home).writing() as graph:
        records = [record_of(Revision, row) for row in graph.rows("revisions", ids=ids)]
        young = [record for record in records if record.day > SECOND]
        graph.write("delete_revisions", ids=[record.id for record in young])
        graph.write("create_revisions", rows=[row_of(replace(record, recorded=f"{day}T09:00:00+00:00")) for record in young])


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Law that was loaded on one day, and corrected on another."""
    home = tmp_path_factory.mktemp("as-known")
    ingest(EmbeddedStore(home), write_law(home / "old"))
    dated(home, FIRST, [BAKERS_ID])
    ingest(EmbeddedStore(home), write_law(home / "new", corrected()))
    dated(home, SECOND, [FLOUR, NEW, GONE])
    return home


def known(home: Path, id: str, day: date) -> tuple[Row, list[Row]]:
    with EmbeddedStore(home).reading() as graph:
        (article,) = graph.rows("articles_by_id", ids=[id])
        revisions = graph.rows("revisions", ids=[id, article["act_id"]])
        return as_known(article, graph.rows("wordings", ids=[id]), revisions, day)


def test_a_text_that_was_corrected_is_the_one_before_until_the_day_of_the_correction(home: Path) -> None:
    for day, flour in ((FIRST, "farine, d'eau"), (date(2021, 4, 30), "farine, d'eau"), (SECOND, "farine de seigle")):
        article, _ = known(home, FLOUR, day)
        assert flour in article["text"], day
    before, others = known(home, FLOUR, FIRST)
    assert (others, before["number"]) == ([], "L111-1"), "the wording that gave way was the present one"
    _, others = known(home, FLOUR, SECOND)
    assert ["d'eau" in other["text"] for other in others] == [True]


def test_an_article_that_did_not_change_is_what_it_was(home: Path) -> None:
    assert known(home, SAME, FIRST) == known(home, SAME, SECOND)


def test_nothing_is_said_of_days_before_the_record_began(home: Path) -> None:
    with pytest.raises(NotOnRecord, match="what was on record of its act is known from 2020-03-01 on"):
        known(home, FLOUR, date(2020, 2, 29))


def test_an_article_that_came_later_was_not_on_record(home: Path) -> None:
    assert known(home, NEW, SECOND)[0]["number"] == "R111-9"
    with pytest.raises(NotOnRecord, match="it was not on record"):
        known(home, NEW, FIRST)


def test_what_went_stays_on_record(home: Path) -> None:
    with EmbeddedStore(home).reading() as graph:
        (gone,) = graph.rows("revisions", ids=[GONE])
    assert (len(gone["taken"]), gone["given"]) == (1, [])


def test_the_canonical_dump_does_not_tell_when(home: Path) -> None:
    assert "Revision" not in dump(home)


def test_a_load_that_changes_nothing_is_no_revision(home: Path, tmp_path: Path) -> None:
    def count() -> int:
        with EmbeddedStore(home).reading() as graph:
            return len(graph.query("MATCH (r:Revision) RETURN r.id", {}, 100).rows)

    before = count()
    ingest(EmbeddedStore(home), write_law(tmp_path / "again", corrected()))
    assert count() == before


def test_an_act_that_comes_back_begins_a_record_of_its_own(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    for roots in ((bakers(), millers()), (millers(),), (corrected(), millers())):
        rmtree(tmp_path / "law", ignore_errors=True)
        ingest(store, write_law(tmp_path / "law", *roots), force=True)
    with store.reading() as graph:
        assert [row["article_id"] for row in graph.rows("revisions", ids=[BAKERS_ID, FLOUR])] == [BAKERS_ID]


def test_the_command_line_shows_what_was_known(home: Path) -> None:
    ask = Lexgraph(home, {"LEXGRAPH_HOME": str(home), "LC_ALL": "C.UTF-8"})
    ask.do("index")
    shown = json.loads(ask.do("show", "L111-1", "--known-on", "2020-06-01", "--json"))
    assert ("d'eau" in shown["text"], shown["known_on"], shown["on"], shown["wordings"]) == (True, "2020-06-01", "2020-06-01", [])
    assert "d'eau" in ask.do("show", "L111-1", "--on", "2022-01-01", "--known-on", "2020-06-01")
    assert "d'eau" not in ask.do("show", "L111-1", "--on", "2022-01-01")
    (only,) = json.loads(ask.do("history", "L111-1", "--known-on", "2020-06-01", "--json"))["wordings"]
    assert "d'eau" in only["text"]
    assert len(json.loads(ask.do("history", "L111-1", "--json"))["wordings"]) == 2
    ended = ask("show", "L111-1", "--known-on", "2020-01-01")
    assert (ended.code, ended.err.strip()) == (
        68,
        "lexgraph: what was on record of article L111-1 is known from 2020-03-01 on, not on 2020-01-01",
    )
