"""What `bench/mutations.py` does at length, in short: files broken at random are read, or refused with place and reason."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bench.mutations import MUTATED, MUTATIONS, TRICKS, mutated, one_mutation, outcome_of, tally_of
from cypher.engines.ladybug import EmbeddedStore
from ingest.loading.report import LoadReport
from ingest.sources import Format, ingest
from schema.errors import BadSource, LexgraphError
from schema.records import Read
from tests.support.law_history import write_history
from tests.support.small_texts import WRITTEN, write_format

QUICK = settings(
    max_examples=60,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
READ = {"read", "partly", "refused"}
by_name = pytest.mark.parametrize("format", MUTATED, ids=lambda format: format.name)


@by_name
@QUICK
@given(seed=st.integers(0, 10**9))
def test_a_mutated_file_is_read_or_refused_and_no_identifier_leads_astray(format: Format, tmp_path: Path, seed: int) -> None:
    assert one_mutation(format, write_format(tmp_path, format.name), seed) in READ


@by_name
@QUICK
@given(data=st.data())
def test_any_bytes_in_the_middle_of_a_file_are_read_or_refused(format: Format, tmp_path: Path, data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(WRITTEN[format.name])))
    path = write_format(tmp_path, format.name) / name
    whole = WRITTEN[format.name][name].encode()
    at = data.draw(st.integers(0, len(whole)))
    path.write_bytes(whole[:at] + data.draw(st.binary(max_size=40)) + whole[data.draw(st.integers(at, len(whole))) :])
    assert outcome_of(format, [path], tmp_path / "home") in READ


@by_name
def test_the_small_texts_themselves_are_read_whole(format: Format, tmp_path: Path) -> None:
    folder = write_format(tmp_path, format.name)
    assert outcome_of(format, [folder / name for name in WRITTEN[format.name]], tmp_path / "home") == "read"


@pytest.mark.parametrize("trick", TRICKS, ids=lambda trick: ascii(trick)[:20])
def test_a_trick_in_the_place_of_an_identifier_does_not_come_out_of_any_reader(trick: str, tmp_path: Path) -> None:
    plain = trick.encode("utf-8", "replace").decode()
    places = {
        "legalize": ("leg-loi-2021-05-03-a1", "1er"),
        "akoma-ntoso": ("/akn/za/act/2009/10", "1."),
        "eu-acts": ("32016L0999", "Article 2"),
        "jsonl": ("be/code-du-four", "1382", "q1"),
        "beir": ("d1", "q1"),
        "bsard": ("Code du Pain", "1.1.1"),
        "coliee": ("R03-01-A", "398-2"),
        "legi": ("LEGITEXT000000000001", "L111-1"),
    }
    for format in MUTATED:
        folder = write_format(tmp_path / format.name, format.name)
        for place in places[format.name]:
            for name, text in WRITTEN[format.name].items():
                (folder / name).write_text(text.replace(place, plain), "utf-8")
            paths = [folder / name for name in WRITTEN[format.name]]
            assert outcome_of(format, paths, tmp_path / "home") in READ, (format.name, place[:20])


@pytest.mark.parametrize("seed", range(12))
def test_a_mutated_state_of_a_history_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    repository = write_history(tmp_path / "law", last=lambda state: mutated(state, random.Random(seed)))
    store, report = EmbeddedStore(tmp_path / "home"), LoadReport()
    refused = ""
    try:
        ingest(store, repository, report=report)
    except BadSource as error:
        refused = str(error)
    if refused:
        assert "law" in refused, "the message names the source"
        return
    with store.reading() as graph:
        ids = [row["id"] for row in graph.rows("corpus_articles")]
    assert ids or report.rejected, "nothing is lost without a word"
    assert not [id for id in ids if ".." in id or " " in id]


def test_every_mutation_changes_something() -> None:
    text = WRITTEN["jsonl"]["own.jsonl"].encode()
    assert all(any(change(text, random.Random(seed)) != text for seed in range(20)) for change in MUTATIONS)
    assert len({mutated(text, random.Random(seed)) for seed in range(50)}) > 40


def _crashing(path: Path) -> list[Read]:
    raise ZeroDivisionError(path.name)


def _refusing(path: Path) -> list[Read]:
    raise LexgraphError("not one of the errors that a reader may raise")


@pytest.mark.parametrize("read", [_crashing, _refusing])
def test_a_reader_that_crashes_is_found_out(read: object, tmp_path: Path) -> None:
    format = Format("jsonl", "*", 1, read, lambda path: True)  # type: ignore[arg-type]
    assert one_mutation(format, write_format(tmp_path, "jsonl"), 1).startswith("crashed: ")


def test_a_process_reads_one_file_after_another() -> None:
    tally = tally_of(next(f for f in MUTATED if f.name == "jsonl"), 10)
    assert sum(tally.outcomes.values()) == 10
    assert set(tally.outcomes) <= READ
    assert tally.examples == []
