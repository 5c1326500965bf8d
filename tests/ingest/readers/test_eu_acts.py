"""EU acts as JSON lines: provisions under their headings, broken lines, and the whole of the real file."""

import json
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.readers.eu_acts import read
from schema.records import ActTree, Rejected
from tests.support.small_texts import EU_ACT, json_lines

REAL = Path(__file__).parents[3].parent / "shared" / "data" / "eu-lu" / "eu_acts.fr.jsonl.xz"


def test_an_act_and_its_provisions(tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    path.write_text(json_lines([EU_ACT]), "utf-8")
    (tree,) = read(path)
    assert isinstance(tree, ActTree)
    assert (tree.act.id, tree.act.kind, tree.act.celex) == ("eu/32016L0999", "directive", "32016L0999")
    assert (tree.act.updated, tree.act.published) == (date(2020, 1, 1), None), "the number tells no more than the year"
    assert [(a.id, a.heading, a.text) for a in tree.articles] == [
        ("eu/32016L0999/1er", "Objet", "Le pain.\nL'eau."),
        ("eu/32016L0999/2", "", "La farine."),
        ("eu/32016L0999/ANNEXE-I", "", "Modèle."),
    ]
    assert [s.heading for s in tree.sections] == ["CHAPITRE I Général"]


@pytest.mark.parametrize(
    ("change", "place", "reason"),
    [
        ({"celex": "../x"}, "line 2, $.celex", "not a CELEX number"),
        ({"celex": "32016L0001\n"}, "line 2, $.celex", "not a CELEX number"),
        ({"celex": "32016L0999"}, "line 2, $.celex", "repeated identifier: 32016L0999 is on line 1"),
        ({"provisions": None}, "line 2, $.provisions", "not a list"),
        ({"provisions": [5]}, "line 2, $.provisions[0]", "not an object"),
        ({"provisions": [{"type": "recital"}]}, "line 2, $.provisions[0].type", "neither an article"),
        ({"provisions": [{"type": "article", "path": "x"}]}, "line 2, $.provisions[0].path", "not a list of headings"),
        ({"provisions": [{"type": "article", "path": ["\ud800"]}]}, "line 2, $.provisions[0].path", "half a character"),
        ({"provisions": [{"type": "article", "text": []}]}, "line 2, $.provisions[0].text", "not text"),
        ({"consolidated": "1 May"}, "line 2, $.consolidated", "not a date"),
    ],
)
def test_a_broken_line_is_named_and_the_rest_goes_on(change: dict[str, Any], place: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "acts.jsonl"
    rows = [EU_ACT, {**EU_ACT, "celex": "32016L0001"} | change, {**EU_ACT, "celex": "32016L0002"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    one, broken, other = read(path)
    assert isinstance(one, ActTree)
    assert isinstance(other, ActTree)
    assert isinstance(broken, Rejected)
    assert broken.place == place
    assert reason in broken.reason


@pytest.mark.xdist_group("real legalize")
def test_every_act_and_provision_of_the_publication() -> None:
    if not REAL.exists():
        pytest.skip("make ../shared/data/eu-lu/eu_acts.fr.jsonl.xz from github.com/SFHAJJI/lex-articles")
    found = Counter[str]()
    for item in read(REAL):
        assert isinstance(item, ActTree), item
        found["acts"] += 1
        found["provisions"] += len(item.articles)
        assert len({article.id for article in item.articles}) == len(item.articles)
    assert found == {"acts": 1_248, "provisions": 16_817}
