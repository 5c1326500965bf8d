"""Revisions lead back from the present record of an article to every record before it."""

from datetime import date
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from schema.records import Wording
from schema.revisions import PRESENT, Revision, on_record, read_record, revision, undone

ID = "fr/BOULANGERS/L111-1"
_days = st.none() | st.dates(date(1900, 1, 1), date(2020, 1, 1))
_wordings = st.builds(Wording, st.just(ID), st.sampled_from(["", "A1"]), st.just(""), _days, _days, st.text(max_size=5))
_records = st.lists(
    st.dictionaries(st.sampled_from([PRESENT, "a", "b"]), _wordings, max_size=3).map(on_record).map(lambda r: sorted(set(r))),
    min_size=1,
    max_size=6,
)


@given(_records)
def test_every_record_before_is_found_again(records: list[list[str]]) -> None:
    made = [revision(ID, f"2020-01-0{n}", a, b) for n, (a, b) in enumerate(pairwise(records), 1)]
    for n, record in enumerate(records):
        later = [one for one in reversed(made[n:]) if one is not None]
        assert sorted(undone(records[-1], later)) == record


def test_a_record_that_is_the_same_is_no_revision() -> None:
    record = on_record({PRESENT: Wording(ID, "A1", text="Le pain est fait de farine.")})
    assert revision(ID, "2020-01-01", record, record) is None


@given(_wordings, st.booleans())
def test_a_wording_is_read_as_it_was_written(wording: Wording, present: bool) -> None:
    (written,) = on_record({PRESENT if present else "other": wording})
    assert read_record(ID, written) == (wording, present)


def test_the_beginning_of_a_record_bears_the_name_of_its_act() -> None:
    assert Revision("fr/BOULANGERS", "2020-01-01T00:00:00+00:00").id == "fr/BOULANGERS"
    assert Revision(ID, "2020-01-01", ("…",)).id == f"{ID}@2020-01-01"
    assert Revision(ID, "2020-01-01T12:00:00+00:00").day == date(2020, 1, 1)
