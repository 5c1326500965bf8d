"""Tables of occupational diseases, which are articles of other numbers in one code and in another."""

from dataclasses import replace

import pytest

from schema.filter import Filter
from search.query.understanding import Understanding
from search.retrieval import Retriever
from tests.support.codes_and_acts import ids

NUMBERED = {
    "CSS L411-2": "Annexe-II-:-Tableau-n°-57",
    "CRPM L411-2": "Tableau-n°-57",
    "CSS L521-2": "Annexe-II-:-Tableau-n°-4-BIS",
}


@pytest.fixture
def understanding(retriever: Retriever) -> Understanding:
    """Understands queries over codes some of whose articles are tables."""
    index = retriever.index
    articles = list(index.corpus.articles)
    for looked_up, number in NUMBERED.items():
        (id,) = ids(looked_up)
        articles[articles.index(id)] = f"{id.rpartition('/')[0]}/{number}"
    return Understanding(replace(index.corpus, articles=articles), index.vocabulary, ("fr",))


@pytest.mark.parametrize(
    ("query", "tables"),
    [
        ("tableau n° 57", ["CSS L411-2", "CRPM L411-2"]),
        ("maladie professionnelle, TABLEAU 57", ["CSS L411-2", "CRPM L411-2"]),
        ("tableau no 57 du code rural", ["CRPM L411-2"]),
        ("tableau 57 code de la sécurité sociale", ["CSS L411-2"]),
        ("le tableau 4 bis", ["CSS L521-2"]),
        ("tableaux 4 bis et 57 du code de la sécurité sociale", ["CSS L521-2", "CSS L411-2"]),
        ("tableaux n°s 57 et 4bis CSS", ["CSS L411-2", "CSS L521-2"]),
        ("tableau numéro 57, RG", ["CSS L411-2", "CRPM L411-2"]),
        ("tableau RG 57", ["CSS L411-2", "CRPM L411-2"]),
        ("tableau 57 du code des relations entre le public et l'administration", []),
        ("tableau 4", []),
        ("tableau 57-1", []),
        ("tableau 57 colonnes", []),
        ("tableau 57,5 %", []),
        ("tableau n° 57 %", []),
        ("tableau n° 57 de l'annexe I", []),
        ("un tableau de 57 personnes", []),
    ],
)
def test_a_table_is_found_by_its_number(
    understanding: Understanding, retriever: Retriever, query: str, tables: list[str]
) -> None:
    where = [retriever.corpus.article_position[id] for id in ids(*tables)]
    assert list(understanding.understand(query).named) == where


def test_a_filter_says_which_code_a_table_is_of(understanding: Understanding, retriever: Retriever) -> None:
    (id,) = ids("CSS L411-2")
    named = understanding.understand("tableau 57", Filter(act=id.rpartition("/")[0])).named
    assert named == (retriever.corpus.article_position[id],)
