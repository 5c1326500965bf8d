"""Hits on a terminal: three lines each, whatever its width."""

import io
import json
import os
from typing import Any
from unittest.mock import patch

import pytest
from rich.console import Console

from cli import hit_lines
from cli.group import Group
from cli.hit_lines import show_hits
from schema.filter import Filter
from search.text.snippets import Snippet
from tests.support.commands import Lexgraph
from tests.support.tiny_law import BAKERS_ID, MILLERS_ID

LONG = "Le salarié malade pendant son préavis " + "et ses ayants droit " * 8 + "touche l'indemnité de licenciement du malade."


def a_hit(rank: int = 1, **others: Any) -> dict[str, Any]:
    start = LONG.index("indemnité")
    return {
        "rank": rank,
        "id": f"fr/CODE/L1226-{rank}",
        "number": f"L1226-{rank}",
        "act": "fr/CODE",
        "section": "fr/CODE/titre-ii",
        "path": ["Code du travail", "Première partie : " + "x" * 60, "Titre II : " + "y" * 40, "Section 3 : Maladie"],
        "snippet": LONG,
        "marks": [[11, 17], [start, start + 9], [start + 13, start + 25]],
        "matched": ["malade", "indemnité", "licenciement"],
        "places": {"vector": {"rank": 1}, "bm25": {"rank": 3}, "authority": {"rank": 12683}},
    } | others


def shown(width: int, *hits: dict[str, Any], colours: bool = False, **options: Any) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=colours)
    with patch.object(hit_lines, "out", console), patch.dict(os.environ, {"LC_ALL": "C.UTF-8"}):
        show_hits(hits, Filter(), **options)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 80, 200])
def test_a_hit_fits_three_lines_of_a_terminal(width: int) -> None:
    lines = shown(width, a_hit(1), a_hit(2))
    assert len(lines) == 6
    assert max(map(len, lines)) <= width


def test_a_hit_shows_number_act_place_best_words_and_reasons() -> None:
    first, passage, why = shown(80, a_hit())
    assert first.startswith("1  L1226-1 · Code du travail › … › ")
    assert first.endswith("Section 3 : Maladie")
    assert "indemnité de licenciement" in passage
    assert why == "   vectors 1 · bm25 3 · words: malade, indemnité, licenciement"


def test_a_wide_terminal_is_used() -> None:
    assert len(shown(200, a_hit())[0]) > 150


def test_words_are_bold_on_a_terminal_and_plain_elsewhere() -> None:
    assert "\x1b[1m" in shown(80, a_hit(), colours=True)[1]
    assert "\x1b" not in "".join(shown(80, a_hit()))


def test_hits_gather_under_their_section_in_the_order_of_the_first() -> None:
    hits = [a_hit(1), a_hit(2, section="fr/CODE/titre-iii", path=["Code du travail", "Titre III : Du préavis"]), a_hit(3)]
    lines = shown(80, *hits, group=Group.SECTION)
    assert [line.split()[0] for line in lines if line[0].isdigit()] == ["1", "3", "2"]
    assert [n for n, line in enumerate(lines) if line.startswith("Code du travail")] == [0, 7]
    assert lines[1] == "1  L1226-1"


def test_identifiers_are_shown_on_request() -> None:
    assert "fr/CODE/L1226-1" not in "".join(shown(80, a_hit()))
    assert shown(80, a_hit(), ids=True)[2].startswith("   fr/CODE/L1226-1 · ")


def test_a_line_of_a_snippet_holds_the_most_different_words() -> None:
    text = "pain " + "x " * 100 + "farine et pain " + "y " * 100
    farine = text.index("farine")
    marks = ((0, 4), (farine, farine + 6), (farine + 10, farine + 14))
    line = Snippet(text, marks).line(60)
    assert line.words == ("farine", "pain")
    assert len(line.text) <= 60
    assert [line.text[start:end] for start, end in line.marks] == ["farine", "pain"]
    assert Snippet("pain", ((0, 4),)).line(60).text == "pain"
    assert len(Snippet("x" * 300, ()).line(60).text) <= 60


def test_words_need_no_quotes(ask: Lexgraph) -> None:
    assert ask.do("search", "farine", "du", "pain") == ask.do("search", "farine du pain")


def test_hits_of_a_day_whose_text_is_not_known_are_marked(ask: Lexgraph) -> None:
    found = json.loads(ask.do("search", "moulin", "--in-force-on", "1990-01-01", "--json"))
    states = {hit["id"]: hit["text_of_day"] for hit in found}
    assert states[f"{MILLERS_ID}/L2"] == "unknown"
    assert set(states.values()) == {"same", "unknown"}
    marked = ask.do("search", "moulin", "--in-force-on", "1990-01-01").splitlines()
    assert marked[2].strip().startswith("text of 1990-01-01 not known; today's is shown · ")
    assert "not known" not in ask.do("search", "moulin", "--in-force-on", "2020-01-01")
    assert "text_of_day" not in json.loads(ask.do("search", "moulin", "--json"))[0]


def test_the_act_of_a_search_may_be_named_by_its_title(ask: Lexgraph) -> None:
    by_title, by_id = (json.loads(ask.do("search", "pain", "--act", act, "--json")) for act in ("boulangerie", BAKERS_ID))
    assert by_title == by_id != []
