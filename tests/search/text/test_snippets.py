"""The passage that shows why an article answers."""

from hypothesis import given
from hypothesis import strategies as st

from search.text.analysis import analyzer
from search.text.snippets import WIDTH, snippet

FILLING = "Le moulin tourne au bord de la rivière et le vent souffle sur la colline. "
WORDS = st.sampled_from(
    ["pain", "farine", "L. 111-1", "l'été", "boulanger,", "a", "inconstitutionnellement" * 3, "le\n", "x" * 29, "\n"]
)


def test_the_passage_holds_most_of_the_querys_words_with_its_marks_on_them() -> None:
    text = FILLING * 10 + "Le boulanger vend du pain." + FILLING * 10 + "Le pain."
    found = snippet(text, "pain du boulanger", "fr")
    assert found.words == ("boulanger", "pain")
    assert found.text.startswith("… ")
    assert found.text.endswith(" …")
    assert len(found.text) <= WIDTH + 4


def test_a_short_text_is_shown_whole_and_one_without_a_match_from_its_beginning() -> None:
    assert snippet("Le pain\nest cuit.", "pain", "fr").text == "Le pain est cuit."
    found = snippet(FILLING * 10, "pain", "fr")
    assert found.marks == ()
    assert FILLING.startswith(found.text[:50])
    assert snippet("", "pain", "fr").text == ""


def test_the_match_is_shown_where_a_paragraph_begins_with_it() -> None:
    text = FILLING * 5 + "\n" + "x" * 40 + "\npain\n" + "y" * 45 + " fin. " + FILLING * 5
    assert snippet(text, "pain", "fr").words == ("pain",)


def test_the_match_is_shown_where_it_ends_with_the_passage() -> None:
    for before in range(WIDTH - 12, WIDTH + 4):
        text = ("mot " * WIDTH)[: before - 1] + " " + "pain, " + FILLING * 5
        assert snippet(text, "pain", "fr").words == ("pain",), before


@given(st.lists(WORDS, max_size=150).map(" ".join), st.lists(WORDS, min_size=1, max_size=3).map(" ".join))
def test_marks_stand_on_matched_words_and_a_match_is_always_shown(text: str, query: str) -> None:
    found = snippet(text, query, "fr")
    analyse = analyzer("fr")
    wanted = set(analyse.tokens(query))
    for start, end in found.marks:
        assert set(analyse.tokens(found.text[start:end])) <= wanted
        assert found.text[start:end].replace(" ", "") in text.replace("\n", "").replace(" ", "")
    assert bool(found.marks) == bool(wanted & set(analyse.tokens(text)))
    body = found.text.removeprefix("… ").removesuffix(" …")
    assert body in text.replace("\n", " ")


def test_a_long_article_full_of_matches_is_looked_through_once() -> None:
    """Four thousand matches: compared each with all that follow, they would take eight million steps."""
    assert snippet("pain farine " * 2000, "pain farine levain", "fr").words == ("pain", "farine")
