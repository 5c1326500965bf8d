"""Queries in a language that the law is not written in: told, and not corrected into that of the law."""

import doctest
from pathlib import Path

import pytest

from cypher.engines.ladybug import open_graph
from ingest.loading.questions import read_questions
from search.corpus.read import read_corpus
from search.query import foreign_language as module
from search.query.foreign_language import foreign_language
from search.query.spelling import Speller
from search.query.understanding import Understanding
from search.questions import TITLE, WITH_DESCRIPTION, query_text
from search.text.vocabulary import words_of

SAID = "The query seems to be in another language than the law that is loaded."


def test_examples() -> None:
    results = doctest.testmod(module)
    assert (results.failed, results.attempted > 0) == (0, True)


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("What is the minimum wage?", "en"),
        ("I was fired while pregnant", "en"),
        ("Do I get paid for overtime?", "en"),
        ("Kann mein Arbeitgeber meine E-Mails lesen?", "de"),
        ("¿Puede mi empresa leer mis correos?", "es"),
        ("il mio datore di lavoro può licenziarmi con la malattia", "it"),
        ("mag mijn werkgever mij ontslaan als ik ziek ben", "nl"),
        ("minimum wage", None),  # no small word tells it
        ("don de jours de repos", None),
        ("congé de maternité en alternance", None),
        ("Retraite complémentaire d'un agent non titulaire", None),
        ("SMIC", None),
        ("L1234-5", None),
        ("", None),
    ],
)
def test_small_words_tell_the_language_of_a_query_over_french_law(query: str, language: str | None) -> None:
    assert foreign_language(query, ["fr"]) == language
    assert foreign_language(query.upper(), ["fr"]) == language


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("dismissal during sick leave", "en"),
        ("dismissal during arrêt maladie", None),  # half of its words are the law's
        ("during dismissal", None),
        ("dismissal sick leave", None),
        ("arrêt non maladie", None),  # a small word of Italian, which the law has
        ("licenciement for le personnel strange odd", None),
    ],
)
def test_one_small_word_tells_it_among_words_that_are_strange_to_the_law(query: str, language: str | None) -> None:
    law = {"arrêt", "maladie", "non", "licenciement", "personnel"}
    assert foreign_language(query, ["fr"], lambda word: word not in law) == language


@pytest.mark.parametrize(
    "query",
    [
        "burn-out divorce",
        "turn over télétravail",
        "check-in canicule",
        "start-up freelance",
        "coming out harcèlement",
        "all inclusive crèche",
        "per diem grève",
        "stand by astreinte",
        "salaire on call",
    ],
)
def test_french_that_has_taken_over_a_word_stays_french(query: str) -> None:
    assert foreign_language(query, ["fr"], lambda word: True) is None


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("¿Cuánto dura la baja por maternidad?", "es"),
        ("Cos'è il periodo di prova?", "it"),
        ("Quanto posso receber?", "it"),
        ("Wat is het minimumloon?", "nl"),
        ("Quelle est la durée de la période ?", None),
    ],
)
def test_small_words_that_the_law_shares_tell_nothing(query: str, language: str | None) -> None:
    assert foreign_language(query, ["fr"]) == language


def test_a_language_that_the_law_has_is_not_foreign() -> None:
    query = "What is the minimum wage of the workers?"
    assert foreign_language(query, ["en"]) is None
    assert foreign_language(query, ["fr", "en"]) is None
    assert foreign_language("Odwołanie do sądu na podstawie ustawy", ["pl"]) is None
    assert foreign_language("Odwołanie do sądu na podstawie ustawy", ["fr"]) == "pt", "of languages that are not known"
    assert foreign_language("Quel est le salaire minimum des salariés ?", ["en"]) == "fr"
    assert foreign_language(query, ["en", "de", "es", "fr", "it", "nl", "pt"]) is None


def test_it_is_told_and_no_word_is_taken_for_a_misspelt_one(understanding: Understanding) -> None:
    understood = understanding.understand("does my contrat have a periode for notice")
    assert (understood.language, understood.corrected) == ("en", None)
    assert understood.words == "contrat a periode notice", "small words of its language say as little as those of the law's"
    assert understood.notes() == [SAID]
    assert understanding.understand("quelle est la durée du congé ?").language is None


@pytest.mark.xdist_group("real law")
def test_no_real_question_is_taken_for_one_in_another_language(real_home: Path) -> None:
    with open_graph(real_home) as graph:
        questions = read_questions(graph, "service-public")
        _, text = read_corpus(graph)
    assert len(questions) == 809
    queries = [query_text(question, fields) for question in questions for fields in (TITLE, WITH_DESCRIPTION)]
    speller = Speller(words_of([*text.titles, *text.headings, *text.article_headings, *text.texts]), ["fr"])
    assert [query for query in queries if foreign_language(query, ["fr"], speller.is_strange)] == []
