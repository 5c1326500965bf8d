"""COLIEE Task 3: the Civil Code's text with its irregular headings, and the questions of each year."""

import json
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.questions import read_questions
from ingest.readers.coliee import read, recognises
from ingest.sources import ingest
from schema.errors import BadSource
from schema.records import ActTree, Question, Rejected
from tests.support.small_texts import COLIEE_XML, write_format


def code(folder: Path, text: str) -> ActTree:
    path = folder / "civil_code_en.txt"
    path.write_text(text, "utf-8")
    (tree,) = read(path)
    assert isinstance(tree, ActTree)
    return tree


def test_headings_more_than_one_a_line_or_repeated_make_each_section_once(tmp_path: Path) -> None:
    (tree,) = read(write_format(tmp_path, "coliee") / "civil_code_en.txt")
    assert isinstance(tree, ActTree)
    assert [(s.id.removeprefix("jp/civil-code/"), s.heading, s.level) for s in tree.sections] == [
        ("part-i", "Part I General Provisions", 1),
        ("part-i/chapter-i", "Chapter I Common Provisions", 2),
        ("part-i/chapter-ii", "Chapter II Persons", 2),
        ("part-i/chapter-ii/section-1", "Section 1 Capacity", 3),
        ("part-iii", "Part III Claims", 1),
    ]


def test_articles_have_caption_paragraphs_and_items(tmp_path: Path) -> None:
    (tree,) = read(write_format(tmp_path, "coliee") / "civil_code_en.txt")
    assert isinstance(tree, ActTree)
    assert [(a.number, a.heading) for a in tree.articles] == [
        ("1", "Fundamental Principles"),
        ("3", "Commencement"),
        ("4 to 6", ""),
        ("398-2", ""),
        ("709", "Damages in Torts"),
    ]
    assert tree.articles[3].text == "(1) A mortgage may be created:\n(i) for claims of a kind; and\n(ii) for others."
    assert tree.articles[4].text.endswith("\nArticle 1 notwithstanding, for the damage."), "a line that cites is no new article"


def test_a_line_in_parentheses_without_an_article_behind_it_stays_text(tmp_path: Path) -> None:
    tree = code(tmp_path, "Part I General\nArticle 1  Text\n(a remark)\nmore\nArticle 2  Text\n(the last)\n")
    assert [a.text for a in tree.articles] == ["Text\n(a remark)\nmore", "Text\n(the last)"]


@pytest.mark.parametrize("start", ["\ufeffCivil Code (Part I, Part II and Part III)\r\n", "\ufeff", "", "\n\nThe Civil Code\n\n"])
def test_the_code_is_known_with_a_byte_order_mark_and_a_title_or_without(start: str, tmp_path: Path) -> None:
    tree = code(tmp_path, start + "Part I General Provisions\n(Principles)\nArticle 1  Text\n")
    assert recognises(tmp_path / "civil_code_en.txt")
    assert ([s.heading for s in tree.sections], [a.number for a in tree.articles]) == (["Part I General Provisions"], ["1"])
    assert not tree.rejected


@pytest.mark.parametrize(
    "text", ["Notes on the civil code\nPart I of them\n", "Article 1  Text\n", "a\nb\nc\nd\ne\nPart I A\nArticle 1 B\n"]
)
def test_another_text_is_not_taken_for_the_code(text: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text(text, "utf-8")
    assert not recognises(tmp_path / "notes.txt")


def test_a_question_on_an_article_that_the_code_lacks_keeps_the_others_and_is_listed(tmp_path: Path) -> None:
    folder = write_format(tmp_path / "coliee", "coliee")
    pair = {"id": "R02-07-A", "query": "Damages?", "paragraph": ["Article 709 A", "Article 1000 B"]}
    (folder / "riteval_R02_en.json").write_text(json.dumps([pair, pair | {"id": "R02-07-I", "paragraph": "Article 999 C"}]))
    store = EmbeddedStore(tmp_path / "home")
    report = ingest(store, folder)
    assert [r.reason for r in report.rejected] == [f"names articles that the graph lacks: jp/civil-code/{n}" for n in (1000, 999)]
    with open_graph(store.home) as graph:
        asked = {q.id: q.relevant for q in read_questions(graph, "coliee")}
    assert asked["coliee/R02-07-A"] == ("jp/civil-code/709",)
    assert "coliee/R02-07-I" not in asked


def test_text_before_the_first_article_is_reported(tmp_path: Path) -> None:
    tree = code(tmp_path, "Part I General\nstray words\nArticle 1  Text\n")
    assert [(r.place, r.reason) for r in tree.rejected] == [("line 2", "text that belongs to no article")]


def test_questions_in_xml_and_in_json_name_their_articles_and_their_part(tmp_path: Path) -> None:
    folder = write_format(tmp_path, "coliee")
    found = [q for name in ("riteval_R03_en.xml", "riteval_R02_en.json") for q in read(folder / name)]
    assert [(q.id, q.relevant, q.split) for q in found if isinstance(q, Question)] == [
        ("coliee/R03-01-A", ("jp/civil-code/709", "jp/civil-code/398-2"), "test"),
        ("coliee/H30-02-B", ("jp/civil-code/3",), "train"),
        ("coliee/R02-05-O", ("jp/civil-code/1",), "development"),
        ("coliee/R02-06-A", ("jp/civil-code/398-2", "jp/civil-code/709"), "development"),
    ]


def test_a_question_that_is_none_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "riteval_R01_en.json"
    good = {"id": "R01-1-A", "query": "Why?", "paragraph": "Article 1 x"}
    path.write_text(json.dumps([good, 5, good, good | {"id": "../x"}, good | {"id": "R01-2", "paragraph": "no article"}]))
    found = list(read(path))
    assert [(r.place, r.reason[:24]) for r in found if isinstance(r, Rejected)] == [
        ("$[1]", "not an identifier of a q"),
        ("$[2]", "repeated identifier: R01"),
        ("$[3]", "not an identifier of a q"),
        ("$[4]", "R01-2: a question withou"),
    ]
    assert sum(isinstance(q, Question) for q in found) == 1


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.xml", COLIEE_XML[:300].encode(), r"line \d+, column \d+: not XML"),
        (
            "a.xml",
            b'<!DOCTYPE d [<!ENTITY a "aa">]><dataset><pair><t1>&a;</t1></pair></dataset>',
            "not XML that is read",
        ),
        ("a.json", b"[{]", "line 1, column 3: not JSON"),
        ("a.json", b"[" * 100_000, "nested too deeply"),
        ("a.json", b"{}", "not a list of questions"),
        ("a.txt", b"Part I\n\xff\xfe", "not UTF-8 text"),
        ("a.txt", b"Part I General\n", "no article in it"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_reason(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(BadSource, match=message):
        list(read(tmp_path / name))
