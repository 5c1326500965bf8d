"""Releases of a collection: what disappears, what stays as history, better sources, archives, quarantine and retry."""

import json
import shutil
import tarfile
from copy import deepcopy
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from cypher.engines.ladybug import EmbeddedStore, exclusive, open_graph
from cypher.rows import row_of
from ingest.loading import load as loader
from ingest.loading import transactions as portions
from ingest.loading.quarantine import quarantined
from ingest.loading.questions import read_questions
from ingest.loading.report import LoadReport
from ingest.sources import collection_name, ingest, retry
from schema.errors import BadSource, GraphBusy, TooMuchGone
from schema.labels import SCHEMA_VERSION
from schema.records import Act, Article
from search.corpus.read import read_corpus
from tests.support.disturbance import dump
from tests.support.small_history import ACT as HISTORY_ACT
from tests.support.small_history import BAKER, OVEN, OVEN_LATER, write_repository
from tests.support.tiny_law import (
    BAKERS,
    BAKERS_ID,
    MILLERS_ID,
    STATUTE,
    article,
    bakers,
    code,
    link,
    millers,
    section,
    statute,
    write_law,
)
from tests.support.variants import variants


def ids(home: Path) -> list[str]:
    """The acts of a graph."""
    with open_graph(home) as graph:
        return [row["id"] for row in graph.rows("acts")]


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


def test_a_wording_that_gives_way_is_kept_with_its_days(tmp_path: Path) -> None:
    older = bakers()
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", older))
    newer = deepcopy(older)
    changed = newer["children"][0]["children"][0]["children"][0]["data"]
    changed |= {"texteHtml": "<p>Le pain est fait de seigle.</p>", "dateDebut": 12_000 * 86_400_000}
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", newer))
    with open_graph(tmp_path) as graph:
        (version,) = graph.rows("wordings", ids=[f"{BAKERS_ID}/L111-1"])
        assert version["text"].startswith("Le pain est fait de farine")
        assert (version["valid_from"], version["valid_to"]) == (date(1970, 1, 1), date(2002, 11, 9))
        assert graph.rows("articles_by_id", ids=[f"{BAKERS_ID}/L111-1"])[0]["text"] == "Le pain est fait de seigle."
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", deepcopy(newer)))
    with open_graph(tmp_path) as graph:
        assert len(graph.rows("wordings", ids=[f"{BAKERS_ID}/L111-1"])) == 1


def consolidated(folder: Path, updated: str, text: str) -> Path:
    """A release of a Luxembourg act of 2001, whose source says when it was consolidated and not since when its words hold."""
    path = statute(folder, 1, text)
    path.write_text(path.read_text("utf-8").replace('last_updated: "2001-02-01"', f'last_updated: "{updated}"'), "utf-8")
    return folder


def wordings(home: Path, article: str) -> list[tuple[date | None, date | None, str]]:
    """All wordings of an article by their days, the present one last."""
    with open_graph(home) as graph:
        rows = [*graph.rows("wordings", ids=[article]), *graph.rows("articles_by_id", ids=[article])]
    return [(row["valid_from"], row["valid_to"], row["text"]) for row in rows]


@pytest.mark.slow
def test_every_wording_is_kept_with_its_days_where_the_source_dates_the_act_alone(tmp_path: Path) -> None:
    store, article = EmbeddedStore(tmp_path), "lu/leg-loi-2001-02-01-n1/1er"
    for year, text in ((2005, "Texte A."), (2010, "Texte B."), (2020, "Texte C.")):
        for _ in range(2):
            ingest(store, consolidated(tmp_path / "acts", f"{year}-01-01", text))
            seen = dump(tmp_path)
            assert not ingest(store, tmp_path / "acts").anything_changed
            assert dump(tmp_path) == seen
    first, second, third = date(2001, 2, 1), date(2010, 1, 1), date(2020, 1, 1)
    kept = [(first, second, "Texte A."), (second, third, "Texte B.")]
    assert wordings(tmp_path, article) == [*kept, (third, None, "Texte C.")]
    # The act is written anew, the article is not: it has read so since 2020.
    ingest(store, consolidated(tmp_path / "acts", "2021-01-01", "Texte C."))
    assert wordings(tmp_path, article) == [*kept, (third, None, "Texte C.")]
    today = datetime.now(UTC).date()
    for text in ("Texte C corrigé.", "Texte C deux fois corrigé.", "Texte C bien corrigé."):
        ingest(store, consolidated(tmp_path / "acts", "2020-01-01", text))
    assert sorted(wordings(tmp_path, article)[:-1], key=str) == sorted(
        [*kept, (third, today, "Texte C."), (today, today, "Texte C corrigé."), (today, today, "Texte C deux fois corrigé.")],
        key=str,
    )
    assert wordings(tmp_path, article)[-1] == (today, None, "Texte C bien corrigé.")


def test_the_dates_of_other_versions_are_records_and_answer_what_was_in_force(tmp_path: Path) -> None:
    from search.corpus.read import read_corpus

    day = 86_400_000
    dated = article(1, "L1", "<p>Le pain.</p>", first_day=10_000)
    versions = [
        {"id": "LEGIARTI000000000101", "etat": "MODIFIE", "dateDebut": 1000 * day, "dateFin": 5000 * day},
        {"id": "LEGIARTI000000000001", "etat": "VIGUEUR", "dateDebut": 10_000 * day, "dateFin": None},
    ]
    dated["data"]["articleVersions"] = versions
    ingest(EmbeddedStore(tmp_path), write_law(tmp_path / "law", code(BAKERS, "Code", dated)))
    with open_graph(tmp_path) as graph:
        rows = graph.rows("wordings", ids=[f"{BAKERS_ID}/L1"])
        assert [(row["source_id"], row["valid_from"], row["valid_to"]) for row in rows] == [
            ("LEGIARTI000000000101", date(1972, 9, 27), date(1983, 9, 10))
        ]
        corpus, _ = read_corpus(graph)
    in_force = [bool(corpus.in_force_on(date(year, 1, 1))[0]) for year in (1970, 1980, 1990, 2000)]
    assert in_force == [False, True, False, True], "between its two wordings the article was out of force"


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


def write_lines(path: Path, *rows: object) -> Path:
    """A file of the project's own lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return path


def own_law(path: Path, *numbers: int, act: str = "be/pain") -> Path:
    """An act in lines of one's own."""
    articles = [{"type": "article", "number": str(n), "text": f"Le pain n° {n}."} for n in numbers]
    return write_lines(path, {"type": "act", "id": act, "title": "Loi sur le pain"}, *articles)


def asked(path: Path, *serials: int, text: str = "Quel pain ?", about: str = "be/pain/1") -> Path:
    """Questions of one source and one split in lines of one's own."""
    shared = {"type": "question", "source": "mine", "split": "test", "text": text, "relevant": [about]}
    return write_lines(path, *(shared | {"id": f"q{n}"} for n in serials))


def questions(home: Path) -> dict[str, str]:
    """Text by identifier."""
    with open_graph(home) as graph:
        return {question.id: question.text for question in read_questions(graph, "mine")}


def test_questions_come_change_and_go_with_their_file_and_leave_those_of_others(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    first, second = asked(folder / "a.jsonl", 1, 2), asked(folder / "b.jsonl", 3)
    assert ingest(store, folder).created["Question"] == 3
    asked(first, 1, 2, text="Lequel ?")
    assert dict(ingest(store, folder).changed)["Question"] == 2
    assert questions(tmp_path) == {"mine/q1": "Lequel ?", "mine/q2": "Lequel ?", "mine/q3": "Quel pain ?"}
    asked(first, 2, text="Lequel ?")
    assert ingest(store, first).removed["Question"] == 1
    assert questions(tmp_path) == {"mine/q2": "Lequel ?", "mine/q3": "Quel pain ?"}
    second.unlink()
    assert ingest(store, folder).removed["Question"] == 1
    assert questions(tmp_path) == {"mine/q2": "Lequel ?"}
    first.rename(folder / "c.jsonl")
    assert not ingest(store, folder).removed["Question"]
    (folder / "c.jsonl").write_text("", "utf-8")
    assert questions(tmp_path) == {"mine/q2": "Lequel ?"}


def test_a_question_of_two_files_is_that_of_the_other_when_its_own_goes(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    first = asked(folder / "a.jsonl", 1)
    asked(folder / "b.jsonl", 1, 2, text="Lequel ?")
    (repeated,) = ingest(store, folder).rejected
    assert (repeated.file, repeated.place) == ("b.jsonl", "mine/q1")
    assert repeated.reason == "repeated identifier: it was read from jsonl/own/a.jsonl already"
    assert questions(tmp_path) == {"mine/q1": "Quel pain ?", "mine/q2": "Lequel ?"}
    first.unlink()
    for _ in range(2):
        ingest(store, folder)
    assert questions(tmp_path) == {"mine/q1": "Lequel ?", "mine/q2": "Lequel ?"}
    assert quarantined(tmp_path) == {}


@pytest.mark.parametrize("how", variants(["its file", "its folder", "retry"]))
def test_a_question_that_names_what_the_graph_lacks_waits_in_the_quarantine_until_it_is_there(tmp_path: Path, how: str) -> None:
    home, folder = tmp_path / "home", tmp_path / "own"
    own_law(folder / "law.jsonl", 1)
    path = asked(folder / "questions.jsonl", 1, about="be/four/1")
    for _ in range(2):
        ingest(EmbeddedStore(home), folder)
    (waiting,) = quarantined(home)["jsonl"]
    assert (waiting.file, waiting.reason) == ("questions.jsonl", "names articles that the graph lacks: be/four/1")
    store = EmbeddedStore(home)
    stamp = store.stamp()
    for again in (ingest(store, folder), retry(store)):
        assert (again.read_files, again.anything_changed) == (0, False), "nothing has come"
    assert store.stamp() == stamp
    assert quarantined(home)["jsonl"] == [waiting]
    ingest(store, own_law(tmp_path / "other" / "law.jsonl", 1, act="be/four"))
    report = retry(store) if how == "retry" else ingest(store, path if how == "its file" else folder)
    assert (report.rejected, report.created["Question"], report.read_files) == ([], 1, 1)
    assert questions(home) == {"mine/q1": "Quel pain ?"}
    assert quarantined(home) == {}
    assert not ingest(store, folder).read_files


def test_a_question_finds_what_comes_beside_it(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    asked(folder / "a.jsonl", 1, about="be/pain/2")
    own_law(folder / "law.jsonl", 1)
    ingest(store, folder)
    assert questions(tmp_path) == {}
    own_law(folder / "law.jsonl", 1, 2)
    assert ingest(store, folder).created["Question"] == 1


@pytest.mark.slow
def test_an_archive_whose_questions_wait_is_unpacked_again_when_there_is_other_law(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = EmbeddedStore(tmp_path / "home")
    archive = tmp_path / "own.tar"
    with tarfile.open(archive, "w") as packed:
        packed.add(asked(tmp_path / "questions.jsonl", 1), "questions.jsonl")
    ingest(store, archive)
    with monkeypatch.context() as without:
        without.setattr("ingest.sources.unpacked", lambda *_: pytest.fail("it was unpacked again"))
        ingest(store, archive)
    ingest(store, own_law(tmp_path / "law" / "law.jsonl", 1))
    assert ingest(store, archive).created["Question"] == 1
    monkeypatch.setattr("ingest.sources.unpacked", lambda *_: pytest.fail("it was unpacked again"))
    assert ingest(store, archive).unchanged_files == 1


@pytest.mark.slow
def test_questions_of_a_graph_of_an_older_schema_learn_their_file_from_the_next_load(tmp_path: Path) -> None:
    folder, store = tmp_path / "own", EmbeddedStore(tmp_path)
    own_law(folder / "law.jsonl", 1)
    path = asked(folder / "a.jsonl", 1)
    ingest(store, folder)
    whole = dump(tmp_path)
    with store.writing() as graph:
        graph._run("ALTER TABLE Question DROP file", {})  # pyright: ignore[reportPrivateUsage]
        graph.write("set_schema_version", schema_version=3)
    assert store.migrate() == (3, SCHEMA_VERSION)
    assert not ingest(store, folder).anything_changed
    assert dump(tmp_path) == whole
    path.unlink()
    assert ingest(store, folder).removed["Question"] == 1


def test_what_acts_do_to_each_other_is_linked_whichever_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "acts"
    statute(folder, 2, "Les fours sont inspectés.", modifies="/eli/etat/leg/loi/2001/02/01/n1/jo; /eli/dir_ue/2010/75/jo")
    ingest(EmbeddedStore(tmp_path), folder)
    later = "lu/leg-loi-2001-02-02-n2"
    with open_graph(tmp_path) as graph:
        outside = graph.rows("outside_relations_of_acts", ids=[later])
        assert {row["target"] for row in outside} == {"lu/leg-loi-2001-02-01-n1", "eu/32010L0075"}
    statute(folder, 1, "Les fours sont déclarés.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("relations_of_acts", ids=[later])
        assert (row["type"], row["target"], row["basis"]) == ("AMENDS", "lu/leg-loi-2001-02-01-n1", "metadata")
    (folder / "leg-loi-2001-02-01-n1.md").unlink()
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        assert graph.rows("relations_of_acts", ids=[later]) == []
        assert len(graph.rows("outside_relations_of_acts", ids=[later])) == 2


@pytest.mark.parametrize("order", variants({"amended act first": ((1, 2),), "amending act first": ((2, 1),)}))
def test_what_an_act_does_to_another_is_one_edge_in_whatever_order_they_come(tmp_path: Path, order: tuple[int, int]) -> None:
    """The metadata and the title of the second act name the first; one of them is enough."""
    folder, later = tmp_path / "acts", "lu/leg-loi-2001-02-02-n2"
    written = {
        1: lambda: statute(folder, 1, "Les fours sont déclarés."),
        2: lambda: statute(
            folder,
            2,
            "Les fours sont inspectés.",
            title="Loi du 2 février 2001 modifiant la loi du 1er février 2001 concernant les fours",
            modifies="/eli/etat/leg/loi/2001/02/01/n1/jo",
        ),
    }
    for serial in order:
        ingest(EmbeddedStore(tmp_path), written[serial]())
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("relations_of_acts", ids=[later])
    assert (row["type"], row["target"], row["basis"]) == ("AMENDS", "lu/leg-loi-2001-02-01-n1", "metadata")


def test_citations_in_words_find_their_act_when_it_comes(tmp_path: Path) -> None:
    folder = tmp_path / "acts"
    statute(folder, 2, "Voir l'article 1er de la loi du 1er février 2001 concernant les fours et la directive 2010/75/UE.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        assert graph.rows("citations") == []
        assert {row["kind"] for row in graph.rows("outside_citations")} == {"text"}
    statute(folder, 1, "Les fours sont déclarés.")
    ingest(EmbeddedStore(tmp_path), folder)
    with open_graph(tmp_path) as graph:
        (row,) = graph.rows("citations")
        assert (row["article"], row["target"]) == ("lu/leg-loi-2001-02-02-n2/1er", "lu/leg-loi-2001-02-01-n1/1er")
        (outside,) = graph.rows("outside_citations")
        assert outside["target"] == "eu/32010L0075"


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


def test_a_range_is_an_edge_to_each_of_its_articles_and_grows_with_its_statute(tmp_path: Path) -> None:
    def release(*numbers: int) -> Path:
        articles = [article(n, f"L{n}", f"<p>Article {n}.</p>") for n in numbers]
        citing = article(90, "L90", "<p>Voir les articles L. 1 à L. 4.</p>")
        return write_law(tmp_path / "law", code(BAKERS, "Code", section(1, "Livre Ier", *articles, citing)), millers_citing())

    def millers_citing() -> dict[str, object]:
        return code("LEGITEXT000000000002", "Code de la meunerie", article(21, "L1", f"<p>{link(999, 'rien')}</p>"))

    for numbers in ((1, 2, 4), (1, 2, 3, 4), (1, 4)):
        ingest(EmbeddedStore(tmp_path), release(*numbers))
        with open_graph(tmp_path) as graph:
            cited = sorted(row["target"] for row in graph.rows("citations") if row["kind"] == "text")
        assert cited == [f"{BAKERS_ID}/L{n}" for n in numbers]


# -- an act that one source dates and another, a history, has the words of ------------------------------------------


def one_act_from_two_sources(folder: Path) -> tuple[Path, Path]:
    """The code of the small history as LEGI JSON, whose earlier wordings have days and no text, and that history."""
    day = (date(1901, 7, 1) - date(1970, 1, 1)).days
    present = article(1, "1", f"<p>{OVEN_LATER}</p>", first_day=day)
    began = (date(1804, 3, 21) - date(1970, 1, 1)).days
    before = {"id": "LEGIARTI000000000900", "etat": "MODIFIE", "dateDebut": began * 86_400_000, "dateFin": day * 86_400_000}
    present["data"]["articleVersions"].append(before)
    other = article(2, "20", f"<p>{BAKER}</p>")
    return write_law(folder / "legi", code(HISTORY_ACT.removeprefix("fr/"), "Code des fours", present, other)), write_repository(
        folder / "history"
    )


@pytest.mark.parametrize("first", variants(["legi", "history"]))
def test_the_texts_of_a_history_fill_the_wordings_of_the_better_source(tmp_path: Path, first: str) -> None:
    legi, history = one_act_from_two_sources(tmp_path)
    store = EmbeddedStore(tmp_path / "home")
    for source in (legi, history) if first == "legi" else (history, legi):
        ingest(store, source)
    with open_graph(tmp_path / "home") as graph:
        (wording,) = graph.rows("wordings", ids=[f"{HISTORY_ACT}/1"])
        law = graph.rows("graph_row")[0]["corpus_sha256"]
        corpus, text = read_corpus(graph)
    assert (wording["source_id"], wording["valid_from"], wording["valid_to"]) == (
        "LEGIARTI000000000900",
        date(1804, 3, 21),
        date(1901, 7, 1),
    )
    assert wording["text"] == OVEN
    assert (corpus.sha256, text.wordings) == (law, [OVEN])
    assert not ingest(store, history).anything_changed
    assert not ingest(store, legi).anything_changed


def test_what_a_history_fills_is_other_law(tmp_path: Path) -> None:
    legi, history = one_act_from_two_sources(tmp_path)
    fingerprints: list[str] = []
    for source in (legi, history):
        ingest(EmbeddedStore(tmp_path / "home"), source)
        with open_graph(tmp_path / "home") as graph:
            fingerprints.append(graph.rows("graph_row")[0]["corpus_sha256"])
    assert len({*fingerprints, ""}) == 3
