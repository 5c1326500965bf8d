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
    assert tree.articles[4].text.endswith(" liable, Article 1 notwithstanding, for the damage."), (
        "a line that cites is no new article"
    )


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


WRAPPED = """\
Civil Code (Part I, Part II, and Part III)
Act No. 1 of April 1, 1900
Part I General Provisions
Chapter 1 Common Provisions
(Good Faith)
Article 1 Rights are exercised in good faith, which is presumed pursuant to
Article 30 in the cases of this Code; provided, however, that this is as in
Part IV (Relatives).
(Rights of a Person who Deals with Another Person with Limited Capacity and
Guardians)
Article 2 (1) The other person may, within the period set forth in paragraph
1 of
Article 1 which has passed, demand an answer. What is said here goes for
Section 3 too.
(2) The same goes for the cases where
(i) there is no guardian; or
(ii) one is absent.
Article 3 Deleted
Article 4 Deleted
Chapter 2 Persons
(Persons)
Article 30 (1) A person (hereinafter referring to one that is born,
or will be) has rights.
"""


def test_lines_broken_at_a_width_begin_no_article_that_they_cite(tmp_path: Path) -> None:
    tree = code(tmp_path, WRAPPED)
    assert recognises(tmp_path / "civil_code_en.txt")
    assert [(a.number, a.heading) for a in tree.articles] == [
        ("1", "Good Faith"),
        ("2", "Rights of a Person who Deals with Another Person with Limited Capacity and Guardians"),
        ("3", ""),
        ("4", ""),
        ("30", "Persons"),
    ]
    assert [s.heading for s in tree.sections] == ["Part I General Provisions", "Chapter 1 Common Provisions", "Chapter 2 Persons"]
    assert not tree.rejected


def test_lines_broken_at_a_width_make_one_paragraph_again(tmp_path: Path) -> None:
    texts = {a.number: a.text for a in code(tmp_path, WRAPPED).articles}
    assert texts["1"].startswith("Rights are exercised in good faith, which is presumed pursuant to Article 30 in the cases of")
    assert texts["1"].endswith("provided, however, that this is as in Part IV (Relatives).")
    assert texts["2"].splitlines() == [
        "(1) The other person may, within the period set forth in paragraph 1 of Article 1 which has passed, demand an answer. "
        "What is said here goes for Section 3 too.",
        "(2) The same goes for the cases where",
        "(i) there is no guardian; or",
        "(ii) one is absent.",
    ]
    assert texts["30"] == "(1) A person (hereinafter referring to one that is born, or will be) has rights."


def test_an_article_far_ahead_that_a_line_begins_with_takes_none_of_those_between(tmp_path: Path) -> None:
    tree = code(tmp_path, "Part I A\nArticle 1  Pursuant to\nArticle 3 (1) all is well.\nArticle 2  B.\nArticle 3  (1) C.\n")
    assert [(a.number, a.text) for a in tree.articles] == [
        ("1", "Pursuant to Article 3 (1) all is well."),
        ("2", "B."),
        ("3", "(1) C."),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # cites itself, in the midst of a sentence and at the beginning of one
            "(Cap A)\nArticle 1 A.\n(Cap B)\nArticle 2 (1) B holds in the case of\nArticle 2 (1) C.\nArticle 2 is B.\n"
            "(Cap D)\nArticle 3 D.",
            [("1", "A."), ("2", "(1) B holds in the case of Article 2 (1) C.\nArticle 2 is B."), ("3", "D.")],
        ),
        (  # a range, and what cites an article in it
            "Articles 38 through 84 Deleted\nArticle 85 B under the\nformer\nArticle 70 (1).\nArticle 86 D.",
            [("38 to 84", "Deleted"), ("85", "B under the former Article 70 (1)."), ("86", "D.")],
        ),
        (
            "Article 91 Deleted\nArticle 92 deleted\nArticle 95 - 97 Deleted\nArticle 100 [Deleted]\nArticle 102 （1） X\n"
            "Article 104 ‘A’ is.",
            [
                ("91", "Deleted"),
                ("92", "deleted"),
                ("95", "- 97 Deleted"),
                ("100", "[Deleted]"),
                ("102", "（1） X"),
                ("104", "‘A’ is."),
            ],
        ),
        (  # what goes on behind parentheses, and items by letters
            "Article 1 A person (an agent)\nmay act:\n(a) by letter\n(b) otherwise.\n(Three\nlines of a\ncaption)\nArticle 2 B.",
            [("1", "A person (an agent) may act:\n(a) by letter\n(b) otherwise."), ("2", "B.")],
        ),
    ],
)
def test_articles_and_what_only_looks_like_one(text: str, expected: list[tuple[str, str]], tmp_path: Path) -> None:
    tree = code(tmp_path, f"Part I General\n{text}\n")
    assert [(a.number, a.text) for a in tree.articles] == expected
    assert not tree.rejected


def test_a_bare_heading_behind_a_deleted_article_is_one_and_one_in_a_sentence_is_none(tmp_path: Path) -> None:
    tree = code(
        tmp_path, "Chapter 1 A\nArticle 1 Deleted\nChapter 2\nArticle 2 The provisions of\nChapter 1 Apply here.\nArticle 3 C.\n"
    )
    assert [s.heading for s in tree.sections] == ["Chapter 1 A", "Chapter 2"]
    assert [(a.number, a.text) for a in tree.articles][1] == ("2", "The provisions of Chapter 1 Apply here.")


FIRST_EDITION = """<?xml version="1.0" encoding="utf-8"?>
<dataset>\t
<pair id="H18-1-1" label="Y">
<t1>
<article id="572"/>
<article id="398-2"/>
</t1>
<t2>
A special provision can be made.
</t2>
</pair>
<pair id="H19-1-3" label="N">
<t1>
(Fraud or Duress)Article 96(1)What fraud induced may be rescinded.(2)Article 95 applies.
Article 120
(1) Who may rescind.
(2) Article 5 applies.
(a) Article 94 applies.
(hereinafter the party) Article 95 applies.
（Rights）Article 398-2 (1) Rights.
</t1>
<t2>Who was forced is free.</t2>
</pair>
</dataset>
"""


def test_the_first_editions_name_articles_behind_their_caption_or_by_number_alone(tmp_path: Path) -> None:
    (tmp_path / "riteval_H18.xml").write_text(FIRST_EDITION, "utf-8")
    assert [(q.id, q.relevant) for q in read(tmp_path / "riteval_H18.xml") if isinstance(q, Question)] == [
        ("coliee/H18-1-1", ("jp/civil-code/572", "jp/civil-code/398-2")),
        ("coliee/H19-1-3", ("jp/civil-code/96", "jp/civil-code/120", "jp/civil-code/398-2")),
    ]


def test_a_folder_as_it_is_given_out_is_read_and_questions_without_answers_are_listed(tmp_path: Path) -> None:
    folder = tmp_path / "coliee"
    (folder / "text").mkdir(parents=True)
    (folder / "train").mkdir()
    (folder / "README.txt").write_text("<encoding:UTF-8>\n\n***** COLIEE *****\n<pair id='H19-1-3'>\n", "utf-8")
    (folder / "text" / "civil_code_en-1to724-2.txt").write_text(WRAPPED, "utf-8")
    answered = "<pair id='R04-01-A'><t1>\n(Persons)\nArticle 30(1) A person\n</t1><t2>\nWho has rights?\n</t2></pair>"
    (folder / "train" / "riteval_R04_en.xml").write_text(f"<dataset>{answered}</dataset>", "utf-8")
    unanswered = "<pair id='R05-01-A'>\n<t2>\nWho asks?\n</t2>\n</pair>"
    (folder / "TestData_en.xml").write_text(f"<dataset>\n{unanswered}</dataset>", "utf-8")
    store = EmbeddedStore(tmp_path / "home")
    report = ingest(store, folder)
    assert [r.reason for r in report.rejected] == [
        "R05-01-A: a question without a query, or without an article that its paragraphs begin with"
    ]
    with open_graph(store.home) as graph:
        assert {q.id: q.relevant for q in read_questions(graph, "coliee")} == {"coliee/R04-01-A": ("jp/civil-code/30",)}
