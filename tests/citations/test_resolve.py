"""From the key of a citation to articles, sections and acts, or to the reason why there are none."""

import pytest

from citations.resolve import (
    ACT_NOT_LOADED,
    AMBIGUOUS,
    ARTICLE_NOT_IN_ACT,
    LONGEST_RANGE,
    SECTION_NOT_IN_ACT,
    TOO_LONG,
    LawIndex,
    loose_number,
)
from schema.identifiers import normal_number
from schema.records import Act, ActTree, Article, Section


def _tree(id: str, title: str, numbers: list[str], sections: tuple[str, ...] = (), kind: str = "loi") -> ActTree:
    act = Act(id, id.split("/")[0], kind, title, "fr")
    articles = tuple(
        Article(f"{id}/{normal_number(number)}", id, id, i, number, "", "", "fr") for i, number in enumerate(numbers)
    )
    return ActTree(act, tuple(Section(f"{id}/{s}", id, id, 0, s, "", 1) for s in sections), articles)


CODE = _tree("fr/C", "Code du travail", ["L. 1", "L. 2", "L. 2-1", "L. 4", "R* 7", "1er"], ("livre-ier", "livre-ii"), "code")
WATER = _tree("lu/W", "Loi du 3 mai 2001 relative à l'eau potable", ["1er", "2"])
AIR = _tree("lu/A", "Loi du 3 mai 2001 relative à l'air pur", ["1er", "2"])
INDEX = LawIndex.of([CODE, WATER, AIR])


@pytest.mark.parametrize(
    ("key", "ids"),
    [
        ("fr/C/L1", ["fr/C/L1"]),
        ("fr/C#L2", ["fr/C/L2"]),
        ("fr:code:code du travail#L2-1", ["fr/C/L2-1"]),
        ("fr:code:code du travail#R7", ["fr/C/R*7"]),
        ("fr:code:code du travail#1", ["fr/C/1er"]),
        ("fr:code:code du travail", ["fr/C"]),
        ("fr/C#L1..L2-1", ["fr/C/L1", "fr/C/L2", "fr/C/L2-1"]),
        ("fr/C#L2..L3", ["fr/C/L2", "fr/C/L2-1"]),
        ("fr/C#/livre-2", ["fr/C/livre-ii"]),
        ("lu:loi:2001-05-03:relative-a-l-eau-potable-est-applicable#2", ["lu/W/2"]),
        ("lu:loi:2001-05-03:sur-l-air-pur#1er", ["lu/A/1er"]),
    ],
)
def test_targets(key: str, ids: list[str]) -> None:
    assert [id for _, id in INDEX.targets(key)] == ids


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("fr:code:code de la route#L1", ACT_NOT_LOADED),
        ("eu/32016L0680", ACT_NOT_LOADED),
        ("fr/Z/L1", ACT_NOT_LOADED),
        ("fr/C#L99", ARTICLE_NOT_IN_ACT),
        ("fr/C/L99", ARTICLE_NOT_IN_ACT),
        ("fr/C#L98..L99", ARTICLE_NOT_IN_ACT),
        ("fr/C#/livre-9", SECTION_NOT_IN_ACT),
        ("lu:loi:2001-05-03", AMBIGUOUS),
        ("lu:loi:2001-05-03:relative-aux-forets", AMBIGUOUS),
    ],
)
def test_reasons(key: str, reason: str) -> None:
    assert INDEX.resolve(key) == reason
    assert INDEX.targets(key) == []


def test_labels() -> None:
    assert [INDEX.targets(key)[0][0] for key in ("fr/C", "fr/C#L2", "fr/C#/livre-1", "fr/C/livre-ii")] == [
        "Act",
        "Article",
        "Section",
        "Section",
    ]


def test_the_only_act_of_its_date_is_not_taken_for_one_with_another_title() -> None:
    index = LawIndex.of([WATER])
    assert index.resolve("lu:loi:2001-05-03:sur-la-chasse") == ACT_NOT_LOADED
    assert index.targets("lu:loi:2001-05-03") == [("Act", "lu/W")]


def test_a_range_beyond_measure_is_left_alone() -> None:
    long = _tree("lu/L", "Loi du 4 mai 2001", [str(n) for n in range(1, LONGEST_RANGE + 2)])
    assert LawIndex.of([long]).resolve(f"lu/L#1..{LONGEST_RANGE + 1}") == TOO_LONG


def test_an_act_that_comes_again_takes_its_own_place() -> None:
    index = LawIndex.of([CODE, _tree("fr/C", "Code du travail", ["L. 9"], kind="code")])
    assert index.resolve("fr/C#L1") == ARTICLE_NOT_IN_ACT
    assert index.targets("fr:code:code du travail#L9") == [("Article", "fr/C/L9")]
    index.remove("fr/C")
    assert index.resolve("fr:code:code du travail") == ACT_NOT_LOADED


@pytest.mark.parametrize(
    ("one", "other"), [("Art. 1er.", "premier"), ("3 bis", "3bis"), ("R.* 1-2", "R. 1-2"), ("L. 1-A", "l1-a")]
)
def test_loose_numbers(one: str, other: str) -> None:
    assert loose_number(one) == loose_number(other)
