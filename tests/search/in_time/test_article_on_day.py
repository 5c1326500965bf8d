"""An article on a day: its state, its wording, what was before and what came after."""

from datetime import date
from typing import Any

import pytest

from cypher.graph import Row
from schema.wordings import TextOfDay
from search.in_time.article_on_day import ArticleOnDay, heading_on_day

FIRST, SECOND, THIRD = date(1990, 1, 1), date(2000, 1, 1), date(2010, 1, 1)


def wording(text: str | None, start: date | None, end: date | None) -> Row:
    return {"text": text, "valid_from": start, "valid_to": end}


PRESENT = wording("Le pain est cuit.", THIRD, None)
OLD, LOST = wording("Le pain est bon.", FIRST, SECOND), wording(None, SECOND, date(2005, 1, 1))
KNOWN = (date(1980, 1, 1), None)


@pytest.mark.parametrize(
    ("day", "state", "text", "shown"),
    [
        (date(2020, 1, 1), TextOfDay.SAME, "Le pain est cuit.", PRESENT),
        (date(1995, 1, 1), TextOfDay.OTHER, "Le pain est bon.", OLD),
        (date(2002, 1, 1), TextOfDay.UNKNOWN, None, PRESENT),
        (date(2007, 1, 1), TextOfDay.NONE, None, PRESENT),
        (date(1970, 1, 1), TextOfDay.OUTSIDE, None, PRESENT),
    ],
)
def test_the_text_is_that_of_the_day_or_none(day: date, state: TextOfDay, text: str | None, shown: Row) -> None:
    stood = ArticleOnDay.of(PRESENT, [LOST, OLD], day, KNOWN)
    assert (stood.state, stood.text, stood.shown) == (state, text, shown)


@pytest.mark.parametrize(
    ("day", "there"), [(date(2020, 1, 1), PRESENT), (date(2002, 1, 1), LOST), (date(1995, 1, 1), OLD), (date(2007, 1, 1), None)]
)
def test_the_wording_of_a_day_is_told_though_its_text_is_not_known(day: date, there: Row | None) -> None:
    assert ArticleOnDay.of(PRESENT, [LOST, OLD], day, KNOWN).wording is there


def test_between_two_wordings_the_last_and_the_next_are_told() -> None:
    stood = ArticleOnDay.of(PRESENT, [LOST, OLD], date(2007, 1, 1), KNOWN)
    assert (stood.before, stood.after) == (LOST, PRESENT)
    first = ArticleOnDay.of(PRESENT, [LOST, OLD], date(1985, 1, 1), KNOWN)
    assert (first.before, first.after) == (None, OLD)


def test_a_heading_is_that_of_the_day_where_it_is_known() -> None:
    section: dict[str, Any] = {"heading": "Du pain", "stays": ["1990-01-01/2000-01-01 De la farine"]}
    assert heading_on_day(section, date(1995, 1, 1)) == "De la farine"
    assert heading_on_day(section, date(2005, 1, 1)) == heading_on_day(section, None) == "Du pain"
