"""Terms of the law in place of the words of another language, by embeddings made by hand."""

import doctest
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from search.arrays import Matrix, unit
from search.modes import Mode
from search.query import terms as module
from search.query.terms import Terms, frequent_words, pairs_of_words
from search.query.understanding import Missing, Understood
from search.retrieval import Retriever
from search.vectors.encoding import Encoding
from tests.search.test_degraded import model_of

_PLACES = {
    "leave": [1, 0, 0],
    "parental leave": [0, 1, 0.1],
    "long": [0, 0, 1],
    "parental": [0.7, 0.7, 0],
    "void": [-1, -1, -1],
}


def _embed(places: Mapping[str, Sequence[float]], asked: list[str] | None = None) -> module.Encode:
    """What embeds texts by their places; others are zero."""

    def embed(texts: Sequence[str]) -> Matrix:
        if asked is not None:
            asked.extend(texts)
        return np.array([places.get(text, [0, 0, 0]) for text in texts], np.float32)

    return embed


def _terms(words: Mapping[str, tuple[int, Sequence[float]]], pairs: Mapping[str, Sequence[float]]) -> Terms:
    vectors = unit(np.array([*(place for _, place in words.values()), *pairs.values()], np.float32))
    return Terms(
        {word: n for word, (n, _) in words.items()}, dict.fromkeys(pairs, 2), vectors.astype(np.float16), _embed(_PLACES)
    )


WORDS = {"partir": (10, [1, 0, 0]), "long": (10, [0, 0, 1]), "parental": (10, [0.7, 0.7, 0])}
PAIRS = {"congé parental": [0, 1, 0.1]}


def test_examples() -> None:
    results = doctest.testmod(module)
    assert (results.failed, results.attempted > 0) == (0, True)


def test_each_word_has_the_nearest_of_the_law() -> None:
    assert _terms(WORDS, {}).said("Is the leave long?", "en") == "partir long"


def test_two_words_are_one_term_where_that_is_nearer() -> None:
    assert _terms(WORDS, PAIRS).said("How long is the parental leave?", "en") == "long congé parental"
    far = {"congé parental": [0, -1, 0.1]}
    assert _terms(WORDS, far).said("How long is the parental leave?", "en") == "long parental partir"


def test_small_words_between_two_are_left_out_and_those_of_its_own_language_alone() -> None:
    assert _terms(WORDS, PAIRS).said("parental of the leave", "en") == "congé parental"
    assert _terms(WORDS, PAIRS).said("parental auf leave", "en") == "parental partir"


def test_two_words_that_no_pair_is_near_to_stay_apart() -> None:
    assert _terms({"loin": (10, [-1, 0, 0])}, {"congé parental": [0.9, 0.5, 0]}).said("parental leave", "en") == ""


def test_a_term_that_is_spelt_alike_must_be_nearer() -> None:
    alike = {"leave": (10, [1, 0, 0]), "congé": (10, [1, 0.3, 0])}
    assert _terms(alike, {}).said("leave", "en") == "congé"
    assert _terms({"leave": (10, [1, 0, 0]), "congé": (10, [1, 0.7, 0])}, {}).said("leave", "en") == "leave"


def test_numbers_are_kept() -> None:
    assert _terms(WORDS, PAIRS).said("leave for 17 long years, 3 times", "en") == "partir long 17 3"


def test_a_word_that_no_term_is_near_to_is_left_out() -> None:
    assert _terms(WORDS, PAIRS).said("void long", "en") == "long"
    for text in ("void", "the", "", "1234"):
        assert _terms(WORDS, PAIRS).said(text, "en") == ""
    assert _terms({}, {}).said("long", "en") == ""


def test_of_two_that_are_as_near_the_law_says_one_more_often() -> None:
    assert _terms({"quitter": (10, [1, 0, 0]), "partir": (1000, [1, 0.1, 0])}, {}).said("leave", "en") == "partir"


def test_a_long_query_is_read_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_ASKED", 2)
    assert _terms(WORDS, {}).said("long leave long", "en") == "long partir"


def test_words_of_the_law_are_those_that_say_something_and_stand_there_often() -> None:
    counts = {"congé": 20, "les": 900, "an": 50, "maternité": 30, "rare": 9}
    assert list(frequent_words(counts, ["fr"]).items()) == [("maternité", 30), ("congé", 20)]
    assert list(frequent_words({**counts, "the": 40}, ["en"])) == ["les", "maternité", "congé"]


def test_pairs_of_words_are_those_of_several_headings() -> None:
    headings = [
        "Congé de maternité",
        "Le congé de maternité et d'adoption",
        "Congé parental",
        "Fin sans suite ni à la fin",
        "fin",
    ]
    assert pairs_of_words(headings, ["fr"]) == {"congé de maternité": 2}
    assert pairs_of_words(["Chapitre iii : Dispositions", "Guadeloupe, Guyane", "Section première"] * 2, ["fr"]) == {
        "section première": 2
    }
    assert pairs_of_words(["sick leave"] * 2, ["en"]) == {"sick leave": 2}


def test_a_query_in_another_language_is_searched_by_its_terms(retriever: Retriever) -> None:
    asked: list[str] = []
    model = model_of(retriever.index)

    def encode(texts: Sequence[str]) -> Matrix:
        asked.extend(texts)
        return model.encode(texts)

    word = next(word for word in retriever.index.vocabulary.words if len(word) > 6)
    terms = replace(_terms({word: (10, [1, 0, 0])}, {}), embed=_embed({"baker": [1, 0, 0]}))
    searched = Retriever(retriever.index, replace(model, encoding=Encoding(encode), terms=terms))
    hits = searched.search("what does the baker do?", Mode.BM25)
    assert [hit.id for hit in hits] == [hit.id for hit in searched.search(word, Mode.BM25)] != []
    assert (hits.understood.words, hits.understood.translated) == (word, "baker")
    assert hits.understood.notes()[1] == f"Searched in its terms: “{word}”."
    searched.search("what does the baker do?", Mode.VECTOR)
    assert asked[-1] == f"{word} baker", "embeddings know what the terms leave out"
    without = Retriever(retriever.index, model).search("what does the baker do?", Mode.BM25)
    assert (list(without), without.understood.translated) == ([], "")


def test_a_query_in_the_language_of_the_law_stays_as_it_is() -> None:
    understood = Understood("leave", sentences=("leave", "long"))
    assert understood.in_terms(_terms(WORDS, PAIRS)) is understood
    foreign = replace(understood, language="en")
    assert foreign.in_terms(_terms(WORDS, PAIRS)) == Understood("partir", language="en", translated="leave")
    missing = (Missing("article 9", "", (), ""),)
    for other in (replace(foreign, words="void"), replace(foreign, named=(1,)), replace(foreign, missing=missing)):
        assert other.in_terms(_terms(WORDS, PAIRS)) is other
    assert replace(foreign, corrected="leave").in_terms(_terms(WORDS, PAIRS)).corrected is None
