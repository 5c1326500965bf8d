"""BSARD as published: codes with their headings, questions with their articles, in both shapes of the columns."""

from pathlib import Path

import pytest

from ingest.readers.bsard import read
from schema.errors import BadSource
from schema.records import ActTree, Question, Rejected
from tests.support.small_texts import BSARD_ARTICLES, BSARD_QUESTIONS, write_format


def test_articles_stand_in_their_codes_under_their_headings(tmp_path: Path) -> None:
    trees = [t for t in read(write_format(tmp_path, "bsard") / "articles.csv") if isinstance(t, ActTree)]
    assert [(t.act.id, t.act.title, t.act.subjects) for t in trees] == [
        ("be/code-du-pain", "Code du Pain", ("regional",)),
        ("be/code-du-moulin", "Code du Moulin", ("national",)),
    ]
    assert [s.heading for s in trees[0].sections] == ["Livre I", "Chapitre 2"]
    assert [(a.id, a.source_id, a.text) for a in trees[0].articles] == [
        ("be/code-du-pain/1.1.1", "bsard:1", "Le pain est fait de farine.\nEt d'eau."),
        ("be/code-du-pain/1.1.2", "bsard:2", "Le four est chaud."),
    ]
    assert [s.heading for s in trees[1].sections] == ["Titre 1"], "the description, where no column has a heading"


def test_the_first_publication_with_a_column_of_numbers(tmp_path: Path) -> None:
    path = tmp_path / "articles.csv"
    path.write_text('id,article,code,article_no,description,law_type\n7,Le four.,Code du Pain,12bis,"Livre I, Titre 2",r\n')
    (tree,) = read(path)
    assert isinstance(tree, ActTree)
    assert [(a.number, a.id) for a in tree.articles] == [("12bis", "be/code-du-pain/12bis")]


@pytest.mark.parametrize(("file", "splits"), [("train", {"train", "development"}), ("synthetic", {"train"}), ("test", {"test"})])
def test_questions_name_their_articles_and_their_part(file: str, splits: set[str], tmp_path: Path) -> None:
    path = tmp_path / f"questions_{file}.csv"
    path.write_text(BSARD_QUESTIONS, "utf-8")
    found = [q for q in read(path) if isinstance(q, Question)]
    assert [(q.id, q.description, q.relevant) for q in found] == [
        (f"bsard/{file}-11", "En Wallonie", ("bsard:1", "bsard:2")),
        (f"bsard/{file}-12", "", ("bsard:3",)),
    ]
    assert {q.split for q in found} == splits


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    articles, questions = tmp_path / "articles.csv", tmp_path / "questions_test.csv"
    articles.write_text(BSARD_ARTICLES + "3,,again,,,Code du Moulin,,,,,,\nx,,y,,,Code du Moulin,,,,,,\n9,,y,,,,,,,,,\n", "utf-8")
    questions.write_text(BSARD_QUESTIONS + "13,,,Quoi ?,,\n14,,,,,3\n15,,,Quoi ?,,a\n11,,,Encore ?,,3\n", "utf-8")
    assert [(r.place, r.reason) for r in read(articles) if isinstance(r, Rejected)] == [
        ("line 6", "repeated identifier: 3 is on line 5"),
        ("line 7", "not an identifier: 'x'"),
        ("line 8", "an article without a code"),
    ]
    assert [r.place for r in read(questions) if isinstance(r, Rejected)] == ["line 4", "line 5", "line 6", "line 7"]


def test_a_row_with_too_many_or_too_few_fields_or_without_a_text_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "articles.csv"
    path.write_text("id,article,code\n1,Un four.,Code du Pain\n2,Deux, fours,Code du Pain\n3,Trois\n4,,Code du Pain\n", "utf-8")
    found = list(read(path))
    assert [(r.place, r.reason) for r in found if isinstance(r, Rejected)] == [
        ("line 3", "more fields than the first line names"),
        ("line 4", "fewer fields than the first line names"),
        ("line 5", "an article without a text"),
    ]
    assert [[a.text for a in t.articles] for t in found if isinstance(t, ActTree)] == [["Un four."]]


@pytest.mark.parametrize("second", ['"Deux fours.', '"Deux "fours."'])
def test_a_quote_that_does_not_match_swallows_no_article(second: str, tmp_path: Path) -> None:
    path = tmp_path / "articles.csv"
    path.write_text(f'id,article,code\n1,"Un four.",P\n2,{second},P\n3,"Trois, fours.",P\n', "utf-8")
    with pytest.raises(BadSource, match="not CSV"):
        list(read(path))


def test_a_file_that_is_not_utf_8_or_lacks_a_column_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "articles.csv"
    path.write_bytes(BSARD_ARTICLES.encode() + "4,,brûlé,,,Code,,,,,,\n".encode("latin-1"))
    with pytest.raises(BadSource, match=r"after line \d+, byte \d+: not UTF-8 text"):
        list(read(path))
    path.write_text("id,article\n1,x\n")
    with pytest.raises(BadSource, match="line 1: columns are missing: code"):
        list(read(path))
