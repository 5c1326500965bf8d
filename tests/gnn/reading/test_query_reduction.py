"""Long queries keep the terms that tell them from the collection."""

import math

import pytest

from gnn.reading.query_reduction import QueryReduction, divergences, most_informative, terms_of

COLLECTION = {"le": 60, "pain": 8, "levain": 2, "four": 30}
"""A hundred words."""


def test_divergences_are_those_computed_by_hand() -> None:
    found = divergences(["le", "le", "le", "pain", "moulin"], COLLECTION)
    assert found == {
        "le": pytest.approx(0.6 * math.log(0.6 / 0.6)),
        "pain": pytest.approx(0.2 * math.log(0.2 / 0.08)),
        "moulin": pytest.approx(0.2 * math.log(0.2 / 0.01)),  # the collection lacks it: as if once
    }


def test_the_share_that_adds_most_is_kept_and_at_least_one() -> None:
    words = ["le"] * 6 + ["pain", "levain", "four", "moulin"]
    assert most_informative(words, COLLECTION, 0.4) == {"moulin", "levain"}
    assert most_informative(words, COLLECTION, 0.01) == {"moulin"}
    assert most_informative(["a", "b"], {}, 0.5) == {"a"}, "of equal ones the first"


def test_a_short_query_stays_and_a_long_one_keeps_its_terms_in_their_order() -> None:
    reads: list[int] = []

    def texts() -> list[str]:
        reads.append(1)
        return ["Le, le, le, le pain."] * 9 + ["Le levain."]

    class Once:
        def __iter__(self):
            return iter(texts())

    reduce = QueryReduction(Once(), longest=4, share=0.5)
    assert reduce("Le pain, au FOUR !") == "Le pain, au FOUR !"
    assert not reads, "the collection is not read for a short query"
    assert reduce("Le levain, le pain, le levain, le moulin.") == "levain moulin"
    assert reduce("Le levain, le pain, le levain, le moulin.") == "levain moulin"
    assert len(reads) == 1


def test_a_query_of_nothing_but_signs_stays() -> None:
    assert QueryReduction([], 1, 0.1)("?! …") == "?! …"
    assert terms_of("L'œuvre n°5") == ["l", "œuvre", "n", "5"]
