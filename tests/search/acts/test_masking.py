"""No number is left in what acts are compared by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.acts.masking import masked

PIECES = st.sampled_from(
    [
        "directive ",
        "(UE) ",
        "2016/680",
        "/UE",
        " 95/46/CE",
        "n° ",
        "2913/92",
        "\u00b2",
        "\u2460",
        "\u0663",
        " du 1er juin ",
        "eli/",
        " ",
    ]
)


@given(st.text(st.characters(codec="utf-8")) | st.lists(PIECES).map("".join))
def test_no_digit_survives(text: str) -> None:
    assert not any(c.isdigit() for c in masked(text))


@given(st.lists(PIECES).map("".join))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("la directive 2016/680/UE relative à la protection", "la directive relative à la protection"),
        ("la directive (UE) 2016/680 du Conseil", "la directive du Conseil"),
        ("le règlement (CEE) n° 2913/92", "le règlement"),
        ("le règlement n°2913/92 modifié", "le règlement modifié"),
        ("la directive 95/46/CE du 24 octobre 1995 sur le crédit", "la directive du sur le crédit"),
        ("Loi du 1er août 2018 portant transposition", "Loi du portant transposition"),
        ("voir http://data.legilux.public.lu/eli/etat/leg/loi/a/jo ici", "voir ici"),
        ("voir eli/etat/leg/loi/x/jo ici", "voir ici"),
        ("en octobre, la Commission", "en octobre, la Commission"),
        ("CELEX:32016L0680.", ""),
    ],
)
def test_what_names_an_act_goes_with_its_number(text: str, left: str) -> None:
    assert masked(text) == left
