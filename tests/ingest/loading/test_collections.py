"""Collections beside each other: better sources, law that one takes over from another, archives of several formats."""

import tarfile
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, open_graph
from ingest.loading.quarantine import quarantined
from ingest.sources import ingest
from tests.ingest.loading.own_law import ids, own_law
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, STATUTE, statute, write_law
from tests.support.variants import variants


def test_a_better_source_takes_an_act_over_and_gives_it_back_when_it_goes(tmp_path: Path) -> None:
    worse = tmp_path / "other"
    worse.mkdir()
    text = STATUTE.format(title="Code du pain", id=BAKERS, day="2001-01-01", path="x", modifies="", cites="", text="Du pain.")
    (worse / f"{BAKERS}.md").write_text(text.replace('country: "lu"', 'country: "fr"'), encoding="utf-8")

    def title() -> str:
        with open_graph(tmp_path) as graph:
            return graph.rows("acts_by_id", ids=[BAKERS_ID])[0]["title"]

    ingest(EmbeddedStore(tmp_path), worse)
    assert title() == "Code du pain"
    law = write_law(tmp_path / "law")
    ingest(EmbeddedStore(tmp_path), law)
    assert title() == "Code de la boulangerie"
    report = ingest(EmbeddedStore(tmp_path), worse)
    assert not report.rejected
    assert title() == "Code de la boulangerie"
    (law / f"{BAKERS}.json").unlink()
    ingest(EmbeddedStore(tmp_path), law)
    ingest(EmbeddedStore(tmp_path), worse)
    assert title() == "Code du pain"


@pytest.mark.slow
def test_what_was_passed_over_in_an_archive_is_unpacked_again_when_it_is_wanted(tmp_path: Path) -> None:
    text = STATUTE.format(title="Code du pain", id=BAKERS, day="2001-01-01", path="x", modifies="", cites="", text="Du pain.")
    (tmp_path / f"{BAKERS}.md").write_text(text.replace('country: "lu"', 'country: "fr"'), encoding="utf-8")
    archive = tmp_path / "worse.tar.gz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(tmp_path / f"{BAKERS}.md", f"{BAKERS}.md")
    home = tmp_path / "home"
    law = write_law(tmp_path / "law")
    ingest(EmbeddedStore(home), law)
    assert ingest(EmbeddedStore(home), archive).passed_over == 1
    (law / f"{BAKERS}.json").unlink()
    ingest(EmbeddedStore(home), law)
    assert ids(home) == [MILLERS_ID]
    assert ingest(EmbeddedStore(home), archive).created["Act"] == 1
    assert ids(home) == [BAKERS_ID, MILLERS_ID]


@pytest.mark.parametrize("packed", variants({"folder": False, "archive": True}))
def test_law_that_another_collection_took_over_is_given_back_when_that_one_drops_it(tmp_path: Path, packed: bool) -> None:
    mine = statute(tmp_path / "mine", 1, "Les fours.").parent
    statute(mine, 2, "Les moulins.")
    if packed:
        with tarfile.open(tmp_path / "mine.tar", "w") as archive:
            archive.add(mine, "mine")
        mine = tmp_path / "mine.tar"
    home = tmp_path / "home"
    ingest(EmbeddedStore(home), mine)
    other = statute(tmp_path / "other", 1, "Les fours.")
    statute(tmp_path / "other", 3, "Les pelles.")
    ingest(EmbeddedStore(home), other.parent)
    other.unlink()
    ingest(EmbeddedStore(home), other.parent)
    assert ids(home) == ["lu/leg-loi-2001-02-02-n2", "lu/leg-loi-2001-02-03-n3"]
    assert ingest(EmbeddedStore(home), mine).created["Act"] == 1
    assert ids(home) == [f"lu/leg-loi-2001-02-0{n}-n{n}" for n in (1, 2, 3)]


def test_an_act_of_two_files_is_that_of_the_other_when_its_own_goes(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    first = own_law(folder / "a.jsonl", 1)
    own_law(folder / "b.jsonl", 1, 2)
    (repeated,) = ingest(store, folder).rejected
    assert repeated.reason == "repeated identifier: act be/pain was read from jsonl/own/a.jsonl already"
    first.unlink()
    for _ in range(2):
        ingest(store, folder)
    assert ids(tmp_path) == ["be/pain"]
    assert quarantined(tmp_path) == {}


def test_files_of_one_name_in_two_collections_are_two_files(tmp_path: Path) -> None:
    for n, collection in enumerate(("north", "south"), 1):
        bad = statute(tmp_path / "acts", n, f"Les fours du {collection}.")
        (tmp_path / collection).mkdir()
        bad.rename(tmp_path / collection / "act.md")
    home = tmp_path / "home"
    for _ in range(2):
        for collection in ("north", "south"):
            ingest(EmbeddedStore(home), tmp_path / collection)
            assert "lu/leg-loi-2001-02-01-n1" in ids(home)
    assert ids(home) == ["lu/leg-loi-2001-02-01-n1", "lu/leg-loi-2001-02-02-n2"]
    assert not ingest(EmbeddedStore(home), tmp_path / "north").read_files


def test_an_archive_read_for_one_format_is_read_again_for_the_others(tmp_path: Path) -> None:
    statute(tmp_path / "lu", 1, "Les fours sont déclarés.")
    write_law(tmp_path / "lu")
    archive = tmp_path / "acts.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(tmp_path / "lu", "acts")
    home = tmp_path / "home"
    assert ingest(EmbeddedStore(home), archive, "legalize").created["Act"] == 1
    assert ingest(EmbeddedStore(home), archive).created["Act"] == 2
