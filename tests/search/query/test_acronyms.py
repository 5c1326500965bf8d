"""Acronyms of French in the words of its law: where the law knows these, in short queries, unless they are explained."""

from dataclasses import replace

import pytest

from search.query.acronyms import without_dots, written_out
from search.query.understanding import Understanding
from search.retrieval import Retriever
from search.text.vocabulary import words_of


def known(word: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("word", "query", "meant"),
    [
        ("cdd", "cdd", "contrat à durée déterminée"),
        ("CDD", "RUPTURE DU CDD", "contrat à durée déterminée"),
        ("Smic", "montant du Smic", "salaire minimum de croissance"),
        ("ARE", "toucher l'ARE", "allocation d'assurance chômage"),
        ("ARE", "ARE ?", "allocation d'assurance chômage"),
        ("AT", "AT/MP", "accident du travail"),
        ("CDDs", "les CDDs", "contrat à durée déterminée"),
        ("CDD", "un contrat CDD", "à durée déterminée"),
        ("CDD", "contrats à durée déterminée (CDD)", "CDD"),  # which the query says, too
    ],
)
def test_an_acronym_is_written_out(word: str, query: str, meant: str) -> None:
    assert written_out(word, query, ("fr",), known) == meant


@pytest.mark.parametrize(
    ("word", "query"),
    [
        ("cet", "cet article"),
        ("CET", "DANS CET ARTICLE"),
        ("are", "how are you"),
        ("safer", "safer workplace"),
        ("contrat", "rompre un contrat"),
        ("CDD", "un CDD " + "et bien d'autres mots " * 4),
    ],
)
def test_other_words_and_those_of_a_long_query_stay(word: str, query: str) -> None:
    assert written_out(word, query, ("fr",), known) == ""


def test_dots_of_acronyms_alone_are_left_out() -> None:
    assert without_dots("C.D.D. et r.s.a, art. L.122-3, M. X.Y. et p.ex.") == "CDD et rsa, art. L.122-3, M. X.Y. et p.ex."


def test_what_the_law_does_not_have_is_not_written_out() -> None:
    assert written_out("cdd", "cdd", ("fr",), lambda word: word != "durée") == ""
    assert written_out("cdd", "cdd", ("en",), known) == ""


def test_a_query_is_ranked_by_what_its_acronyms_stand_for_and_it_says_so(retriever: Retriever) -> None:
    index = retriever.index
    law = replace(index.vocabulary, words=words_of(["le comité social et économique, élection au cas où"]))
    understanding = Understanding(index.corpus, law, ("fr",))
    understood = understanding.understand("élection au cse ?")
    assert understood.words == "élection au comité social et économique"
    assert understood.notes() == ["Showing results for “élection au comité social et économique ?”."]
    explained = understanding.understand("le comité social et économique (CSE)")
    assert explained.corrected is None, "a word that the law lacks, and no misspelt “cas” either"
    assert understanding.understand("what is a cse").words.endswith("comité social et économique")
