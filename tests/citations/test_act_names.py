"""The names of acts: spellings of EU acts, and titles that meet what texts cite them by."""

from datetime import date

import pytest

from citations.act_names import act_names_at, likeness, names_of
from citations.eu_names import eu_names_at
from schema.records import Act

SPELLINGS = [
    ("directive 2016/680/UE", "32016L0680"),
    ("directive (UE) 2016/680", "32016L0680"),
    ("directive 95/46/CE", "31995L0046"),
    ("Directive du Conseil 86/653/CEE", "31986L0653"),
    ("directive n° 2006/123/CE", "32006L0123"),
    ("Directive 91/250/EEC", "31991L0250"),
    ("règlement (CEE) n° 2913/92", "31992R2913"),
    ("règlement (CEE) n° 17/62", "31962R0017"),
    ("règlement CE n° 852/2004", "32004R0852"),
    ("règlement (CE) n° 2015/2006", "32006R2015"),
    ("règlement (UE) n° 1025/2012", "32012R1025"),
    ("règlement (UE) n° 2016/679", "32016R0679"),
    ("règlement d'exécution (UE) 2015/2014", "32015R2014"),
    ("règlement délégué (UE) n° 604/2014", "32014R0604"),
    ("règlement (UE, Euratom) 2018/1046", "32018R1046"),
    ("règlement (UE) modifié n° 1307/2013", "32013R1307"),
    ("Regulation (EU) 2016/679", "32016R0679"),
    ("Regulation No 1/2003", "32003R0001"),
    ("décision-cadre 2008/977/JAI", "32008F0977"),
    ("Framework Decision 2008/977/JHA", "32008F0977"),
    ("décision 2011/167/UE", "32011D0167"),
    ("décision n° 1720/2006/CE", "32006D1720"),
    ("décision n° 2119/98/CE", "31998D2119"),
    ("decision (EU) 2015/444", "32015D0444"),
]


@pytest.mark.parametrize(("text", "celex"), SPELLINGS)
def test_spellings(text: str, celex: str) -> None:
    assert [name.celex for name in eu_names_at(text, 0)] == [celex]


@pytest.mark.parametrize(
    "text", ["règlement 99/02", "décision 12/2011", "directive du ministre", "règlement (UE)", "directive 0/0"]
)
def test_no_act_of_the_eu(text: str) -> None:
    assert eu_names_at(text, 0) == []


def test_the_members_of_a_list_have_their_own_words() -> None:
    text = "règlements (CE) n° 852/2004 et (UE) 2016/429 du"
    found = eu_names_at(text, 0)
    assert [name.celex for name in found] == ["32004R0852", "32016R0429"]
    assert text[found[1].start : found[1].end] == "(UE) 2016/429"


ACTS = [
    (Act("fr/A", "fr", "code", "Code rural (ancien)", "fr"), "le code rural et de la pêche maritime"),
    (Act("fr/A", "fr", "code", "Code du travail", "fr"), "le Code du travail"),
    (Act("fr/A", "fr", "loi", "Loi n° 78-17 du 6 janvier 1978 relative à l'informatique", "fr"), "la loi n° 78-17"),
    (Act("fr/A", "fr", "loi", "Loi n° 78-17 du 6 janvier 1978 relative à l'informatique", "fr"), "la loi du 6 janvier 1978."),
    (
        Act("lu/A", "lu", "loi", "Loi du 10 août 1915 concernant les sociétés commerciales", "fr"),
        "la loi modifiée du 10 août 1915.",
    ),
    (Act("lu/A", "lu", "rgd", "Règlement grand-ducal du 1er juin 2005.", "fr"), "le règlement du 1er juin 2005."),
    (
        Act("lu/A", "lu", "rgd", "Sans titre", "fr", source_id="leg-rgd-2005-06-01-n3"),
        "le règlement grand-ducal du 1er juin 2005.",
    ),
    (Act("eu/32016L0680", "eu", "directive", "Directive", "fr", celex="32016L0680"), "la directive (UE) 2016/680"),
    (Act("lu/A", "lu", "constitution", "Constitution du Grand-Duché", "fr"), "la Constitution"),
]


@pytest.mark.parametrize(("act", "cited"), ACTS)
def test_an_act_answers_to_what_it_is_cited_by(act: Act, cited: str) -> None:
    found = act_names_at(cited, cited.index(" ") + 1, act.jurisdiction)
    assert found[0].name in names_of(act)


def test_an_act_is_not_called_by_what_its_title_amends() -> None:
    title = "Loi du 1er mars 2020 modifiant la loi modifiée du 10 août 1915 concernant les sociétés commerciales"
    names = names_of(Act("lu/A", "lu", "loi", title, "fr", valid_from=date(2020, 3, 1)))
    assert not any("1915" in name.split(":")[2] for name in names if ":" in name)


def test_likeness() -> None:
    assert likeness(("eau", "entrainer"), ("eau",)) == 1
    assert likeness(("eau",), ("air", "sol")) == 0
    assert likeness((), ("air",)) == 0
