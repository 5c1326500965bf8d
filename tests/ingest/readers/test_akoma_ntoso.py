"""Akoma Ntoso: hierarchy, references, identification and dates, and addresses of works in all their forms."""

import os
from datetime import date
from pathlib import Path

import pytest

from ingest.readers.akoma_ntoso import act_of_work, read, work_of
from schema.errors import BadSource
from schema.records import ActTree, Relation, Remark
from tests.support.small_texts import AKOMA_NTOSO

WORK = "/akn/za/act/2009/10"


def tree_of(folder: Path, text: str = AKOMA_NTOSO) -> ActTree:
    path = folder / "bread-act.xml"
    path.write_text(text, "utf-8")
    (tree,) = (item for item in read(path) if isinstance(item, ActTree))
    return tree


@pytest.mark.parametrize(
    "address",
    [
        "/akn/za/act/2009/10",
        "/akn/za/act/2009/10/",
        "/za/act/2009/10",
        "/akn/za/act/2009/10/eng",
        "/akn/za/act/2009/10/eng@2010-01-01",
        "/akn/za/act/2009/10/eng:2010-01-01",
        "/akn/za/act/2009/10/eng@2010-01-01/!main",
        "/akn/za/act/2009/10/eng@/!main~sec_5__subsec_2",
        "/akn/za/act/2009/10/~sec_5",
        "/akn/za/act/2009/10~sec_5",
        "/akn/za/act/2009/10#sec_5",
        "/akn/za/act/2009/10/!schedule_1",
        "/za/act/2009/10/eng@2010-01-01/main#sec-5",
        "https://example.org/akn/za/act/2009/10/eng",
    ],
)
def test_every_form_of_an_address_names_the_same_work(address: str) -> None:
    assert work_of(address) == WORK


@pytest.mark.parametrize(
    ("address", "work"),
    [
        ("/akn/za-cpt/act/by-law/2010/liquor/eng@2011-02-03", "/akn/za-cpt/act/by-law/2010/liquor"),
        (
            "/akn/un/statement/decision/unep-cbd-cop/2010-10-18/10-20/eng",
            "/akn/un/statement/decision/unep-cbd-cop/2010-10-18/10-20",
        ),
        ("/akn/it/act/legge/stato/2005-03-07/82/ita@/!main", "/akn/it/act/legge/stato/2005-03-07/82"),
        ("http://www.legislation.gov.uk/id/ukpga/2018/12", "/akn/ukpga/2018/12"),
        ("#sec_5", ""),
        ("urn:nir:stato:legge:2005", ""),
        ("/akn/ontology/person/za/mandela", ""),
        ("", ""),
        ("/akn/za/act/2009/10" * 100, ""),
    ],
)
def test_other_works_and_what_is_none(address: str, work: str) -> None:
    assert work_of(address) == work


def test_acts_of_localities_are_apart_from_those_of_their_country() -> None:
    acts = [act_of_work(f"/akn/{country}/act/2010/3", "za") for country in ("za", "za-cpt", "za-jhb")]
    assert acts == ["za/act-2010-3", "za/cpt-act-2010-3", "za/jhb-act-2010-3"]


def test_identification_and_dates(tmp_path: Path) -> None:
    act = tree_of(tmp_path).act
    assert (act.id, act.source_id, act.jurisdiction, act.kind) == ("za/act-2009-10", WORK, "za", "act")
    assert (act.title, act.language) == ("Bread Act", "en")
    assert (act.published, act.updated) == (date(2009, 3, 4), date(2012, 1, 1))
    assert act.preamble == "An act on bread."


def test_hierarchy_down_to_the_sections_that_are_its_articles(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    assert [(s.id, s.heading, s.text) for s in tree.sections] == [
        ("za/act-2009-10/chapter-i", "Chapter I – Of bread", "In this chapter:"),
        ("za/act-2009-10/chapter-i/dough", "Dough", ""),
    ]
    assert [(a.id, a.parent_id, a.number, a.heading) for a in tree.articles] == [
        ("za/act-2009-10/1", "za/act-2009-10/chapter-i/dough", "1", "Meaning"),
        ("za/act-2009-10/2", "za/act-2009-10", "2", ""),
        ("za/act-2009-10/Schedule-of-ovens", "za/act-2009-10", "Schedule of ovens", ""),
    ]
    assert tree.articles[0].text == ("(1) Bread is flour, water2 and salt.\n(2) See section 2(1) and section 5 of the Flour Act.")
    assert tree.articles[1].text == "Replace section 5:\n5 Bake.", "what it quotes is text, not an article of its own"


def test_references_stand_where_they_say_and_name_units_of_works(tmp_path: Path) -> None:
    tree = tree_of(tmp_path)
    texts = {a.id: a.text for a in tree.articles}
    assert all(texts[c.article_id][c.start : c.end] == c.text for c in tree.citations)
    assert [(c.text, c.target) for c in tree.citations] == [
        ("section 2(1)", f"{WORK}#sec_2"),
        ("section 5 of the Flour Act", "/akn/za/act/1998/84#sec-5"),
    ]
    assert tree.articles[1].source_id == f"{WORK}#sec_2"


def test_what_the_act_does_to_others_and_not_what_is_done_to_it(tmp_path: Path) -> None:
    relations = tree_of(tmp_path).relations
    assert [(r.type, r.target, r.basis) for r in relations] == [
        ("AMENDS", "/akn/za/act/1998/84", "metadata"),
        ("REPEALS", "/akn/za/act/1950/7", "metadata"),
    ]
    assert all(isinstance(r, Relation) for r in relations)


def test_a_date_that_is_none_is_remarked_and_the_act_read(tmp_path: Path) -> None:
    path = tmp_path / "act.xml"
    path.write_text(AKOMA_NTOSO.replace("2009-03-04", "2009-13-04"), "utf-8")
    remark, tree = read(path)
    assert isinstance(remark, Remark)
    assert "2009-13-04" in remark.reason
    assert isinstance(tree, ActTree)
    assert tree.act.published is None


def test_a_body_without_units_is_one_article(tmp_path: Path) -> None:
    start, end = AKOMA_NTOSO.index("<body>"), AKOMA_NTOSO.index("</body>")
    tree = tree_of(tmp_path, AKOMA_NTOSO[:start] + "<body><p>All bread.</p>" + AKOMA_NTOSO[end:])
    assert [(a.number, a.text) for a in tree.articles[:1]] == [("Text", "All bread.")]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (AKOMA_NTOSO[:900], r"line \d+, column \d+: not XML"),
        ("", "line 1, column 0: not XML"),
        ("<akomaNtoso/>", "with a document in it"),
        ("<akomaNtoso><act/></akomaNtoso>", "no FRBRWork"),
        (AKOMA_NTOSO.replace("/akn/za/act/2009/10", "../../etc/passwd"), "not the address of a work: '../../etc/passwd'"),
        (AKOMA_NTOSO.replace('FRBRcountry value="za"', 'FRBRcountry value="../.."'), "not a country"),
        (f"<!DOCTYPE a [<!ENTITY b 'bb'>]>{AKOMA_NTOSO.partition('?>')[2]}", "not XML that is read"),
        ("<akomaNtoso>" + "<act>" * 300 + "</act>" * 300 + "</akomaNtoso>", "nest deeper than 200"),
    ],
)
def test_a_broken_file_is_refused_with_place_and_reason(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "act.xml"
    path.write_text(content, "utf-8")
    with pytest.raises(BadSource, match=message):
        list(read(path))


def test_documents_of_another_programs_tests(tmp_path: Path) -> None:
    """Those of bluebell (Laws.Africa), where LEXGRAPH_AKN_DOCUMENTS names their folder."""
    folder = os.environ.get("LEXGRAPH_AKN_DOCUMENTS")
    if not folder:
        pytest.skip("unpack the sdist of bluebell-akn from PyPI and set LEXGRAPH_AKN_DOCUMENTS to its folder tests")
    read_, refused = 0, list[str]()
    for path in sorted(Path(folder).rglob("*.xml")):
        try:
            trees = [item for item in read(path) if isinstance(item, ActTree)]
        except BadSource as error:
            refused.append(error.reason)
            continue
        read_ += len(trees)
        assert all("\n\n" not in a.text and a.text == a.text.strip() for t in trees for a in t.articles)
    assert read_ >= 11
    assert all("no FRBRWork" in reason for reason in refused), "fragments without identification"
    assert len(refused) <= 2
