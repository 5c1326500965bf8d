"""Where the sentences of a query end, and which of them are asked by themselves."""

from dataclasses import replace

import pytest

from search.query.sentences import MOST, sentences
from search.query.understanding import Understanding
from search.retrieval import Retriever
from search.text.vocabulary import words_of


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("congé parental", ["congé parental"]),
        ("Congé parental\nTout salarié y a droit.", ["Congé parental", "Tout salarié y a droit."]),
        (
            "mon patron veut me licencier. je suis en arrêt ! que faire ?",
            ["mon patron veut me licencier.", "je suis en arrêt !", "que faire ?"],
        ),
        ("L'art. L. 1234-9 du code, al. 2", ["L'art. L. 1234-9 du code, al. 2"]),
        ("Depuis 2019. Le bail court.", ["Depuis 2019.", "Le bail court."]),
        ("un bail ; un préavis…   un loyer", ["un bail ;", "un préavis…", "un loyer"]),
        ("2.5 heures à 3.50 euros", ["2.5 heures à 3.50 euros"]),
        ("\n \n", []),
    ],
)
def test_a_sentence_ends_with_its_sign_or_its_line_and_not_with_an_abbreviation(text: str, found: list[str]) -> None:
    assert sentences(text) == found


def test_of_a_long_text_the_last_part_has_all_that_is_left() -> None:
    text = " ".join(f"Ceci est la phrase {1000 + n}." for n in range(20))
    found = sentences(text)
    assert len(found) == MOST
    assert " ".join(found) == text


def test_sentences_that_say_something_are_asked_by_themselves(understanding: Understanding) -> None:
    query = "Bonjour,\nMon salarié est en congé parental. Puis-je rompre son contrat de travail ? Merci"
    understood = understanding.understand(query)
    assert understood.sentences == ("Mon salarié est en congé parental.", "Puis-je rompre son contrat de travail")
    assert "\n" not in understood.words
    assert all(sentence in understood.words for sentence in understood.sentences)


@pytest.mark.parametrize("query", ["le congé parental du salarié", "Bonjour ! Le congé parental du salarié ? Merci.", "?!\n…"])
def test_where_one_sentence_says_something_the_whole_is_asked_alone(understanding: Understanding, query: str) -> None:
    assert understanding.understand(query).sentences == ()


def test_sentences_have_the_words_that_are_meant(understanding: Understanding) -> None:
    understood = understanding.understand("Le harsèlement moral au travail. La rupture du contrat de travail.")
    assert understood.sentences == ("Le harcèlement moral au travail.", "La rupture du contrat de travail.")


def test_a_short_sentence_has_its_acronyms_written_out_though_the_whole_query_is_long(retriever: Retriever) -> None:
    long = "Un salarié dont le contrat de travail est rompu par son employeur pendant un congé parental du salarié et du contrat."
    vocabulary = replace(retriever.index.vocabulary, words=words_of([long, "rompre un contrat à durée déterminée"]))
    understood = Understanding(retriever.corpus, vocabulary, ("fr",)).understand(f"Rompre un cdd\n{long}")
    assert understood.sentences == ("Rompre un contrat à durée déterminée", long)
    assert understood.words == f"Rompre un cdd {long}", "beside so many other words it says little"
