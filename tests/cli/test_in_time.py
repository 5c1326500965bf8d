"""The law in time on the command line, over the git history of a small code."""

import json
from typing import Any

import pytest

from schema.errors import BadQuery, NotFound
from tests.support.commands import Lexgraph
from tests.support.law_history import CODE_ID, FAULT, OVEN_1900, OVEN_1950, PROOF, WATER, write_history

BEFORE, AFTER, TOO_EARLY = "1960-01-01", "2018-01-01", "1899-12-31"
OUTSIDE = f"{TOO_EARLY} lies outside the law that is loaded: from 1900-01-01 to 2016-10-01"


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Lexgraph:
    """Lexgraph over the code, indexed."""
    home = tmp_path_factory.mktemp("in-time")
    run = Lexgraph(home, {"LEXGRAPH_HOME": str(home), "LC_ALL": "C.UTF-8"})
    ended = run("ingest", write_history(home / "law"))
    assert "6 articles, 8 wordings, 2 repeals, 0 returns, 1 renumbering;" in ended.out
    run.do("index")
    return run


@pytest.fixture
def in_french(ask: Lexgraph) -> Lexgraph:
    return Lexgraph(ask.home, {**ask.environment, "LC_ALL": "fr_FR.UTF-8"})


def found(ask: Lexgraph, *arguments: object) -> Any:
    return json.loads(ask.do(*arguments, "--json"))


def test_the_history_of_an_article_lists_its_wordings_oldest_first(ask: Lexgraph) -> None:
    assert ask.do("history", "10").splitlines() == [
        "Article 10",
        "",
        "in force from 1900-01-01 to 2016-10-01 · LOI-1900-01-01",
        f"  {FAULT}",
        "",
        "in force since 2016-10-01 · LOI-2016-10-01",
        f"  {PROOF}",
        "",
        "since 2016-10-01: article 20",
    ]
    assert "before 2016-10-01: article 10" in ask.do("history", "20")


def test_what_an_earlier_wording_cites_is_led_to_the_law_at_hand(ask: Lexgraph) -> None:
    page = found(ask, "show", "1", "--on", "1940-01-01")
    assert [(one["words"], one["ids"]) for one in page["cites_in_text"]] == [("article 10", [f"{CODE_ID}/10"])]
    assert "Cites\n  article 10" in ask.do("show", "1", "--on", "1940-01-01")


def test_the_history_is_json_too(ask: Lexgraph) -> None:
    history = found(ask, "history", "1")
    assert [(w["valid_from"], w["valid_to"], w["text"], w["is_present"]) for w in history["wordings"]] == [
        ("1900-01-01", "1950-06-01", OVEN_1900, False),
        ("1950-06-01", None, OVEN_1950, True),
    ]
    assert history["renumbered"] == {"from": [], "to": []}
    (other,) = found(ask, "history", "10")["renumbered"]["to"]
    assert other == {"id": f"{CODE_ID}/20", "number": "20", "on": "2016-10-01", "similarity": 1.0}


def test_only_an_article_has_a_history_and_a_difference(ask: Lexgraph) -> None:
    for verb in (["history", "Code des fours"], ["diff", "Code des fours", "--from", BEFORE, "--to", AFTER]):
        ended = ask(*verb)
        assert (ended.code, ended.out) == (BadQuery.exit_code, "")
        assert f"{CODE_ID} is no article: only articles have wordings" in ended.err


def test_what_went_and_what_came_is_marked_word_by_word(ask: Lexgraph) -> None:
    assert ask.do("diff", "1", "--from", "1910-01-01", "--to", BEFORE).splitlines() == [
        "Article 1: 1910-01-01 → 1960-01-01",
        "Tout boulanger entretient son four au [-charbon-]{+gaz+} et en répond devant le "
        "[-syndic selon l'article 10-]{+préfet+}.",
    ]
    assert "The same wording on both days." in ask.do("diff", "1", "--from", BEFORE, "--to", AFTER)


def test_the_spans_of_a_difference_are_their_texts(ask: Lexgraph) -> None:
    difference = found(ask, "diff", "1", "--from", "1910-01-01", "--to", "1950-06-01")
    assert difference["same"] is False
    texts = {"deleted": OVEN_1900, "same": OVEN_1900, "inserted": OVEN_1950}
    for span in difference["spans"]:
        assert texts[span["change"]][span["start"] : span["end"]] == span["text"]
    kept = {side: "".join(s["text"] for s in difference["spans"] if s["change"] in ("same", side)) for side in texts}
    assert (kept["deleted"], kept["inserted"]) == (OVEN_1900, OVEN_1950)
    assert found(ask, "diff", "1", "--from", "1910-01-01", "--to", "1950-05-31")["same"] is True, "the last day"


def test_a_difference_with_a_day_without_a_wording_says_which(ask: Lexgraph, in_french: Lexgraph) -> None:
    absent = ask("diff", "20", "--from", BEFORE, "--to", AFTER)
    assert (absent.code, absent.out) == (NotFound.exit_code, "")
    assert f"article 20 was not in force on {BEFORE}" in absent.err
    assert "l'article 20 n'était pas en vigueur" in in_french("diff", "20", "--from", BEFORE, "--to", AFTER).err
    outside = ask("diff", "1", "--from", TOO_EARLY, "--to", AFTER)
    assert outside.code == BadQuery.exit_code
    assert OUTSIDE in outside.err


def test_the_changes_of_an_act_are_new_reworded_renumbered_and_repealed_articles(ask: Lexgraph) -> None:
    assert ask.do("changes", "Code des fours", "--from", "1910-01-01", "--to", AFTER).splitlines() == [
        "Code des fours: 1910-01-01 → 2018-01-01",
        "1  reworded",
        "20  new",
        "21  new",
        "10  renumbered → 20",
        "10  new",
        "2  repealed",
        "11  repealed",
    ]
    assert "Nothing changed." in ask.do("changes", "Code des fours", "--from", BEFORE, "--to", "2016-09-30")


def test_changes_are_json_too_and_count_from_the_day_itself(ask: Lexgraph) -> None:
    changed = found(ask, "changes", "Code des fours", "--from", "2016-09-30", "--to", "2016-10-01")
    kinds = [(change["number"], change["kind"]) for change in changed["changes"]]
    assert kinds == [
        ("20", "new"),
        ("21", "new"),
        ("10", "renumbered"),
        ("10", "new"),
        ("2", "repealed"),
        ("11", "repealed"),
    ]
    (moved,) = [change for change in changed["changes"] if change["renumbered_to"]]
    assert (moved["id"], moved["renumbered_to"]) == (f"{CODE_ID}/10", f"{CODE_ID}/20")
    assert found(ask, "changes", CODE_ID, "--from", "2016-10-01", "--to", AFTER)["changes"] == []


def test_days_in_the_wrong_order_or_outside_are_refused(ask: Lexgraph) -> None:
    backwards = ask("changes", "Code des fours", "--from", AFTER, "--to", BEFORE)
    assert backwards.code == BadQuery.exit_code
    assert "2018-01-01 comes after 1960-01-01: name the earlier day first" in backwards.err
    assert OUTSIDE in ask("changes", "Code des fours", "--from", TOO_EARLY, "--to", AFTER).err
    assert "no such act: 10" in ask("changes", "10", "--from", BEFORE, "--to", AFTER).err


def test_the_contents_of_a_day_have_its_headings_and_its_articles(ask: Lexgraph) -> None:
    assert ask.do("contents", "Code des fours", "--on", BEFORE).splitlines() == [
        "Code des fours  4 articles",
        "  Livre Ier : Des fours  2 articles",
        "    1  2",
        "  Livre II : Des délits et des quasi-délits  2 articles",
        "    10  11",
    ]
    present = ask.do("contents", "Code des fours").splitlines()
    assert present[3:] == [
        "  Livre II : La responsabilité extracontractuelle  2 articles",
        "    20  21",
        "  Livre III : De la preuve  1 article",
        "    10",
    ]
    assert ask.do("contents", "Code des fours", "--on", AFTER).splitlines() == present


def test_the_contents_of_a_day_are_json_too(ask: Lexgraph) -> None:
    tree = found(ask, "contents", "Code des fours", "--on", BEFORE)
    assert (tree["on"], tree["articles"], [part["articles"] for part in tree["contents"]]) == (BEFORE, 4, [2, 2])
    assert [part["number"] for part in tree["contents"][1]["contents"]] == ["10", "11"]
    assert "on" not in found(ask, "contents", "Code des fours")


def test_contents_of_a_day_on_which_there_are_none(ask: Lexgraph) -> None:
    absent = ask("contents", f"{CODE_ID}/livre-iii", "--on", BEFORE)
    assert absent.code == NotFound.exit_code
    assert f"livre-iii was not there on {BEFORE}" in absent.err
    outside = ask("contents", "Code des fours", "--on", TOO_EARLY)
    assert outside.code == BadQuery.exit_code
    assert OUTSIDE in outside.err


def test_an_article_is_shown_as_it_stood_that_day(ask: Lexgraph) -> None:
    shown = ask.do("show", "10", "--on", BEFORE).splitlines()
    assert shown[1] == "Code des fours › Livre II : Des délits et des quasi-délits"
    assert shown[2].startswith(f"{CODE_ID}/10 · on 1960-01-01 · in force from 1900-01-01 to 2016-10-01")
    assert f"  {FAULT}" in shown
    assert "  since 2016-10-01: article 20" in shown
    assert shown[-1] == "before: 2 · after: 11"
    assert not any(PROOF in line for line in shown)


def test_the_page_of_a_day_is_json_too(ask: Lexgraph) -> None:
    old, new = (found(ask, "show", "1", "--on", day) for day in ("1910-01-01", AFTER))
    assert (old["text_of_day"], old["text"], old["valid_to"]) == ("other", OVEN_1900, "1950-06-01")
    assert (new["text_of_day"], new["text"], new["valid_to"]) == ("same", OVEN_1950, None)
    assert (old["next"]["number"], new["next"]["number"]) == ("2", "20")


def test_an_article_that_was_not_in_force_has_no_text_and_no_place_that_day(ask: Lexgraph) -> None:
    shown = ask.do("show", "20", "--on", BEFORE)
    assert "  Not in force on 1960-01-01.\n  The wording after: since 2016-10-01\n" in shown
    assert "extracontractuelle" not in shown, "the heading is one of another day"
    page = found(ask, "show", "20", "--on", BEFORE)
    assert (page["text_of_day"], page["text"], [step["id"] for step in page["path"]]) == ("none", None, [CODE_ID])
    assert page["wording_before"] is None
    assert page["wording_after"] == {"valid_from": "2016-10-01", "valid_to": None}
    ended = found(ask, "show", "2", "--on", AFTER)
    assert ended["wording_before"] == {"valid_from": "1900-01-01", "valid_to": "2016-10-01"}
    assert WATER not in ask.do("show", "2", "--on", AFTER)


def test_a_day_before_the_law_that_is_loaded_is_told_with_the_span(ask: Lexgraph) -> None:
    page = found(ask, "show", "1", "--on", TOO_EARLY)
    assert (page["text_of_day"], page["text"], page["known_from"], page["known_to"]) == (
        "outside", None, "1900-01-01", "2016-10-01",
    )  # fmt: skip
    assert OUTSIDE in ask.do("show", "1", "--on", TOO_EARLY)


QUESTION = "dommage causé à autrui par sa faute"


@pytest.mark.parametrize(("day", "number"), [(BEFORE, "10"), (AFTER, "20")])
def test_a_search_on_a_day_shows_the_text_and_the_place_of_that_day(ask: Lexgraph, day: str, number: str) -> None:
    hit = found(ask, "search", QUESTION, "--in-force-on", day)[0]
    assert (hit["number"], hit["snippet"], hit["on"]) == (number, FAULT, day)
    page = found(ask, "show", number, "--on", day)
    assert hit["path"] == [step["heading"] for step in page["path"]]
    assert (hit["valid_from"], hit["valid_to"], hit["text_of_day"]) == tuple(
        page[name] for name in ("valid_from", "valid_to", "text_of_day")
    )


def test_a_search_on_a_day_says_the_days_of_a_text_that_is_not_the_present_one(ask: Lexgraph) -> None:
    shown = ask.do("search", "charbon", "syndic", "--in-force-on", "1910-01-01", "--first", "1")
    assert OVEN_1900.partition("son ")[2] in shown
    assert "text in force from 1900-01-01 until 1950-06-01" in shown
    assert "No article matches" in ask.do("search", "charbon", "syndic", "--in-force-on", BEFORE, "--mode", "bm25")
    assert "No article matches" in ask.do("search", "charbon", "syndic")


def test_a_search_on_a_day_outside_the_law_that_is_loaded_says_the_span(ask: Lexgraph) -> None:
    ended = ask("search", QUESTION, "--in-force-on", TOO_EARLY)
    assert ended.code == 0
    assert OUTSIDE in ended.err
    assert found(ask, "search", QUESTION, "--in-force-on", TOO_EARLY) == []
    assert "outside" not in ask("search", "charbon", "--in-force-on", BEFORE, "--mode", "bm25").err, "nothing matches, that day"


def test_a_search_across_time_says_of_every_hit_when_it_was_in_force(ask: Lexgraph) -> None:
    hits = found(ask, "search", QUESTION, "--across-time", "--first", "2")
    assert {(hit["number"], hit["valid_from"], hit["valid_to"]) for hit in hits} == {
        ("10", "1900-01-01", "2016-10-01"),
        ("20", "2016-10-01", None),
    }
    assert {hit["snippet"] for hit in hits} == {FAULT}
    lines = ask.do("search", QUESTION, "--across-time").splitlines()
    assert [line.strip()[:13] for line in lines[2::3]] == ["text in force"] * 6


def test_a_search_is_on_a_day_or_across_time(ask: Lexgraph, in_french: Lexgraph) -> None:
    ended = ask("search", "four", "--across-time", "--in-force-on", BEFORE)
    assert (ended.code, ended.out) == (BadQuery.exit_code, "")
    assert "on a day or across time, not both" in ended.err
    assert "pas sur les deux" in in_french("search", "four", "--across-time", "--in-force-on", BEFORE).err
