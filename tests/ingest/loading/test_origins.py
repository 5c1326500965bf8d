"""Every place that law was loaded from has a record: what it is, whose day's law it has, and how the last try went."""

import os
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore
from cypher.origins import write_origin
from ingest.loading.origins import known_origins, note_failure
from ingest.sources import ingest, load_of
from schema.errors import TooMuchGone
from schema.records import Origin
from tests.support.small_history import HISTORY, bundled, write_repository
from tests.support.tiny_law import article, bakers, code, millers, section, write_law

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> EmbeddedStore:
    return EmbeddedStore(tmp_path / "home")


def rewrite(store: EmbeddedStore, name: str, **changes: object) -> None:
    with store.writing() as graph:
        write_origin(graph, replace(known_origins(store)[name], **changes))  # type: ignore[arg-type]


def test_a_folder_is_as_of_its_newest_file(store: EmbeddedStore, tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    for day, file in enumerate(sorted(path for path in law.rglob("*") if path.is_file()), 1):
        at = datetime(2026, 3, day, tzinfo=UTC).timestamp()
        os.utime(file, (at, at))
    ingest(store, law)
    (origin,) = known_origins(store).values()
    newest = max(file.stat().st_mtime for file in law.rglob("*") if file.is_file())
    assert (origin.id, origin.kind, origin.address) == ("law", "folder", str(law))
    assert origin.as_of == datetime.fromtimestamp(newest, UTC).date()
    assert timedelta(0) <= origin.age(datetime.now(UTC)) < timedelta(minutes=5)


def test_a_history_is_as_of_its_newest_state(store: EmbeddedStore, tmp_path: Path) -> None:
    repository = write_repository(tmp_path / "fours", HISTORY[:-1])
    ingest(store, repository)
    origin = known_origins(store)["fours"]
    assert (origin.kind, origin.as_of) == ("repository", date(1950, 1, 1))
    ingest(store, bundled(write_repository(repository, HISTORY[-1:]), tmp_path / "fours.bundle"))
    origin = known_origins(store)["fours"]
    assert (origin.kind, origin.as_of, origin.address) == ("bundle", date(2020, 1, 1), str(tmp_path / "fours.bundle"))


def test_a_file_alone_does_not_stand_for_the_folder_that_it_is_in(store: EmbeddedStore, tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    file = next(path for path in sorted(law.rglob("*.json")))
    ingest(store, file)
    assert known_origins(store)[file.parent.name].kind == "file"
    ingest(store, law)
    before = known_origins(store)["law"]
    ingest(store, file)
    assert before.kind == "folder"
    assert known_origins(store)["law"] == before


def test_a_place_with_nothing_new_makes_no_release_and_stays_as_old_as_it_was(store: EmbeddedStore, tmp_path: Path) -> None:
    law = write_law(tmp_path / "law")
    ingest(store, law)
    rewrite(store, "law", loaded_at="2020-01-01T00:00:00+00:00")
    stamp = store.stamp()
    ingest(store, law)
    assert store.stamp() == stamp
    assert known_origins(store)["law"].is_stale(30, datetime.now(UTC))


def test_a_load_that_stops_is_noted_and_the_next_that_goes_through_clears_it(store: EmbeddedStore, tmp_path: Path) -> None:
    law = write_law(tmp_path / "law", bakers(), millers())
    ingest(store, law)
    loaded_at = "2020-01-01T00:00:00+00:00"
    rewrite(store, "law", loaded_at=loaded_at)
    for file in law.rglob("*.json"):
        file.write_text("{", "utf-8")
    assert load_of(store, law).failures
    failed = known_origins(store)["law"]
    assert "cannot be read" in failed.error
    assert failed.failed_at
    write_law(tmp_path / "law", bakers(), millers())
    ingest(store, law)
    mended = known_origins(store)["law"]
    assert (mended.error, mended.failed_at) == ("", "")
    assert mended.loaded_at > loaded_at


def test_a_release_that_is_not_believed_leaves_the_last_success(store: EmbeddedStore, tmp_path: Path) -> None:
    articles = [article(n, str(n), f"<p>La roue {n}.</p>") for n in range(1, 41)]
    many, few = (
        code("LEGITEXT000000000009", "Code des moulins", section(1, "Titre Ier", *kept)) for kept in (articles, articles[:1])
    )
    ingest(store, write_law(tmp_path / "law", many))
    before = known_origins(store)["law"]
    with pytest.raises(TooMuchGone):
        ingest(store, write_law(tmp_path / "law", few))
    after = known_origins(store)["law"]
    assert "would disappear" in after.error
    assert (after.loaded_at, after.as_of) == (before.loaded_at, before.as_of)


def test_a_failure_of_what_the_graph_does_not_know_is_not_noted(store: EmbeddedStore, tmp_path: Path) -> None:
    note_failure(store, "nowhere", "gone")
    assert known_origins(store) == {}
    ingest(store, write_law(tmp_path / "law"))
    note_failure(store, "nowhere", "gone")
    assert known_origins(store).keys() == {"law"}


def test_the_same_failure_is_noted_once_a_day(store: EmbeddedStore, tmp_path: Path) -> None:
    ingest(store, write_law(tmp_path / "law"))
    note_failure(store, "law", "the network\nis away")
    stamp, first = store.stamp(), known_origins(store)["law"]
    assert first.error == "the network is away"
    note_failure(store, "law", "the network is away")
    assert store.stamp() == stamp
    rewrite(store, "law", failed_at="2020-01-01T00:00:00+00:00")
    note_failure(store, "law", "the network is away")
    assert known_origins(store)["law"].failed_at >= first.failed_at


@pytest.mark.parametrize(("after", "stale"), [(0, False), (9, True), (10, False)])
def test_a_source_is_stale_once_it_is_older_than_the_setting_allows(after: int, stale: bool) -> None:
    origin = Origin("law", "folder", "/law", loaded_at=(NOW - timedelta(days=10)).isoformat())
    assert origin.is_stale(after, NOW) is stale
