"""Acronyms of French in the words of its law: where the law knows these, in short queries, unless they are explained."""

from dataclasses import replace

import pytest

from search.query.acronyms import written_out
from search.query.understanding import Understanding
from search.retrieval import Retriever
from search.text.vocabulary import words_of


def known(word: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("cdd", "contrat à durée déterminée"),
        ("RUPTURE DU CDD", "RUPTURE DU contrat à durée déterminée"),
        ("montant du Smic", "montant du salaire minimum de croissance"),
        ("toucher l'ARE", "toucher l'allocation d'assurance chômage"),
        ("ARE ?", "allocation d'assurance chômage ?"),
        ("AT/MP", "accident du travail/maladie professionnelle"),
        ("les CDDs", "les contrat à durée déterminée"),
        ("un contrat CDD", "un contrat à durée déterminée"),
        (
            "C.D.D. et r.s.a, art. L.122-3, M. X.Y.",
            "contrat à durée déterminée et revenu de solidarité active, art. L.122-3, M. X.Y.",
        ),
    ],
)
def test_acronyms_are_written_out(query: str, meant: str) -> None:
    assert written_out(query, ("fr",), known) == meant


@pytest.mark.parametrize(
    "query",
    [
        "cet article",
        "DANS CET ARTICLE",
        "how are you",
        "safer workplace",
        "rompre un contrat",
        "CDD2 et RSA2024",
        "contrats à durée déterminée (CDD)",  # which it says, too
        "un CDD " + "et bien d'autres mots " * 4,
        "",
    ],
)
def test_other_words_and_long_queries_stay(query: str) -> None:
    assert written_out(query, ("fr",), known) == query


def test_what_the_law_does_not_have_is_not_written_out() -> None:
    assert written_out("un c.d.d.", ("fr",), lambda word: word != "durée") == "un c.d.d."
    assert written_out("cdd", ("en",), known) == "cdd"


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
