"""Releases of a collection: what disappears, what stays, what stops a load, and archives as releases."""

import tarfile
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, exclusive, open_graph
from cypher.rows import row_of
from ingest.loading import load as loader
from ingest.loading import transactions as portions
from ingest.loading.report import LoadReport
from ingest.sources import collection_name, ingest
from schema.errors import BadSource, GraphBusy, TooMuchGone
from schema.records import Act, Article
from tests.ingest.loading.own_law import ids, own_law
from tests.support.disturbance import dump
from tests.support.tiny_law import BAKERS, BAKERS_ID, MILLERS_ID, article, bakers, code, millers, section, statute, write_law
from tests.support.variants import variants


def test_a_collection_is_known_by_its_name_without_a_version() -> None:
    names = ("legi-data-2.513.0/data", "legalize-lu.tar.xz", "legalize-lu-2026.04.zip", "law", "codes_v2", "2024")
    assert [collection_name(Path(name)) for name in names] == [
        "legi-data",
        "legalize-lu",
        "legalize-lu",
        "law",
        "codes",
        "2024",
    ]


def test_what_a_release_no_longer_has_disappears_and_what_cites_it_points_outside(tmp_path: Path) -> None:
    sources = write_law(tmp_path / "law-1")
    ingest(EmbeddedStore(tmp_path), sources)
    report = ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law-2", millers()))
    assert report.gone_files == 1
    assert dict(report.removed) == {"Act": 1, "Section": 5, "Article": 8}
    with open_graph(tmp_path) as graph:
        assert [row["id"] for row in graph.rows("acts")] == [MILLERS_ID]
        assert [row["target"] for row in graph.rows("outside_citations")] == ["LEGIARTI000000000004"]
        assert [row["id"] for row in graph.rows("sources")] == ["legi/law/LEGITEXT000000000002.json"]
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law-3"))
    with open_graph(tmp_path) as graph:
        cited = {row["target"] for row in graph.rows("citations") if row["article"].startswith(MILLERS_ID)}
    assert cited == {f"{BAKERS_ID}/L121-1"}


def test_a_file_alone_takes_nothing_away(tmp_path: Path) -> None:
    sources = write_law(tmp_path / "law")
    ingest(EmbeddedStore(tmp_path), sources)
    newer = bakers()
    newer["data"]["title"] = "Code de la boulangerie et du four"
    write_law(sources, newer)
    report = ingest(EmbeddedStore(tmp_path), sources / f"{BAKERS}.json")
    assert dict(report.changed)["Act"] == 1
    assert ids(tmp_path) == [BAKERS_ID, MILLERS_ID]


def test_a_release_that_drops_too_much_stops_and_changes_nothing(tmp_path: Path) -> None:
    many = [article(100 + n, f"L{100 + n}", f"<p>Article {n} du pain.</p>") for n in range(200)]
    sources = write_law(tmp_path / "law", code(BAKERS, "Code", section(1, "Livre Ier", *many)), millers())
    ingest(EmbeddedStore(tmp_path), sources)
    write_law(sources, code(BAKERS, "Code", section(1, "Livre Ier", *many[:50])))
    with pytest.raises(TooMuchGone, match=r"150 of 202 articles would disappear .* --force"):
        ingest(EmbeddedStore(tmp_path), sources)
    with open_graph(tmp_path) as graph:
        assert len(graph.rows("article_acts")) == 202
    report = ingest(EmbeddedStore(tmp_path), sources, force=True)
    assert report.removed["Article"] == 150
    assert not (tmp_path / "reading").exists()


@pytest.mark.parametrize(
    ("before", "after", "stops"), variants([(40, 19, True), (40, 20, False), (20, 9, True), (19, 1, False)], quick=2)
)
def test_a_release_that_drops_most_of_a_small_collection_stops(tmp_path: Path, before: int, after: int, stops: bool) -> None:
    path = own_law(tmp_path / "own" / "law.jsonl", *range(before))
    ingest(EmbeddedStore(tmp_path), path.parent)
    own_law(path, *range(after))
    if not stops:
        assert ingest(EmbeddedStore(tmp_path), path.parent).removed["Article"] == before - after
        return
    with pytest.raises(TooMuchGone, match=f"{before - after} of {before} articles .* nothing of jsonl/own was changed"):
        ingest(EmbeddedStore(tmp_path), path.parent)
    assert ingest(EmbeddedStore(tmp_path), path.parent, force=True).removed["Article"] == before - after


def test_what_was_loaded_before_a_release_stops_is_reported(tmp_path: Path) -> None:
    folder = own_law(tmp_path / "law" / "law.jsonl", *range(30)).parent
    statute(folder, 1, "Les fours.")
    ingest(EmbeddedStore(tmp_path), folder)
    own_law(folder / "law.jsonl", 1)
    statute(folder, 1, "Les moulins.")
    report = LoadReport()
    with pytest.raises(TooMuchGone, match="nothing of jsonl/law was changed"):
        ingest(EmbeddedStore(tmp_path), folder, report=report)
    assert dict(report.changed)["Article"] == 1


@pytest.mark.parametrize("packed", variants({"folder": False, "archive": True}))
def test_the_law_of_a_format_goes_with_its_last_file(tmp_path: Path, packed: bool) -> None:
    folder, home = tmp_path / "law", tmp_path / "home"

    def release() -> Path:
        if not packed:
            return folder
        with tarfile.open(tmp_path / "law.tar", "w") as archive:
            archive.add(folder, "law")
        return tmp_path / "law.tar"

    own_law(folder / "law.jsonl", 1)
    statute(folder, 1, "Les fours.")
    ingest(EmbeddedStore(home), release())
    ingest(EmbeddedStore(home), own_law(tmp_path / "other" / "law.jsonl", 1, act="be/four"))
    (folder / "law.jsonl").unlink()
    ingest(EmbeddedStore(home), release(), "legalize")
    assert "be/pain" in ids(home), "of one format alone the others say nothing"
    report = ingest(EmbeddedStore(home), release())
    assert (report.gone_files, report.removed["Act"]) == (1, 1)
    assert ids(home) == ["be/four", "lu/leg-loi-2001-02-01-n1"]


def test_a_folder_without_any_law_is_a_mistake_rather_than_a_release(tmp_path: Path) -> None:
    path = own_law(tmp_path / "own" / "law.jsonl", 1)
    ingest(EmbeddedStore(tmp_path), path.parent)
    path.unlink()
    with pytest.raises(BadSource, match="no file of a known format"):
        ingest(EmbeddedStore(tmp_path), path.parent)
    assert ids(tmp_path) == ["be/pain"]


def test_what_a_killed_load_had_unpacked_goes_and_what_another_unpacks_stays(tmp_path: Path) -> None:
    home = tmp_path / "home"
    left = home / "unpacked-killed"
    (left / "law").mkdir(parents=True)
    archive = tmp_path / "own.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(own_law(tmp_path / "law.jsonl", 1), "law.jsonl")
    with exclusive(home, "archives"), pytest.raises(GraphBusy):
        ingest(EmbeddedStore(home), archive)
    assert left.exists()
    assert ingest(EmbeddedStore(home), archive).created["Act"] == 1
    assert not list(home.glob("unpacked-*"))


def test_a_small_loss_needs_no_force(tmp_path: Path) -> None:
    assert (loader.DROP_SHARE, loader.DROP_ARTICLES) == (0.05, 100)
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", bakers()))
    smaller = bakers()
    smaller["children"].pop()
    assert ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", smaller)).removed["Article"] == 3


@pytest.mark.slow
def test_the_acts_of_a_collection_are_all_there_however_many_are_written_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """New acts are written while others are read, known ones once all are: the graph is the same."""
    folder = tmp_path / "acts"
    for n in range(1, 8):
        statute(folder, n, f"Voir l'article 1er de la loi du {n % 7 + 1} février 2001 concernant les fours.")
    for home, chunk in (("one", 2000), ("many", 1)):
        monkeypatch.setattr(portions, "CHUNK_ARTICLES", chunk)
        assert ingest(EmbeddedStore(tmp_path / home), folder).created["Act"] == 7
    one, many = (dump(tmp_path / home) for home in ("one", "many"))
    assert one == many
    assert one.count('"type":"CITES"') == 7
    statute(folder, 8, "Voir l'article 1er de la loi du 1er février 2001 concernant les fours.")
    statute(folder, 1, "Les fours sont déclarés.")
    report = ingest(EmbeddedStore(tmp_path / "many"), folder)
    assert (report.created["Act"], report.changed["Article"], report.unchanged_files) == (1, 1, 6)


@pytest.mark.parametrize("size", variants([1, 2, 3, 5]))
def test_a_large_act_in_portions_is_the_same_act(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    ingest(EmbeddedStore(tmp_path / "whole"), write_law(tmp_path / "law", bakers(), millers()))
    monkeypatch.setattr(portions, "CHUNK_ARTICLES", size)
    ingest(EmbeddedStore(tmp_path / "portions"), write_law(tmp_path / "law", bakers(), millers()))
    assert dump(tmp_path / "portions") == dump(tmp_path / "whole")


@pytest.mark.slow
def test_what_a_load_that_was_cut_off_began_goes_where_nobody_gives_it_any_more(tmp_path: Path) -> None:
    store = EmbeddedStore(tmp_path)
    sources = write_law(tmp_path / "law")
    ingest(store, sources)
    whole = dump(tmp_path)
    begun = Act("lu/begun", "lu", "statute", "Loi", "fr")
    with store.writing() as graph:  # as a server holds it after a kill
        graph.write("set_corpus_sha256", sha256="")
        graph.write("create_acts", rows=[row_of(begun)])
        articles = [Article(f"lu/begun/{n}", "lu/begun", "lu/begun", n, str(n), "", "Les fours.", "fr") for n in range(150)]
        graph.write("create_articles", rows=[row_of(article) for article in articles])
        tree = [{"parent": begun.id, "child": article.id, "position": article.position} for article in articles]
        graph.write("create_act_contains_article", rows=tree)
    ingest(store, sources)
    assert dump(tmp_path) == whole


def test_an_archive_is_a_release_and_the_same_one_is_not_unpacked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    statute(tmp_path / "lu", 1, "Les fours sont déclarés.")
    archive = tmp_path / "acts-2026.04.tar.xz"
    with tarfile.open(archive, "w:xz") as packed:
        packed.add(tmp_path / "lu", "acts/lu")
        outside = tarfile.TarInfo("../../outside.md")
        packed.addfile(outside)
    home = tmp_path / "home"
    assert ingest(EmbeddedStore(home), archive).created["Act"] == 1
    assert not (tmp_path.parent / "outside.md").exists()
    assert [path.name for path in home.iterdir() if path.name.startswith("unpacked")] == []
    monkeypatch.setattr("ingest.sources.unpacked", lambda *_: pytest.fail("it was unpacked again"))
    report = ingest(EmbeddedStore(home), archive)
    assert (report.unchanged_files, report.anything_changed) == (1, False)
