"""Articles that a query names are looked up: forty ways to name them, and how the hits begin with them in every mode."""

import pytest

from schema.filter import Filter
from search.modes import Mode
from search.query.understanding import Understanding
from search.retrieval import Retriever
from tests.support.codes_and_acts import act, ids

HARASSMENT = ("CT L1152-1", "CT L1152-2", "CT L1152-3")
LOOKUPS: dict[str, tuple[str, ...]] = {
    # bare numbers
    "L1152-1": ("CT L1152-1",),
    "l1152-1": ("CT L1152-1",),
    "L. 1152-1": ("CT L1152-1",),
    "1152-1": ("CT L1152-1",),
    "article L 1225-4": ("CT L1225-4",),
    "Que dit l'article L521-1 ?": ("CSS L521-1",),
    "r.* 123-1": ("CSS R*123-1",),
    "L411-1": ("CT L411-1", "CSS L411-1", "CRPM L411-1"),
    "art. L411-2": ("CSS L411-2", "CRPM L411-2"),
    # parts apart
    "L 1152 1": ("CT L1152-1",),
    "article l. 1225.4 du code du travail": ("CT L1225-4",),
    "L-1152-1": ("CT L1152-1",),
    "r 1225 4 code du travail et L 411 2 CSS": ("CT R1225-4", "CSS L411-2"),
    # with an act
    "L. 1225-4 code du travail": ("CT L1225-4",),
    "article L. 521-1 du code de la sécurité sociale": ("CSS L521-1",),
    "article L. 411-1 du code rural": ("CRPM L411-1",),
    "ARTICLE L411-1 DU CODE RURAL ET DE LA PECHE MARITIME": ("CRPM L411-1",),
    "code du travail, art. L. 1152-1": ("CT L1152-1",),
    "Code du travail L411-1": ("CT L411-1",),
    "art. 5 de la directive 2016/680": ("32016L0680 5",),
    "art 5 directive 2016/680": ("32016L0680 5",),
    "article premier de la directive (UE) 2016/680": ("32016L0680 1",),
    "licenciement d'une salariée enceinte, article R. 1225-4 du code du travail": ("CT R1225-4",),
    # abbreviations
    "L1152-1 C. trav.": ("CT L1152-1",),
    "L411-1 CSS": ("CSS L411-1",),
    "css l411-1": ("CSS L411-1",),
    "art. L. 411-1 C. séc. soc.": ("CSS L411-1",),
    "L. 211-2 CRPA": ("CRPA L211-2",),
    "article 100-1 CRPA": ("CRPA L100-1",),
    "L411-1 CT": ("CT L411-1",),
    "article 6 RGPD": ("32016R0679 6",),
    # ranges and lists
    "articles L1152-1 à L1152-3 du code du travail": HARASSMENT,
    "L1152-1 - L1152-3": HARASSMENT,
    "L1152-1 L1152-2 L1152-3": HARASSMENT,
    "articles 5 à 7 de la directive 2016/680": ("32016L0680 5", "32016L0680 6", "32016L0680 7"),
    "art. L.1152-1, L.1152-2 et L.1225-5 du Code du travail": ("CT L1152-1", "CT L1152-2", "CT L1225-5"),
    # several acts
    "L1152-1 code du travail et L521-1 css": ("CT L1152-1", "CSS L521-1"),
    "article 5 de la directive 2016/680 et article 6 du RGPD": ("32016L0680 5", "32016R0679 6"),
    "L. 411-2 du code rural et L. 411-2 du code de la sécurité sociale": ("CRPM L411-2", "CSS L411-2"),
    # English
    "Article 5 of Directive (EU) 2016/680": ("32016L0680 5",),
    "articles 5 and 6 of Directive (EU) 2016/680": ("32016L0680 5", "32016L0680 6"),
    "Articles L1152-1 to L1152-3 of the labour code": HARASSMENT,
    "article L521-1 of the social security code": ("CSS L521-1",),
    "Article 9 GDPR": ("32016R0679 9",),
}
WRONG: dict[str, tuple[str, str]] = {
    "L9999-1": ("No article L9999-1; nearest: L1225-4 (Code du travail), ", "CT L1225-4"),
    "article 1152-9": ("No article 1152-9; nearest: L1152-4 (Code du travail), ", "CT L1152-4"),
    "L1152-9 du code du travail": ("No article L1152-9 in Code du travail; nearest: L1152-4, L1152-3, L1152-2", "CT L1152-4"),
    "article L. 521-1 du code rural": (
        "No article L521-1 in Code rural et de la pêche maritime, but in Code de la sécurité sociale.",
        "CSS L521-1",
    ),
    "article L. 511-1 du code rural": ("No article L511-1 in Code rural et de la pêche maritime; nearest: L411-", "CRPM L411-1"),
    "R1152-1 C. trav.": ("No article R1152-1 in Code du travail; nearest: L1152-1, ", "CT L1152-1"),
    "articles L1153-1 à L1153-6 du code du travail": (
        "No article L1153-1 to L1153-6 in Code du travail; nearest: L1152-",
        "CT L1152-1",
    ),
    "article 50 de la directive 2016/680": ("No article 50 in Directive (UE) 2016/680", "32016L0680 8"),
}


@pytest.mark.parametrize("query", LOOKUPS)
def test_a_query_names_its_articles(understanding: Understanding, retriever: Retriever, query: str) -> None:
    understood = understanding.understand(query)
    named = [retriever.corpus.articles[position] for position in understood.named]
    if len(LOOKUPS[query]) > 1 and " " not in query.removeprefix("art. "):
        assert sorted(named) == sorted(ids(*LOOKUPS[query])), "of several acts in the order of the law"
    else:
        assert named == ids(*LOOKUPS[query])
    assert understood.missing == ()
    assert understood.corrected is None


def test_there_are_forty_of_them() -> None:
    assert len(LOOKUPS) >= 40


@pytest.mark.parametrize("query", WRONG)
def test_an_article_that_does_not_exist_is_said_to_be_missing_with_the_nearest(understanding: Understanding, query: str) -> None:
    understood = understanding.understand(query)
    (missing,) = understood.missing
    said, nearest = WRONG[query]
    assert missing.said.startswith(said)
    assert ids(nearest)[0] in missing.nearest
    assert understood.named == ()
    assert understood.notes() == [missing.said]


def test_an_act_that_this_law_lacks_is_told_and_its_number_is_not_looked_up_in_others(understanding: Understanding) -> None:
    for query, title in (
        ("article L411-1 du code civil", "Code civil"),
        ("L411-1 C. conso.", "Code de la consommation"),
        ("loi du 10 juillet 1965 article 5", "Loi du 10 juillet 1965"),
        ("article 6 de l'arrêté du 1er février 2019", "Arrêté du 1er février 2019"),
        ("article 2 du décret 2016-1908", "Décret n° 2016-1908"),
    ):
        understood = understanding.understand(query)
        assert [missing.said for missing in understood.missing] == [f"{title} is not in this law."]
        assert understood.named == ()


def test_an_article_beside_one_of_an_act_that_this_law_lacks_is_found(understanding: Understanding, retriever: Retriever) -> None:
    understood = understanding.understand("article 1240 code civil et L1152-1")
    assert [retriever.corpus.articles[position] for position in understood.named] == ids("CT L1152-1")
    assert understood.notes() == ["Code civil is not in this law."]


def test_an_act_of_the_union_that_this_law_lacks_is_told_in_the_words_of_the_query(understanding: Understanding) -> None:
    understood = understanding.understand("art. 5 de la directive 1999/70")
    assert [missing.said for missing in understood.missing] == [
        "“art. 5 de la directive 1999/70” (31999L0070) is not in this law."
    ]


def test_numbers_that_are_no_citation_name_nothing(understanding: Understanding) -> None:
    for query in (
        "préavis de 15 jours",
        "il y a 3 mois",
        "salaire 2024",
        "moins de 50 salariés",
        "2 enfants",
        "a 65 ans",
    ):
        assert understanding.understand(query).named == (), query
        assert understanding.understand(query).missing == (), query


def test_a_number_is_no_longer_than_it_is(understanding: Understanding) -> None:
    (missing,) = understanding.understand("L 150 20 euros").missing
    assert missing.text == "L 150"


@pytest.mark.parametrize("mode", Mode)
def test_named_articles_come_first_in_every_mode(retriever: Retriever, mode: Mode) -> None:
    hits = retriever.search("L411-1 CSS", mode)
    assert hits[0].id == ids("CSS L411-1")[0]
    assert hits[0].places["citation"].rank == 1
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    several = retriever.search("articles L1152-1 à L1152-3 du code du travail", mode)
    assert [hit.id for hit in several[:3]] == ids(*HARASSMENT)
    assert all("citation" not in hit.places for hit in several[3:])


@pytest.mark.parametrize("mode", Mode)
def test_pages_hold_together_around_named_articles(retriever: Retriever, mode: Mode) -> None:
    query = "harcèlement moral au travail, articles L1152-1 à L1152-3 du code du travail"
    whole = [hit.id for hit in retriever.search(query, mode, first=20)]
    assert whole[:3] == ids(*HARASSMENT)
    paged = [hit.id for offset in range(0, 20, 2) for hit in retriever.search(query, mode, first=2, offset=offset)]
    assert paged == whole
    assert len(set(whole)) == len(whole)


def test_a_filter_leaves_named_articles_out_and_says_which_act_a_bare_number_is_of(retriever: Retriever) -> None:
    hits = retriever.search("L411-1", Mode.BM25, filter=Filter(act="code rural"))
    assert [hit.id for hit in hits if "citation" in hit.places] == ids("CRPM L411-1")
    (missing,) = retriever.search("L1152-1", Mode.BM25, filter=Filter(act=act("CSS"))).understood.missing
    assert missing.said.startswith("No article L1152-1 in Code de la sécurité sociale")
    assert retriever.search("L411-1 CT", filter=Filter(act="CSS"), first=1)[:1] != ids("CT L411-1")


def test_what_is_missing_is_not_searched_by_the_words_of_its_citation(retriever: Retriever) -> None:
    hits = retriever.search("article L9999-1 du code du travail", Mode.HYBRID)
    assert list(hits) == []
    assert len(hits.understood.missing) == 1


def test_a_section_that_a_query_cites_gives_its_articles(understanding: Understanding, retriever: Retriever) -> None:
    named = understanding.understand("livre Ier de la partie législative du code rural").named
    assert [retriever.corpus.articles[position] for position in named] == ids("CRPM L411-1", "CRPM L411-2", "CRPM L411-3")
