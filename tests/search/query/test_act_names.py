"""Acts, kinds and jurisdictions in filters, as people write them."""

import pytest

from schema.errors import BadQuery, NotFound
from schema.filter import Filter
from search.query.understanding import Understanding
from tests.support.codes_and_acts import act


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        (act("CT"), "CT"),
        ("Code du travail", "CT"),
        ("code du TRAVAIL", "CT"),
        ("c. trav.", "CT"),
        ("CT", "CT"),
        ("code de la securite sociale", "CSS"),
        ("css", "CSS"),
        ("code rural", "CRPM"),
        ("C. rur.", "CRPM"),
        ("CRPA", "CRPA"),
        ("LEGITEXT000000000040", "CRPA"),
        ("32016L0680", "32016L0680"),
        ("directive 2016/680/UE", "32016L0680"),
        ("GDPR", "32016R0679"),
    ],
)
def test_an_act_is_found_by_the_names_that_people_give_it(understanding: Understanding, name: str, meant: str) -> None:
    assert understanding.filter(Filter(act=name)).act == act(meant)


def test_an_unknown_act_is_an_error_that_names_the_nearest(understanding: Understanding) -> None:
    with pytest.raises(NotFound, match="no such act: code du travial; nearest: Code du travail, "):
        understanding.filter(Filter(act="code du travial"))


@pytest.mark.parametrize("name", ["partie-legislative/livre-ier", "livre Ier"])
def test_a_section_is_found_by_its_act_and_its_parts(understanding: Understanding, name: str) -> None:
    wanted = f"{act('CRPM')}/partie-legislative/livre-ier"
    whole = f"code rural/{name}" if "/" in name else f"{name} du code rural"
    assert understanding.filter(Filter(section=wanted)).section == wanted
    assert understanding.filter(Filter(section=whole)).section == wanted


def test_an_unknown_section_is_an_error_that_names_the_nearest(understanding: Understanding) -> None:
    with pytest.raises(NotFound, match=f"no such section: {act('CRPM')}/livre-2; nearest: {act('CRPM')}/partie-legislative"):
        understanding.filter(Filter(section=f"{act('CRPM')}/livre-2"))


def test_sections_of_one_name_are_named_for_the_user_to_choose(
    understanding: Understanding, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = type(understanding.names.index)
    monkeypatch.setattr(index, "sections_at", lambda _, act, place: [f"{act}/livre-{n}/titre-ier" for n in range(1, 6)])
    law = act("CRPM")
    with pytest.raises(NotFound) as told:
        understanding.filter(Filter(section="titre Ier du code rural"))
    shown = ", ".join(f"{law}/livre-{n}/titre-ier" for n in (1, 2, 3))
    assert str(told.value) == (
        f"5 sections are called titre Ier du code rural: {shown}, …; give the identifier of one, or name its parts"
    )


def test_case_and_accents_of_kinds_and_jurisdictions_do_not_matter(understanding: Understanding) -> None:
    only = understanding.filter(Filter(kind="Codé", jurisdiction="FR"))
    assert (only.kind, only.jurisdiction) == ("code", "fr")
    with pytest.raises(BadQuery, match="no such kind of act: codex; nearest: code"):
        understanding.filter(Filter(kind="codex"))
    with pytest.raises(BadQuery, match="no such jurisdiction: frr; nearest: fr"):
        understanding.filter(Filter(jurisdiction="frr"))
