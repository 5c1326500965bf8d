"""Words as the index sees them, each with its place in the text."""

import doctest
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from search.text import analysis
from search.text.analysis import AnalysedText, analyzer, query_tokens

FRENCH = analyzer("fr")


def test_the_examples_in_the_module_hold() -> None:
    results = doctest.testmod(analysis)
    assert (results.failed, results.attempted) == (0, 2)


@pytest.mark.parametrize(
    "written",
    [
        "L. 1234-9",
        "L1234-9",
        "l. 1234-9",
        "L 1234-9",
        "L.1234-9",
        "l1234-9",
        "L.\xa01234-9",
        "L.  1234-9",
        "L.\n1234-9",
        "L. 1234\u20119",
    ],
)
def test_an_article_number_is_one_word_however_it_is_written(written: str) -> None:
    assert FRENCH.tokens(f"l'article {written}, alinéa 2")[:2] == ["articl", "l1234-9"]
    (number,) = [token for token in FRENCH.analyse(f"voir {written}.") if token.word == "l1234-9"]
    assert f"voir {written}."[number.start : number.end] == written


@pytest.mark.parametrize(
    ("text", "word"),
    [("R.* 123-1", "r123-1"), ("R*123-1", "r123-1"), ("R. ** 12", "r12"), ("LO 6211-3", "lo6211-3"), ("L.O. 6211-3", "lo6211-3"),
     ("D. 712-1-2", "d712-1-2"), ("C. 12", "c12"), ("A. 5", "a5")],
)  # fmt: skip
def test_the_letters_of_every_part_of_a_code_are_known(text: str, word: str) -> None:
    assert FRENCH.tokens(text) == [word]


@pytest.mark.parametrize("text", ["il y a 15 jours", "il y a 2 ans", "l'a 3 fois", "dans 12 mois"])
def test_a_letter_before_a_plain_number_is_no_article(text: str) -> None:
    assert not any(word[0] in "lrdac" and word[1:].isdigit() for word in FRENCH.tokens(text))
    assert any(word.isdigit() for word in FRENCH.tokens(text))


@pytest.mark.parametrize(
    "text", ["l'employeur", "L’employeur", "d'employeur", "qu'employeur", "jusqu’employeur", "employeurs", "EMPLOYEUR"]
)
def test_elision_number_and_case_do_not_hide_a_word(text: str) -> None:
    assert FRENCH.tokens(text) == FRENCH.tokens("employeur")


def test_elision_is_no_part_of_a_words_place() -> None:
    (token,) = FRENCH.analyse("l'indemnité")
    assert (token.start, token.end) == (2, 11)


def test_accents_count_for_nothing_in_the_index() -> None:
    assert FRENCH.tokens("congé prévu") == ["cong", "prevu"]


@pytest.mark.parametrize("text", ["indemnité prévue à l'été", "Ça a été dûment cédé"])
def test_decomposed_accents_make_the_same_words(text: str) -> None:
    assert FRENCH.tokens(unicodedata.normalize("NFD", text)) == FRENCH.tokens(text)


@given(st.text())
@example("İstanbul'da İ L. 12")
@example("ΑΣ Σ")
@example("e\u0301te\u0301")
@example("ŉ ǰ ﬃ")
def test_places_are_those_of_the_text(text: str) -> None:
    for language in ("fr", "en", "xx"):
        end = 0
        assert analyzer(language).tokens(text) == [token.word for token in analyzer(language).analyse(text)]
        for token in analyzer(language).analyse(text):
            assert end <= token.start < token.end <= len(text)
            end = token.end
            assert token.word
            own = analyzer(language).tokens(text[token.start : token.end])
            assert own == [token.word] or "-" in token.word or len(own) == 0 or token.word[0] in "lrdac", (token, own)


@given(
    st.lists(st.sampled_from(["pain", "farine", "L. 111-1", "l'été", "111-1", "pain-farine", "a", "x", "\n"]), max_size=30),
    st.sets(st.sampled_from(["pain", "farin", "l111-1", "111", "1", "ete", "été", "x", "absent"])),
)
def test_a_text_kept_analysed_has_the_words_that_analysis_finds(words: list[str], wanted: set[str]) -> None:
    text = " ".join(words)
    for language in ("fr", "en", "xx"):
        analysed = list(analyzer(language).analyse(text))
        assert analyzer(language).tokens(text) == [token.word for token in analysed]
        expected = [token for token in analysed if token.word in wanted]
        assert AnalysedText(text, language).find(wanted) == expected


def test_a_word_after_a_letter_that_grows_in_lower_case_stands_where_it_stands() -> None:
    text = "İİİ boulanger"
    (token,) = [t for t in FRENCH.analyse(text) if t.word.startswith("boulang")]
    assert text[token.start : token.end] == "boulanger"


def test_a_query_is_analysed_once_a_language() -> None:
    assert query_tokens("pain pain", ("fr",)) == ("pain", "pain")
    assert query_tokens("baking", ("fr", "en")) == ("baking", "bake")
    assert query_tokens("pain", ("fr", "en")) == ("pain",)
