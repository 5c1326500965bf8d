"""Addresses at the publishers: certain ones, and none where nothing sure is known."""

from datetime import date

import pytest

from schema.publishers import act_url, article_url, outside_url, section_url, wording_url
from schema.wordings import TextOfDay, in_force_on, text_of_day

CODE = {"source_id": "LEGITEXT000006072050", "kind": "code"}
LOI = {"source_id": "LEGITEXT000005621507", "kind": "loi"}
LEGIFRANCE = "https://www.legifrance.gouv.fr"


@pytest.mark.parametrize(
    ("act", "address"),
    [
        (CODE, f"{LEGIFRANCE}/codes/texte_lc/LEGITEXT000006072050"),
        (LOI, f"{LEGIFRANCE}/loda/id/LEGITEXT000005621507"),
        ({"source_id": "JORFTEXT000000886460"}, f"{LEGIFRANCE}/jorf/id/JORFTEXT000000886460"),
        (
            {"source_id": "32016L0680", "celex": "32016L0680", "language": "fr", "eli": ""},
            "https://eur-lex.europa.eu/legal-content/FR/TXT/?uri=CELEX:32016L0680",
        ),
        (
            {"source_id": "leg-loi-2018-08-21-a837", "eli": "http://data.legilux.public.lu/eli/etat/leg/loi/2018/08/21/a837/jo"},
            "http://data.legilux.public.lu/eli/etat/leg/loi/2018/08/21/a837/jo",
        ),
        ({"source_id": "civil-code", "celex": None, "eli": None}, None),
        ({"source_id": "x", "eli": "javascript:alert(1)"}, None),
        ({"source_id": "x", "celex": "2016/680"}, None),
    ],
)
def test_an_act_has_the_address_that_its_identifiers_make_certain(act: dict[str, str], address: str | None) -> None:
    assert act_url(act) == address


def test_sections_and_wordings_have_theirs_in_codes_and_in_other_acts() -> None:
    section, article = "LEGISCTA000006189441", "LEGIARTI000035644154"
    assert section_url(CODE, section) == f"{LEGIFRANCE}/codes/section_lc/LEGITEXT000006072050/{section}"
    assert section_url(LOI, section) is None
    assert section_url(CODE, "") is None
    assert wording_url(CODE, article) == f"{LEGIFRANCE}/codes/article_lc/{article}"
    assert wording_url(LOI, article) == f"{LEGIFRANCE}/loda/article_lc/{article}"
    assert wording_url(LOI, "JORFARTI000001094446") == f"{LEGIFRANCE}/jorf/article_jo/JORFARTI000001094446"
    assert wording_url(CODE, None) is None


def test_an_article_leads_to_its_present_wording_and_not_to_its_first() -> None:
    first, second, present = (f"LEGIARTI{n:012}" for n in (1, 2, 3))
    article = {"source_id": first, "source_ids": [first, second, present]}
    others = [{"source_id": first}, {"source_id": second}]
    assert str(article_url(CODE, article, others)).endswith(present)
    assert str(article_url(CODE, {"source_id": first, "source_ids": [first]}, [])).endswith(first)
    assert article_url({"source_id": "32016L0680"}, {"source_id": "", "source_ids": None}, []) is None


@pytest.mark.parametrize(
    ("target", "address"),
    [
        ("eu/32016R0161#25", "https://eur-lex.europa.eu/legal-content/EN/TXT/?uri=CELEX:32016R0161"),
        ("JORFTEXT000000165840", f"{LEGIFRANCE}/jorf/id/JORFTEXT000000165840"),
        ("https://example.org/law", "https://example.org/law"),
        ("LEGIARTI000006204414", None),
        ("fr:code:code civil#112", None),
        ("/affichCode.do", None),
    ],
)
def test_what_lies_outside_the_graph_has_an_address_where_one_is_certain(target: str, address: str | None) -> None:
    assert outside_url(target) == address


def days(start: int | None, end: int | None) -> tuple[date | None, date | None]:
    return (date(start, 1, 1) if start else None, date(end, 1, 1) if end else None)


def test_the_wording_of_a_day_is_the_one_that_began_last() -> None:
    assert in_force_on(date(2010, 5, 5), [days(2017, None), days(2000, 2008), days(2008, 2017)]) == 2
    assert in_force_on(date(1990, 1, 1), [days(2017, None), days(2000, 2008)]) is None
    assert in_force_on(date(2008, 1, 1), [days(None, None), days(2000, 2008), days(2008, 2017)]) == 2, "its first day is its own"
    assert in_force_on(date(2020, 1, 1), [days(None, None), days(2008, 2017)]) == 0


def test_a_text_is_of_a_day_only_where_it_is_known_to_be() -> None:
    others = [(days(2000, 2008), ""), (days(2008, 2017), "Le pain.")]
    assert text_of_day(date(2020, 1, 1), days(2017, None), others) == (TextOfDay.SAME, None)
    assert text_of_day(date(2010, 1, 1), days(2017, None), others) == (TextOfDay.OTHER, 1)
    assert text_of_day(date(2003, 1, 1), days(2017, None), others) == (TextOfDay.UNKNOWN, 0)
    assert text_of_day(date(1900, 1, 1), days(2017, None), others) == (TextOfDay.UNKNOWN, None)
