"""The quarantine: what a retry loads, what it says, and what leaves with a release."""

import shutil
from pathlib import Path

from cypher.engines.ladybug import EmbeddedStore
from ingest.loading.quarantine import quarantined
from ingest.sources import ingest, retry
from tests.ingest.loading.own_law import ids, own_law
from tests.support.tiny_law import BAKERS, BAKERS_ID, article, bakers, statute, write_law


def test_a_file_that_was_first_loaded_by_a_retry_goes_with_its_release(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "acts"
    statute(folder, 1, "Les fours.")
    bad = statute(folder, 2, "Les moulins.")
    good = bad.read_text("utf-8")
    bad.write_text(good.replace("country", "no country"), "utf-8")
    ingest(EmbeddedStore(home), folder)
    bad.write_text(good, "utf-8")
    assert retry(EmbeddedStore(home)).created["Act"] == 1
    bad.unlink()
    assert ingest(EmbeddedStore(home), folder).removed["Act"] == 1
    assert ids(home) == ["lu/leg-loi-2001-02-01-n1"]


def test_what_was_mended_leaves_the_quarantine_by_a_retry(tmp_path: Path) -> None:
    broken = bakers()
    broken["children"].append(article(50, None, "<p>Sans numéro.</p>"))
    folder = write_law(tmp_path / "law", broken)
    bad = statute(tmp_path / "acts", 1, "Les fours.")
    good = bad.read_text(encoding="utf-8")
    bad.write_text(good.replace("country", "no country"), encoding="utf-8")
    home = tmp_path / "home"
    for place in (folder, tmp_path / "acts"):
        ingest(EmbeddedStore(home), place)
    waiting = quarantined(home)
    assert {name: [(r.file, bool(r.path)) for r in records] for name, records in waiting.items()} == {
        "legi": [(f"{BAKERS}.json", True)],
        "legalize": [(bad.name, True)],
    }
    assert [record.file for record in retry(EmbeddedStore(home)).rejected] == [bad.name], "read again, and still broken"
    assert quarantined(home) == waiting, "nothing was mended, so everything waits"
    broken["children"][-1]["data"]["num"] = "L50"
    write_law(folder, broken)
    bad.write_text(good, encoding="utf-8")
    report = retry(EmbeddedStore(home))
    assert dict(report.created) == {"Act": 1, "Article": 2, "Section": 0}
    assert quarantined(home) == {}
    assert ids(home) == [BAKERS_ID, "lu/leg-loi-2001-02-01-n1"]


def test_a_retry_says_which_files_are_missing_and_loads_the_others(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "acts"
    paths = [statute(folder, n, "Les fours.") for n in (1, 2, 3)]
    good = paths[0].read_text("utf-8")
    for path in paths:
        path.write_text(path.read_text("utf-8").replace("country", "no country"), "utf-8")
    ingest(EmbeddedStore(home), folder)
    paths[0].write_text(good, "utf-8")
    for path in paths[1:]:
        path.unlink()
    report = retry(EmbeddedStore(home))
    assert (report.created["Act"], report.missing) == (1, list(map(str, paths[1:])))


def test_what_a_release_no_longer_has_leaves_the_quarantine(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "acts"
    bad = statute(folder, 1, "Les fours.")
    bad.write_text(bad.read_text("utf-8").replace("country", "no country"), "utf-8")
    (tmp_path / "other").mkdir()
    elsewhere = Path(shutil.copy(bad, tmp_path / "other"))
    law = own_law(folder / "law.jsonl", 1)
    for place in (folder, elsewhere.parent):
        ingest(EmbeddedStore(home), place)
    bad.unlink()
    ingest(EmbeddedStore(home), law)
    assert len(quarantined(home)["legalize"]) == 2, "a file alone says nothing of others"
    ingest(EmbeddedStore(home), folder)
    assert [record.path for record in quarantined(home)["legalize"]] == [str(elsewhere)]
