"""The project's own lines: what each field becomes, and what is said of a line that is none."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from ingest.readers.jsonl import read
from schema.errors import BadSource
from schema.records import ActTree, Question, Rejected, Relation
from tests.support.small_texts import OWN_LINES, json_lines

Json = dict[str, Any]


def read_lines(folder: Path, *rows: Json | str) -> list[object]:
    path = folder / "own.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
    return list(read(path))


def rejected(found: list[object]) -> list[tuple[str, str]]:
    own = [item for item in found if isinstance(item, Rejected)]
    return [(r.place, r.reason) for r in own + [r for t in found if isinstance(t, ActTree) for r in t.rejected]]


def test_an_act_its_sections_articles_citations_relations_and_a_question(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_text(json_lines(OWN_LINES), "utf-8")
    question, tree = read(path)
    assert isinstance(tree, ActTree)
    assert (tree.act.id, tree.act.jurisdiction, tree.act.kind) == ("be/code-du-four", "be", "code")
    assert tree.act.valid_from == date(2020, 1, 1)
    assert [(s.id, s.heading, s.level) for s in tree.sections] == [
        ("be/code-du-four/livre-iii", "Livre III", 1),
        ("be/code-du-four/livre-iii/titre-iv", "Titre IV : Du four", 2),
    ]
    assert [a.id for a in tree.articles] == ["be/code-du-four/1382", "be/code-du-four/1383"]
    (cited,) = tree.citations
    assert (cited.text, cited.target) == ("article 1382", "be/code-du-four/1382")
    assert tree.relations == (Relation("be/code-du-four", "TRANSPOSES", "eu/32016L0999", "metadata"),)
    assert question == Question(
        "own/q1", "Qui répond du pain brûlé ?", "", "own", ("be/code-du-four/1382",), split="test", split_by_dossier="test"
    )


ACT: Json = {"type": "act", "id": "be/x", "title": "X"}


@pytest.mark.parametrize(
    ("line", "place", "reason"),
    [
        ("{", "line 2, column 2", "not JSON"),
        ("[]", "line 2, $", "not an object"),
        ({"type": "statute"}, "line 2, $.type", "neither act, article nor question"),
        ({"type": "act", "id": "../../etc", "title": "X"}, "line 2, $.id", "not an identifier"),
        ({"type": "act", "id": "be/a..b", "title": "X"}, "line 2, $.id", "not an identifier"),
        ({"type": "act", "id": "be/y\n", "title": "X"}, "line 2, $.id", "not an identifier"),
        ({"type": "act", "id": "be/y?z#w", "title": "X"}, "line 2, $.id", "not an identifier"),
        ({"type": "act", "id": "be/x", "title": "X"}, "line 2, $.id", "repeated identifier: be/x is on line 1"),
        ({"type": "act", "id": "be/y"}, "line 2, $.title", "without a title"),
        ({"type": "act", "id": "be/y", "title": "Y", "valid_from": "2020-02-30"}, "line 2, $.valid_from", "not a date"),
        (
            {"type": "act", "id": "be/y", "title": "Y", "relations": [{"type": "LIKES"}]},
            "line 2, $.relations[0]",
            "not a relation",
        ),
        ({"type": "act", "id": "be/y", "title": "Y", "relations": [{"type": {}}]}, "line 2, $.relations[0].type", "not text"),
        ({"type": "article", "text": 5}, "line 2, $.text", "not text: 5"),
        ({"type": "article", "text": "\ud800"}, "line 2, $.text", "half a character"),
        ({"type": "article", "path": "Livre"}, "line 2, $.path", "not a list"),
        ({"type": "article", "path": ["x"] * 31}, "line 2, $.path", "at most 30"),
        ({"type": "article", "text": "ab", "cites": [{"start": 0, "end": 3, "target": "x"}]}, "line 2, $.cites[0]", "a range"),
        ({"type": "question", "id": "q", "text": "?"}, "line 2, $", "a question needs"),
        ({"type": "question", "id": "../q", "text": "?", "relevant": ["x"]}, "line 2, $.id", "not an identifier"),
        ({"type": "question", "id": "q", "text": "?", "relevant": ["x"], "split": "all"}, "line 2, $.split", "neither train"),
    ],
)
def test_a_line_that_is_none_is_named_and_the_rest_goes_on(line: Json | str, place: str, reason: str, tmp_path: Path) -> None:
    found = read_lines(tmp_path, ACT, line, {"type": "act", "id": "be/last", "title": "Last"})
    ((where, why),) = rejected(found)
    assert where == place
    assert reason in why
    assert [t.act.id for t in found if isinstance(t, ActTree)] == ["be/x", "be/last"]


def test_articles_below_an_act_that_was_refused_do_not_become_those_of_the_act_before(tmp_path: Path) -> None:
    article = {"type": "article", "number": "1", "text": "Un."}
    found = read_lines(tmp_path, ACT, article, {"type": "act", "id": "?"}, article, {"type": "act", "id": "be/y", "title": "Y"})
    assert [(t.act.id, len(t.articles)) for t in found if isinstance(t, ActTree)] == [("be/x", 1), ("be/y", 0)]
    assert [place for place, _ in rejected(found)] == ["line 3, $.id", "line 4, $"]


@pytest.mark.parametrize("line", ['{"type": "act", "id": "be/y"', "{", '{"typ": "act"}', '{"type": "article"}{"type": "act"'])
def test_articles_behind_what_may_have_begun_an_act_do_not_become_those_of_the_act_before(line: str, tmp_path: Path) -> None:
    article = {"type": "article", "number": "1", "text": "Un."}
    found = read_lines(tmp_path, ACT, article, line, article, article, {"type": "act", "id": "be/z", "title": "Z"}, article)
    assert [(t.act.id, len(t.articles)) for t in found if isinstance(t, ActTree)] == [("be/x", 1), ("be/z", 1)]
    assert [reason for _, reason in rejected(found)][1:] == ["an article behind an unreadable line"] * 2


@pytest.mark.parametrize("kind", ["article", "question"])
def test_a_broken_article_or_question_leaves_the_rest_to_its_act(kind: str, tmp_path: Path) -> None:
    article = {"type": "article", "number": "1", "text": "Un."}
    found = read_lines(tmp_path, ACT, article, f'{{"type": "{kind}", "text": "un \\"type\\": \\"act\\"', article)
    assert [(t.act.id, len(t.articles)) for t in found if isinstance(t, ActTree)] == [("be/x", 2)]
    assert len(rejected(found)) == 1


def test_what_comes_after_the_last_act_and_cannot_be_read_is_reported(tmp_path: Path) -> None:
    found = read_lines(tmp_path, ACT, {"type": "act", "id": "?"})
    assert [place for place, _ in rejected(found)] == ["line 2, $.id"]


def test_a_line_longer_than_any_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    path.write_bytes(b'{"type": "act", "id": "be/x", "title": "' + b"x" * (17 << 20) + b'"}')
    with pytest.raises(BadSource, match="line 1: longer than 16 MiB"):
        list(read(path))
