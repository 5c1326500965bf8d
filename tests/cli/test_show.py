"""Reading from the command line: an article in full, and the contents of an act."""

import io
import json
import re
from typing import Any

import pytest
from rich.console import Console

from cli import pages
from schema.errors import BadQuery, NotFound
from tests.support.commands import Lexgraph
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID


def page(ask: Lexgraph, *arguments: object) -> dict[str, Any]:
    return json.loads(ask.do("show", "--json", *arguments))


def test_an_article_is_shown_in_full_with_its_place_and_its_citations(ask: Lexgraph) -> None:
    shown = ask.do("show", "L111-1").splitlines()
    assert shown[0] == "Article L111-1"
    assert shown[1] == "Code de la boulangerie › Partie législative › Livre Ier : Du pain"
    assert shown[2] == f"{BAKERS_ID}/L111-1 · in force since 1970-01-01 · VIGUEUR"
    assert "  Le pain est fait de farine, d'eau, de sel et de levain." in shown
    cited_by = shown[shown.index("Cited by (2)") + 1 :]
    assert cited_by[:2] == ["  L111-2  Livre Ier : Du pain", "  R111-1  Partie réglementaire"]
    assert shown[-1] == "after: L111-2"


def test_the_page_of_an_article_is_json_too(ask: Lexgraph) -> None:
    found = page(ask, "L121-2")
    assert found["url"] == "https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI000000000005"
    assert found["act"] == {"id": BAKERS_ID, "title": "Code de la boulangerie"}
    assert [step["heading"] for step in found["path"]][-1] == "Livre II : Du boulanger"
    assert found["valid_to"] == "2024-10-04"
    assert found["cites"] == []
    assert [(other["target"], other["kind"]) for other in found["cites_outside"]] == [("LEGIARTI000000000999", "article")]
    assert (found["previous"]["number"], found["next"]["number"]) == ("L121-1", "R111-1")


def test_numbers_alone_are_bold_on_a_terminal_and_lines_fit_it(ask: Lexgraph, monkeypatch: pytest.MonkeyPatch) -> None:
    console = Console(file=io.StringIO(), width=50, highlight=False, force_terminal=True)
    monkeypatch.setattr(pages, "out", console)
    ask.do("show", "L111-1")
    assert isinstance(console.file, io.StringIO)
    lines = console.file.getvalue().splitlines()
    assert "  \x1b[1mL111-2\x1b[0m  Livre Ier : Du pain" in lines
    assert all(len(re.sub(r"\x1b\[\d+m", "", line)) <= 50 for line in lines if "https" not in line)


def test_a_citation_is_one_line_however_often_it_is_made(ask: Lexgraph) -> None:
    (cited,) = page(ask, "L111-2")["cites"]
    assert (cited["number"], cited["mentions"], cited["words"]) == ("L111-1", 1, ["article L. 111-1"])


@pytest.mark.parametrize(
    "name",
    [
        ["L111-1"], ["l. 111-1"], ["L.", "111-1"], ["article", "L111-1"], [f"{BAKERS_ID}/L111-1"], ["LEGIARTI000000000001"],
        ["https://www.legifrance.gouv.fr/codes/article_lc/LEGIARTI000000000001"],
        [f"https://www.legifrance.gouv.fr/affichCodeArticle.do?cidTexte={BAKERS}&idArticle=LEGIARTI000000000001"],
        ["L111-1", "--act", BAKERS_ID], ["L111-1", "--act", "code de la boulangerie"],
    ],
)  # fmt: skip
def test_an_article_is_found_by_whatever_names_it(ask: Lexgraph, name: list[str]) -> None:
    assert page(ask, *name)["id"] == f"{BAKERS_ID}/L111-1"


def test_sections_and_acts_are_shown_too(ask: Lexgraph) -> None:
    book = page(ask, f"{BAKERS_ID}/partie-legislative/livre-ier")
    assert (book["label"], book["heading"]) == ("Section", "Livre Ier : Du pain")
    assert [other["number"] for other in book["cited_by"]] == ["L111-3"]
    act = page(ask, "code", "de", "la", "meunerie")
    assert (act["label"], act["id"]) == ("Act", MILLERS_ID)
    assert f"lexgraph contents {MILLERS_ID}" in ask.do("show", MILLERS_ID)


def test_a_number_that_several_articles_have_lists_them(ask: Lexgraph) -> None:
    ended = ask("show", "Annexe I")
    assert ended.code == BadQuery.exit_code
    assert "2 articles are named by Annexe I" in ended.err
    assert f"{BAKERS_ID}/Annexe-I~LEGIARTI000000000007" in ended.err


def test_words_that_are_only_half_understood_name_nothing(ask: Lexgraph) -> None:
    assert ask("contents", "code de la boulangerie troisième partie").code == NotFound.exit_code


def test_a_number_that_no_article_has_names_the_nearest(ask: Lexgraph) -> None:
    ended = ask("show", "L111-9")
    assert ended.code == NotFound.exit_code
    assert "No article L111-9; nearest: L111-3 (Code de la boulangerie), " in ended.err
    assert "no such act" in ask("show", "L1", "--act", "code du sel").err


def test_an_identifier_that_no_article_has_is_not_that_of_its_act(ask: Lexgraph) -> None:
    ended = ask("show", f"{BAKERS_ID}/L111-9")
    assert ended.code == NotFound.exit_code
    assert "No article L111-9 in Code de la boulangerie; nearest: L111-3" in ended.err
    assert "nothing is named foo" in ask("show", f"{BAKERS_ID}/L111-1/foo").err


def test_a_section_is_named_by_its_place_in_an_act(ask: Lexgraph) -> None:
    for verb in ("show", "contents"):
        assert json.loads(ask.do(verb, "livre Ier du code de la boulangerie", "--json"))["id"].endswith("/livre-ier")


def test_an_act_has_no_page_of_another_day(ask: Lexgraph) -> None:
    ended = ask("show", BAKERS_ID, "--on", "1990-01-01")
    assert ended.code == BadQuery.exit_code
    assert f"lexgraph contents {BAKERS_ID} --on DAY" in ended.err


@pytest.mark.parametrize("words", ["01/01/2020", "2020-02-30", "yesterday"])
def test_a_day_that_is_none_is_told_alike_by_every_verb(ask: Lexgraph, words: str) -> None:
    for said in (
        ["show", "L2", "--on", words],
        ["search", "moulin", "--in-force-on", words],
        ["changes", BAKERS_ID, "--from", words, "--to", "2020-01-01"],
    ):
        ended = ask(*said)
        assert ended.code == BadQuery.exit_code
        assert f"not a date: '{words}' (write YYYY-MM-DD)" in ended.err


def test_law_of_another_day_says_that_what_has_gone_is_missing(ask: Lexgraph) -> None:
    for said in (
        ["contents", MILLERS_ID, "--on", "1990-01-01"],
        ["changes", MILLERS_ID, "--from", "1990-01-01", "--to", "2020-01-01"],
    ):
        assert "articles that it has dropped since are missing here" in ask.do(*said)
        assert json.loads(ask.do(*said, "--json"))["complete"] is False
    assert "missing here" not in ask.do("contents", MILLERS_ID)


def test_a_misspelt_title_names_the_nearest_act(ask: Lexgraph, ask_in_french: Lexgraph) -> None:
    for verb in ("show", "contents"):
        ended = ask(verb, "code", "de", "la", "boulangrie")
        assert ended.code == NotFound.exit_code
        assert "nothing is named code de la boulangrie; nearest: Code de la boulangerie" in ended.err
    assert "le plus proche : Code de la boulangerie" in ask_in_french("show", "code de la boulangrie").err
    assert "lexgraph search finds" in ask("show", "blabla").err


def test_an_article_has_no_contents(ask: Lexgraph) -> None:
    ended = ask("contents", "L111-1")
    assert ended.code == BadQuery.exit_code
    assert "L111-1 is an article, which has no parts" in ended.err


def test_another_days_text_is_never_shown_for_a_day(ask: Lexgraph) -> None:
    now, then, never = (page(ask, "L2", "--on", day) for day in ("2020-01-01", "1990-01-01", "1950-01-01"))
    assert (now["text_of_day"], now["text"][:9]) == ("same", "Le moulin")
    assert (then["text_of_day"], then["text"]) == ("unknown", None)
    assert (then["valid_from"], then["valid_to"]) == ("1970-01-01", "2000-01-01")
    assert then["url"].endswith("LEGIARTI000000000220")
    assert (never["text_of_day"], never["text"], never["valid_from"]) == ("unknown", None, None)
    shown = ask.do("show", "L2", "--on", "1990-01-01")
    assert "The text in force on 1990-01-01 is not known here" in shown
    assert "inspecteur" not in shown
    assert "No wording in force on 1950-01-01 is known." in ask.do("show", "L2", "--on", "1950-01-01")


def test_the_contents_of_an_act_go_down_so_many_levels(ask: Lexgraph) -> None:
    assert ask.do("contents", BAKERS_ID, "--depth", "1").splitlines() == [
        "Code de la boulangerie  8 articles",
        "  Partie législative  5 articles",
        "  Partie réglementaire  3 articles",
    ]
    below = ask.do("contents", BAKERS_ID, "--depth", "3").splitlines()
    assert "    Livre Ier : Du pain  3 articles" in below
    assert "      L111-1  L111-2  L111-3" in below
    tree = json.loads(ask.do("contents", f"{BAKERS_ID}/partie-legislative", "--depth", "1", "--json"))
    assert [(part["heading"], part["articles"]) for part in tree["contents"]] == [
        ("Livre Ier : Du pain", 3), ("Livre II : Du boulanger", 2),
    ]  # fmt: skip


def test_contents_of_nothing_lists_the_acts(ask: Lexgraph) -> None:
    assert ask.do("contents").splitlines() == [f"{BAKERS_ID}  Code de la boulangerie", f"{MILLERS_ID}  Code de la meunerie"]
    assert [act["id"] for act in json.loads(ask.do("contents", "--json"))] == [BAKERS_ID, MILLERS_ID]
