"""Words that the law does not know, and lists that have nothing to say of a query."""

from dataclasses import replace

import pytest

from search.modes import Mode
from search.query.spelling import Speller
from search.query.understanding import Understanding
from search.retrieval import Retriever
from search.text.vocabulary import words_of
from tests.support.codes_and_acts import ids

LAW = [
    "Le congé parental d'éducation, le congé parental, un congé parental de l'enfant.",
    "Le licenciement pour inaptitude, le licenciement d'un salarié, les licenciements ; le salarié, les salariés, la salariée.",
    "La retraite, la retraite, la retraite ; les habitations, une habitation, l'habitation ; une faute rare, rare, rare.",
]


@pytest.fixture
def speller() -> Speller:
    return Speller(words_of(LAW), ("fr",))


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("conjé", "congé"),
        ("parantal", "parental"),
        ("licensiement", "licenciement"),
        ("retrète", "retraite"),
        ("abitation", "habitation"),
    ],
)
def test_a_misspelt_word_is_corrected_from_the_words_of_the_law(speller: Speller, written: str, meant: str) -> None:
    assert speller.correction(written) == meant


@pytest.mark.parametrize("word", ["congé", "conge", "CONGE", "congés", "licencié", "licenciements", "inaptitude", "rares"])
def test_a_word_that_the_law_knows_in_any_form_is_never_changed(speller: Speller, word: str) -> None:
    assert speller.is_known(word)
    assert speller.correction(word) is None


@pytest.mark.parametrize(
    ("written", "meant"), [("trêve", None), ("frève", None), ("grèbe", "grève"), ("xicenciement", "licenciement")]
)
def test_the_first_letter_of_a_short_word_is_no_mistake(written: str, meant: str | None) -> None:
    speller = Speller(words_of([*LAW, "La grève, une grève."]), ("fr",))
    assert speller.correction(written) == meant


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("salarie", "salarié"),
        ("EDUCATION", "éducation"),
        ("conge", "congé"),
        ("rare", "rare"),
        ("congé", "congé"),
        ("zzz", "zzz"),
    ],
)
def test_a_word_has_the_accents_that_the_law_writes_it_with(written: str, meant: str) -> None:
    # "conge" without its accent is a mistake of the law itself, once in two hundred.
    assert Speller(words_of([*LAW * 100, "conge"]), ("fr",)).accented(written) == meant


@pytest.mark.parametrize("law", ["la marche, le marché, le marché, le marché", "le bien est loué, loué, loué", "démission"])
def test_a_word_that_may_be_meant_as_it_stands_is_left(law: str) -> None:
    speller = Speller(words_of([law]), ("fr",))
    for word in ("marche", "loue", "demission"):  # the law has the last but once
        assert speller.accented(word) == word


def test_a_query_without_any_accents_is_ranked_by_as_the_law_writes_it(retriever: Retriever) -> None:
    index = retriever.index
    law = "un congé, une démission, un salarié, un contrat à durée déterminée" * 60
    understanding = Understanding(index.corpus, replace(index.vocabulary, words=words_of([law])), ("fr",))
    assert understanding.understand("conge et demission").words == "congé et démission"
    assert understanding.understand("conge et demission").corrected is None, "these are the words that were asked"
    assert understanding.understand("conge cdd").words == "congé contrat à durée déterminée", "these accents are not the asker's"
    assert understanding.understand("conge et démission").words == "conge et démission", "who writes accents left this one out"
    assert understanding.understand("l'affaire Conge").words == "l'affaire Conge", "a name"


@pytest.mark.parametrize("word", ["xyz", "zzzzzz", "télescope", "the", "leave"])
def test_a_word_that_nothing_is_near_to_stays_as_it_is(speller: Speller, word: str) -> None:
    assert speller.correction(word) is None


def test_a_search_shows_what_was_meant_and_says_so(retriever: Retriever, understanding: Understanding) -> None:
    assert understanding.understand("harcelement maural").notes() == ["Showing results for “harcelement moral”."]
    hits = retriever.search("harsèlement moral", Mode.BM25)
    assert hits.understood.corrected == "harcèlement moral"
    assert hits.understood.notes() == ["Showing results for “harcèlement moral”."]
    assert hits[0].id in ids("CT L1152-1", "CT L1152-2", "CT L1152-4")
    assert retriever.search("harcelement moral").understood.corrected is None


def test_names_and_abbreviations_are_not_corrected(understanding: Understanding) -> None:
    assert understanding.understand("harcèlement de Morad").corrected is None
    assert understanding.understand("le MORA du salarié").corrected is None
    assert understanding.understand("Harsèlement au travail").corrected == "harcèlement au travail"
    assert understanding.understand("combien de congé parental").corrected is None


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.BM25])
@pytest.mark.parametrize("query", ["?!…", "le la les de", "pendant lequel", "asdfgh qwertz", "the of and", "« »"])
def test_a_query_without_a_word_of_the_law_has_no_answer_by_words(retriever: Retriever, query: str, mode: Mode) -> None:
    lexical = Retriever(retriever.index, None)
    hits = lexical.search(query, mode)
    assert list(hits) == []
    assert hits.understood.corrected is None


@pytest.mark.parametrize("query", ["?!…", "le la les de", "« »", "the of and"])
def test_signs_and_small_words_have_no_answer_by_vectors_either(retriever: Retriever, query: str) -> None:
    assert list(retriever.search(query)) == []
    assert list(retriever.search("asdfgh qwertz")) != [], "these vectors have a place for any text"


def test_english_is_not_taken_for_misspelt_french(understanding: Understanding) -> None:
    assert understanding.understand("harsèlement moral").corrected == "harcèlement moral"
    assert understanding.understand("the harsèlement moral").corrected is None


@pytest.mark.parametrize(
    ("asked", "ranked_by"),
    [
        ("Combien de temps dure le congé parental ?", "dure le congé parental"),
        ("congé parental : combien  de temps", "congé parental :"),
        ("Combien de temps ?", "Combien de temps"),
    ],
)
def test_asking_how_long_is_not_asking_for_the_law_on_working_time(
    understanding: Understanding, asked: str, ranked_by: str
) -> None:
    understood = understanding.understand(asked)
    assert understood.words == ranked_by
    assert understood.corrected is None


@pytest.mark.parametrize(
    ("asked", "ranked_by"),
    [
        ("Comment démissionner ?", "Comment démissionner démission"),
        ("ils démissionnaient", "ils démissionnaient démission"),
        ("les démissions", "les démissions démission"),
        ("la démission", "la démission"),
        ("sanctionner", "sanctionner"),  # its stem is that of the noun
        ("le permissionnaire", "le permissionnaire"),
        ("permissionner", "permissionner"),  # the law knows no such noun
    ],
)
def test_a_verb_or_a_plural_that_is_stemmed_otherwise_is_ranked_by_its_noun_too(
    retriever: Retriever, asked: str, ranked_by: str
) -> None:
    index = retriever.index
    vocabulary = replace(index.vocabulary, words=words_of(["démissionner, démissionnaient, démission, démissions, sanction"]))
    assert Understanding(index.corpus, vocabulary, ("fr",)).understand(asked).words == ranked_by
    assert Understanding(index.corpus, vocabulary, ("en",)).understand(asked).words == asked.strip(" ?")


def test_all_that_search_an_index_understand_it_once(retriever: Retriever) -> None:
    assert Retriever(retriever.index, None).understanding is retriever.understanding


def test_everyday_words_are_ranked_by_as_the_law_has_them_and_it_says_so(understanding: Understanding) -> None:
    understood = understanding.understand("mon patron ne me paie pas (L1152-1)")
    assert understood.words.startswith("mon employeur ne me paie pas")
    assert understood.notes() == ["Showing results for “mon employeur ne me paie pas (L1152-1)”."]
    assert len(understood.named) == 1


def test_everyday_words_are_not_taken_for_misspelt_ones(retriever: Retriever) -> None:
    index = retriever.index
    law = replace(index.vocabulary, words=words_of(["propres propriétaire expulsé par le boutons travail"] * 20))
    understanding = Understanding(index.corpus, law, ("fr",))
    assert understanding.understand("expulsé par le proprio").words == "expulsé par le propriétaire"
