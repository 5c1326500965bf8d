"""Identifiers are readable, stable and apart from each other."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schema import identifiers
from schema.identifiers import (
    MAX_LENGTH,
    act_id,
    article_ids,
    bounded,
    normal_number,
    number_stem,
    section_ids,
    section_number,
    slug,
)


def test_the_examples_in_the_module_hold() -> None:
    results = doctest.testmod(identifiers)
    assert (results.failed, results.attempted > 1) == (0, True)


@pytest.mark.parametrize(
    ("written", "normal"),
    [
        ("L. 1234-9", "L1234-9"),
        ("L1234-9", "L1234-9"),
        ("l. 1234-9", "L1234-9"),
        ("Article L. 1234-9", "L1234-9"),
        ("Art. L 1234-9 ", "L1234-9"),
        ("LO 6211-3", "LO6211-3"),
        ("R.* 123-1", "R*123-1"),
        ("R. ** 123-1", "R**123-1"),
        ("D. 712-1-2", "D712-1-2"),
        ("1er", "1er"),
        ("Annexe II à l'article R. 4312-1", "Annexe-II-à-l'article-R.-4312-1"),
        ("Annexe 1/2 # 3?", "Annexe-1-2-3-"),
    ],
)
def test_a_number_has_one_form_however_it_is_written(written: str, normal: str) -> None:
    assert normal_number(written) == normal


@given(st.text(max_size=40))
def test_the_normal_form_is_its_own_normal_form_and_fits_an_identifier(number: str) -> None:
    once = normal_number(number)
    assert normal_number(once) == once
    assert not any(c.isspace() or c in "/#?" for c in once)


@pytest.mark.parametrize(
    ("number", "stem"),
    [("L1234-9", "1234"), ("R. 1234-1", "1234"), ("D.* 1234-7", "1234"), ("12", "12"), ("Annexe II", ""), ("", "")],
)
def test_statute_and_decree_on_one_matter_share_the_stem(number: str, stem: str) -> None:
    assert number_stem(number) == stem


def test_a_shared_number_is_told_apart_by_the_publishers_identifier_whatever_the_order() -> None:
    numbered = [("L1", "A1"), ("Annexe I", "A2"), ("annexe I", "A3"), ("Annexe I", "A4")]
    ids = article_ids("fr/X", numbered)
    assert ids == ["fr/X/L1", "fr/X/Annexe-I~A2", "fr/X/annexe-I", "fr/X/Annexe-I~A4"]
    assert article_ids("fr/X", numbered[::-1]) == ids[::-1]


def test_sections_are_named_by_the_numbered_part_of_their_headings() -> None:
    assert section_number("Livre Ier : Dispositions") == "Livre Ier"
    assert section_number("Section 2 – Des annexes") == "Section 2"
    assert section_number("Section 1:  ") == "Section 1"
    headed = [("Première partie : Du pain", "S1"), ("Livre II", "S2"), ("Livre II : Bis", "S3"), ("…", "S4")]
    assert section_ids("fr/X", headed) == ["fr/X/premiere-partie", "fr/X/livre-ii~S2", "fr/X/livre-ii~S3", "fr/X/section"]


@given(
    st.lists(
        st.tuples(st.sampled_from(["L1", "l. 1", "L 1", "Annexe", "é" * 300]), st.uuids().map(str)), unique_by=lambda p: p[1]
    )
)
def test_identifiers_of_one_act_are_unique_and_bounded(numbered: list[tuple[str, str]]) -> None:
    for ids in (article_ids("fr/X", numbered), section_ids("fr/X", numbered)):
        assert len(set(ids)) == len(numbered)
        assert all(len(id) <= MAX_LENGTH for id in ids)


@given(st.text(min_size=MAX_LENGTH - 3, max_size=MAX_LENGTH + 3, alphabet="aé/"), st.text(max_size=3, alphabet="ab"))
def test_a_long_identifier_is_cut_and_stays_itself(identifier: str, more: str) -> None:
    short = bounded(identifier)
    assert len(short) <= MAX_LENGTH
    assert bounded(short) == short
    assert (short == identifier) == (len(identifier) <= MAX_LENGTH)
    assert (bounded(identifier + more) == short) == (more == "")


def test_an_act_is_named_by_jurisdiction_and_publisher() -> None:
    assert act_id("fr", "LEGITEXT000006072050") == "fr/LEGITEXT000006072050"
    assert slug("Première partie : l'Œuvre") == "premiere-partie-l-uvre"
